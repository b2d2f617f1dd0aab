import { DuckDBInstance, type Json } from '@duckdb/node-api'

/**
 * Where the tables in a file stand: `[position, leaf, fingerprint]`, in one row when they are whole. Nobody may have the file open for writing.
 *
 * @throws Error of DuckDB's when the file cannot be read
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
