import { limits } from '../limits.js'

/** How often work that fails is tried, and how long it waits in between: twice as long after each try, up to a limit. */
export type Patience = { triesMax: number; firstWaitMs: number; maxWaitMs: number }

/** The patience of a reaction with one event. */
export const reactionPatience: Patience = {
  triesMax: limits.reactionTriesMax,
  firstWaitMs: 1_000,
  maxWaitMs: limits.reactionRetryMaxWaitMs,
}

/**
 * How long to wait after a number of failed tries, in milliseconds.
 *
 * @example waitAfterTries(3, reactionPatience) // 4000
 */
export const waitAfterTries = (tries: number, { firstWaitMs, maxWaitMs }: Patience): number =>
  Math.min(firstWaitMs * 2 ** (tries - 1), maxWaitMs)
