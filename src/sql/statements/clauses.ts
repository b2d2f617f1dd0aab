import type { Token } from '../../dialect/lexer.js'
import { isNameLike, isSymbol, splitTokens } from '../../dialect/tokens.js'
import type { Cursor } from './cursor.js'
import { nameFollows, takePart } from './names.js'
import type { InnerQuery, PlacedQuery, Span } from './statement.js'

const isSemicolon = (token: Token): boolean => token.kind === 'symbol' && token.text === ';'

/** The place of these tokens, from the first to the last. */
export const spanOf = (tokens: readonly Token[]): Span => ({ start: tokens[0]?.start ?? 0, end: tokens.at(-1)?.end ?? 0 })

/** `(SELECT …)`: the text between the brackets, byte for byte, except for its parameters and the white space and comments at its ends. */
export const takeQuery = (cursor: Cursor): string => cursor.boundTextOf(takeQueryTokens(cursor))

const takeQueryTokens = (cursor: Cursor): Token[] => {
  const open = cursor.peek()
  const inner = cursor.takeBracket()
  const semicolon = inner.find(isSemicolon)
  const last = inner.at(-1)
  const body = last && isSemicolon(last) ? inner.slice(0, -1) : inner
  if (body.length === 0) cursor.refuse(open, 'a query is missing between these brackets')
  if (semicolon && semicolon !== last) cursor.refuse(semicolon, 'only one query is taken here')
  return body
}

/** `(q1; q2)`: the texts of several queries. */
export const takeQueries = (cursor: Cursor): string[] => {
  const open = cursor.peek()
  const queries = splitTokens(cursor.takeBracket()).map((tokens) => cursor.boundTextOf(tokens))
  if (queries.length === 0) cursor.refuse(open, 'a query is missing between these brackets')
  return queries
}

/** `FROM [database] (SELECT …)`, the word FROM already taken. */
export const takeFromQuery = (cursor: Cursor): InnerQuery => {
  const database = nameFollows(cursor) ? takePart(cursor) : null
  if (database === null) cursor.expect('a database')
  return { database, query: takeQuery(cursor) }
}

const queryWords = ['SELECT', 'WITH', 'VALUES', 'FROM']

/** Words that begin a query before a table; anywhere else they are names. */
const tableWords = ['TABLE', 'PIVOT', 'PIVOT_WIDER', 'UNPIVOT', 'PIVOT_LONGER', 'SUMMARIZE']

const rowsFollow = (cursor: Cursor, ahead: number): boolean => {
  if (queryWords.some((word) => cursor.isWord(word, ahead))) return true
  const next = cursor.peek(ahead + 1)
  return tableWords.some((word) => cursor.isWord(word, ahead)) && (isNameLike(next) || next?.kind === 'string' || isSymbol(next, '('))
}

/**
 * Whether a query begins at this place, without a bracket around it. `DESCRIBE SELECT …` shows the columns of a query; DESCRIBE of anything
 * else is about models.
 */
export const queryFollows = (cursor: Cursor, ahead = 0): boolean =>
  rowsFollow(cursor, ahead) ||
  ((cursor.isWord('DESCRIBE', ahead) || cursor.isWord('DESC', ahead)) && (cursor.isSymbol('(', ahead + 1) || rowsFollow(cursor, ahead + 1)))

/** A query in brackets, or one without brackets, which continues to the end. */
export const takeAnyQuery = (cursor: Cursor): Span => spanOf(takeAnyQueryTokens(cursor))

const takeAnyQueryTokens = (cursor: Cursor): Token[] => (queryFollows(cursor) ? cursor.takeRest() : takeQueryTokens(cursor))

/** `[FROM database] [AS] (SELECT …)` */
export const takeSource = (cursor: Cursor): PlacedQuery => {
  const database = cursor.takeWords('FROM') ? takePart(cursor, 'a database') : null
  const bare = cursor.takeWords('AS')
  const tokens = bare ? takeAnyQueryTokens(cursor) : takeQueryTokens(cursor)
  return { database, query: cursor.boundTextOf(tokens), span: spanOf(tokens) }
}
