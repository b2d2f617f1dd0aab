import type { DuckDBConnection } from '@duckdb/node-api'

/** The time limit of a query. The time runs, except while the caller handles a part of the answer. */
export type QueryClock = { hold: () => void; run: () => void }

/** The interval between interrupts, in milliseconds. DuckDB ignores an interrupt between two of its statements. */
const interruptEveryMs = 20

/** A watched query: the signal that stops it, whether the time limit was the reason, and the function that ends the watch. */
type Watch = { signal: AbortSignal; isLate: () => boolean; clock: QueryClock; done: () => void }

/**
 * Stops the query when its caller leaves or its time is over. From then on, everything on its connection is interrupted until the watch
 * ends.
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
  let repeated: NodeJS.Timeout | undefined
  const stop = () => {
    stopped.abort()
    connection.interrupt()
    repeated ??= setInterval(() => connection.interrupt(), interruptEveryMs)
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
      clearInterval(repeated)
      caller.removeEventListener('abort', stop)
    },
  }
}
