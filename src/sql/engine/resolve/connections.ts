import { foldName } from '../../../../events/common.js'
import { driverOf } from '../../../catalogue/connection-engines.js'
import { Problem } from '../../../basics/errors.js'
import type { DatabaseEntry, Directory } from './directory.js'
import { sourceLocationOf, type Token } from '../../../dialect/lexer.js'
import { named } from '../../../dialect/names.js'
import { sentAsIs } from '../../../dialect/strings.js'
import { nativeQueries } from './native-queries.js'
import { closingBracket, dollarText, isNameLike, isSymbol, isWord } from '../../../dialect/tokens.js'

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

/** The name before the bracket of `FROM name (…)` and `JOIN name (…)`. */
export const calledTables = (tokens: readonly Token[]): Token[] =>
  tokens.filter((token, i) => isNameLike(token) && /^(FROM|JOIN)$/i.test(tokens[i - 1]?.text ?? '') && tokens[i + 1]?.text === '(')

/** Whether a statement names a database by its form alone: `FROM files.cars`, `FROM files (SELECT …)`. */
export const namesDatabase = (tokens: readonly Token[]): boolean =>
  nativeQueries(tokens).length > 0 ||
  tokens.some((token, i) => isNameLike(token) && isWord(tokens[i - 1], 'FROM', 'JOIN') && isSymbol(tokens[i + 1], '.'))

/** Whether a SELECT names no table: each FROM and JOIN reads a query, a function or a CTE. */
const namesNoTable = (tokens: readonly Token[]): boolean => {
  if (!isWord(tokens[0], 'SELECT', 'WITH') || tokens.some((token) => isWord(token, 'PIVOT', 'PIVOT_WIDER', 'UNPIVOT'))) return false
  const isQueryOf = (i: number) => {
    const end = isSymbol(tokens[i + 1], '(') ? (closingBracket(tokens, i + 1) ?? i) : i
    return isWord(tokens[end + 1], 'AS') && isSymbol(tokens[end + 2], '(')
  }
  const ctes = new Set(tokens.flatMap((token, i) => (isNameLike(token) && isQueryOf(i) ? [foldName(token.value)] : [])))
  return tokens.every((token, i) => {
    if (!isNameLike(token) || !isWord(tokens[i - 1], 'FROM', 'JOIN') || isSymbol(tokens[i + 1], '(')) return true
    return ctes.has(foldName(token.value)) && !isSymbol(tokens[i + 1], '.')
  })
}

/**
 * The text of a SELECT that was sent to a connection, and names no other database. One that names no table is for the connection's own
 * system: the sender would mistake an answer of this service for an answer of that database.
 *
 * @example sentTo({ name: 'pg', engine: 'postgres' }, lex('SELECT 7 / 2'), 'SELECT 7 / 2') // 'SELECT * FROM pg ($$SELECT 7 / 2$$)'
 * @throws Problem for a connection without tables
 */
export const sentTo = (connection: Pick<DatabaseEntry, 'name' | 'engine'>, tokens: readonly Token[], sql: string): string => {
  if (!isConnected(connection)) throw connectionProblem(connection)
  return namesNoTable(tokens) ? sentAsIs(connection.name, sql.trimStart()) : sql
}

/**
 * `FROM db (…)`: a statement in the language of a connected database. It may write only if the user sent it; a statement in a view may not.
 * In dollar quotes, nothing in it is read here.
 */
export type NativeStatement = { connection: DatabaseEntry; sql: string; isQuoted: boolean; mayWrite: boolean }

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
    const quoted = dollarText(tokens.slice(i + 2, close))
    const native = quoted ?? sql.slice(tokens[i + 1]?.end, end.start)
    const name = keepNative(natives, { connection, sql: native, isQuoted: quoted !== undefined, mayWrite })
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
    const { line, column, caret } = sourceLocationOf(sql, token.start)
    return new Problem(problem.code, problem.title, `${problem.detail} (line ${line}, column ${column})\n${caret}`, {
      ...problem.extras,
      line,
      column,
    })
  }
  return undefined
}
