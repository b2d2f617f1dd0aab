import { DuckDBInstance, type Json } from '@duckdb/node-api'

/**
 * The checkpoint of the tables in a file: `[position, leaf, fingerprint]`; whole tables have exactly one row. No process may have the file
 * open for writing.
 *
 * @throws Error of DuckDB when the file cannot be read
 */
export const tablesCheckpoint = async (file: string): Promise<Json[][]> => {
  const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' })
  try {
    const connection = await instance.connect()
    const read = await connection.runAndReadAll('SELECT position, leaf, fingerprint FROM ledger.checkpoint')
    connection.closeSync()
    return read.getRowsJson()
  } finally {
    instance.closeSync()
  }
}
