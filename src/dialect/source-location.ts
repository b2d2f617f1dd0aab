import { Problem } from '../basics/errors.js'

/** A place in a statement for people: line and column from 1 (columns in characters), and the line with a caret under the place. */
export type SourceLocation = { line: number; column: number; caret: string }

const caretWindowChars = 100

const isPair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff

/** The number of characters (code points) in a part of a text. */
const charactersIn = (text: string, from: number, to: number): number => {
  let count = 0
  for (let at = from; at < to; at += isPair(text, at) ? 2 : 1) count++
  return count
}

/** The offset that is this many characters after another offset; the end of a text that has fewer characters. */
export const offsetOfCharacters = (text: string, from: number, characters: number): number => {
  let at = from
  for (let count = 0; count < characters && at < text.length; count++) at += isPair(text, at) ? 2 : 1
  return at
}

/** The offset of a line and a column: `offsetOf('SELECT\n  nope', 2, 3) // 9` */
export const offsetOf = (sql: string, line: number, column: number): number => {
  let start = 0
  for (let passed = 1; passed < line; passed++) {
    const end = sql.indexOf('\n', start)
    if (end === -1) return sql.length
    start = end + 1
  }
  return offsetOfCharacters(sql, start, column - 1)
}

const linesBefore = (sql: string, at: number): number => {
  let count = 0
  for (let end = sql.indexOf('\n'); end !== -1 && end < at; end = sql.indexOf('\n', end + 1)) count++
  return count
}

/**
 * The line and column of an offset, and two lines that show it.
 *
 * @example sourceLocationOf('SELECT\n  nope', 9) // { line: 2, column: 3, caret: '>  nope\n---^' }
 */
export const sourceLocationOf = (sql: string, offset: number): SourceLocation => {
  const at = Math.max(0, Math.min(offset, sql.length))
  const lineStart = at === 0 ? 0 : sql.lastIndexOf('\n', at - 1) + 1
  const lineBreak = sql.indexOf('\n', at)
  const lineEnd = lineBreak === -1 ? sql.length : lineBreak
  const line = linesBefore(sql, at) + 1
  const column = charactersIn(sql, lineStart, at) + 1
  // For a very long line, only the text around the place is shown.
  const from = at - lineStart > caretWindowChars ? at - caretWindowChars : lineStart
  const shown = sql
    .slice(from, Math.min(lineEnd, at + caretWindowChars))
    .trimEnd()
    .toWellFormed()
  const indent = charactersIn(sql, from, at)
  return { line, column, caret: `>${shown.replaceAll('\t', ' ')}\n${'-'.repeat(indent + 1)}^` }
}

/**
 * The refusal of a statement that cannot be parsed: its place, the line with a caret, and a correction if one is known.
 *
 * @example throw badStatement(sql, token.start, 'a name is expected here')
 */
export const badStatement = (sql: string, offset: number, reason: string, hint?: string): Problem => {
  const { line, column, caret } = sourceLocationOf(sql, offset)
  return new Problem(
    'bad_statement',
    'The SQL statement cannot be parsed',
    `The SQL statement cannot be parsed: ${reason} (line ${line}, column ${column})\n${caret}`,
    { line, column, ...(hint !== undefined && { hint }) },
  )
}
