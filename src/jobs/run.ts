import type { JobLast, JobOutcome, JobRun, JobStatementResult, LastValue } from '../../events/job.js'
import { isProblem } from '../basics/errors.js'
import type { Origin } from '../log/contract/log.js'
import { errorMessage, type SqlAnswer } from '../sql/contract/answer.js'
import { isPassing } from '../sql/contract/retry-while-unavailable.js'
import type { LastValues } from '../sql/contract/request.js'
import type { SqlEngine } from '../sql/facade/execute.js'
import { splitStatements } from '../sql/statements/parse.js'
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

const carryOut = async (engine: SqlExecutor, sql: string, work: JobWork, known: readonly LastValue[] = []): Promise<StatementAnswer> => {
  let seen: LastValue[] = []
  const answer = await ask(engine, sql, work, { known, note: (values) => (seen = [...values]) })
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
 * Runs a job's statements in order up to the first that fails, and adds the result of each to `results`.
 *
 * @throws any error of the engine: a fault of this service, or the reason of the signal
 */
export const runStatements = async (engine: SqlExecutor, work: JobWork, results: JobStatementResult[]): Promise<RunEnd> => {
  let seen: Pick<RunEnd, 'conditionLast'> = {}
  if (work.ifQuery !== null) {
    const { error, hasRows, last } = await carryOut(engine, work.ifQuery, work, work.last.condition)
    if (error !== null) return { outcome: 'error', error: `the condition failed: ${error}` }
    if (last) seen = { conditionLast: last }
    if (!hasRows) return { outcome: 'skipped', error: null, ...seen }
  }
  for (const [i, statement] of splitStatements(work.query).entries()) {
    work.signal.throwIfAborted()
    const { hasRows: _, ...result } = await carryOut(engine, statement, work, work.last.statements[i])
    results.push(result)
    // Without `conditionLast`, LAST in the condition has the same value in the next run.
    if (result.error !== null) return { outcome: 'error', error: result.error }
  }
  return { outcome: 'complete', error: null, ...seen }
}
