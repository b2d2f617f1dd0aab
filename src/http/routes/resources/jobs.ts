import * as z from 'zod'
import { resourceName, text } from '../../../../events/common.js'
import type { Ledger } from '../../../commands/ledger.js'
import { readJob, updateJob, type JobChangeRequest } from '../../../sql/facade/commands/job-definition.js'
import { readRuns } from '../../../jobs/history.js'
import type { Log } from '../../../log/contract/log.js'
import type { Histories } from '../../../log/read/history.js'
import { given, wrapped, wrappedKnown } from '../../protocol/body-schema.js'
import { carriedOut, carryOut, carryOutOnce, deletion } from '../../protocol/carry-out.js'
import { oneOf } from '../../protocol/parameters.js'
import { json } from '../../protocol/reply.js'
import { historyPage, historyParameters, historyOf, streamInProject } from './history.js'
import { fixedPart, wholeList } from '../../reads/paged-list.js'
import { listOfProject, oneOfProject } from '../../reads/project-reads.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, route, type Route } from '../../protocol/route.js'
import { inProject, resultOf } from '../../../log/read/by-name.js'

const record = z
  .object({
    id: z.int(),
    name: z.string(),
    project: z.string(),
    start_at: z.string(),
    end_at: z.string().nullable(),
    next_run_at: z.string().nullable(),
    schedule_str: z.string().nullable(),
    query: z.string(),
    if_query: z.string().nullable(),
    variables: z.array(z.string()),
  })
  .meta({ id: 'Job' })

const run = z
  .object({
    name: z.string(),
    project: z.string(),
    run_start: z.string(),
    run_end: z.string().nullable(),
    error: z.string().nullable(),
    query: z.string(),
  })
  .meta({ id: 'JobRun' })

const creation = z.object({
  name: resourceName,
  query: text.describe('one statement, or several with semicolons between them'),
  if_query: text.nullish().describe('a query that must return a row for the job to run'),
  start_at: text.nullish().describe('a UTC time, or now; without it, now'),
  end_at: text.nullish().describe('the end of the schedule, a UTC time: the job does not run after it'),
  schedule_str: text.nullish().describe('every [n] minutes, hours, days, weeks or months; without it the job runs once'),
})

const changes = z.object({
  query: text.nullish().describe('the statements; one that is sent as the job shows it, with its ******, keeps its secrets'),
  if_query: text.nullish().describe('a query that must return a row for the job to run; an empty text removes it'),
  start_at: text.nullish().describe('a UTC time from which the schedule counts, or now'),
  end_at: text.nullish().describe('the end of the schedule, a UTC time; an empty text removes it'),
  schedule_str: text.nullish().describe('every [n] minutes, hours, days, weeks or months; an empty text removes it: the job runs once'),
})
const path = '/projects/:project/jobs'

/** Clients send an empty text for an empty field. */
const said = (value: string | null | undefined): string | null => (value === undefined || value?.trim() === '' ? null : value)

/** The requested change. An empty text stands for no value, and null for a value that stays, as for all resources. */
const changeIn = (body: z.infer<typeof changes>): JobChangeRequest => {
  const { query, if_query, start_at, end_at, schedule_str } = given(body)
  return {
    ...(query !== undefined && { query }),
    ...(if_query !== undefined && { ifQuery: said(if_query) }),
    ...(start_at !== undefined && { start: start_at }),
    ...(end_at !== undefined && { end: said(end_at) }),
    ...(schedule_str !== undefined && { every: said(schedule_str) }),
  }
}

/** Clients expect the runs of a job under its history. */
const of = oneOf(
  ['runs', 'changes'],
  'the query parameter of must be runs or changes',
  z.enum(['runs', 'changes']).describe('changes: the history of the job, in pages').optional(),
)

type Services = {
  ledger: Ledger
  log: Pick<Log, 'now' | 'resources' | 'payload'>
  records: Records
  reading: ReadRouteFactory
  histories: Histories
}

/** The routes for the jobs of a project, with their runs and their changes. */
export const jobRoutes = ({ ledger, log, records, reading, histories }: Services): Route[] => [
  listOfProject(reading, {
    path,
    kind: 'job',
    summary: 'List the jobs of a project',
    record,
    show: ({ records: at }, job, project) => at.job(job, project),
  }),
  route({
    method: 'post',
    path,
    summary: 'Create a job: SQL statements on a schedule',
    commandHeaders,
    onlyCommands: true,
    body: wrapped('job', creation),
    answers: { 200: record },
    async handle({ segments: { project }, body, call }) {
      const { name, query, if_query, start_at, end_at, schedule_str } = body
      const times = { start: said(start_at), end: said(end_at), every: said(schedule_str) }
      const outcome = await carryOutOnce(ledger, call, async () => {
        const read = await readJob({ query, ifQuery: said(if_query), ...times }, log.now())
        return { type: 'CreateJob', data: { project, job: name, ...read } }
      })
      return json(await records.job(resultOf('job', outcome.resource)))
    },
  }),
  oneOfProject(reading, {
    path: `${path}/:job`,
    kind: 'job',
    summary: 'Get a job',
    record,
    show: ({ records: at }, job, project) => at.job(job, project),
  }),
  route({
    method: 'put',
    path: `${path}/:job`,
    summary: 'Change the statements, the condition or the times of a job; a run under way ends with the old ones',
    commandHeaders,
    body: wrappedKnown('job', changes, Object.keys(record.shape)),
    answers: { 200: record },
    async handle({ segments, body, call }) {
      const change = async () => {
        // A secret that stays may be erased before the change is recorded.
        const origin = await ledger.guarded(call.origin())
        const command = await updateJob(segments, changeIn(body), { resources: log.resources, payloads: log, now: () => log.now() })
        return carryOut(ledger, command, call, origin)
      }
      const outcome = (await carriedOut(ledger, call)) ?? (await change())
      return json(await records.job(await records.written('job', outcome, segments.project, segments.job)))
    },
  }),
  reading({
    path: `${path}/:job/history`,
    summary: 'The newest runs of a job, oldest first; or its changes, by id or stream after its deletion, too',
    query: { ...historyParameters, of },
    answers: { 200: z.union([z.array(run), historyPage]) },
    async handle({ segments, query }, moment) {
      if (query.of === 'changes') {
        const stream = await streamInProject(moment, 'job', segments.project, segments.job)
        return historyOf({ histories, moment }, 'job', stream, query)
      }
      const { project, found } = await inProject(moment, 'job', segments.project, segments.job)
      const runs = await readRuns(moment, found)
      // Clients expect no runs that the condition skipped; log.job_runs has them.
      const shown = runs.filter(({ end }) => end?.outcome !== 'skipped').map((one) => moment.records.jobRun(found, project, one))
      return wholeList([fixedPart(shown)])
    },
  }),
  deletion(ledger, {
    path: `${path}/:job`,
    summary: 'Delete a job; a run under way is cancelled',
    command: ({ segments: { project, job } }) => ({ type: 'DeleteJob', data: { project, job } }),
  }),
]
