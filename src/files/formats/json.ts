import { StringDecoder } from 'node:string_decoder'
import { badFile, tooLarge, type BadRows } from '../tables/bad-rows.js'
import { columnNames } from '../types/column-names.js'
import { columnType, type Place } from '../types/type-inference.js'
import { dateShape } from '../types/date-shape.js'
import { dateShapes } from '../types/date-columns.js'
import { detectEncoding, readUtf8 } from './encoding.js'
import { compact, scanObject, skipSpace, stringValue, type Member } from './json-scanner.js'
import { limits } from '../../basics/limits.js'
import type { StagedTable } from '../tables/staged-table.js'
import { StagingFile } from '../tables/staging-file.js'
import { refuseLarge } from '../tables/table-size.js'
import { shapes } from '../types/shapes.js'
import { textShape } from '../types/shape-of-text.js'

const comma = 0x2c

/** The shortest and longest text of a date, in characters. */
const [shortestDate, longestDate] = [6, 40]

/**
 * A string is text even if it looks like a number. Only dates, months and timestamps are recognised, which JSON can only write as strings.
 */
const stringShape = (text: string): number => {
  const shape = text.length >= shortestDate && text.length <= longestDate ? dateShape(text) : shapes.text
  return (shape & dateShapes) === 0 ? shapes.text : shape
}

const lineBreaks = (text: string, from: number, to: number): number => {
  let count = 0
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === 0x0a) count += 1
  return count
}

type Cell = { text: string; shape: number }

const cell = ({ kind, source }: Member): Cell | undefined => {
  switch (kind) {
    case 'null':
      return undefined
    case 'string': {
      const text = stringValue(source)
      return { text, shape: stringShape(text) }
    }
    case 'nested':
      return { text: compact(source), shape: shapes.text }
    case 'number':
    case 'boolean':
      return { text: source, shape: textShape(source) }
    default:
      return kind satisfies never
  }
}

/** Turns objects into staged rows; a new key adds a column. */
class JsonReader {
  private readonly keys = new Map<string, number>()
  private readonly seen: number[] = []
  private readonly noDays = new Map<number, Place>()
  private line = 1
  private form: 'array' | 'lines' | undefined
  private state: 'first' | 'value' | 'next' | 'end' = 'first'

  constructor(
    private readonly staging: StagingFile,
    private readonly badRows: BadRows,
  ) {}

  /** Reads all complete objects and returns where the first incomplete one starts. */
  read(text: string, final: boolean): number {
    let at = 0
    for (;;) {
      const start = skipSpace(text, at)
      this.line += lineBreaks(text, at, start)
      at = start
      if (at >= text.length) return at
      const next = this.step(text, at, final)
      if (next === undefined) return at
      this.line += lineBreaks(text, at, next)
      at = next
    }
  }

  private step(text: string, at: number, final: boolean): number | undefined {
    const character = text.charAt(at)
    if (this.form === undefined) {
      this.form = character === '[' ? 'array' : 'lines'
      if (this.form === 'array') return at + 1
    }
    if (this.form === 'array' && (this.state !== 'value' || character === ']')) {
      const after = this.punctuation(character, at)
      if (after !== undefined) return after
    }
    return this.object(text, at, final)
  }

  /** The characters between the objects of an array. */
  private punctuation(character: string, at: number): number | undefined {
    const { state } = this
    if (state === 'first' && character !== ']') return undefined
    if (state !== 'end' && state !== 'value' && character === ']') this.state = 'end'
    else if (state === 'next' && character === ',') this.state = 'value'
    else throw this.broken(state === 'end' ? 'text follows the end of the array' : 'a comma or ] is expected after an object', character)
    return at + 1
  }

  private object(text: string, at: number, final: boolean): number | undefined {
    const scanned = scanObject(text, at)
    if (scanned === 'more') {
      if (text.length - at > limits.fileRowMaxBytes)
        throw tooLarge(`Line ${this.line}: an object is longer than ${limits.fileRowMaxBytes} characters.`)
      return final ? this.reject(text, at, 'the file ends within it', final) : undefined
    }
    if ('reason' in scanned) return this.reject(text, at, scanned.reason, final)
    const reason = this.take(scanned.members, text.slice(at, scanned.end))
    if (reason !== undefined) return this.reject(text, at, reason, final)
    this.state = 'next'
    return scanned.end
  }

  private broken(reason: string, text: string) {
    return badFile(`Line ${this.line}: ${reason}`, { line: this.line, text: text.slice(0, 200), reason })
  }

  /** In JSON lines a bad line can be skipped. In an array, the start of the next object is not known after a broken one. */
  private reject(text: string, at: number, reason: string, final: boolean): number | undefined {
    const newline = text.indexOf('\n', at)
    if (newline === -1 && !final && text.length - at <= limits.fileRowMaxBytes) return undefined
    const end = newline === -1 ? text.length : newline
    const shown = text.slice(at, Math.min(end, at + 400))
    if (this.form === 'array') throw this.broken(reason, shown)
    this.badRows.add({ line: this.line, text: shown, reason })
    return end
  }

  /** Stages a row, or returns why it is not valid. */
  private take(members: readonly Member[], source: string): string | undefined {
    if (source.includes('\\u') && isIllFormed(JSON.parse(source))) return 'a string holds a NUL or half a surrogate pair'
    const row: (Cell | undefined)[] = []
    const met = new Set<string>()
    for (const member of members) {
      if (met.has(member.key)) return `the name ${JSON.stringify(member.key)} stands twice`
      met.add(member.key)
      row[this.column(member.key)] = cell(member)
    }
    this.stage(row)
    return undefined
  }

  private column(key: string): number {
    const known = this.keys.get(key)
    if (known !== undefined) return known
    refuseLarge({ columns: this.keys.size + 1 })
    this.keys.set(key, this.keys.size)
    return this.keys.size - 1
  }

  private stage(row: readonly (Cell | undefined)[]): void {
    // Each row starts with a field of its own, so that a row without values is a line, too.
    let line = '1'
    let commas = 0
    for (let column = 0; column < row.length; column++) {
      commas += 1
      const value = row[column]
      if (value === undefined) continue
      line += `${','.repeat(commas)}"${value.text.includes('"') ? value.text.replaceAll('"', '""') : value.text}"`
      commas = 0
      const before = this.seen[column] ?? 0
      this.seen[column] = before | value.shape
      if ((value.shape & ~before & shapes.noDay) !== 0) this.noDays.set(column, { line: this.line, text: value.text })
    }
    this.staging.text(line)
    this.staging.endRow()
  }

  table(): StagedTable {
    if (this.form === 'array' && this.state !== 'end') throw this.broken('the array is not closed', '')
    this.badRows.refuseIfNothingIsLeft(this.staging.rowCount)
    if (this.keys.size === 0) throw badFile('The file has no objects with members: no columns.')
    refuseLarge({ cells: this.staging.rowCount * this.keys.size })
    const { names, renamed } = columnNames([...this.keys.keys()])
    const columns = names.map((name, index) => ({ name, ...columnType(this.seen[index] ?? 0, comma, this.noDays.get(index)) }))
    return {
      path: this.staging.path,
      separator: ',',
      longestRowBytes: this.staging.longestRowBytes,
      meanRowBytes: this.staging.totalBytes / Math.max(this.staging.rowCount, 1),
      form: 'json',
      columns,
      rowCount: this.staging.rowCount,
      warnings: [],
      renamed,
    }
  }
}

const isIllFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return /[\0\p{Cs}]/u.test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, member]) => isIllFormed(key) || isIllFormed(member))
}

/**
 * Reads an array of objects, or objects one after the other (JSON lines), and writes them as rows to `target`, which must not exist. Each
 * key becomes a column, in the order of first appearance; a missing key is NULL; nested objects and arrays become JSON text; a string never
 * becomes a number, and no number is rounded.
 *
 * @example await stageJson('/data/a.json', '/data/ingest/rows', new BadRows('refuse')) // [{"a":1},{"a":null,"b":{"c":2}}] → a BIGINT, b VARCHAR
 */
export const stageJson = async (source: string, target: string, badRows: BadRows): Promise<StagedTable> => {
  const encoding = await detectEncoding(source)
  if (encoding.name === 'windows-1252') throw badFile('JSON must be well-formed UTF-8, or UTF-16 with a mark.')
  const staging = new StagingFile(target)
  const reader = new JsonReader(staging, badRows)
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of readUtf8(source, encoding)) {
    rest += decoder.write(chunk)
    rest = rest.slice(reader.read(rest, false))
  }
  reader.read(rest, true)
  staging.close()
  return reader.table()
}
