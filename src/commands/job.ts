import type { Command } from '@event-driven-io/emmett'
import { unreachable, type JsonObject, type StreamId } from '../../events/common.js'
import { changeableParts, type Job, type JobEvent, type JobRunEnd, type JobSchedule } from '../../events/job.js'
import { isSecretReference, secretKey, type SecretReference } from '../../events/secrets.js'
import { conflict, notFound, Problem, wrong } from '../basics/errors.js'
import { keptLast } from './rules/kept-last.js'
import { nextAsChanged, nextRun, ranAhead } from './rules/schedule.js'
import { limits } from '../basics/limits.js'
import { byName, byStream, byExactName, countOf, type FactsOf, type Resource } from '../log/contract/lookups.js'
import { decider } from './rules/decider.js'
import { changed } from './rules/rollback.js'

type Target = { project: string; job: string }
/**
 * The definition of a job. Its texts have no secrets. If the original texts have secrets, they are also in `params` under `secret`, and are
 * sealed before they are stored.
 */
export type JobText = { statements: string; condition: string | null; params: JsonObject }
/** `now` is the time of the request. */
export type JobTimes = { now: string; start_at: string; end_at: string | null; schedule: JobSchedule | null }
/**
 * Other texts of a job, both of them. `was` are the texts that the change was made from, and the hash of the payload with their secrets:
 * a secret that stays was read from it.
 */
export type ChangedText = JobText & { was: { statements: string; condition: string | null; payload: string | null } }
/** The parts that change, and the time of the request. */
export type JobChanges = { text?: ChangedText } & Pick<JobTimes, 'now'> & Partial<Omit<JobTimes, 'now'>>
/** A run refers to its job by stream, because the name may belong to another job by now. */
type Run = { stream: StreamId; run: string }
export type JobCommand =
  | Command<'CreateJob', Target & JobText & JobTimes & { unlessExists?: boolean }>
  | Command<'UpdateJob', Target & JobChanges>
  | Command<'DeleteJob', Target & { ifExists?: boolean }>
  | Command<'StartJobRun', Run & { now: string }>
  | Command<'FinishJobRun', Run & JobRunEnd>

const reads = ({ type, data }: JobCommand) => {
  const named = 'job' in data ? data : { project: '', job: '' }
  return {
    project: byName('project', named.project),
    job: 'stream' in data ? byStream('job', data.stream) : (type === 'CreateJob' ? byExactName : byName)('job', named.job, named.project),
    count: countOf('job', type === 'CreateJob' ? named.project : ''),
  }
}

type Facts = FactsOf<ReturnType<typeof reads>>

const decide = (command: JobCommand, facts: Facts): JobEvent[] => {
  const { job } = facts
  switch (command.type) {
    case 'CreateJob':
      return create(command.data, facts)
    case 'UpdateJob':
      if (!facts.project) throw notFound('project', command.data.project)
      if (!job) throw notFound('job', command.data.job)
      return update(job, command.data)
    case 'DeleteJob':
      if (!facts.project) throw notFound('project', command.data.project)
      if (!job && command.data.ifExists) return []
      if (!job) throw notFound('job', command.data.job)
      return endOf(job)
    case 'StartJobRun':
      return job ? start(job, command.data) : []
    case 'FinishJobRun': {
      const { stream: _, ...data } = command.data
      // The deletion of a job has already ended its run.
      return job?.state.running?.run === data.run ? [{ type: 'JobRunFinished', data }] : []
    }
    default:
      return unreachable(command)
  }
}

const create = (data: Target & JobText & JobTimes & { unlessExists?: boolean }, { project, job, count }: Facts): JobEvent[] => {
  if (!project) throw notFound('project', data.project)
  if (job && data.unlessExists) return []
  if (job) throw conflict('job', data.job)
  if (count >= limits.jobsMax)
    throw new Problem('too_large', 'Too many jobs', `${project.state.name} has ${count} jobs, and no more are allowed`, {
      hint: 'Drop jobs that no longer run: SELECT name FROM jobs WHERE next_run_at IS NULL.',
    })
  const { statements, condition, now, start_at, end_at, schedule } = data
  if (end_at !== null && (end_at < start_at || end_at < now))
    throw wrong('the job would end before it ran once', 'Choose an end that is later than its start, and than now.')
  const definition = { query: statements, if_query: condition, sealed: sealedOf(data.params), start_at, end_at, schedule }
  return [{ type: 'JobCreated', data: { project: project.stream, name: data.job, ...definition } }]
}

/** Two changes at once may be made from the same texts. The second one would write over the first, or lose a secret of it. */
const refuseOutdated = ({ query, if_query, sealed }: Job, { was }: ChangedText): void => {
  if (was.statements === query && was.condition === if_query && was.payload === (sealed?.[secretKey] ?? null)) return
  throw new Problem('busy', 'Changed meanwhile', 'the job was changed while this was under way', {
    hint: 'Send the request again.',
    retryAfterSeconds: 1,
  })
}

const update = ({ state }: Resource<'job'>, { text, now, start_at, end_at, schedule }: JobChanges): JobEvent[] => {
  if (text) refuseOutdated(state, text)
  const next: Job = {
    ...state,
    ...(text && { query: text.statements, if_query: text.condition, sealed: sealedOf(text.params) }),
    ...(start_at !== undefined && { start_at }),
    ...(end_at !== undefined && { end_at }),
    ...(schedule !== undefined && { schedule }),
  }
  const isEndChanged = next.end_at !== state.end_at
  const endsEarly = next.end_at !== null && (next.end_at < next.start_at || (isEndChanged && next.end_at < now))
  if (endsEarly && (isEndChanged || next.start_at !== state.start_at))
    throw wrong(
      'the end of the job would be before its start, or before now',
      'Choose an end that is later than both; now ends it at once.',
    )
  return changesTo(state, next, now)
}

/** The event that gives a job other texts and times; none if they are the same. */
const changesTo = (job: Job, next: Job, now: string): JobEvent[] => {
  const changes = changed(job, next, changeableParts)
  if (!changes) return []
  const hasNewTimes = 'start_at' in changes || 'end_at' in changes || 'schedule' in changes
  const hasNewTexts = 'query' in changes || 'if_query' in changes
  const data = {
    ...changes,
    ...(hasNewTimes && { next_run_at: nextAsChanged(job, next, now) }),
    ...(hasNewTexts && (job.last ?? job.running) && { keeps_last: keptLast(job, next) }),
  }
  return [{ type: 'JobUpdated', data }]
}

const sealedOf = ({ secret }: JsonObject): SecretReference | null => (isSecretReference(secret) ? secret : null)

/** A run begins when one is due and none is in progress. This is decided here, so that a due time cannot start two runs. */
const start = ({ state }: Resource<'job'>, { run, now }: Run & { now: string }): JobEvent[] => {
  const { running, next_run_at, end_at } = state
  const wasAhead = ranAhead(state, Date.parse(now))
  if (running || (!wasAhead && (next_run_at === null || next_run_at > now))) return []
  if (end_at !== null && end_at < now) return [{ type: 'JobExpired', data: {} }]
  const next = nextRun(state, Date.parse(now))
  return [{ type: 'JobRunStarted', data: { run, due_at: wasAhead ? now : (next_run_at ?? now), started_at: now, next_run_at: next } }]
}

/** The events that end a job and its current run. */
export const endOf = ({ state: { running } }: Resource<'job'>): JobEvent[] => {
  const ended: JobEvent = { type: 'JobDeleted', data: {} }
  if (!running) return [ended]
  const data = { run: running.run, outcome: 'cancelled' as const, error: 'the job was deleted', statements: [] }
  return [{ type: 'JobRunFinished', data }, ended]
}

/** Decides the commands of jobs. A rollback goes back to earlier texts and times, but not to an earlier run or value of LAST. */
export const jobDecider = decider('job', {
  commands: { CreateJob: true, UpdateJob: true, DeleteJob: true, StartJobRun: true, FinishJobRun: true },
  secrets: ['params'],
  rollback: { events: changesTo },
  reads,
  decide,
})
