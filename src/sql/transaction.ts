import type { DuckDBConnection } from '@duckdb/node-api'

/** Begins a transaction of several statements that see the same tables. */
export const begin = async (connection: DuckDBConnection): Promise<void> => {
  await connection.run('BEGIN TRANSACTION READ ONLY')
}

/** Ends it. One that an error has ended needs no end, nor does one that was not begun. */
export const rollback = async (connection: DuckDBConnection): Promise<void> => {
  await connection.run('ROLLBACK').catch(() => undefined)
}
