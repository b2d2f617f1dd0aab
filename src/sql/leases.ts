import type { DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement } from '@duckdb/node-api'
import { limits } from '../limits.js'

/** A connection that one query has for itself. `probe` fails when an error has broken the open transaction. */
export type Lease = { connection: DuckDBConnection; probe: DuckDBPreparedStatement }

/**
 * Connections that have run a query to its end and wait for the next. The first query of a connection takes twice as long as
 * the second, and a query that the guard lets through leaves nothing behind on it: whatever did, or may have, is closed.
 */
export class Leases {
  readonly #idle: Lease[] = []

  constructor(private readonly instance: DuckDBInstance) {}

  async take(): Promise<Lease> {
    const known = this.#idle.pop()
    if (known) return known
    const connection = await this.instance.connect()
    return { connection, probe: await connection.prepare('SELECT 1') }
  }

  /** Gives back a connection without an open transaction, a temporary table, or a query that was stopped. */
  give(lease: Lease): void {
    if (this.#idle.length < limits.sqlConcurrentMaxQueries) this.#idle.push(lease)
    else this.close(lease)
  }

  close({ connection, probe }: Lease): void {
    probe.destroySync()
    connection.closeSync()
  }
}

const leasesOf = new WeakMap<DuckDBInstance, Leases>()

/** The connections of an instance. */
export const leases = (instance: DuckDBInstance): Leases => {
  const known = leasesOf.get(instance)
  if (known) return known
  const made = new Leases(instance)
  leasesOf.set(instance, made)
  return made
}
