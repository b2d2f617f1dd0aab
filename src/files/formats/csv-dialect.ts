import { CsvTokenizer, type Dialect } from './csv-tokenizer.js'

// In order of reliability: a comma also occurs in text and numbers, a tab hardly ever.
const separators = ['\t', ';', '|', ','] as const
const sampleRows = 1_000

type Fit = { separator: number; columns: number; rows: number; agreement: number }

/** How many fields the first row has, and the share of later rows with as many. */
const fit = (sample: Buffer, dialect: Dialect, final: boolean): Fit => {
  const rows = new CsvTokenizer(dialect)
  const counts: number[] = []
  for (let at = 0; at < sample.length && counts.length < sampleRows; at = rows.nextStart) {
    const token = rows.next(sample, at, final)
    if (token === 'more') break
    if (token === 'row') counts.push(rows.fieldCount)
  }
  const [columns = 0, ...others] = counts
  const agreement = others.length === 0 ? 1 : others.filter((count) => count === columns).length / others.length
  return { separator: dialect.separator, columns, rows: counts.length, agreement }
}

/** Excel writes `sep=;` as the first line for itself; the line is not part of the table. */
const declared = (sample: Buffer): { separator: number; bytes: number } | undefined => {
  const match = /^(?:"sep=(.)"|sep=(.))\r?\n/i.exec(sample.toString('latin1', 0, 10))
  const separator = match?.[1] ?? match?.[2]
  return match === null || separator === undefined ? undefined : { separator: separator.charCodeAt(0), bytes: match[0].length }
}

const newlineOf = (sample: Buffer): number => (sample.includes(0x0a) || !sample.includes(0x0d) ? 0x0a : 0x0d)

const bestFit = (sample: Buffer, newline: number, final: boolean): Fit | undefined => {
  const fits = separators.map((separator) => fit(sample, { separator: separator.charCodeAt(0), newline }, final))
  return fits.filter(({ columns }) => columns > 1).sort((a, b) => b.agreement - a.agreement || b.columns - a.columns)[0]
}

/**
 * Detects the separator (tab, semicolon, bar or comma) and the line end from the start of a file's text: the separator with which most rows
 * have as many fields as the first; among equals, the one with more fields. `skipBytes` is the length of a `sep=;` line. `found` is false
 * when the first row has no separator.
 *
 * @example detectDialect(Buffer.from('a;b\n1,5;2\n'), true) // { dialect: { separator: 0x3b, newline: 0x0a }, skipBytes: 0, found: true }
 */
export const detectDialect = (sample: Buffer, final: boolean): { dialect: Dialect; skipBytes: number; found: boolean } => {
  const newline = newlineOf(sample)
  const said = declared(sample)
  if (said !== undefined) return { dialect: { separator: said.separator, newline }, skipBytes: said.bytes, found: true }
  const best = bestFit(sample, newline, final)
  return { dialect: { separator: best?.separator ?? 0x2c, newline }, skipBytes: 0, found: best !== undefined }
}

/** Lines of prose rarely have the same number of commas. The rows of a table do, apart from bad rows. */
const leastAgreement = 0.9

/**
 * Whether a text is rows of a table: at least two rows with more than one field, and nearly all rows with as many fields as the first.
 *
 * @example looksLikeTable(Buffer.from('Dear Ann, dear Bob,\nthank you.\n'), true) // false
 */
export const looksLikeTable = (sample: Buffer, final: boolean): boolean => {
  if (declared(sample)) return true
  const best = bestFit(sample, newlineOf(sample), final)
  return best !== undefined && best.rows > 1 && best.agreement >= leastAgreement
}
