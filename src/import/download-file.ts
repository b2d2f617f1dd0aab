import { createWriteStream, type WriteStream } from 'node:fs'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { foldName } from '../../events/common.js'
import { limits } from '../basics/limits.js'
import { AnswerLimitError, ServiceError, type Client, type Table } from './client.js'
import { exactRows } from './exact-rows.js'

/** A file of rows on this machine, with its content type for the upload. */
export type DownloadedFile = { path: string; contentType: string; rows: number }

/** Writes lines to a file and limits its size. */
class Lines {
  #bytes = 0
  #failure: Error | undefined
  private readonly stream: WriteStream

  constructor(path: string) {
    this.stream = createWriteStream(path, { mode: 0o600 })
    // A write may fail while the next page is awaited.
    this.stream.on('error', (error) => {
      this.#failure ??= error
    })
  }

  async write(line: string): Promise<void> {
    this.#bytes += Buffer.byteLength(line) + 1
    if (this.#bytes > limits.fileMaxBytes) throw new ServiceError(`its rows are more than ${limits.fileMaxBytes} bytes (fileMaxBytes)`)
    if (this.#failure) throw this.#failure
    if (!this.stream.write(`${line}\n`)) await once(this.stream, 'drain')
  }

  async end(): Promise<void> {
    this.stream.end()
    await finished(this.stream)
  }

  /** Stops writing and closes the file. */
  drop(): void {
    this.stream.destroy()
  }
}

/** A page of rows, and how many rows it was asked for. */
type Page = { table: Table; size: number }

/** Reads a page of rows from an offset on. While its answer would be too large or take too long, it is asked for fewer rows. */
const pageOf = async (client: Client, name: string, offset: number, size: number): Promise<Page> => {
  try {
    return { table: await client.query(`SELECT * FROM files.\`${name}\` LIMIT ${size} OFFSET ${offset}`), size }
  } catch (error) {
    if (!(error instanceof AnswerLimitError) || size === 1) throw error
    return pageOf(client, name, offset, Math.ceil(size / 8))
  }
}

/** The rows of the next page. They are a few more while the answers are small, because only some rows may be long. */
const nextSize = ({ table, size }: Page): number =>
  2 * Buffer.byteLength(table.text) > limits.importAnswerMaxBytes ? size : Math.min(limits.importPageRows, size + Math.ceil(size / 8))

const countOf = async (client: Client, name: string): Promise<number> => {
  const { rows } = await client.query(`SELECT count(*) AS n FROM files.\`${name}\``)
  const count = Number(rows[0]?.[0])
  if (!Number.isSafeInteger(count) || count < 0) throw new ServiceError('it does not tell how many rows it has')
  return count
}

const refuseNamesakes = (columns: readonly string[]): void => {
  const seen = new Set<string>()
  for (const column of columns) {
    if (seen.has(foldName(column))) throw new ServiceError(`two of its columns have the name ${column}`)
    seen.add(foldName(column))
  }
}

const csvField = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** A file without rows is written as CSV, because only CSV can then name columns. */
const headerOnly = async (lines: Lines, columns: readonly string[]): Promise<Omit<DownloadedFile, 'path'>> => {
  await lines.write(columns.map(csvField).join(','))
  return { contentType: 'text/csv', rows: 0 }
}

const writeRows = async (
  client: Client,
  name: string,
  lines: Lines,
  onRows: (rows: number) => void,
): Promise<Omit<DownloadedFile, 'path'>> => {
  const count = await countOf(client, name)
  let columns: readonly string[] | undefined
  let size: number = limits.importPageRows
  for (let rows = 0; ;) {
    const page = await pageOf(client, name, rows, size)
    const { table } = page
    size = nextSize(page)
    columns ??= table.columns
    if (table.columns.join('\0') !== columns.join('\0')) throw new ServiceError('its columns changed while it was read')
    refuseNamesakes(columns)
    if (count === 0) return headerOnly(lines, columns)
    const keys = columns.map((column) => JSON.stringify(column))
    for (const cells of exactRows(table.text)) {
      if (cells.length !== keys.length) throw new ServiceError(`row ${rows + 1} has ${cells.length} values for ${keys.length} columns`)
      await lines.write(`{${keys.map((key, i) => `${key}:${cells[i] ?? ''}`).join(',')}}`)
      rows += 1
    }
    onRows(rows)
    if (rows === count) return { contentType: 'application/x-ndjson', rows }
    if (table.rows.length === 0 || rows > count) throw new ServiceError(`it has ${count} rows, and gave ${rows}`)
  }
}

/**
 * Downloads the rows of a file of the old service to this machine. That service has no route for files, so SQL returns them page by page.
 * JSON lines keep every value exactly as the service answered it.
 *
 * @example const { contentType, rows } = await downloadFile(client, 'homes', file, (rows) => out.progress(`${rows} rows`))
 * @throws ServiceError when the old service does not return all rows, or this machine cannot keep them
 */
export const downloadFile = async (client: Client, name: string, path: string, onRows: (rows: number) => void): Promise<DownloadedFile> => {
  const lines = new Lines(path)
  try {
    const written = await writeRows(client, name, lines, onRows)
    await lines.end()
    return { path, ...written }
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw new ServiceError(`its rows cannot be kept on this machine: ${error.message}`)
    throw error
  } finally {
    lines.drop()
  }
}
