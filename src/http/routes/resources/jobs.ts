import type { Request } from 'express'
import { z } from 'zod'
import { resourceName, text } from '../../../../events/common.js'
import type { Ledger } from '../../../commands/ledger.js'
import { wrong } from '../../../basics/errors.js'
import { readJob } from '../../../sql/facade/commands/job-definition.js'
import { readRuns } from '../../../jobs/history.js'
import type { Histories } from '../../../log/read/history.js'
import { carryOut, deletion } from '../../protocol/carry-out.js'
import { tag } from '../../protocol/etag.js'
import { historyPage, historyParameters, sendHistory, streamInProject } from './history.js'
import { listParameters, resourcesPart, sendList } from '../../reads/paged-list.js'
import type { Reading } from '../../reads/reading.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, param, queryValue, type Route, unwrap } from '../../protocol/route.js'
import { inProject, projectNamed, projectOf, resultOf } from '../../reads/scope.js'

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
  if_query: text.nullish().describe('a query that must give a row for the job to run'),
  start_at: text.nullish().describe('a UTC time, or now; without it, now'),
  end_at: text.nullish().describe('a UTC time after which the job runs no more'),
  schedule_str: text.nullish().describe('every [n] minutes, hours, days, weeks or months; without it the job runs once'),
})
const path = '/projects/:project/jobs'

/** Clients send an empty text where nothing was filled in. */
const said = (value: string | null | undefined): string | null => (value === undefined || value?.trim() === '' ? null : value)

/** Clients know the history of a job as its runs. */
const historyOf = (req: Request): 'runs' | 'changes' => {
  const of = queryValue(req, 'of') ?? 'runs'
  if (of === 'runs' || of === 'changes') return of
  throw wrong(`the query parameter of must be runs or changes, not ${of}`)
}

export const jobRoutes = (ledger: Ledger, records: Records, reading: Reading, histories: Histories): Route[] => [
  reading({
    path,
    summary: 'List the jobs of a project',
    query: listParameters,
    answers: { 200: z.array(record) },
    async handle(req, res, moment) {
      const project = await projectNamed(moment, param(req, 'project'))
      const read = (after: number, limit: number) => moment.resources.page('job', project, after, limit)
      await sendList(req, res, [resourcesPart(read, (job) => [moment.records.job(job, project)])])
    },
  }),
  {
    method: 'post',
    path,
    summary: 'Create a job: statements that run at times of their own',
    commandHeaders,
    body: z.object({ job: creation }),
    answers: { 200: record },
    async handle(req, res) {
      const { name, query, if_query, start_at, end_at, schedule_str } = unwrap(req, 'job', creation)
      const times = { start: said(start_at), end: said(end_at), every: said(schedule_str) }
      const read = await readJob({ query, ifQuery: said(if_query), ...times }, Date.now())
      const data = { project: param(req, 'project'), job: name, ...read }
      const outcome = await carryOut(ledger, { type: 'CreateJob', data }, req, res)
      const created = resultOf('job', outcome.resource)
      res.status(200).json(records.job(created, await projectOf(ledger.log, created)))
    },
  },
  reading({
    path: `${path}/:job`,
    summary: 'Get a job',
    answers: { 200: record },
    async handle(req, res, moment) {
      const { project, found } = await inProject(moment, 'job', param(req, 'project'), param(req, 'job'))
      tag(res, found)
      res.json(moment.records.job(found, project))
    },
  }),
  reading({
    path: `${path}/:job/history`,
    summary: 'The newest runs of a job, oldest first; or its changes, by id or stream after its deletion, too',
    query: historyParameters.extend({ of: z.enum(['runs', 'changes']).describe('changes: who changed what, in pages').optional() }),
    answers: { 200: z.union([z.array(run), historyPage]) },
    async handle(req, res, moment) {
      if (historyOf(req) === 'changes') {
        const stream = await streamInProject(moment, 'job', param(req, 'project'), param(req, 'job'))
        await sendHistory(req, res, { histories, moment }, 'job', stream)
        return
      }
      const { project, found } = await inProject(moment, 'job', param(req, 'project'), param(req, 'job'))
      const runs = await readRuns(moment, found)
      // What its condition skipped did nothing that clients ask for; log.job_runs has it.
      res.json(runs.filter(({ end }) => end?.outcome !== 'skipped').map((one) => moment.records.jobRun(found, project, one)))
    },
  }),
  {
    method: 'delete',
    path: `${path}/:job`,
    summary: 'Delete a job; a run under way is cancelled',
    commandHeaders,
    answers: { 204: null },
    handle: deletion(ledger, (req) => ({ type: 'DeleteJob', data: { project: param(req, 'project'), job: param(req, 'job') } })),
  },
]
