import type { DuckDBConnection } from '@duckdb/node-api'

/** Begins a transaction of several statements that see the same tables. */
export const begin = async (connection: DuckDBConnection): Promise<void> => {
  await connection.run('BEGIN TRANSACTION READ ONLY')
}

const isInterrupt = (error: unknown): boolean => /\binterrupt/i.test(String(error))

/**
 * Ends it, also while the query is told to stop, which an interrupt may do to the end itself. One that an error has ended needs no end,
 * nor does one that was not begun.
 */
export const rollback = async (connection: DuckDBConnection): Promise<void> => {
  for (let isOver = false; !isOver;)
    isOver = await connection.run('ROLLBACK').then(
      () => true,
      (error: unknown) => !isInterrupt(error),
    )
}
