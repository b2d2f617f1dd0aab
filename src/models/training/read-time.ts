import { Problem } from '../../basics/errors.js'

/**
 * Reads the rows of a training within a time limit. The limit includes everything: the wait for the SQL process, its restarts, and repeated
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
    // The error of an aborted stream does not contain the reason.
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
