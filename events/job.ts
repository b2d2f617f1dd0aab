import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { nothing, resourceName, sha256, streamId, text, unreachable, type SchemasOf, type StreamId } from './common.js'
import type { ResourceKind } from './kind.js'
import { secretKey, type SecretReference } from './secrets.js'

export const jobUnits = ['minute', 'hour', 'day', 'week', 'month'] as const
export type JobUnit = (typeof jobUnits)[number]

/** How often a job runs, with the words of its statement: `{ count: 2, unit: 'hour', said: 'every 2 hours' }`. */
export type JobSchedule = { count: number; unit: JobUnit; said: string }

/**
 * The job as its creator defined it. Stars replace secrets in the texts; `sealed` then refers to the original texts. Without a schedule a
 * job runs once. Times are UTC.
 */
export type JobDefinition = {
  project: StreamId
  name: string
  /** Statements with semicolons between them. */
  query: string
  /** A query that must return at least one row, or the statements do not run. */
  if_query: string | null
  sealed: SecretReference | null
  start_at: string
  end_at: string | null
  schedule: JobSchedule | null
}

/** How a run ended. `skipped`: the condition gave no row. `interrupted`: the service stopped. `cancelled`: the job was deleted. */
export const jobOutcomes = ['complete', 'skipped', 'error', 'interrupted', 'cancelled'] as const
export type JobOutcome = (typeof jobOutcomes)[number]

/**
 * The highest value that a column had when a statement compared it with LAST. `value` is text in DuckDB's notation of `type`; it is null
 * where the column had no value.
 */
export type LastValue = { column: string; type: string; value: string | null }

/**
 * The result of one statement, in the order of the query: the events that it recorded, why it failed, and the value of each LAST in it for
 * the next run.
 */
export type JobStatementResult = { positions: number[]; error: string | null; last?: LastValue[] }

/** The values of LAST for the next run, in the order in which LAST is written: in the condition, and in each statement. */
export type JobLast = { condition: LastValue[]; statements: LastValue[][] }

/** The values before the first run. */
export const nothingSeen: JobLast = { condition: [], statements: [] }

/**
 * The values of LAST that stay when the texts of a job change: whether those of the condition do, and for each new statement the number of
 * the earlier statement, from 0, whose values it goes on with. Null stands for a statement that begins anew.
 */
export type KeptLast = { condition: boolean; statements: (number | null)[] }

/** A run under way; `previous` is when the one before began. `kept` is there if the texts of the job have changed since it began. */
export type JobRun = { run: string; started_at: string; previous: string | null; kept?: KeptLast }

/** `last` is missing until a run has seen a value. */
export type Job = JobDefinition & { next_run_at: string | null; last_started_at: string | null; running: JobRun | null; last?: JobLast }

/**
 * How a run ended. It has the condition's values if the condition returned no row, or if it was true and every statement succeeded; after
 * another end of the first run, unless it was cut off, those with which the condition begins. The first run also has the values with which
 * statements begin, for statements that it did not reach or that failed.
 */
export type JobRunEnd = {
  run: string
  outcome: JobOutcome
  error: string | null
  statements: JobStatementResult[]
  condition_last?: LastValue[]
}

/** The members of a job that a change may have. */
export const changeableParts = ['query', 'if_query', 'sealed', 'start_at', 'end_at', 'schedule'] as const

/**
 * The new values of the members that changed. `next_run_at` is there if a time or the schedule changed, and `keeps_last` if a text changed
 * and a run has seen values of LAST or is under way.
 */
export type JobChange = Partial<Pick<JobDefinition, (typeof changeableParts)[number]>> & {
  next_run_at?: string | null
  keeps_last?: KeptLast
}

export type JobEvent =
  | Event<'JobCreated', JobDefinition>
  | Event<'JobUpdated', JobChange>
  | Event<'JobRunStarted', { run: string; due_at: string; started_at: string; next_run_at: string | null }>
  | Event<'JobRunFinished', JobRunEnd>
  | Event<'JobExpired', Record<string, never>>
  | Event<'JobDeleted', Record<string, never>>

const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/, 'must be UTC with microseconds')
const reference = z.strictObject({ [secretKey]: sha256 })
const lastValues = z.array(z.strictObject({ column: text, type: text, value: text.nullable() }))
const schedule = z.strictObject({ count: z.int().positive(), unit: z.enum(jobUnits), said: text })

const schemas: SchemasOf<JobEvent> = {
  JobCreated: z
    .strictObject({
      project: streamId,
      name: resourceName,
      query: text,
      if_query: text.nullable(),
      sealed: reference.nullable(),
      start_at: time,
      end_at: time.nullable(),
      schedule: schedule.nullable(),
    })
    .describe('A job was created; its first run is due at its start. Secrets in its statements are a payload.'),
  JobUpdated: z
    .strictObject({
      query: text.exactOptional(),
      if_query: text.nullable().exactOptional(),
      sealed: reference.nullable().exactOptional(),
      start_at: time.exactOptional(),
      end_at: time.nullable().exactOptional(),
      schedule: schedule.nullable().exactOptional(),
      next_run_at: time.nullable().exactOptional(),
      keeps_last: z.strictObject({ condition: z.boolean(), statements: z.array(z.int().nonnegative().nullable()) }).exactOptional(),
    })
    .describe(
      'A job got other statements, another condition or other times; each value is the new value. A run under way ends with its old statements. The event has the next due time if a time changed, and the values of LAST that stay if a text changed.',
    ),
  JobRunStarted: z
    .strictObject({ run: text, due_at: time, started_at: time, next_run_at: time.nullable() })
    .describe('A run of a job began; events of its statements have the run as correlation.'),
  JobRunFinished: z
    .strictObject({
      run: text,
      outcome: z.enum(jobOutcomes),
      error: text.nullable(),
      statements: z.array(
        z.strictObject({ positions: z.array(z.int().positive()), error: text.nullable(), last: lastValues.exactOptional() }),
      ),
      condition_last: lastValues.exactOptional(),
    })
    .describe(
      'A run of a job ended. The event has the result of each statement up to the first that failed, and the values of LAST for the next run. The event of the first run also has these values for later statements.',
    ),
  JobExpired: nothing.describe("The end of a job's schedule passed before its next run was due; the job does not run again."),
  JobDeleted: nothing.describe('A job was deleted, alone or with its project.'),
}

/**
 * The values of LAST after a run. A statement that failed or did not run sees the same rows again in the next run, and in the second run
 * those since the first.
 */
export const lastAfter = (
  { last = nothingSeen }: Pick<Job, 'last'>,
  { statements, condition_last }: Pick<JobRunEnd, 'statements' | 'condition_last'>,
): JobLast => ({
  condition: condition_last ?? last.condition,
  statements: Array.from(
    { length: Math.max(last.statements.length, statements.length) },
    (_, i) => statements[i]?.last ?? last.statements[i] ?? [],
  ),
})

/** The values of LAST that are left when the texts of a job change. */
const keptOf = ({ condition, statements }: JobLast, kept: KeptLast): JobLast => ({
  condition: kept.condition ? condition : [],
  statements: kept.statements.map((i) => (i === null ? [] : (statements[i] ?? []))),
})

/** What stays after two changes, one after the other. */
const keptByBoth = (first: KeptLast | undefined, second: KeptLast): KeptLast =>
  first
    ? {
        condition: first.condition && second.condition,
        statements: second.statements.map((i) => (i === null ? null : (first.statements[i] ?? null))),
      }
    : second

/** The end of a run as it counts for the texts of now: a run that a change came upon ends with the texts from before. */
const endAfter = (end: JobRunEnd, kept: KeptLast | undefined): JobRunEnd => {
  if (!kept) return end
  const { statements, condition_last, ...rest } = end
  const results = kept.statements.map((i) => (i === null ? undefined : statements[i]) ?? { positions: [], error: null })
  return { ...rest, statements: results, ...(kept.condition && condition_last && { condition_last }) }
}

const update = (job: Job, { keeps_last: kept, ...changes }: JobChange): Job => {
  const changed = { ...job, ...changes }
  if (!kept) return changed
  const running = job.running && { ...job.running, kept: keptByBoth(job.running.kept, kept) }
  return { ...changed, running, ...(job.last && { last: keptOf(job.last, kept) }) }
}

const evolve = (job: Job | undefined, event: JobEvent): Job | undefined => {
  switch (event.type) {
    case 'JobCreated':
      return { ...event.data, next_run_at: event.data.start_at, last_started_at: null, running: null }
    case 'JobUpdated':
      return job && update(job, event.data)
    case 'JobRunStarted': {
      const { run, started_at, next_run_at } = event.data
      return job && { ...job, next_run_at, last_started_at: started_at, running: { run, started_at, previous: job.last_started_at } }
    }
    case 'JobRunFinished': {
      if (job?.running?.run !== event.data.run) return job
      const end = endAfter(event.data, job.running.kept)
      const hasLast = end.condition_last !== undefined || end.statements.some(({ last }) => last !== undefined)
      return { ...job, running: null, ...(hasLast && { last: lastAfter(job, end) }) }
    }
    case 'JobExpired':
      return job && { ...job, next_run_at: null }
    case 'JobDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const jobKind: ResourceKind<Job, JobEvent> = {
  plural: 'jobs',
  inProject: true,
  schemas,
  evolve,
}
