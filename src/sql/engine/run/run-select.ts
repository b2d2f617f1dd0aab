/**
 * Room: one query from its request to the frames of its answer. It imports only events, basics, dialect, sql/relations, sql/encode,
 * sql/contract, models/engines and sql/engine.
 */

import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { foldName } from '../../../../events/common.js'
import { isProblem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { accountOf } from '../../../dialect/names.js'
import { loadModel } from '../../../models/engines/load.js'
import type { AskServer } from '../../contract/connected.js'
import type { SelectPurpose } from '../../contract/select-purpose.js'
import type { Frame, SelectHead, SelectRequest } from '../../contract/select.js'
import { queryTooSlow } from '../../contract/too-slow.js'
import { upToDate, type TablesStatus } from '../../relations/projections.js'
import { MissingAnswers } from '../agents/agent-answers.js'
import { prepareChecked } from '../ast/checked-text.js'
import { readDuckDBError } from '../ast/duckdb-error.js'
import { begin, checkAborted, connectionPoolOf, rollback, watch, type QueryClock } from '../duckdb-connection/duckdb-connection.js'
import { explainError } from '../errors/explain-error.js'
import { noColumn } from '../errors/no-column.js'
import { defineMacros } from '../errors/session-user.js'
import { answerTable, erasableIn } from '../query-outputs/answer-table.js'
import { AllowedTables } from '../resolve/allowed.js'
import { Directory } from '../resolve/directory.js'
import { BasesFound, lastSeen } from '../rewrite/last-in-query.js'
import { keepText, keptText, rewrite, type RewrittenQuery } from '../rewrite/rewrite-cache.js'
import { viewColumns } from '../rewrite/view-columns.js'
import { modelFunctions } from '../scoring/functions.js'
import { loadCachedModel, type LoadModel } from '../scoring/load.js'
import { NamesUndecided, UnboundNames } from '../session/binding.js'
import { FetchedAnswers, MissingKnowledge } from '../session/fetched-answers.js'
import type { ScoringMode, Session } from '../session/session.js'
import { RunError, Sources } from '../session/sources.js'
import { framesOf, heldBack, scoredBy, tooManyAround, TooManyRowsInside } from './frames.js'

/**
 * `asksForBlobs` says that the server must be asked for the file of a blob, which is there only while the server holds it. `tables` gives
 * the status of the tables when the query came. `loadModel` replaces the engine's own function.
 */
export type RunOptions = {
  blobsDirectory: string
  asksForBlobs?: boolean
  signal: AbortSignal
  ask?: AskServer
  tables?: TablesStatus
  loadModel?: LoadModel
}

type Context = {
  connection: DuckDBConnection
  database: { instance: DuckDBInstance }
  request: SelectRequest
  services: RunOptions
  clock: QueryClock
  answers: FetchedAnswers
}

const alone: AskServer = () => Promise.reject(new TypeError('there is no server to ask about connected databases'))

/** Finds the files of blobs, and notes the blobs that the server must hold. */
const blobFiles =
  ({ blobsDirectory, asksForBlobs = false, ask = alone }: RunOptions, asked: Set<string>) =>
  async (sha: string): Promise<string> => {
    if (asksForBlobs && !asked.has(sha)) {
      await ask({ blob: sha }).catch((error: unknown) => {
        if (!isProblem(error) || error.code !== 'not_found') throw error
      })
      asked.add(sha)
    }
    return join(blobsDirectory, sha)
  }

/**
 * The way in which an attempt runs models, and the names in double quotes that it reads as texts. After an error about a column, `unknown`,
 * the attempt only plans with all columns of connected tables, so that the error names the nearest column. With `binds` it only plans, to
 * find out whether these names are columns; `isBound` is set after that.
 */
type Way = {
  mode: ScoringMode
  strings: Session['strings']
  unknown?: RunError
  binds?: ReadonlySet<string>
  isBound?: true
}

/** Whether the result can be found without running the statement. */
const isPlanned = (wanted: SelectPurpose | undefined): boolean =>
  wanted !== undefined && (wanted.kind === 'columns' || (wanted.kind === 'plan' && !wanted.analyze))

const sessionOf = (context: Context, { mode, strings, unknown, binds, isBound }: Way): Session => {
  const { connection, database, request, services, answers } = context
  const functions = modelFunctions(database.instance)
  const run = functions.begin(limits.modelInsideMaxRows)
  const blobs = new Set<string>()
  const blobFile = blobFiles(services, blobs)
  const session: Session = {
    connection,
    directory: new Directory(connection, database.instance),
    head: request.upTo,
    askedAt: request.now ?? 0,
    blobsDirectory: services.blobsDirectory,
    blobFile,
    blobs,
    tables: services.tables ?? upToDate(request.upTo),
    params: request.params ?? {},
    account: accountOf(request.user),
    macros: new Map(),
    pivotQueries: new Map(),
    signal: services.signal,
    mode,
    functions,
    run,
    load: async (artefact) =>
      loadCachedModel(database.instance, { artefact, file: await blobFile(artefact) }, services.loadModel ?? loadModel),
    reads: [],
    ctes: new Map(),
    sources: new Sources(),
    quoted: new Set(),
    natives: new Map(),
    allowed: request.only && new AllowedTables(request.only),
    last: request.last && { known: request.last, wantsBase: request.wantsBase === true, seen: new Map(), marks: 0 },
    // A training is repeated, and its rows are compared with earlier rows. Agents may answer differently each time.
    replies: isPlanned(request.wanted) && request.purpose !== 'training' ? [] : request.answers,
    answers,
    isPlanned: unknown !== undefined || binds !== undefined || isPlanned(request.wanted),
    names: binds ? 'binding' : isBound ? 'bound' : 'unbound',
    mayWrite:
      !isPlanned(request.wanted) &&
      request.asOf === undefined &&
      !request.only &&
      (request.purpose ?? 'query') === 'query' &&
      request.readsOnly !== true,
    soon: false,
    knowsAll: unknown !== undefined,
    nondeterminism: [],
    erasable: { contents: new Set(), records: false },
    filesNow: new Map(),
    strings,
    keep: true,
    served: [],
    staged: [],
    temporary: new Map(),
    refresh: async () => {
      await rollback(connection)
      functions.renew(run)
      await begin(connection)
      await defineMacros(session)
      for (const fill of session.temporary.values()) await fill()
    },
    viewColumns: (position, wanted) => viewColumns(database.instance, session, position, wanted),
  }
  return session
}

/** The information for the next run: the values of LAST; for a training, why it may get other rows, and which data it has. */
const nextRun = (session: Session, { purpose }: SelectRequest): Pick<SelectHead, 'last' | 'nondeterminism' | 'erasable'> => {
  const { last, nondeterminism } = session
  const seen = last ? lastSeen(last) : []
  return {
    ...(seen.length > 0 && { last: seen }),
    ...(nondeterminism.length > 0 && { nondeterminism }),
    ...(purpose === 'training' && { erasable: erasableIn(session) }),
  }
}

async function* withNextRun(frames: AsyncIterable<Frame>, session: Session, request: SelectRequest): AsyncGenerator<Frame> {
  for await (const frame of frames) yield 'columns' in frame ? { ...frame, ...nextRun(session, request) } : frame
}

/** Runs the rewritten statement, and answers its rows or another requested result. */
async function* answer({ connection, database, request }: Context, session: Session, rewritten: RewrittenQuery): AsyncGenerator<Frame> {
  const { wanted, format = 'json' } = request
  const prepared = await prepareChecked(connection, rewritten.text)
  keepText(session, database.instance, request, rewritten)
  try {
    const frames = wanted
      ? answerTable(wanted, { session, prepared, ...rewritten, scored: () => scoredBy(session) })
      : framesOf(session, prepared, { text: rewritten.text, format })
    const mayGiveUp = session.mode === 'inside' && session.run.uses.size > 0
    const sent = mayGiveUp ? heldBack(frames) : frames
    const saysMore = session.last !== undefined || request.purpose === 'training'
    yield* saysMore ? withNextRun(sent, session, request) : sent
  } finally {
    prepared.destroySync()
  }
}

async function* attempt(context: Context, way: Way, onSession: (session: Session) => void): AsyncGenerator<Frame> {
  const { connection, database, request } = context
  const session = sessionOf(context, way)
  onSession(session)
  let rewritten = request.wanted ? undefined : keptText(session, database.instance, request)
  // A text from the cache is a single statement, which needs no transaction around it.
  const isAlone = rewritten !== undefined
  for (const sha of rewritten?.blobs ?? []) await session.blobFile(sha)
  if (!isAlone) await begin(connection)
  let isWhole = false
  try {
    rewritten ??= await rewrite(session, request)
    if (way.unknown ?? way.binds) {
      ;(await prepareChecked(connection, rewritten.text)).destroySync()
      throw way.unknown ?? new NamesUndecided()
    }
    yield* answer(context, session, rewritten)
    isWhole = true
  } catch (error) {
    if (session.run.gaveUp) throw way.mode === 'inside' ? new TooManyRowsInside() : tooManyAround()
    const isOwn = isProblem(error) || [RunError, TooManyRowsInside, NamesUndecided].some((own) => error instanceof own)
    throw rewritten && !isOwn ? new RunError(error, rewritten.text, rewritten.tree) : error
  } finally {
    session.functions.end(session.run)
    // A stream that its reader leaves early keeps its snapshot, closed or not, until a ROLLBACK on the connection.
    if (!isAlone || !isWhole) await rollback(connection)
  }
}

/** Whether an error says that a name is no column. */
const isOfColumn = (error: unknown): error is RunError => error instanceof RunError && /column/i.test(String(error.cause))

/** Whether an error says that one of these names, folded, is no column. */
const isOfNames = (error: unknown, names: ReadonlySet<string>): boolean => {
  const message = isOfColumn(error) ? foldName(readDuckDBError(error.cause).message) : ''
  return [...names].some((name) => message.includes(`"${name}"`))
}

/** The next attempt after an error, or undefined when the error is final. */
const nextWay = async (error: unknown, session: Session | undefined, way: Way): Promise<Way | undefined> => {
  if (error instanceof TooManyRowsInside && way.mode === 'inside') return { ...way, mode: 'staged' }
  if (error instanceof UnboundNames) return { ...way, binds: error.names }
  const known = session && (await noColumn(error, session))
  if (known !== undefined) return { ...way, strings: new Set([...way.strings, known]) }
  const { binds, ...running } = way
  // A query that is only planned may fail for other reasons than one that runs.
  if (binds && !way.unknown && !isOfNames(error, binds)) return { ...running, isBound: true }
  return session?.answers.isNarrowed && !way.unknown && isOfColumn(error) ? { ...way, unknown: error } : undefined
}

/** The error in words about the user's text. If only the rewritten text was kept, the tree is built again. */
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

/** The head of an answer without rows: the query first needs answers, or it has found what alone was wanted. */
const headInstead = (error: unknown): SelectHead | undefined => {
  if (error instanceof MissingAnswers) return { columns: [], questions: error.questions }
  if (error instanceof MissingKnowledge) return { columns: [], searches: error.questions }
  return error instanceof BasesFound ? { columns: [], last: error.last } : undefined
}

/** Runs attempts until one answers. Returns whether the connection can be used again. */
async function* attempts(context: Context, first: Way): AsyncGenerator<Frame, boolean> {
  for (let way = first; ;) {
    let session: Session | undefined
    let answered = false
    try {
      for await (const frame of attempt(context, way, (made) => (session = made))) {
        answered = true
        // The time of the query stops while its reader is slow.
        context.clock.hold()
        yield frame
        context.clock.run()
      }
      return session?.staged.length === 0 && !context.request.wanted
    } catch (error) {
      const head = headInstead(error)
      if (head) {
        yield head
        yield { end: { rows: 0, scored: [] } }
        return true
      }
      const next = answered ? undefined : await nextWay(error, session, way)
      if (!next) throw await explained(error, context, session, way)
      way = next
    }
  }
}

/**
 * Runs one SELECT: checks it, replaces names with their meanings at the log position, and answers frame by frame. DuckDB never runs the
 * user's text, only a text that was printed from the tree that passed the guard. The query has its connection for itself. It is rewritten
 * and run in one read-only transaction. If it was rewritten before, it is a single statement. Throws Problems about the user's text.
 *
 * @example for await (const frame of runSelect({ instance }, { sql: 'SELECT 1', db: 'shop', defaultProject: 'shop', upTo: 40 }, services)) …
 */
export async function* runSelect(
  database: { instance: DuckDBInstance },
  request: SelectRequest,
  services: RunOptions,
): AsyncGenerator<Frame> {
  const pool = connectionPoolOf(database.instance)
  const connection = await pool.take()
  let isClean = false
  const timeoutMs = request.timeoutMs ?? limits.sqlTimeoutMs
  const { signal, clock, isLate, done } = watch(connection, services.signal, timeoutMs)
  const answers = new FetchedAnswers(database.instance, services.ask ?? alone, signal, request.knowledge)
  try {
    checkAborted(signal)
    const context = { connection, database, request, services: { ...services, signal }, clock, answers }
    isClean = yield* attempts(context, { mode: 'inside', strings: new Set() })
  } catch (error) {
    throw isLate() ? queryTooSlow(request, timeoutMs) : error
  } finally {
    done()
    try {
      await answers.drop()
    } finally {
      if (isClean && !signal.aborted) pool.give(connection)
      else connection.closeSync()
    }
  }
}
