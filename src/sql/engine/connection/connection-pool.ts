import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { limits } from '../../../basics/limits.js'
import { perInstance } from './per-instance.js'

/**
 * Connections that have run a query to its end and wait for the next, which spares it opening one. A query that the guard lets
 * through leaves nothing behind on its connection: whatever did, or may have, is closed. See docs/decisions/sql/reused-connections.md.
 */
export class ConnectionPool {
  readonly #idle: DuckDBConnection[] = []

  constructor(private readonly instance: DuckDBInstance) {}

  async take(): Promise<DuckDBConnection> {
    return this.#idle.pop() ?? this.instance.connect()
  }

  /** Gives back a connection without an open transaction, a temporary table, or a query that was stopped. */
  give(connection: DuckDBConnection): void {
    if (this.#idle.length < limits.sqlConcurrentMaxQueries) this.#idle.push(connection)
    else connection.closeSync()
  }
}

/** The connections of an instance. */
export const connectionPoolOf = perInstance((instance) => new ConnectionPool(instance))
