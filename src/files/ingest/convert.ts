import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { badFile, BadRows } from '../tables/bad-rows.js'
import { columnNames } from '../types/column-names.js'
import { stageCsv } from '../formats/csv.js'
import { detectFormat } from '../formats/formats.js'
import type { IngestedTable, IngestJob } from './ingest-messages.js'
import { stageJson } from '../formats/json.js'
import { stageText } from '../formats/text.js'
import { limits } from '../../basics/limits.js'
import { describe, fileProblem, openSandbox, writeParquet } from '../tables/parquet-writer.js'
import { selectStaged, sqlName, sqlString, type StagedTable } from '../tables/staged-table.js'
import { footerSize, refuseLarge, textSize } from '../tables/table-size.js'

/** The paths that a conversion uses in its work directory. */
const workFiles = (workDirectory: string) => ({
  rows: join(workDirectory, 'rows'),
  target: join(workDirectory, 'out.parquet'),
  spill: join(workDirectory, 'spill'),
})

const columnWarnings = (table: StagedTable): string[] =>
  table.columns.flatMap(({ name, warning }) => (warning === undefined ? [] : [`Column ${JSON.stringify(name)} ${warning}.`]))

const convertStaged = async (job: IngestJob, table: StagedTable, badRows: BadRows): Promise<IngestedTable> => {
  const { rows, target, spill } = workFiles(job.workDirectory)
  const connection = await openSandbox([rows, target], spill, job.memoryBytes)
  try {
    const written = await writeParquet(
      connection,
      selectStaged(table),
      { columnCount: table.columns.length, rowBytes: table.meanRowBytes },
      target,
    )
    if (written.rowCount !== table.rowCount) {
      throw badFile(`The file has ${table.rowCount} rows, but only ${written.rowCount} of them were read back. Nothing was kept.`)
    }
    const warnings = [...table.warnings, ...columnWarnings(table)].slice(0, limits.fileWarningsMax)
    return { ...written, skipped: badRows.skipped, warnings, renamed: table.renamed }
  } finally {
    connection.closeSync()
    await rm(rows, { force: true })
  }
}

/** A Parquet file is read completely and rewritten: this checks every page, and makes the names and row groups ours. */
const convertParquet = async (job: IngestJob): Promise<IngestedTable> => {
  const { target, spill } = workFiles(job.workDirectory)
  const connection = await openSandbox([job.source, target], spill, job.memoryBytes)
  try {
    const source = `read_parquet(${sqlString(job.source)})`
    const given = await describe(connection, `SELECT * FROM ${source}`)
    refuseLarge({ columns: given.length, ...(await footerSize(connection, job.source)) })
    refuseLarge(await textSize(connection, job.source, given))
    const { names, renamed } = columnNames(given.map(({ name }) => name))
    const select = `SELECT * FROM ${source} AS source(${names.map(sqlName).join(', ')}) LIMIT ${limits.tableMaxRows + 1}`
    const written = await writeParquet(connection, select, { columnCount: names.length }, target)
    // The first footer was written by the sender; this one is ours.
    refuseLarge(await footerSize(connection, target))
    return { ...written, skipped: { count: 0, first: [] }, warnings: [], renamed }
  } finally {
    connection.closeSync()
  }
}

/**
 * Converts a CSV, JSON or Parquet file, or a text, to `out.parquet` in the work directory, which the caller created for it and removes. The same bytes
 * give the same Parquet bytes. Throws a `Problem` if the file is at fault.
 *
 * @example await convert({ source: '/data/uploads/1', originalName: 'a.csv', onBadRows: 'refuse', workDirectory: '/data/ingest/1', memoryBytes: 1e9 })
 */
export const convert = async (job: IngestJob): Promise<IngestedTable> => {
  const { rows, target } = workFiles(job.workDirectory)
  const badRows = new BadRows(job.onBadRows)
  try {
    const format = await detectFormat(job.source, job.originalName, job.format)
    switch (format) {
      case 'csv':
        return await convertStaged(job, await stageCsv(job.source, rows, badRows), badRows)
      case 'json':
        return await convertStaged(job, await stageJson(job.source, rows, badRows), badRows)
      case 'text':
        return await convertStaged(job, await stageText(job.source, rows, job.originalName), badRows)
      case 'parquet':
        return await convertParquet(job)
      default:
        return format satisfies never
    }
  } catch (error) {
    throw fileProblem(error, [job.source, rows, target, job.workDirectory])
  }
}
