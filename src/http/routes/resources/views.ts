import type { Request, Response } from 'express'
import { z } from 'zod'
import { resourceName, text } from '../../../../events/common.js'
import type { Ledger } from '../../../commands/ledger.js'
import type { Origin } from '../../../log/contract/log.js'
import { carryOut, deletion } from '../../protocol/carry-out.js'
import { executionOf, note, originOf } from '../../protocol/origin.js'
import { tag } from '../../protocol/etag.js'
import { listParameters, resourcesPart, sendList } from '../../reads/paged-list.js'
import type { Reading } from '../../reads/reading.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, param, type Route, unwrap } from '../../protocol/route.js'
import { inProject, projectNamed, resultOf } from '../../reads/scope.js'

const record = z.object({ id: z.int(), name: z.string(), query: z.string() }).meta({ id: 'View' })
const creation = z.object({ name: resourceName, query: text })
const changes = z.object({ query: text })
const path = '/projects/:project/views'

/** Refuses a query that cannot be a view's, before it is recorded; `ofView` is the stream of the view that it is to be of. */
export type CheckView = (query: string, database: string, origin: Origin, ofView?: string) => Promise<void>

type Written = 'CreateView' | 'PutView'

export const viewRoutes = (ledger: Ledger, records: Records, reading: Reading, check: CheckView): Route[] => {
  const checkedWrite = async (req: Request, res: Response, type: Written, { view, query }: { view: string; query: string }) => {
    const project = await projectNamed(ledger.log, param(req, 'project'))
    const { name } = project.state
    await check(query, name, originOf(req, res), (await ledger.log.resources.one('view', view, project))?.stream)
    return carryOut(ledger, { type, data: { project: name, view, query, database: name } }, req, res)
  }
  /** Checks the query, unless the request was carried out before: what it reads may be gone by now. */
  const write = async (req: Request, res: Response, type: Written, { view, query }: { view: string; query: string }) => {
    const repeated = await ledger.repeated(originOf(req, res), executionOf(req))
    const { resource, positions } = repeated ? note(res, repeated) : await checkedWrite(req, res, type, { view, query })
    const written = resultOf('view', resource)
    return { created: positions[0] === written.id, record: records.view(written) }
  }
  return [
    reading({
      path,
      summary: 'List the views of a project',
      query: listParameters,
      answers: { 200: z.array(record) },
      async handle(req, res, moment) {
        const project = await projectNamed(moment, param(req, 'project'))
        const read = (after: number, limit: number) => moment.resources.page('view', project, after, limit)
        await sendList(req, res, [resourcesPart(read, (view) => [moment.records.view(view)])])
      },
    }),
    {
      method: 'post',
      path,
      summary: 'Create a view from a SELECT',
      commandHeaders,
      body: z.object({ view: creation }),
      answers: { 201: record },
      async handle(req, res) {
        const { name, query } = unwrap(req, 'view', creation)
        const { record } = await write(req, res, 'CreateView', { view: name, query })
        res.status(201).json(record)
      },
    },
    reading({
      path: `${path}/:view`,
      summary: 'Get a view',
      answers: { 200: record },
      async handle(req, res, moment) {
        const { found } = await inProject(moment, 'view', param(req, 'project'), param(req, 'view'))
        tag(res, found)
        res.json(moment.records.view(found))
      },
    }),
    {
      method: 'put',
      path: `${path}/:view`,
      summary: "Change a view's query; a view that does not exist is created",
      commandHeaders,
      body: z.object({ view: changes }),
      answers: { 200: record, 201: record },
      async handle(req, res) {
        const { query } = unwrap(req, 'view', changes)
        const { created, record } = await write(req, res, 'PutView', { view: param(req, 'view'), query })
        res.status(created ? 201 : 200).json(record)
      },
    },
    {
      method: 'delete',
      path: `${path}/:view`,
      summary: 'Delete a view',
      commandHeaders,
      answers: { 204: null },
      handle: deletion(ledger, (req) => ({ type: 'DeleteView', data: { project: param(req, 'project'), view: param(req, 'view') } })),
    },
  ]
}
