import { DuckDBInstance } from '@duckdb/node-api'

/** DuckDB in memory on one thread: a table of some hundred rows is one piece of work, so a second thread would find nothing to do. */
export const memoryDatabase = (): Promise<DuckDBInstance> => DuckDBInstance.create(':memory:', { threads: '1' })
