import { driverOf } from '../../../catalogue/connection-engines.js'
import { Problem } from '../../../basics/errors.js'
import type { DatabaseEntry, Directory } from './directory.js'
import { lex, positionOf, type Token } from '../../../dialect/lexer.js'
import { named } from '../../../dialect/names.js'
import { nativeQueries } from './native-queries.js'
import { closingBracket, isNameLike, isSymbol, isWord } from '../../../dialect/tokens.js'

/** Why a connection's tables cannot be read, and what to do instead. */
export const connectionProblem = ({ name, engine }: Pick<DatabaseEntry, 'name' | 'engine'>): Problem =>
  new Problem(
    'refused_statement',
    'This connection has no tables',
    `${name} is a connection to ${engine}, which has no tables that SQL reads here`,
    { hint: 'Export the rows as CSV, JSON or Parquet and upload them (PUT /api/files/name); then SELECT … FROM files.name.' },
  )

/** Whether the tables of a connection can be read. */
export const isConnected = ({ engine }: Pick<DatabaseEntry, 'engine'>): boolean => driverOf(engine) !== undefined

/** Whether a statement names a database itself: `FROM files.cars`, `FROM files (SELECT …)`. */
const namesDatabase = (tokens: readonly Token[]): boolean =>
  nativeQueries(tokens).length > 0 ||
  tokens.some((token, i) => isNameLike(token) && isWord(tokens[i - 1], 'FROM', 'JOIN') && isSymbol(tokens[i + 1], '.'))

/**
 * Refuses a SELECT that was sent to a connection without tables and names no other database. The connection's own system should answer
 * it, and the sender would take an answer of this service for that.
 *
 * @throws Problem that says why it cannot be asked
 */
export const refuseForeign = (connection: Pick<DatabaseEntry, 'name' | 'engine'>, sql: string): void => {
  if (!isConnected(connection) && !namesDatabase(lex(sql))) throw connectionProblem(connection)
}

/** What stands before the bracket of `FROM name (…)` and `JOIN name (…)`. */
const calledTables = (tokens: readonly Token[]): Token[] =>
  tokens.filter((token, i) => isNameLike(token) && /^(FROM|JOIN)$/i.test(tokens[i - 1]?.text ?? '') && tokens[i + 1]?.text === '(')

/** `FROM db (…)`: a statement in the language of a connected database. Only one that the user sent may write, and not one of a view. */
export type NativeStatement = { connection: DatabaseEntry; sql: string; mayWrite: boolean }

/** What a statement in another language is called in the tree, with its number behind. */
const nativePrefix = 'ledger_native_'

/** Keeps a statement, and gives the name that stands for it. */
export const keepNative = (natives: Map<string, NativeStatement>, statement: NativeStatement): string => {
  const name = `${nativePrefix}${natives.size + 1}`
  natives.set(name, statement)
  return name
}

/** Where statements are looked up and kept. */
type NativeContext = { directory: Directory; position: number; natives: Map<string, NativeStatement>; mayWrite: boolean }

/**
 * Takes the statements in the languages of connected databases out of a text, before anybody reads them as DuckDB's SQL. A name stands
 * in the place of each, under which it is kept in `natives`.
 */
export const cutNativeStatements = async (
  { directory, position, natives, mayWrite }: NativeContext,
  tokens: readonly Token[],
  sql: string,
): Promise<Token[]> => {
  const left: Token[] = []
  const called = new Set(calledTables(tokens))
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token
    const close = called.has(token) ? closingBracket(tokens, i + 1) : undefined
    const connection = close === undefined ? undefined : named(await directory.databases(position), token.value)
    const end = close === undefined ? undefined : tokens[close]
    if (close === undefined || !end || !connection || !isConnected(connection)) {
      left.push(token)
      continue
    }
    const name = keepNative(natives, { connection, sql: sql.slice(tokens[i + 1]?.end, end.start), mayWrite })
    left.push({ ...token, kind: 'word', text: name, value: name, end: end.end })
    i = close
  }
  return left
}

/**
 * The refusal of `FROM name (…)` where the name is a connection without tables, whose own language stands in the brackets; undefined
 * where a statement has none.
 */
export const refusalOfCall = async (
  directory: Directory,
  position: number,
  tokens: readonly Token[],
  sql: string,
): Promise<Problem | undefined> => {
  for (const token of calledTables(tokens)) {
    const connection = named(await directory.databases(position), token.value)
    if (!connection || isConnected(connection)) continue
    const problem = connectionProblem(connection)
    const { line, column, caret } = positionOf(sql, token.start)
    return new Problem(problem.code, problem.title, `${problem.detail} (line ${line}, column ${column})\n${caret}`, {
      ...problem.extras,
      line,
      column,
    })
  }
  return undefined
}
