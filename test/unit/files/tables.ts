import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBInstance, Json } from '@duckdb/node-api'
import { isProblem, type Problem } from '../../../src/basics/errors.js'
import type { OnBadRows } from '../../../src/files/tables/bad-rows.js'
import { convert } from '../../../src/files/ingest/convert.js'
import type { IngestedTable } from '../../../src/files/ingest/ingest-messages.js'
import { memoryDatabase } from '../../support/memory-database.js'

export type Loaded = IngestedTable & { rows: Json[][]; parquet: Buffer }

/** A DuckDB for all tests of this process: to open one takes longer than to read a small file. */
let reader: Promise<DuckDBInstance> | undefined

/** Reads a Parquet file's rows as a query would. */
export const readRows = async (parquetFile: string): Promise<Json[][]> => {
  const connection = await (await (reader ??= memoryDatabase())).connect()
  try {
    return (await connection.runAndReadAll(`SELECT * FROM read_parquet('${parquetFile}')`)).getRowsJson()
  } finally {
    connection.closeSync()
  }
}

export const inDirectory = async <T>(use: (directory: string) => Promise<T>): Promise<T> => {
  const directory = await mkdtemp(join(tmpdir(), 'files-'))
  try {
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Converts a file with these bytes and reads the rows back. */
export const load = (bytes: string | Uint8Array, originalName = 'a.csv', onBadRows: OnBadRows = 'refuse'): Promise<Loaded> =>
  inDirectory(async (workDirectory) => {
    const source = join(workDirectory, 'source')
    await writeFile(source, bytes)
    const result = await convert({ source, originalName, onBadRows, workDirectory, memoryBytes: 1024 * 1024 * 1024 })
    return { ...result, rows: await readRows(result.parquetFile), parquet: await readFile(result.parquetFile) }
  })

/** The problem that something ends with. */
export const problemOf = async (work: Promise<unknown>): Promise<Problem> => {
  const error: unknown = await work.then(
    () => new Error('It was accepted.'),
    (caught: unknown) => caught,
  )
  if (isProblem(error)) return error
  throw error
}

export const types = ({ columns }: IngestedTable) => columns.map(({ name, type }) => `${name} ${type}`)
