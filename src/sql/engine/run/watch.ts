import type { DuckDBConnection } from '@duckdb/node-api'

/** The time of a query: it runs unless it is held, as it is while the caller has a part of the answer. */
export type QueryClock = { hold: () => void; run: () => void }

/** How often a query is told to stop, in milliseconds. DuckDB forgets an interrupt that comes between two of its statements. */
const insistMs = 20

/** A watched query: the signal that stops it, whether its time was the reason, and the function that ends the watch. */
type Watch = { signal: AbortSignal; isLate: () => boolean; clock: QueryClock; done: () => void }

/**
 * Stops the query when its caller goes away or its time is over: whatever its connection executes from then on is interrupted,
 * until the watch is done.
 *
 * @example
 * const { signal, done } = watch(connection, caller, 60_000)
 * await connection.run('SELECT count(*) FROM range(1e15::BIGINT)').finally(done)
 */
export const watch = (connection: DuckDBConnection, caller: AbortSignal, timeoutMs: number): Watch => {
  const stopped = new AbortController()
  let late = false
  let remainingMs = timeoutMs
  let from = 0
  let timer: NodeJS.Timeout | undefined
  let insisting: NodeJS.Timeout | undefined
  const stop = () => {
    stopped.abort()
    connection.interrupt()
    insisting ??= setInterval(() => connection.interrupt(), insistMs)
  }
  const run = () => {
    from = performance.now()
    timer = setTimeout(() => {
      late = true
      stop()
    }, remainingMs)
  }
  const hold = () => {
    clearTimeout(timer)
    remainingMs -= performance.now() - from
  }
  run()
  if (caller.aborted) stop()
  caller.addEventListener('abort', stop)
  return {
    signal: stopped.signal,
    isLate: () => late,
    clock: { hold, run },
    done: () => {
      clearTimeout(timer)
      clearInterval(insisting)
      caller.removeEventListener('abort', stop)
    },
  }
}
