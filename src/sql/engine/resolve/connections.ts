import { extensionOf } from '../../../catalogue/connection-engines.js'
import { Problem } from '../../../basics/errors.js'
import type { DatabaseEntry, Directory } from './directory.js'
import { lex, positionOf, type Token } from '../../../dialect/lexer.js'
import { named } from '../../../dialect/names.js'
import { nativeQueries } from './native-queries.js'
import { isNameLike, isSymbol, isWord } from '../../../dialect/tokens.js'

const upload = 'Export the rows as CSV, JSON or Parquet and upload them (PUT /api/files/name); then SELECT … FROM files.name.'

/** Why a connection's tables cannot be read, and what to do instead. */
export const connectionProblem = ({ name, engine }: Pick<DatabaseEntry, 'name' | 'engine'>): Problem => {
  const extension = extensionOf(engine)
  if (extension === undefined && engine !== 'duckdb')
    return new Problem(
      'refused_statement',
      'Connections cannot be queried',
      `${name} is a connection to ${engine}, which has no tables that SQL reads here`,
      {
        hint: upload,
      },
    )
  const missing =
    extension === undefined
      ? 'files of other DuckDB databases are not opened here'
      : `DuckDB's extension "${extension}" reads its tables, and is not installed here`
  return new Problem('refused_statement', 'Connections cannot be queried', `${name} is a connection to ${engine}: ${missing}`, {
    hint: upload,
  })
}

/** Whether a statement names a database itself: `FROM files.cars`, `FROM files (SELECT …)`. */
const namesDatabase = (tokens: readonly Token[]): boolean =>
  nativeQueries(tokens).length > 0 ||
  tokens.some((token, i) => isNameLike(token) && isWord(tokens[i - 1], 'FROM', 'JOIN') && isSymbol(tokens[i + 1], '.'))

/**
 * Refuses a SELECT that was sent to a connection and names no other database. The connection's own database should answer it, and
 * the sender would take an answer of this service for that.
 *
 * @throws Problem that says why it cannot be asked
 */
export const refuseForeign = (connection: Pick<DatabaseEntry, 'name' | 'engine'>, sql: string): void => {
  if (!namesDatabase(lex(sql))) throw connectionProblem(connection)
}

/** What stands before the bracket of `FROM name (…)` and `JOIN name (…)`. */
const calledTables = (tokens: readonly Token[]): Token[] =>
  tokens.filter((token, i) => isNameLike(token) && /^(FROM|JOIN)$/i.test(tokens[i - 1]?.text ?? '') && tokens[i + 1]?.text === '(')

/**
 * The refusal of `FROM name (…)` where the name is a connection, whose own language stands in the brackets; undefined where a
 * statement has none.
 */
export const refusalOfCall = async (
  directory: Directory,
  position: number,
  tokens: readonly Token[],
  sql: string,
): Promise<Problem | undefined> => {
  for (const token of calledTables(tokens)) {
    const connection = named(await directory.databases(position), token.value)
    if (!connection) continue
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
