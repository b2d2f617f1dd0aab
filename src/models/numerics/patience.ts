import { setTimeout as sleep } from 'node:timers/promises'
import { isProblem, Problem } from '../../basics/errors.js'

const pauseMs = 500

/**
 * Whether SQL was only unavailable at the moment, or lost its process during an answer: a retry may succeed. When the tables stopped at an
 * event, which the problem names by its position, a retry cannot help.
 */
export const isPassing = (error: unknown): boolean =>
  isProblem(error) && (error.code === 'busy' || (error.code === 'analytics_unavailable' && error.extras['position'] === undefined))

/**
 * Queries SQL, and retries while it is unavailable, until the signal aborts.
 *
 * @example const { columns, chunks } = await patiently(() => select(query, signal), signal)
 * @throws the error of a query that a retry cannot help, or the signal's reason
 */
export const patiently = async <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  for (;;)
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error)) throw error
      // The next attempt throws if the signal was aborted meanwhile.
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      signal.throwIfAborted()
    }
}

/**
 * Runs the read of a training's rows within a time limit that includes everything: the wait for the SQL process, its restarts, and repeated
 * reads.
 *
 * @example const rows = await inReadTime(limits.trainingReadTimeoutMs, signal, (signal) => writeRows(select, query, file, signal))
 * @throws Problem query_limit when the time is over; the signal's reason when the caller aborts
 */
export const inReadTime = async <T>(timeoutMs: number, signal: AbortSignal, read: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(readTooLong(timeoutMs)), timeoutMs)
  const either = AbortSignal.any([signal, late.signal])
  try {
    return await read(either)
  } catch (error) {
    // An aborted stream does not give the reason.
    either.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

const readTooLong = (timeoutMs: number): Problem =>
  new Problem('query_limit', 'Reading took too long', `The rows to learn from were not read within ${timeoutMs} ms`, {
    hint: 'Select fewer rows or columns.',
    limit: 'trainingReadTimeoutMs',
  })
