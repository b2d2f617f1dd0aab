import { rmSync } from 'node:fs'
import type { DuckDBInstance } from '@duckdb/node-api'
import { quoteName, quoteText } from '../../dialect/strings.js'

let copies = 0

/**
 * Writes the tables as they are into a new file, which holds nothing else: no byte of a row that was deleted. The file must
 * lie where DuckDB may write, and must not be there yet. Gives the position of the log that the copy stands at.
 *
 * @example await copyTables(instance, 'copy.duckdb') // 1200
 */
export const copyTables = async (instance: DuckDBInstance, into: string): Promise<number> => {
  const copy = `copy_${++copies}`
  const connection = await instance.connect()
  try {
    const [[own] = []] = (await connection.runAndReadAll('SELECT current_database()')).getRows()
    await connection.run(`ATTACH ${quoteText(into)} AS ${copy}`)
    try {
      await connection.run(`COPY FROM DATABASE ${quoteName(String(own))} TO ${copy}`)
      await connection.run(`UPDATE ${copy}.ledger.checkpoint SET begun_at = position`)
      const read = await connection.runAndReadAll(`SELECT position FROM ${copy}.ledger.checkpoint`)
      return Number(read.getRows()[0]?.[0])
    } finally {
      // This also brings everything into the one file.
      await connection.run(`DETACH ${copy}`)
    }
  } catch (error) {
    for (const suffix of ['', '.wal']) rmSync(into + suffix, { force: true })
    throw error
  } finally {
    connection.closeSync()
  }
}
