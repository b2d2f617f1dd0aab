/**
 * Room: files of SQLite, DuckDB and Parquet as connected databases. It imports only events, basics, connections/contract,
 * connections/batch, connections/pushdown and connections/engines/contract.
 */

import type { DatabaseEngine } from '../contract/engine.js'

// The libraries for files are loaded only in processes that read a file, and not in the process for databases in the network.

/** Files of SQLite, below the folder that CONNECTION_FILES names. */
export const sqlite: DatabaseEngine = {
  connect: async (connection, around) => (await import('./sqlite.js')).connectSqlite(connection, around),
}

/** Files of DuckDB, below the folder that CONNECTION_FILES names. */
export const duckdb: DatabaseEngine = {
  connect: async (connection, around) => (await import('./duckdb.js')).connectDuckDb(false, connection, around),
}

/** Files of Parquet, or a folder of them, below the folder that CONNECTION_FILES names: each is a table. */
export const parquet: DatabaseEngine = {
  connect: async (connection, around) => (await import('./duckdb.js')).connectDuckDb(true, connection, around),
}
