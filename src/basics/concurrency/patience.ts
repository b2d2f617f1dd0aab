/** How often work that fails is tried, and how long it waits in between: twice as long after each try, up to a limit. */
export type Patience = { triesMax: number; firstWaitMs: number; maxWaitMs: number }

/**
 * How long to wait after a number of failed tries, in milliseconds.
 *
 * @example waitAfterTries(3, { triesMax: 5, firstWaitMs: 1_000, maxWaitMs: 60_000 }) // 4000
 */
export const waitAfterTries = (tries: number, { firstWaitMs, maxWaitMs }: Patience): number =>
  Math.min(firstWaitMs * 2 ** (tries - 1), maxWaitMs)
