import type { DuckDBPreparedStatement } from '@duckdb/node-api'

/**
 * The columns that a prepared query gives, as DuckDB names and types them.
 *
 * @example preparedColumns(await connection.prepare('SELECT 1 AS x')) // [{ name: 'x', type: 'INTEGER' }]
 */
export const preparedColumns = (prepared: DuckDBPreparedStatement): { name: string; type: string }[] =>
  Array.from({ length: prepared.columnCount }, (_, i) => ({ name: prepared.columnName(i), type: String(prepared.columnType(i)) }))
