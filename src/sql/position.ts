import { Problem } from '../errors.js'

/** A place in a statement as people count: lines and columns from 1 (columns in characters), and the line with a caret under the place. */
export type Position = { line: number; column: number; caret: string }

const caretWindowChars = 100

/**
 * The line and column of an offset, and two lines that show it.
 *
 * @example positionOf('SELECT\n  nope', 9) // { line: 2, column: 3, caret: '>  nope\n---^' }
 */
export const positionOf = (sql: string, offset: number): Position => {
  const at = Math.max(0, Math.min(offset, sql.length))
  const before = sql.slice(0, at)
  const lineStart = before.lastIndexOf('\n') + 1
  const lineBreak = sql.indexOf('\n', at)
  const lineEnd = lineBreak === -1 ? sql.length : lineBreak
  const line = before.split('\n').length
  const column = Array.from(sql.slice(lineStart, at)).length + 1
  // A statement of one very long line is shown around the place only.
  const from = at - lineStart > caretWindowChars ? at - caretWindowChars : lineStart
  const shown = sql
    .slice(from, Math.min(lineEnd, at + caretWindowChars))
    .trimEnd()
    .toWellFormed()
  const indent = Array.from(sql.slice(from, at)).length
  return { line, column, caret: `>${shown.replaceAll('\t', ' ')}\n${'-'.repeat(indent + 1)}^` }
}

/**
 * A statement that cannot be parsed: says where, shows the line with a caret, and what to write instead when that is known.
 *
 * @example throw badStatement(sql, token.start, 'a name is expected here')
 */
export const badStatement = (sql: string, offset: number, reason: string, hint?: string): Problem => {
  const { line, column, caret } = positionOf(sql, offset)
  return new Problem(
    'bad_statement',
    'The SQL statement cannot be parsed',
    `The SQL statement cannot be parsed: ${reason} (line ${line}, column ${column})\n${caret}`,
    { line, column, ...(hint !== undefined && { hint }) },
  )
}
