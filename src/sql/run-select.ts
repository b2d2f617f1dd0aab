import { setImmediate } from 'node:timers/promises'
import type { DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement, DuckDBType } from '@duckdb/node-api'
import { isProblem, Problem } from '../errors.js'
import { limits } from '../limits.js'
import { printSelect } from './ast/duckdb.js'
import type { AstNode } from './ast/json.js'
import { Directory } from './directory.js'
import { rowsOf, type RowFormat } from './encode/chunks.js'
import { explainError, missingColumn } from './explain-error.js'
import { checkRewritten } from './guard/guard.js'
import { leases, type Lease } from './leases.js'
import { loadEngineModel } from './models/adapter.js'
import { modelFunctions } from './models/functions.js'
import { modelLoader, type LoadModel } from './models/load.js'
import { checkAborted } from './models/staging.js'
import { answerTable } from './outcomes/answer-table.js'
import type { Wanted } from './outcomes/wanted.js'
import { Rewriter } from './rewrite.js'
import type { ScoringMode, Served, Session } from './session.js'
import { rewrites } from './rewrites.js'
import { accountOf, defineMacros } from './session-user.js'
import { RunError, running, Sources } from './sources.js'
import { readStatement, type Text } from './statement.js'
import { positionOfRequest } from './time-travel.js'
import { viewColumns } from './view-columns.js'
import { watch } from './watch.js'

export type { Served } from './session.js'

/**
 * One SELECT. `upTo` is the last log position it may see, `asOf` an earlier one (a position or a UTC time) for all of it;
 * names without a database are looked up in `db`.
 */
export type SelectRequest = {
  sql: string
  db: string
  defaultProject: string
  upTo: number
  asOf?: number | string
  params?: Record<string, unknown>
  timeoutMs?: number
  /** Who asks. */
  user?: string
  /** The part of `sql` that is the query, when it stands in another statement. */
  within?: { start: number; end: number }
  /** What is answered instead of its rows. */
  wanted?: Wanted
  /** How the rows are written: JSON unless said otherwise. */
  format?: RowFormat
}

/** Which version of a model scored how many rows. */
export type Scored = { model: string; version: number; rows: number }

/**
 * Parts of an answer: first the columns, then rows chunk by chunk, last the counts. `rows` holds JSON arrays joined by commas, or lines of CSV, in UTF-8.
 * What models did is told with the columns when it is over by then, so that it can be recorded before a row is given.
 */
export type Frame =
  | { columns: { name: string; type: string }[]; served?: Served[]; scored?: Scored[] }
  | { rows: Buffer }
  | { end: { rows: number; scored: Scored[] } }

/** `loadModel` is the engine's unless another one is given. */
export type SelectServices = { blobsDirectory: string; signal: AbortSignal; loadModel?: LoadModel }

const quotedMaxStrings = 100

type Context = Lease & {
  database: { instance: DuckDBInstance }
  request: SelectRequest
  services: SelectServices
}

/** How an attempt runs models, and which names in double quotes it takes for texts. */
type Way = { mode: ScoringMode; strings: ReadonlySet<string> }

/** Thrown when models have to be run before the query. Nothing has been answered then. */
class TooManyRowsInside extends Error {}

/** Rows that depend on a query around them cannot be scored beforehand. */
const tooManyAround = () =>
  new Problem(
    'query_limit',
    'Too many rows',
    `A subquery asks a model for more than ${limits.modelInsideMaxRows} rows of the query around it`,
    {
      hint: 'JOIN the model with the table instead.',
    },
  )

const begin = async (connection: DuckDBConnection) => connection.run('BEGIN TRANSACTION READ ONLY')
const rollback = async (connection: DuckDBConnection) => {
  // A transaction that an error has ended needs no end.
  await connection.run('ROLLBACK').catch(() => undefined)
}

const sessionOf = (context: Context, { mode, strings }: Way): Session => {
  const { connection, database, request, services } = context
  const functions = modelFunctions(database.instance)
  const run = functions.begin(limits.modelInsideMaxRows)
  const session: Session = {
    connection,
    directory: new Directory(connection, database.instance),
    head: request.upTo,
    blobsDirectory: services.blobsDirectory,
    params: request.params ?? {},
    account: accountOf(request.user),
    macros: new Set(),
    signal: services.signal,
    mode,
    functions,
    run,
    load: modelLoader(database.instance, services.blobsDirectory, services.loadModel ?? loadEngineModel),
    reads: [],
    ctes: new Map(),
    sources: new Sources(),
    quoted: new Set(),
    strings,
    keep: true,
    served: [],
    staged: [],
    refresh: async () => {
      await rollback(connection)
      functions.renew(run)
      await begin(connection)
      await defineMacros(session)
    },
    viewColumns: (position) => viewColumns(database.instance, session, position),
  }
  return session
}

/** The only text that DuckDB runs for a request, and the tree that it is printed from; none when the text was known. */
type Rewritten = { text: string; tree?: AstNode }

const rewrite = async (session: Session, request: SelectRequest): Promise<Required<Rewritten>> => {
  const clock = { connection: session.connection, directory: session.directory, head: session.head }
  const position = request.asOf === undefined ? request.upTo : await positionOfRequest(clock, request.asOf)
  const db = request.db === '' ? request.defaultProject : request.db
  const read = (text: Text, where: string) => readStatement(session, text, where)
  const { tree, options } = await read({ sql: request.sql, within: request.within }, db)
  await new Rewriter(session, read).query(tree, { db, position, ctes: new Map(), entries: [], views: [], options })
  checkRewritten(tree)
  return { text: await printSelect(session.connection, tree), tree }
}

/** The same from memory, where a statement was rewritten at this position before. */
const rewriteOnce = async (session: Session, { database, request }: Context): Promise<Rewritten> => {
  const known = rewrites(database.instance)
  const { sql, within, db, defaultProject, upTo, asOf, params } = request
  const key = JSON.stringify([sql, within, db || defaultProject, upTo, asOf, params, ...session.strings])
  const found = known.get(key)
  if (found) {
    for (const name of found.quoted) session.quoted.add(name)
    return { text: found.text }
  }
  const { text, tree } = await rewrite(session, request)
  const hasModels = session.run.uses.size + session.served.length + session.staged.length > 0
  if (!hasModels && session.keep) known.set(key, { text, quoted: session.quoted })
  return { text, tree }
}

const scoredBy = (session: Session): Scored[] => {
  const counts = new Map<string, Scored>()
  const add = (model: string, version: number, rows: number) => {
    const key = `${model} ${version}`
    const isServed = session.served.some((served) => served.model === model && served.version === version)
    if (rows > 0 && !isServed) counts.set(key, { model, version, rows: (counts.get(key)?.rows ?? 0) + rows })
  }
  for (const { bound, memo } of session.run.uses.values()) add(bound.stream, bound.version, memo.size)
  for (const { bound, rows } of session.staged) add(bound.stream, bound.version, rows)
  return [...counts.values()]
}

/** What DuckDB calls a type: `DECIMAL(4,2)`, or the name that a plain one goes by, such as JSON. */
const typeName = (type: DuckDBType | undefined): string => type?.alias ?? String(type)

const tooLarge = (what: string) =>
  new Problem('query_limit', 'The result is too large', `The result has more than ${what}`, { hint: 'Add LIMIT, or aggregate.' })

/** The text that DuckDB runs, and the form of the rows. */
type Printed = { text: string; format: RowFormat }

/**
 * An error in the middle of a stream ends it without a word: the binding does not tell it from the last row. But it breaks the
 * transaction, which is asked when the rows have ended.
 */
async function* framesOf(
  session: Session,
  prepared: DuckDBPreparedStatement,
  isBroken: () => Promise<boolean>,
  { text, format }: Printed,
): AsyncGenerator<Frame> {
  const result = await prepared.stream()
  const types = result.columnTypes()
  const columns = result.columnNames().map((name, i) => ({ name, type: typeName(types[i]) }))
  const isScored = session.staged.length > 0 && session.run.uses.size === 0
  yield { columns, ...(session.served.length > 0 && { served: session.served }), ...(isScored && { scored: scoredBy(session) }) }
  let [rows, bytes] = [0, 0]
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    checkAborted(session.signal)
    rows += chunk.rowCount
    if (rows > limits.resultMaxRows) throw tooLarge(`${limits.resultMaxRows} rows`)
    const written = rowsOf(chunk, types, format)
    bytes += written.length
    if (bytes > limits.resultMaxBytes) throw tooLarge(`${limits.resultMaxBytes} bytes`)
    yield { rows: written }
    await setImmediate()
  }
  if (await isBroken()) await explainBreak(session, text)
  yield { end: { rows, scored: scoredBy(session) } }
}

/** What broke a query after its first rows: found by running it once more without them. */
const explainBreak = async (session: Session, text: string): Promise<never> => {
  const { connection, signal, run } = session
  checkAborted(signal)
  if (run.gaveUp) throw session.mode === 'inside' ? new TooManyRowsInside() : tooManyAround()
  await session.refresh()
  const explain = 'EXPLAIN ANALYZE '
  if (session.staged.length === 0) await running(text, undefined, () => connection.run(`${explain}${text}`), explain.length)
  throw new Problem('query_failed', 'The query failed', 'The query failed after its first rows')
}

/** Holds an answer back until it is complete, so that nothing has been said when the models turn out to have too many rows. */
async function* heldBack(frames: AsyncGenerator<Frame>): AsyncGenerator<Frame> {
  const held: Frame[] = []
  let bytes = 0
  for await (const frame of frames) {
    held.push(frame)
    bytes += 'rows' in frame ? frame.rows.length : 0
    if (bytes > limits.modelHeldMaxBytes) throw new TooManyRowsInside()
  }
  const last = held.at(-1)
  const scored = last && 'end' in last ? last.end.scored : []
  for (const frame of held) yield 'columns' in frame ? { ...frame, scored } : frame
}

async function* attempt(context: Context, way: Way, onSession: (session: Session) => void): AsyncGenerator<Frame> {
  const { wanted } = context.request
  const session = sessionOf(context, way)
  onSession(session)
  await begin(context.connection)
  let rewritten: Rewritten | undefined
  try {
    rewritten = await (wanted?.kind === 'plan' ? rewrite(session, context.request) : rewriteOnce(session, context))
    const { text } = rewritten
    const prepared = await context.connection.prepare(text)
    try {
      const isBroken = async () =>
        context.probe.run().then(
          () => false,
          () => true,
        )
      const frames = wanted
        ? answerTable(wanted, { session, prepared, ...rewritten, scored: () => scoredBy(session) })
        : framesOf(session, prepared, isBroken, { text, format: context.request.format ?? 'json' })
      const mayGiveUp = way.mode === 'inside' && session.run.uses.size > 0
      yield* mayGiveUp ? heldBack(frames) : frames
    } finally {
      prepared.destroySync()
    }
  } catch (error) {
    if (session.run.gaveUp) throw way.mode === 'inside' ? new TooManyRowsInside() : tooManyAround()
    const isOwn = isProblem(error) || error instanceof RunError || error instanceof TooManyRowsInside
    throw rewritten && !isOwn ? new RunError(error, rewritten.text, rewritten.tree) : error
  } finally {
    session.functions.end(session.run)
    await rollback(context.connection)
  }
}

/** What to try next after an error, or undefined when it is final. */
const nextWay = (error: unknown, session: Session | undefined, { mode, strings }: Way): Way | undefined => {
  if (error instanceof TooManyRowsInside && mode === 'inside') return { mode: 'staged', strings }
  const column = missingColumn(error)
  // What stands in double quotes is a column if there is one, and else a text, as in MySQL.
  if (column === undefined || !session?.quoted.has(column) || strings.has(column) || strings.size >= quotedMaxStrings) return undefined
  return { mode, strings: new Set([...strings, column]) }
}

/** The error in words about the user's text. Of a statement that was rewritten before, the tree is made once more. */
const explained = async (error: unknown, context: Context, session: Session | undefined, way: Way): Promise<unknown> => {
  if (!session || context.services.signal.aborted) return error
  const { connection, request } = context
  const again = error instanceof RunError && !error.tree ? sessionOf(context, way) : undefined
  await begin(connection)
  try {
    if (!again || !(error instanceof RunError)) return await explainError(error, connection, session.sources)
    const { tree } = await rewrite(again, request)
    return await explainError(new RunError(error.cause, error.text, tree, error.before), connection, again.sources)
  } finally {
    if (again) again.functions.end(again.run)
    await rollback(connection)
  }
}

/** Tells whether the connection is as it was before. */
async function* attempts(context: Context, { mode, strings }: Way): AsyncGenerator<Frame, boolean> {
  let session: Session | undefined
  let answered = false
  let next: Way | undefined
  try {
    for await (const frame of attempt(context, { mode, strings }, (made) => (session = made))) {
      answered = true
      yield frame
    }
  } catch (error) {
    next = answered ? undefined : nextWay(error, session, { mode, strings })
    if (!next) throw await explained(error, context, session, { mode, strings })
  }
  return next ? yield* attempts(context, next) : session?.staged.length === 0 && !context.request.wanted
}

/**
 * Runs one SELECT: checks it, rewrites names to what they stand for at the log position, and answers frame by frame.
 * The user's text never reaches DuckDB, only the tree that passed the guard does, in a read-only transaction of a connection
 * of its own. Throws Problems that speak of the user's text.
 *
 * @example for await (const frame of runSelect({ instance }, { sql: 'SELECT 1', db: 'shop', defaultProject: 'shop', upTo: 40 }, services)) …
 */
export async function* runSelect(
  database: { instance: DuckDBInstance },
  request: SelectRequest,
  services: SelectServices,
): AsyncGenerator<Frame> {
  const pool = leases(database.instance)
  const lease = await pool.take()
  const { connection } = lease
  let isClean = false
  const timeoutMs = request.timeoutMs ?? limits.sqlTimeoutMs
  const { signal, done, isLate } = watch(connection, services.signal, timeoutMs)
  try {
    checkAborted(signal)
    const context = { ...lease, database, request, services: { ...services, signal } }
    isClean = yield* attempts(context, { mode: 'inside', strings: new Set() })
  } catch (error) {
    if (!isLate()) throw error
    const hint = 'Narrow it with WHERE or LIMIT.'
    throw new Problem('query_limit', 'The query took too long', `The query took longer than ${timeoutMs} ms`, { hint })
  } finally {
    done()
    if (isClean && !signal.aborted) pool.give(lease)
    else pool.close(lease)
  }
}
