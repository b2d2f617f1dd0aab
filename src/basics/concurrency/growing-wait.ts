/** Waits between tries: the first one, by what each is longer than the one before, and the longest one. */
export type GrowingWaits = { firstWaitMs: number; factor: number; maxWaitMs: number }

/** How often work that fails is tried, and how long it waits in between. */
export type Patience = GrowingWaits & { triesMax: number }

/**
 * How long to wait after a number of failed tries, in milliseconds.
 *
 * @example growingWait(3, { firstWaitMs: 1_000, factor: 2, maxWaitMs: 60_000 }) // 4000
 */
export const growingWait = (tries: number, { firstWaitMs, factor, maxWaitMs }: GrowingWaits): number =>
  Math.min(firstWaitMs * factor ** (tries - 1), maxWaitMs)
