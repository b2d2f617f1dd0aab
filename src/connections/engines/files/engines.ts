import type { Engine } from '../contract/engine.js'
import { readPath } from './paths.js'

/** DuckDB itself is loaded only where its files are read, not in the process for databases in the network. */
const engine = (isParquet: boolean): Engine => ({
  check: (parameters) => void readPath(parameters),
  connect: async (connection, around) => (await import('./duckdb.js')).connectDuckDb(isParquet, connection, around),
})

/** Files of DuckDB, below the folder that CONNECTION_FILES names. */
export const duckdb = engine(false)

/** Files of Parquet, or a folder of them, below the folder that CONNECTION_FILES names: each is a table. */
export const parquet = engine(true)
