import { z } from 'zod'
import { resourceName, text } from '../../events/common.js'
import type { Ledger } from '../commands/ledger.js'
import { idempotencyOf, note, originOf } from './origin.js'
import type { Records } from './records.js'
import { param, unwrap, type Route } from './route.js'
import { inProject, projectNamed, resultOf } from './scope.js'

const record = z.object({ id: z.int(), name: z.string(), query: z.string() }).meta({ id: 'View' })
const creation = z.object({ name: resourceName, query: text })
const changes = z.object({ query: text })
const path = '/projects/:project/views'

/** Refuses a query that cannot be a view's, before it is recorded. */
export type CheckView = (query: string, database: string) => Promise<void>

export const viewRoutes = (ledger: Ledger, records: Records, check: CheckView): Route[] => [
  {
    method: 'get',
    path,
    summary: 'List the views of a project',
    answers: { 200: z.array(record) },
    async handle(req, res) {
      const project = await projectNamed(ledger.log, param(req, 'project'))
      res.json((await ledger.log.resources.list('view', project)).map((view) => records.view(view)))
    },
  },
  {
    method: 'post',
    path,
    summary: 'Create a view from a SELECT',
    body: z.object({ view: creation }),
    answers: { 201: record },
    async handle(req, res) {
      const { name, query } = unwrap(req, 'view', creation)
      const project = await projectNamed(ledger.log, param(req, 'project'))
      const [origin, execution] = [originOf(req, res), idempotencyOf(req)]
      if (!(await ledger.repeated(origin, execution))) await check(query, project.state.name)
      const data = { project: project.state.name, view: name, query, database: project.state.name }
      const outcome = note(res, await ledger.execute({ type: 'CreateView', data }, origin, execution))
      res.status(201).json(records.view(resultOf('view', outcome.resource)))
    },
  },
  {
    method: 'get',
    path: `${path}/:view`,
    summary: 'Get a view',
    answers: { 200: record },
    async handle(req, res) {
      res.json(records.view((await inProject(ledger.log, 'view', param(req, 'project'), param(req, 'view'))).found))
    },
  },
  {
    method: 'put',
    path: `${path}/:view`,
    summary: "Change a view's query; a view that does not exist is created",
    body: z.object({ view: changes }),
    answers: { 200: record, 201: record },
    async handle(req, res) {
      const { query } = unwrap(req, 'view', changes)
      const project = await projectNamed(ledger.log, param(req, 'project'))
      const [origin, execution] = [originOf(req, res), idempotencyOf(req)]
      if (!(await ledger.repeated(origin, execution))) await check(query, project.state.name)
      const data = { project: project.state.name, view: param(req, 'view'), query, database: project.state.name }
      const outcome = note(res, await ledger.execute({ type: 'PutView', data }, origin, execution))
      const view = resultOf('view', outcome.resource)
      res.status(outcome.positions[0] === view.id ? 201 : 200).json(records.view(view))
    },
  },
  {
    method: 'delete',
    path: `${path}/:view`,
    summary: 'Delete a view',
    answers: { 204: null },
    async handle(req, res) {
      const data = { project: param(req, 'project'), view: param(req, 'view') }
      note(res, await ledger.execute({ type: 'DeleteView', data }, originOf(req, res), idempotencyOf(req)))
      res.status(204).end()
    },
  },
]
