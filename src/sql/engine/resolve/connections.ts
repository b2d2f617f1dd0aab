import { driverOf } from '../../../catalogue/connection-engines.js'
import { Problem } from '../../../basics/errors.js'
import type { DatabaseEntry, Directory } from './directory.js'
import { lex, locationOf, type Token } from '../../../dialect/lexer.js'
import { named } from '../../../dialect/names.js'
import { nativeQueries } from './native-queries.js'
import { closingBracket, isNameLike, isSymbol, isWord } from '../../../dialect/tokens.js'

/** The reason why a connection's tables cannot be read, and an alternative. */
export const connectionProblem = ({ name, engine }: Pick<DatabaseEntry, 'name' | 'engine'>): Problem =>
  new Problem(
    'refused_statement',
    'This connection has no tables',
    `${name} is a connection to ${engine}, which has no tables that SQL reads here`,
    { hint: 'Export the rows as CSV, JSON or Parquet and upload them (PUT /api/files/name); then SELECT … FROM files.name.' },
  )

/** Whether the tables of a connection can be read. */
export const isConnected = ({ engine }: Pick<DatabaseEntry, 'engine'>): boolean => driverOf(engine) !== undefined

/** Whether a statement itself names a database: `FROM files.cars`, `FROM files (SELECT …)`. */
const namesDatabase = (tokens: readonly Token[]): boolean =>
  nativeQueries(tokens).length > 0 ||
  tokens.some((token, i) => isNameLike(token) && isWord(tokens[i - 1], 'FROM', 'JOIN') && isSymbol(tokens[i + 1], '.'))

/**
 * Refuses a SELECT that was sent to a connection without tables and names no other database. The sender expects an answer of the
 * connection's own system, and would mistake an answer of this service for it.
 *
 * @throws Problem that says why the connection cannot be queried
 */
export const refuseForeign = (connection: Pick<DatabaseEntry, 'name' | 'engine'>, sql: string): void => {
  if (!isConnected(connection) && !namesDatabase(lex(sql))) throw connectionProblem(connection)
}

/** The name before the bracket of `FROM name (…)` and `JOIN name (…)`. */
const calledTables = (tokens: readonly Token[]): Token[] =>
  tokens.filter((token, i) => isNameLike(token) && /^(FROM|JOIN)$/i.test(tokens[i - 1]?.text ?? '') && tokens[i + 1]?.text === '(')

/**
 * `FROM db (…)`: a statement in the language of a connected database. It may write only if the user sent it; a statement in a view may not.
 */
export type NativeStatement = { connection: DatabaseEntry; sql: string; mayWrite: boolean }

/** The name of a statement in another language in the tree; its number follows. */
const nativePrefix = 'ledger_native_'

/** Keeps a statement, and gives the name that replaces it. */
export const keepNative = (natives: Map<string, NativeStatement>, statement: NativeStatement): string => {
  const name = `${nativePrefix}${natives.size + 1}`
  natives.set(name, statement)
  return name
}

/** The place for looking up and keeping statements. */
type NativeContext = { directory: Directory; position: number; natives: Map<string, NativeStatement>; mayWrite: boolean }

/**
 * Takes the statements in the languages of connected databases out of a text before the text is read as DuckDB's SQL. A name replaces each
 * statement, which is kept under this name in `natives`.
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
 * The refusal of `FROM name (…)` where the name is a connection without tables, and the brackets hold its own language. Undefined if a
 * statement has no such part.
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
    const { line, column, caret } = locationOf(sql, token.start)
    return new Problem(problem.code, problem.title, `${problem.detail} (line ${line}, column ${column})\n${caret}`, {
      ...problem.extras,
      line,
      column,
    })
  }
  return undefined
}
