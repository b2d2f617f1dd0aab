import { z } from 'zod'
import { resourceName, text } from '../../events/common.js'
import type { Ledger } from '../commands/ledger.js'
import { readJob } from '../jobs/definition.js'
import { readRuns } from '../jobs/history.js'
import { carryOut, deletion } from './carry-out.js'
import type { Records } from './records.js'
import { commandHeaders, param, type Route, unwrap } from './route.js'
import { inProject, projectNamed, projectOf, resultOf } from './scope.js'

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

export const jobRoutes = (ledger: Ledger, records: Records): Route[] => [
  {
    method: 'get',
    path,
    summary: 'List the jobs of a project',
    answers: { 200: z.array(record) },
    async handle(req, res) {
      const project = await projectNamed(ledger.log, param(req, 'project'))
      res.json((await ledger.log.resources.list('job', project)).map((job) => records.job(job, project)))
    },
  },
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
      const data = { project: param(req, 'project'), job: name, ...readJob({ query, ifQuery: said(if_query), ...times }, Date.now()) }
      const outcome = await carryOut(ledger, { type: 'CreateJob', data }, req, res)
      const created = resultOf('job', outcome.resource)
      res.status(200).json(records.job(created, await projectOf(ledger.log, created)))
    },
  },
  {
    method: 'get',
    path: `${path}/:job`,
    summary: 'Get a job',
    answers: { 200: record },
    async handle(req, res) {
      const { project, found } = await inProject(ledger.log, 'job', param(req, 'project'), param(req, 'job'))
      res.json(records.job(found, project))
    },
  },
  {
    method: 'get',
    path: `${path}/:job/history`,
    summary: 'The newest runs of a job, oldest first',
    answers: { 200: z.array(run) },
    async handle(req, res) {
      const { project, found } = await inProject(ledger.log, 'job', param(req, 'project'), param(req, 'job'))
      const runs = await readRuns(ledger.log, found)
      // What its condition skipped did nothing that clients ask for; log.job_runs has it.
      res.json(runs.filter(({ end }) => end?.outcome !== 'skipped').map((one) => records.jobRun(found, project, one)))
    },
  },
  {
    method: 'delete',
    path: `${path}/:job`,
    summary: 'Delete a job; a run under way is cancelled',
    commandHeaders,
    answers: { 204: null },
    handle: deletion(ledger, (req) => ({ type: 'DeleteJob', data: { project: param(req, 'project'), job: param(req, 'job') } })),
  },
]
