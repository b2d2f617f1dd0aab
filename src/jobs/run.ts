import type { JobLast, JobOutcome, JobRun, JobStatementResult, LastValue } from '../../events/job.js'
import { isProblem } from '../basics/errors.js'
import type { Origin } from '../log/contract/log.js'
import { errorMessage, type SqlAnswer } from '../sql/contract/answer.js'
import { isPassing } from '../sql/contract/retry-while-unavailable.js'
import type { LastValues } from '../sql/contract/request.js'
import type { SqlEngine } from '../sql/facade/execute.js'
import { splitStatements } from '../sql/statements/parse.js'
import { lastPlaces } from '../dialect/last-places.js'
import { tokensIn } from '../dialect/lexer.js'
import { fillTimes } from '../commands/rules/placeholders.js'

/** The engine of SQL, as far as jobs use it. */
export type SqlExecutor = Pick<SqlEngine, 'execute'>

/** The original statements of a job, and their database. */
export type JobWork = {
  query: string
  ifQuery: string | null
  times: Pick<JobRun, 'started_at' | 'previous'>
  /** The values of LAST, from earlier runs. */
  last: JobLast
  /** The database for names. It may be renamed between two statements. */
  db: () => Promise<string>
  origin: Origin
  signal: AbortSignal
  /** Waits before a statement is tried again. */
  pause: () => Promise<void>
}

type StatementAnswer = JobStatementResult & { hasRows: boolean }

/** The result of a run. `conditionLast` has the values of LAST in the condition for the next run. */
export type RunEnd = { outcome: JobOutcome; error: string | null; conditionLast?: LastValue[] }

const ask = async (
  engine: SqlExecutor,
  sql: string,
  { times, db, origin, signal, pause }: JobWork,
  last: LastValues,
): Promise<SqlAnswer> => {
  const statement = Symbol('statement')
  for (;;) {
    const request = { query: fillTimes(sql, times), db: await db(), origin, client: origin.actor, signal, last, statement }
    const answer = await engine.execute(request)
    // No client would repeat a statement that a service refused while it was starting or busy. Tables that stopped at an event need a new
    // release.
    if (answer.type !== 'error' || !isPassing(answer.problem) || signal.aborted) return answer
    await pause()
  }
}

const carryOut = async (
  engine: SqlExecutor,
  sql: string,
  work: JobWork,
  { known = [], wantsBase }: Partial<Pick<LastValues, 'known' | 'wantsBase'>>,
): Promise<StatementAnswer> => {
  let seen: LastValue[] = []
  const answer = await ask(engine, sql, work, { known, note: (values) => (seen = [...values]), ...(wantsBase && { wantsBase }) })
  if (answer.type === 'error') return { positions: [], error: errorMessage(answer.problem), hasRows: false }
  const { positions } = answer
  let hasRows = false
  try {
    // Rows are read to the end, so that predictions are recorded and the query gives its place back.
    if (answer.type === 'table') for await (const chunk of answer.rows) hasRows ||= chunk.length > 0
  } catch (error) {
    if (!isProblem(error)) throw error
    return { positions, error: errorMessage(error), hasRows }
  }
  return { positions, error: null, hasRows, ...(seen.length > 0 && { last: seen }) }
}

/**
 * The highest values now, one for each LAST of a query that has none from an earlier run; undefined if there is nothing to find, or if it
 * cannot be found, which the query itself will say.
 */
const baseOf = async (
  engine: SqlExecutor,
  sql: string,
  work: JobWork,
  known: readonly LastValue[] = [],
): Promise<LastValue[] | undefined> => {
  if (known.length > 0 || lastPlaces(tokensIn(fillTimes(sql, work.times)) ?? []).length === 0) return undefined
  return (await carryOut(engine, sql, work, { wantsBase: true })).last
}

/** Where statements begin without an earlier value of LAST. It is kept, because this run may not reach or complete them. */
const firstResults = async (engine: SqlExecutor, statements: readonly string[], work: JobWork): Promise<JobStatementResult[]> => {
  const results: JobStatementResult[] = []
  for (const [i, statement] of statements.entries()) {
    const last = await baseOf(engine, statement, work, work.last.statements[i])
    results.push({ positions: [], error: null, ...(last && { last }) })
  }
  return results.slice(0, results.findLastIndex(({ last }) => last !== undefined) + 1)
}

/**
 * Runs a job's statements in order up to the first that fails, and adds the result of each to `results`. In the first run, `results` also
 * has the later statements up to the last one with LAST, for the values with which they begin.
 *
 * @throws any error of the engine: a fault of this service, or the reason of the signal
 */
export const runStatements = async (engine: SqlExecutor, work: JobWork, results: JobStatementResult[]): Promise<RunEnd> => {
  const statements = splitStatements(work.query)
  // These come before the condition: a row that comes after it is new to the statements as well.
  results.push(...(await firstResults(engine, statements, work)))
  let seen: Pick<RunEnd, 'conditionLast'> = {}
  let before: Pick<RunEnd, 'conditionLast'> = {}
  if (work.ifQuery !== null) {
    const base = await baseOf(engine, work.ifQuery, work, work.last.condition)
    if (base) before = { conditionLast: base }
    const { error, hasRows, last } = await carryOut(engine, work.ifQuery, work, { known: work.last.condition })
    if (error !== null) return { outcome: 'error', error: `the condition failed: ${error}`, ...before }
    if (last) seen = { conditionLast: last }
    if (!hasRows) return { outcome: 'skipped', error: null, ...seen }
  }
  for (const [i, statement] of statements.entries()) {
    work.signal.throwIfAborted()
    const base = results[i]?.last
    // In the first run, a row that came since the run began is new to each of its statements. A base of NULL says that there is none.
    const known = base?.every(({ value }) => value !== null) ? base : (work.last.statements[i] ?? [])
    const { hasRows: _, ...result } = await carryOut(engine, statement, work, { known })
    results[i] = { ...results[i], ...result }
    // With `before`, LAST in the condition has the same value in the next run.
    if (result.error !== null) return { outcome: 'error', error: result.error, ...before }
  }
  return { outcome: 'complete', error: null, ...seen }
}
