import type { DuckDBConnection } from '@duckdb/node-api'

/** What stops a query: its signal, whether that was for its time, and the end of the watch. */
type Watch = { signal: AbortSignal; isLate: () => boolean; done: () => void }

/** Stops the query when its caller goes away or its time is over. */
export const watch = (connection: DuckDBConnection, caller: AbortSignal, timeoutMs: number): Watch => {
  const stopped = new AbortController()
  let late = false
  const stop = () => {
    stopped.abort()
    connection.interrupt()
  }
  const timer = setTimeout(() => {
    late = true
    stop()
  }, timeoutMs)
  if (caller.aborted) stopped.abort()
  caller.addEventListener('abort', stop)
  return {
    signal: stopped.signal,
    isLate: () => late,
    done: () => {
      clearTimeout(timer)
      caller.removeEventListener('abort', stop)
    },
  }
}
