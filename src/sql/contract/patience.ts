import { setTimeout as sleep } from 'node:timers/promises'
import { isProblem } from '../../basics/errors.js'

const pauseMs = 500

/**
 * Whether SQL was only unavailable at the moment, or lost its process during an answer: a retry may succeed. When the tables stopped at an
 * event, which the problem names by its position, a retry cannot help.
 */
export const isPassing = (error: unknown): boolean =>
  isProblem(error) && (error.code === 'busy' || (error.code === 'analytics_unavailable' && error.extras['position'] === undefined))

/**
 * Queries SQL, and retries while it is unavailable, until the signal aborts or the time is over, in milliseconds.
 *
 * @example const { columns, chunks } = await patiently(() => select(query, signal), signal)
 * @throws the error of a query that a retry cannot help, or that the time is over for, or the signal's reason
 */
export const patiently = async <T>(ask: () => Promise<T>, signal: AbortSignal, withinMs = Infinity): Promise<T> => {
  const until = performance.now() + withinMs
  for (;;)
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error) || performance.now() >= until) throw error
      // The next attempt throws if the signal was aborted meanwhile.
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      signal.throwIfAborted()
    }
}
