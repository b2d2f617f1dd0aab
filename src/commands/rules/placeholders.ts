import type { JobRun } from '../../../events/job.js'

type Times = Pick<JobRun, 'started_at' | 'previous'>

const values: Record<string, (times: Times) => string | null> = {
  PREVIOUS_START_DATETIME: ({ previous }) => previous && seconds(previous),
  START_DATETIME: ({ started_at }) => seconds(started_at),
  START_DATE: ({ started_at }) => started_at.slice(0, 10),
}

const seconds = (instant: string): string => instant.slice(0, 19).replace('T', ' ')

const names = Object.keys(values).join('|')
const placeholders = new RegExp(`(['"])\\{\\{\\s*(${names})\\s*\\}\\}\\1|\\{\\{\\s*(${names})\\s*\\}\\}`, 'g')

/**
 * Fills the times of a run (UTC) into a job's statement: `{{START_DATETIME}}`, `{{START_DATE}}` and `{{PREVIOUS_START_DATETIME}}`.
 * For the first run, which has no previous run, the placeholder and its quotes become NULL.
 *
 * @example fillTimes("WHERE at > '{{PREVIOUS_START_DATETIME}}'", run) // WHERE at > '2026-01-31 10:00:00'
 */
export const fillTimes = (sql: string, times: Times): string =>
  sql.replace(placeholders, (_, quote: string | undefined, quoted: string | undefined, bare: string | undefined) => {
    const value = values[quoted ?? bare ?? '']?.(times) ?? null
    if (value === null) return 'NULL'
    return quote === undefined ? value : `'${value}'`
  })
