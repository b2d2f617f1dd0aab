import { lastAfter, nothingSeen, type JobLast, type JobStatementResult, type LastValue } from '../../../events/job.js'
import { runStatements, type SqlExecutor, type RunEnd } from '../../../src/jobs/run.js'
import { origin } from '../log/log.js'

/** A job that runs when it is told to; `seen` has the values of LAST in its first statement. */
export const jobOver = (executor: SqlExecutor, query: string, ifQuery: string | null = null) => {
  let last: JobLast = nothingSeen
  return {
    seen: (): readonly LastValue[] => last.statements[0] ?? [],
    run: async (): Promise<RunEnd & { results: JobStatementResult[] }> => {
      const results: JobStatementResult[] = []
      const times = { started_at: '2026-01-01T00:00:00.000000Z', previous: null }
      const work = { query, ifQuery, times, last, db: async () => 'mindsdb', origin, signal: new AbortController().signal }
      const end = await runStatements(executor, { ...work, pause: () => Promise.reject(new Error('it is busy')) }, results)
      last = lastAfter({ last }, { statements: results, ...(end.conditionLast && { condition_last: end.conditionLast }) })
      return { ...end, results }
    },
  }
}
