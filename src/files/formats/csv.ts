import type { BadRows } from '../tables/bad-rows.js'
import { badFile, tooLarge } from '../tables/bad-rows.js'
import { bytesShape } from '../types/shape-of-bytes.js'
import { columnNames } from '../types/column-names.js'
import { columnType, type Place } from '../types/type-inference.js'
import { detectDialect } from './csv-dialect.js'
import { CsvTokenizer, type Dialect } from './csv-tokenizer.js'
import { chunkBytes, detectEncoding, readUtf8 } from './encoding.js'
import { limits } from '../../basics/limits.js'
import type { StagedTable } from '../tables/staged-table.js'
import { StagingFile } from '../tables/staging-file.js'
import { refuseLarge } from '../tables/table-size.js'
import { shapes } from '../types/shapes.js'
import { textShape } from '../types/shape-of-text.js'

const shownChars = 400
const noun = (count: number) => (count === 1 ? '1 field' : `${count} fields`)

/** A first row of only numbers is data, except for 0,1,2… and 1,2,3…, which tools write over unnamed columns. */
const isHeader = (row: readonly string[]): boolean => {
  const numbers = shapes.integer | shapes.long | shapes.inexact | shapes.decimal | shapes.dotThree | shapes.commaDecimal
  if (row.some((text) => (textShape(text) & numbers) === 0)) return true
  const [first] = row
  return row.length > 1 && (first === '0' || first === '1') && row.every((text, index) => text === String(Number(first) + index))
}

/** Turns the rows of a file into staged rows and records the shapes of each column's values. */
class CsvReader {
  private readonly rows: CsvTokenizer
  private header: string[] | undefined
  private named = true
  private columnCount = 0
  private seen = new Int32Array(0)
  private readonly noDays = new Map<number, Place>()

  constructor(
    private readonly dialect: Dialect,
    private readonly staging: StagingFile,
    private readonly badRows: BadRows,
    private readonly firstLine: number,
  ) {
    this.rows = new CsvTokenizer(dialect)
  }

  /** Reads all complete rows and returns where the first incomplete one starts. */
  read(bytes: Buffer, final: boolean): number {
    const nul = bytes.indexOf(0)
    let at = 0
    while (at < bytes.length) {
      const token = this.rows.next(bytes, at, final)
      if (nul !== -1 && (token === 'more' || nul < this.rows.nextStart)) throw this.nulFound()
      if (token === 'more') return at
      if (token === 'bad') this.refuse(bytes, at, this.rows.reason, final)
      if (token === 'row') this.take(bytes, at)
      at = this.rows.nextStart
    }
    return at
  }

  private nulFound() {
    const line = this.rows.line + this.firstLine
    return badFile(
      `Line ${line}: a NUL character. The file is not text, or its encoding is not UTF-8, UTF-16 with a mark or Windows-1252.`,
      { line },
    )
  }

  private refuse(bytes: Buffer, at: number, reason: string, final: boolean): void {
    // Where the end of the line is unknown, so is the start of the next row.
    if (this.rows.nextStart > bytes.length && !final) throw tooLarge(`Line ${this.rows.line + this.firstLine}: ${reason}`)
    const text = bytes.toString('utf8', at, Math.min(this.rows.rowEnd, at + shownChars)).replace(/\r$/, '')
    const row = { line: this.rows.line + this.firstLine, text, reason }
    if (this.header === undefined) throw badFile(`Line ${row.line}, which should name the columns: ${reason}`, row)
    this.badRows.add(row)
  }

  private take(bytes: Buffer, at: number): void {
    if (this.header === undefined) {
      const { rows } = this
      this.columnCount = rows.fieldCount
      this.seen = new Int32Array(this.columnCount)
      this.header = Array.from({ length: this.columnCount }, (_, field) => rows.text(bytes, field))
      this.named = isHeader(this.header)
      if (this.named) return
    }
    if (this.rows.fieldCount !== this.columnCount) {
      this.refuse(bytes, at, `it has ${noun(this.rows.fieldCount)}, and the first row has ${this.columnCount}`, true)
      return
    }
    this.note(bytes)
    this.stage(bytes, at)
  }

  private note(bytes: Buffer): void {
    const { seen, columnCount } = this
    const { starts, ends } = this.rows
    for (let column = 0; column < columnCount; column++) {
      const before = seen[column] ?? 0
      if ((before & shapes.text) !== 0) continue
      const shape = bytesShape(bytes, starts[column] ?? 0, ends[column] ?? 0)
      seen[column] = before | shape
      if ((shape & ~before & shapes.noDay) !== 0)
        this.noDays.set(column, { line: this.rows.line + this.firstLine, text: this.rows.text(bytes, column) })
    }
  }

  private stage(bytes: Buffer, at: number): void {
    const { rows, staging } = this
    if (rows.plain) staging.bytes(bytes, at, rows.rowEnd)
    else {
      for (let field = 0; field < rows.fieldCount; field++) {
        if (field > 0) staging.byte(this.dialect.separator)
        staging.quoted(bytes, rows.starts[field] ?? 0, rows.ends[field] ?? 0, rows.quoted[field] === 1)
      }
    }
    staging.endRow()
  }

  table(): StagedTable {
    if (this.header === undefined) throw badFile('The file has no rows.')
    this.badRows.refuseIfNothingIsLeft(this.staging.rowCount)
    refuseLarge({ cells: this.staging.rowCount * this.columnCount })
    const { names, renamed } = columnNames(this.named ? this.header : this.header.map(() => ''))
    const columns = names.map((name, index) => ({
      name,
      ...columnType(this.seen[index] ?? 0, this.dialect.separator, this.noDays.get(index)),
    }))
    const warnings = [
      ...(this.named ? [] : ['The first row holds only numbers, so it was read as data; the columns are named column_1, column_2 …']),
      ...(this.staging.rowCount === 0 ? ['The file has column names and no rows.'] : []),
    ]
    return {
      path: this.staging.path,
      separator: String.fromCharCode(this.dialect.separator),
      longestRowBytes: this.staging.longestRowBytes,
      meanRowBytes: this.staging.totalBytes / Math.max(this.staging.rowCount, 1),
      form: 'csv',
      columns,
      rowCount: this.staging.rowCount,
      warnings,
      renamed: this.named ? renamed : [],
    }
  }
}

/**
 * Reads a CSV file of any common encoding, separator and line end, and writes its rows in one form to `target`, which must not exist. The
 * first row names the columns. Bad rows go to `badRows`.
 *
 * @example
 * const table = await stageCsv('/data/a.csv', '/data/ingest/rows', new BadRows('refuse'))
 * table.columns.map(({ name, type }) => ({ name, type })) // [{ name: 'price', type: 'DOUBLE' }]
 */
export const stageCsv = async (source: string, target: string, badRows: BadRows): Promise<StagedTable> => {
  const encoding = await detectEncoding(source)
  const staging = new StagingFile(target)
  const warnings = encoding.name === 'windows-1252' ? ['The text is not UTF-8; it was read as Windows-1252.'] : []
  let reader: CsvReader | undefined
  let rest: Buffer = Buffer.alloc(0)
  const start = (final: boolean): CsvReader => {
    const { dialect, skipBytes, found } = detectDialect(rest.subarray(0, chunkBytes), final)
    if (!found) warnings.push('No separator (comma, semicolon, tab or bar) is in the first row: the table has one column.')
    rest = rest.subarray(skipBytes)
    return new CsvReader(dialect, staging, badRows, skipBytes > 0 ? 1 : 0)
  }
  for await (const chunk of readUtf8(source, encoding)) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    if (rest.length > limits.fileRowMaxBytes + 4 * chunkBytes) throw tooLarge(`A row is longer than ${limits.fileRowMaxBytes} bytes.`)
    // The separator is detected from as much text as there is, up to a whole chunk.
    if (reader === undefined && rest.length < chunkBytes) continue
    reader ??= start(false)
    rest = rest.subarray(reader.read(rest, false))
  }
  reader ??= start(true)
  reader.read(rest, true)
  staging.close()
  const table = reader.table()
  return { ...table, warnings: [...warnings, ...table.warnings] }
}
