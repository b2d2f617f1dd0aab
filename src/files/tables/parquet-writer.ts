import { stat } from 'node:fs/promises'
import { DuckDBInstance, StatementType, type DuckDBConnection } from '@duckdb/node-api'
import { badFile, tooLarge } from './bad-rows.js'
import { hashFile, sync } from '../../basics/disk.js'
import { diskFull, isDiskFull, isProblem, Problem, errorText } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { sqlString } from './staged-table.js'
import { refuseLarge, SizeWatch, TableTooLarge } from './table-size.js'

export type Column = { name: string; type: string }
export type ParquetFile = { parquetFile: string; sha256: string; bytes: number; rowCount: number; columns: Column[] }

/**
 * An in-memory DuckDB that can only read and write the given paths, with its settings locked. One thread, so that the same rows give the
 * same bytes.
 */
export const openSandbox = async (paths: readonly string[], temporaryDirectory: string, memoryBytes: number): Promise<DuckDBConnection> => {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: `${Math.floor(memoryBytes / 1024 / 1024)}MiB`,
    temp_directory: temporaryDirectory,
    max_temp_directory_size: `${limits.fileIngestDiskMaxBytes}B`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  await connection.run(`SET allowed_paths = [${paths.map(sqlString).join(', ')}]`)
  await connection.run(`SET TimeZone = 'UTC'`)
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
  return connection
}

const tableTooLarge = ({ message, limit }: TableTooLarge): Problem =>
  new Problem('too_large', 'File too large', message, { hint: 'Leave out rows or columns, or upload the table in several files.', limit })

/** DuckDB's error about a file, without local paths. */
export const fileProblem = (error: unknown, paths: readonly string[]): Error => {
  if (isProblem(error)) return error
  if (isDiskFull(error)) return diskFull(error)
  if (error instanceof TableTooLarge) return tableTooLarge(error)
  const message = errorText(error)
  if (/^(?:Out of Memory|.*failed to allocate)/i.test(message)) return tooLarge('The file needs more memory to be read than its limit.')
  const detail = paths.reduce((text, path) => text.replaceAll(path, 'the file'), message).split('\n', 1)[0] ?? ''
  return badFile(detail.slice(0, 500))
}

/** The columns of a SELECT, with DuckDB's names and types. */
export const describe = async (connection: DuckDBConnection, select: string): Promise<Column[]> => {
  const rows = (await connection.runAndReadAll(`DESCRIBE ${select}`)).getRowObjects()
  return rows.map((row) => ({ name: String(row['column_name']), type: String(row['column_type']) }))
}

/** The known properties of a SELECT's rows before they are written; `rowBytes` is their mean length as text, if known. */
export type TableShape = { columnCount: number; rowBytes?: number }

const usualColumns = 256
const usualGroupRows = 122_880
const groupBytes = 128 * 1024 * 1024
const vectorRows = 2_048

/** A row group is kept in memory until it is complete, with a dictionary for each column: large rows make small groups. */
const groupOptions = ({ columnCount, rowBytes = 0 }: TableShape): string => {
  const byColumns = (usualGroupRows * usualColumns) / Math.max(columnCount, usualColumns)
  const rows = Math.min(byColumns, groupBytes / Math.max(rowBytes, 1))
  const size = Math.min(usualGroupRows, Math.max(Math.floor(rows / vectorRows), 1) * vectorRows)
  return `ROW_GROUP_SIZE ${size}${columnCount > usualColumns ? ', STRING_DICTIONARY_PAGE_SIZE_LIMIT 65536' : ''}`
}

/** Runs a COPY. Its text contains names that users chose: DuckDB prepares only a single statement, and reports its kind. */
const copyTo = async (connection: DuckDBConnection, copy: string, target: string): Promise<number> => {
  const prepared = await connection.prepare(copy)
  if (prepared.statementType !== StatementType.COPY) throw new TypeError('a table to be written became another statement')
  const watch = new SizeWatch(connection, target)
  try {
    return Number((await prepared.runAndReadAll()).getRows()[0]?.[0])
  } catch (error) {
    throw watch.reason(error)
  } finally {
    prepared.destroySync()
    watch.end()
  }
}

/**
 * Writes a SELECT's rows to a new Parquet file. The bytes are always the same: rows keep their order, and the size of the groups follows
 * from the table alone.
 *
 * @throws TableTooLarge when the file becomes too large
 *
 * @example await writeParquet(connection, 'SELECT 1 AS x', { columnCount: 1 }, '/data/ingest/out.parquet')
 */
export const writeParquet = async (
  connection: DuckDBConnection,
  select: string,
  shape: TableShape,
  target: string,
): Promise<ParquetFile> => {
  const options = `FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ${groupOptions(shape)}`
  const rowCount = await copyTo(connection, `COPY (${select}) TO ${sqlString(target)} (${options})`, target)
  const columns = await describe(connection, `SELECT * FROM read_parquet(${sqlString(target)})`)
  await sync(target)
  const { size: bytes } = await stat(target)
  refuseLarge({ bytes })
  return { parquetFile: target, sha256: await hashFile(target), bytes, rowCount, columns }
}
