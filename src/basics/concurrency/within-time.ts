/**
 * Does work under a signal that also stops after a time, in milliseconds.
 *
 * @example await withinTime(60_000, signal, (bounded) => fetch(url, { signal: bounded }))
 */
export const withinTime = async <T>(ms: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ms)
  try {
    return await work(AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}
