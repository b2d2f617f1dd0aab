/** Room: the connections of an instance of DuckDB, kept for the next query, and the time limit of a query. It imports only basics. */

import type { DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement } from '@duckdb/node-api'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'

/**
 * A value that exists once for each instance of DuckDB: its first use creates it, and it is removed with the instance.
 *
 * @example const kept = perInstance(() => new Map<string, string>()); kept(instance) === kept(instance)
 */
export const perInstance = <T extends object>(make: (instance: DuckDBInstance) => T): ((instance: DuckDBInstance) => T) => {
  const made = new WeakMap<DuckDBInstance, T>()
  return (instance) => {
    const known = made.get(instance)
    if (known) return known
    const fresh = make(instance)
    made.set(instance, fresh)
    return fresh
  }
}

/**
 * The columns of a prepared query, with DuckDB's names and types.
 *
 * @example preparedColumns(await connection.prepare('SELECT 1 AS x')) // [{ name: 'x', type: 'INTEGER' }]
 */
export const preparedColumns = (prepared: DuckDBPreparedStatement): { name: string; type: string }[] =>
  Array.from({ length: prepared.columnCount }, (_, i) => ({ name: prepared.columnName(i), type: String(prepared.columnType(i)) }))

/**
 * Connections that have run a query to its end and wait for the next query, which then need not open one. A query that passed the guard
 * leaves nothing behind on its connection. A connection is closed if a query left, or may have left, something on it. See
 * docs/decisions/sql/reused-connections.md.
 */
class ConnectionPool {
  readonly #idle: DuckDBConnection[] = []

  constructor(private readonly instance: DuckDBInstance) {}

  /** A waiting connection, or a new one. */
  async take(): Promise<DuckDBConnection> {
    return this.#idle.pop() ?? this.instance.connect()
  }

  /** Returns a connection without an open transaction, a temporary table, or a stopped query. */
  give(connection: DuckDBConnection): void {
    if (this.#idle.length < limits.sqlConcurrentMaxQueries) this.#idle.push(connection)
    else connection.closeSync()
  }
}

/** The connections of an instance. */
export const connectionPoolOf = perInstance((instance) => new ConnectionPool(instance))

/** Begins a transaction for several statements, which then see the same tables. */
export const begin = async (connection: DuckDBConnection): Promise<void> => {
  await connection.run('BEGIN TRANSACTION READ ONLY')
}

const isInterrupt = (error: unknown): boolean => /\binterrupt/i.test(String(error))

/**
 * Ends a transaction. An interrupt of the query may hit the ROLLBACK, which is then repeated. Does nothing without a transaction: an error
 * may have ended it, or none was begun.
 */
export const rollback = async (connection: DuckDBConnection): Promise<void> => {
  for (let isOver = false; !isOver;)
    isOver = await connection.run('ROLLBACK').then(
      () => true,
      (error: unknown) => !isInterrupt(error),
    )
}

/** @throws Problem query_limit when the current query of the connection must stop */
export const checkAborted = (signal: AbortSignal): void => {
  if (signal.aborted) throw new Problem('query_limit', 'The query was stopped', 'The query was stopped before it ended')
}

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
