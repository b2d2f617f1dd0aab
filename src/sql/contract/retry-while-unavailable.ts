import { isProblem } from '../../basics/errors.js'
import { retry } from '../../basics/concurrency/retry.js'

const pauseMs = 500

/**
 * Whether SQL was only unavailable for a moment, or lost its process during an answer, so that a retry may succeed. A retry cannot help if
 * the tables stopped at an event, whose position the problem has, and would do harm if the statement has `inserted` some documents.
 */
export const isPassing = (error: unknown): boolean =>
  isProblem(error) &&
  error.extras['inserted'] === undefined &&
  (error.code === 'busy' || (error.code === 'analytics_unavailable' && error.extras['position'] === undefined))

/**
 * Queries SQL, and retries while it is unavailable, until the signal aborts or the time is over. The time is in milliseconds.
 *
 * @example const { columns, chunks } = await retryWhileUnavailable(() => select(query, signal), signal)
 * @throws the error of a query if a retry cannot help or the time is over, or the signal's reason
 */
export const retryWhileUnavailable = <T>(ask: () => Promise<T>, signal: AbortSignal, withinMs = Infinity): Promise<T> => {
  const until = performance.now() + withinMs
  return retry(ask, { isPassing, pauseMs, isOver: () => performance.now() >= until, signal })
}
