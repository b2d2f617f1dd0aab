import { select } from '../../../api/sql.js'

/** Databases with their tables and models, and the columns of these. */
export type Schema = Record<string, Record<string, string[]>>

/** The names that the editor knows, the moment that they are of, and whether there are more: the editor asks for these while one types. */
export type KnownNames = { schema: Schema; at: string | undefined; areMore: boolean }

/** The most columns that the editor loads at once. */
const columnsMax = 50_000

/** The editor's proposals: databases, their tables, and the columns of these. */
export const loadNames = async (at: string | undefined, signal: AbortSignal): Promise<KnownNames> => {
  const found = await select<{ s: string; t: string; c: string }>({
    query: `SELECT TABLE_SCHEMA AS s, TABLE_NAME AS t, COLUMN_NAME AS c FROM information_schema.columns
      ORDER BY 1, 2, ORDINAL_POSITION LIMIT ${columnsMax + 1}`,
    at,
    signal,
  })
  const areMore = found.length > columnsMax
  const last = areMore ? found.at(-1) : undefined
  // A table may have the name of something that every object has, such as `constructor`.
  const schema = Object.create(null) as Schema
  for (const { s, t, c } of found) {
    // The columns of the last table may not be all.
    if (s === last?.s && t === last.t) break
    ;((schema[s] ??= Object.create(null) as Schema[string])[t] ??= []).push(c)
  }
  return { schema, at, areMore }
}

// The words of the service: every character beyond ASCII is a letter of a name, except white space.
const spaces = '\\u00a0\\u2000-\\u200b\\u202f\\u205f\\u2060\\u3000\\ufeff'
const letter = `(?:[A-Za-z_]|(?![${spaces}])[\\u0080-\\uffff])`
const more = `(?:[$0-9]|${letter})*`

/** One token. A text without an end reaches to the end of the statement. */
const token = new RegExp(
  [
    `(?<blank>[ \\t\\n\\v\\f\\r${spaces}]+|--[^\\n]*)`,
    String.raw`(?<comment>/\*)`,
    String.raw`(?<text>[xXbB]'(?:[^']|'')*(?:'|$)|[eE]?'(?:[^'\\]|\\.|'')*(?:'|\\?$)|"(?:[^"\\]|\\.|"")*(?:"|\\?$)|\x60[^\x60]*(?:\x60|$))`,
    String.raw`(?<dollar>(?<tag>\$(?:[A-Za-z_\u0080-\uffff][A-Za-z_0-9\u0080-\uffff]*)?\$).*?(?:\k<tag>|$))`,
    `(?<word>[$0-9]${more}|${letter}${more}|\\?)`,
    '(?<cast>::)',
    `:(?<name>${letter}${more})`,
    '(?<sign>.)',
  ].join('|'),
  'sy',
)

/** The end of a comment at a place; comments nest. */
const endOfComment = (sql: string, at: number): number => {
  const marks = /\/\*|\*\//g
  marks.lastIndex = at
  let depth = 0
  for (let mark = marks.exec(sql); mark; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1
    if (depth === 0) return marks.lastIndex
  }
  return sql.length
}

/**
 * The named parameters of a statement, in order, as the service finds them: none in texts, comments and casts, and in `{'a':b}` and `[x:y]`
 * a colon separates two values.
 *
 * @example parametersOf("SELECT :größe, {'a':b}, ':c', d::INT") // ['größe']
 */
export const parametersOf = (sql: string): string[] => {
  const names = new Set<string>()
  const brackets: string[] = []
  let isAfterValue = false
  for (let at = 0; at < sql.length;) {
    token.lastIndex = at
    const { blank, comment, cast, name, sign } = token.exec(sql)?.groups ?? {}
    at = comment === undefined ? token.lastIndex : endOfComment(sql, at)
    if (blank !== undefined || comment !== undefined) continue
    if (name !== undefined) {
      const partsValues = isAfterValue && /^[[{]$/.test(brackets.at(-1) ?? '')
      if (!partsValues) names.add(name)
    }
    if (sign !== undefined && '([{'.includes(sign)) brackets.push(sign)
    if (sign !== undefined && ')]}'.includes(sign)) brackets.pop()
    isAfterValue = cast === undefined && (sign === undefined || sign === ')' || sign === ']')
  }
  return [...names]
}

/**
 * A statement without the words EXPLAIN and ANALYZE before it, and without the comments between them.
 *
 * @example withoutExplain('EXPLAIN ANALYZE SELECT 1') // ' SELECT 1'
 */
export const withoutExplain = (sql: string): string => {
  let start = 0
  for (let at = 0; at < sql.length;) {
    token.lastIndex = at
    const { blank, comment, word = '' } = token.exec(sql)?.groups ?? {}
    at = comment === undefined ? token.lastIndex : endOfComment(sql, at)
    if (blank !== undefined || comment !== undefined) continue
    if (!/^(?:explain|analyze)$/i.test(word)) break
    start = at
  }
  return sql.slice(start)
}

/**
 * The place in the message of an SQL error; undefined if it is in the text of a view, which is another one.
 *
 * @example placeOf('… (line 1, column 8)\n…') // { line: 1, column: 8 }
 */
export const placeOf = (message: string): { line: number; column: number } | undefined => {
  if (message.startsWith('In view ')) return undefined
  const [, line, column] = /\(line (\d+), column (\d+)\)/.exec(message) ?? []
  return line === undefined || column === undefined ? undefined : { line: Number(line), column: Number(column) }
}
