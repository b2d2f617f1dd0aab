import { limits } from '../../basics/limits.js'

/**
 * The bytes of the separator and the line end. UTF-8 never uses ASCII bytes within other characters, so bytes can be compared without
 * decoding.
 */
export type Dialect = { separator: number; newline: number }

export type Token = 'row' | 'blank' | 'more' | 'bad'

const quote = 0x22
const lineFeed = 0x0a
const carriageReturn = 0x0d
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09

/**
 * Cuts UTF-8 bytes into rows and fields. A quote opens a quoted field only as the field's first character; inside, a doubled quote is one
 * quote; only blanks may follow the closing one. Its fields hold the result until the next call: positions in the given bytes, no copies.
 *
 * @example
 * const rows = new CsvTokenizer({ separator: 0x2c, newline: 0x0a })
 * rows.next(Buffer.from('a,"b c"\n'), 0, true) // 'row', fieldCount 2
 */
export class CsvTokenizer {
  /** Where each field's content starts and ends, without its quotes; quotes inside a quoted field are still doubled. */
  readonly starts = new Int32Array(limits.fileMaxColumns)
  readonly ends = new Int32Array(limits.fileMaxColumns)
  readonly quoted = new Uint8Array(limits.fileMaxColumns)
  fieldCount = 0
  /** The line that the row starts on, from 1. */
  line = 1
  /** Where the row's text ends, without its line end, and where the next row starts. */
  rowEnd = 0
  nextStart = 0
  /** Whether every CSV reader finds the same fields in the row's bytes. */
  plain = true
  reason = ''

  private nextLine = 1

  constructor(private readonly dialect: Dialect) {}

  /** Reads the row at `from`; 'more' when the bytes end within it and `final` is false. */
  next(bytes: Buffer, from: number, final: boolean): Token {
    this.line = this.nextLine
    this.fieldCount = 0
    this.plain = this.dialect.newline === lineFeed
    let at = from
    while (at >= 0) at = bytes[at] === quote ? this.quotedField(bytes, at, final) : this.plainField(bytes, at, final)
    if (at === notYet) return this.unfinished(bytes, from)
    if (at === broken) return this.skipLine(bytes, from, final)
    this.nextLine += 1
    return this.isBlankRow(bytes) ? 'blank' : 'row'
  }

  private plainField(bytes: Buffer, from: number, final: boolean): number {
    const { separator, newline } = this.dialect
    const length = bytes.length
    let at = from
    let returns = 0
    for (; at < length; at++) {
      const byte = bytes[at]
      if (byte === separator || byte === newline) break
      // A quote or a lone carriage return inside an unquoted field is text here; other readers may differ.
      if (byte === quote) this.plain = false
      else if (byte === carriageReturn) returns += 1
    }
    if (at === length && !final) return notYet
    const atSeparator = at < length && bytes[at] === separator
    const endsLine = returns > 0 && !atSeparator && bytes[at - 1] === carriageReturn
    const end = endsLine ? at - 1 : at
    if (returns > (endsLine ? 1 : 0)) this.plain = false
    return this.addField(from, end, 0, at, atSeparator, end)
  }

  private quotedField(bytes: Buffer, from: number, final: boolean): number {
    const { separator, newline } = this.dialect
    const length = bytes.length
    let lines = 0
    let close = from + 1
    for (; close < length; close++) {
      const byte = bytes[close]
      if (byte === newline) lines += 1
      if (byte !== quote) continue
      if (bytes[close + 1] !== quote) break
      close += 1
    }
    if (close >= length) return final ? this.fail('a quote is opened and not closed') : notYet
    let at = close + 1
    while (at < length && isBlank(bytes[at]) && bytes[at] !== separator) at += 1
    if (at > close + 1) this.plain = false
    const rowEnd = at
    if (bytes[at] === carriageReturn && newline === lineFeed) at += 1
    if (at >= length && !final) return notYet
    const atSeparator = at === rowEnd && bytes[at] === separator
    if (at < length && !atSeparator && bytes[at] !== newline) return this.fail('text follows a closing quote')
    this.nextLine += lines
    return this.addField(from + 1, close, 1, at, atSeparator, rowEnd)
  }

  /** Notes a field and returns where the next one starts, or that the row is over. */
  private addField(start: number, end: number, isQuoted: 0 | 1, at: number, atSeparator: boolean, rowEnd: number): number {
    if (this.fieldCount === limits.fileMaxColumns) return this.fail(`it has more than ${limits.fileMaxColumns} fields`)
    this.starts[this.fieldCount] = start
    this.ends[this.fieldCount] = end
    this.quoted[this.fieldCount] = isQuoted
    this.fieldCount += 1
    if (atSeparator) return at + 1
    this.rowEnd = rowEnd
    this.nextStart = at + 1
    return rowOver
  }

  private fail(reason: string): number {
    this.reason = reason
    return broken
  }

  private unfinished(bytes: Buffer, from: number): Token {
    this.nextLine = this.line
    if (bytes.length - from <= limits.fileRowMaxBytes) return 'more'
    this.reason = `the row is longer than ${limits.fileRowMaxBytes} bytes; a quote may be opened and not closed`
    return this.skipLine(bytes, from, true)
  }

  /** Skips only one line, and not all text that an unclosed quote would include: the rows after it may be valid. */
  private skipLine(bytes: Buffer, from: number, final: boolean): Token {
    const end = bytes.indexOf(this.dialect.newline, from)
    if (end === -1 && !final) return this.unfinished(bytes, from)
    this.rowEnd = end === -1 ? bytes.length : end
    this.nextStart = this.rowEnd + 1
    this.nextLine = this.line + 1
    return 'bad'
  }

  private isBlankRow(bytes: Buffer): boolean {
    if (this.fieldCount !== 1 || this.quoted[0] === 1) return false
    for (let at = this.starts[0] ?? 0; at < this.rowEnd; at++) if (!isBlank(bytes[at])) return false
    return true
  }

  /** The text of a field, with doubled quotes made one. */
  text(bytes: Buffer, field: number): string {
    const text = bytes.toString('utf8', this.starts[field], this.ends[field])
    return this.quoted[field] === 1 ? text.replaceAll('""', '"') : text
  }
}

const rowOver = -1
const notYet = -2
const broken = -3
