import type { DuckDBInstance } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { printSelect, type CheckedText } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import { textOf } from '../ast/nodes.js'
import { refuseNumberTexts } from '../connected-tables/number-texts.js'
import { nondeterminismIn } from '../read/nondeterminism.js'
import { checkRewritten } from '../guard/guard.js'
import { perInstance } from '../duckdb-connection/duckdb-connection.js'
import { tokensIn } from '../../../dialect/lexer.js'
import { named } from '../../../dialect/names.js'
import { dollarText } from '../../../dialect/tokens.js'
import { isConnected, keepNative } from '../resolve/connections.js'
import { Rewriter } from './rewrite.js'
import type { SelectRequest } from '../../contract/select.js'
import type { Session } from '../session/session.js'
import type { Text } from '../session/sources.js'
import { limitRows } from '../read/limit-rows.js'
import { readQuery } from '../read/read-query.js'
import { needsAnswers } from './needs-answers.js'
import { checkLastUsed, refuseLimit } from './last-in-query.js'
import { positionOfRequest } from '../resolve/as-of-position.js'

/** The number of characters that all kept statements may have together. */
const keptChars = 4_000_000

/** The rewritten text of a statement, and the blobs that the server must hold for it. */
type CachedRewrite = { text: CheckedText; blobs: ReadonlySet<string> }

const keptIn = perInstance(
  () => new LRUCache<string, CachedRewrite>({ maxSize: keptChars, sizeCalculation: ({ text }, key) => text.length + key.length }),
)

/**
 * The only text that DuckDB runs for a request, and the tree from which it was printed; no tree when the text came from memory. `blobs`
 * then has the blobs of the text that the server must hold.
 */
export type RewrittenQuery = { text: CheckedText; tree?: AstNode; blobs?: ReadonlySet<string> }

/** Turns a statement in the language of its database into one that reads from this database; undefined for any other statement. */
const nativeText = async (
  { directory, natives, mayWrite }: Session,
  { isNative, sql, db }: SelectRequest,
  position: number,
): Promise<Text | undefined> => {
  const connection = isNative ? named(await directory.databases(position), db) : undefined
  if (!connection || !isConnected(connection)) return undefined
  const quoted = dollarText(tokensIn(sql) ?? [])
  const name = keepNative(natives, { connection, sql: quoted ?? sql, isQuoted: quoted !== undefined, mayWrite })
  return { sql: `SELECT * FROM ${name}` }
}

/** Reads a statement, and replaces its names with their relations. */
export const rewrite = async (session: Session, request: SelectRequest): Promise<Required<Omit<RewrittenQuery, 'blobs'>>> => {
  const { connection, directory, head, askedAt } = session
  const clock = { connection, directory, head, askedAt }
  const position = request.asOf === undefined ? request.upTo : await positionOfRequest(clock, request.asOf)
  const db = request.db === '' ? request.defaultProject : request.db
  const { wanted } = request
  const read = async (text: Text, where: string) => {
    const query = await readQuery(session, text, where)
    if (request.purpose === 'training') session.nondeterminism.push(...nondeterminismIn(query.tree, text.view))
    return query
  }
  const { tree, options } = await read((await nativeText(session, request, position)) ?? { sql: request.sql, within: request.within }, db)
  if (session.natives.size > 0 && session.mayWrite)
    session.mayWrite = !(await needsAnswers(session, tree, { directory, head, db, position }))
  if (session.last) refuseLimit(session.last, tree)
  if (request.maxRows !== undefined) limitRows(tree, request.maxRows)
  const views = wanted?.kind === 'columns' && wanted.ofView !== undefined ? [wanted.ofView] : []
  await new Rewriter(session, read).query(tree, { db, position, ctes: new Map(), entries: [], views, options })
  if (session.last) checkLastUsed(session.last)
  checkRewritten(tree)
  const { answers } = session
  if (answers.hasNumberTexts) refuseNumberTexts(tree, (ref) => answers.columnsIn(textOf(ref, 'catalog_name')))
  return { text: await printSelect(session.connection, tree), tree }
}

const keyOf = ({ strings }: Session, { sql, within, db, isNative, defaultProject, upTo, asOf, params }: SelectRequest): string =>
  JSON.stringify([sql, within, db || defaultProject, isNative, upTo, asOf, params, ...strings])

/** Whether a statement has bounds, which change its text, or belongs to a training. Nobody sends such a statement twice. */
const isBound = ({ only, maxRows, purpose }: SelectRequest): boolean =>
  only !== undefined || maxRows !== undefined || purpose === 'training'

/**
 * The same from memory, if the statement was rewritten before with the same text, parameters, database and log position. At one position
 * all names have a fixed meaning.
 */
export const keptText = (session: Session, instance: DuckDBInstance, request: SelectRequest): RewrittenQuery | undefined =>
  isBound(request) ? undefined : keptIn(instance).get(keyOf(session, request))

/**
 * Keeps the text of a statement whose names DuckDB has bound, so no kept text has a name that must be read in another way. A text with
 * models is not kept, because it has a number for each run of a model.
 */
export const keepText = (session: Session, instance: DuckDBInstance, request: SelectRequest, { text, tree }: RewrittenQuery): void => {
  const hasModels = session.run.uses.size + session.served.length + session.staged.length > 0
  if (tree && !hasModels && session.keep && !isBound(request)) keptIn(instance).set(keyOf(session, request), { text, blobs: session.blobs })
}
