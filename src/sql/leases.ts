import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { limits } from '../limits.js'
import { perInstance } from './per-instance.js'

/**
 * Connections that have run a query to its end and wait for the next. The first query of a connection takes twice as long as
 * the second, and a query that the guard lets through leaves nothing behind on it: whatever did, or may have, is closed.
 */
export class Leases {
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
export const leases = perInstance((instance) => new Leases(instance))
