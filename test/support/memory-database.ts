import { DuckDBInstance } from '@duckdb/node-api'

/** DuckDB in memory on one thread: tables of some hundred rows are one piece of work, which a second thread only wakes up for. */
export const memoryDatabase = (): Promise<DuckDBInstance> => DuckDBInstance.create(':memory:', { threads: '1' })
