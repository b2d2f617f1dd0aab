import { setTimeout as sleep } from 'node:timers/promises'
import { isProblem, Problem } from '../../basics/errors.js'

const pauseMs = 500

/**
 * Whether SQL could not be asked at the moment, or lost its process in the middle of an answer: the same question may succeed
 * later. Tables that stopped at an event, which the problem names by its position, stay as they are.
 */
export const isPassing = (error: unknown): boolean =>
  isProblem(error) && (error.code === 'busy' || (error.code === 'analytics_unavailable' && error.extras['position'] === undefined))

/**
 * Asks SQL, and asks again while it is not available, until the signal ends it.
 *
 * @example const { columns, chunks } = await patiently(() => select(query, signal), signal)
 * @throws what the question fails with for good, or the signal's reason
 */
export const patiently = async <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  for (;;)
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error)) throw error
      // An abort meanwhile is told by the next question.
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      signal.throwIfAborted()
    }
}

/**
 * Runs the reading of a training's rows within a time, which counts everything: the wait for the SQL process, a restart of it,
 * and what has to be read again.
 *
 * @example const rows = await inReadTime(limits.trainingReadTimeoutMs, signal, (signal) => writeRows(select, query, file, signal))
 * @throws Problem query_limit when the time is over; the caller's reason when its signal says so
 */
export const inReadTime = async <T>(timeoutMs: number, signal: AbortSignal, read: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(readTooLong(timeoutMs)), timeoutMs)
  const either = AbortSignal.any([signal, late.signal])
  try {
    return await read(either)
  } catch (error) {
    // A stream that was stopped tells only that it was.
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
