import * as z from 'zod'
import { resourceName, text } from '../../../../events/common.js'
import type { Ledger } from '../../../commands/ledger.js'
import type { Log, Origin } from '../../../log/contract/log.js'
import { titled, wrapped } from '../../protocol/body-schema.js'
import type { Call } from '../../protocol/call.js'
import { carryOutOnce, deletion } from '../../protocol/carry-out.js'
import { json } from '../../protocol/reply.js'
import { listOfProject, oneOfProject } from '../../reads/project-reads.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, route, type Route } from '../../protocol/route.js'
import { projectNamed, resultOf } from '../../../log/read/by-name.js'

const record = z.object({ id: z.int(), name: z.string(), query: z.string() }).meta({ id: 'View' })
const creation = z.object({ name: resourceName, query: text })
const changes = z.object({ query: text })
const path = '/projects/:project/views'

/** Refuses a query that a view cannot have, before it is recorded; `ofView` is the view's stream. */
export type CheckView = (query: string, database: string, origin: Origin, ofView?: string) => Promise<void>

/** The requested view. */
type ViewRequest = { type: 'CreateView' | 'PutView'; project: string; view: string; query: string }

type Services = { ledger: Ledger; log: Log; records: Records; reading: ReadRouteFactory; checkView: CheckView }

/** The routes for the views of a project. A query is checked before it is stored, unless the request is a retry. */
export const viewRoutes = ({ ledger, log, records, reading, checkView }: Services): Route[] => {
  const checked = async (call: Call, { type, project: ref, view, query }: ViewRequest) => {
    const project = await projectNamed(log, ref)
    const { name } = project.state
    await checkView(query, name, call.origin(), (await log.resources.one('view', view, project))?.stream)
    return { type, data: { project: name, view, query, database: name } }
  }
  /** Checks the query, unless the request is a retry: tables of the query may no longer exist then. */
  const write = async (call: Call, wanted: ViewRequest) => {
    const { resource, positions } = await carryOutOnce(ledger, call, () => checked(call, wanted))
    const written = resultOf('view', resource)
    return { created: positions[0] === written.id, record: await records.view(written) }
  }
  return [
    listOfProject(reading, {
      path,
      kind: 'view',
      summary: 'List the views of a project',
      record,
      show: ({ records: at }, view, project) => at.view(view, project),
    }),
    route({
      method: 'post',
      path,
      summary: 'Create a view from a SELECT',
      commandHeaders,
      body: titled('Wrong argument', wrapped('view', creation)),
      answers: { 201: record },
      async handle({ segments: { project }, body: { name: view, query }, call }) {
        const { record } = await write(call, { type: 'CreateView', project, view, query })
        return json(record, { status: 201 })
      },
    }),
    oneOfProject(reading, {
      path: `${path}/:view`,
      kind: 'view',
      summary: 'Get a view',
      record,
      show: ({ records: at }, view, project) => at.view(view, project),
    }),
    route({
      method: 'put',
      path: `${path}/:view`,
      summary: "Change a view's query; a view that does not exist is created",
      commandHeaders,
      body: titled('Wrong argument', wrapped('view', changes)),
      answers: { 200: record, 201: record },
      async handle({ segments, body: { query }, call }) {
        const { created, record } = await write(call, { type: 'PutView', ...segments, query })
        return json(record, { status: created ? 201 : 200 })
      },
    }),
    deletion(ledger, {
      path: `${path}/:view`,
      summary: 'Delete a view',
      command: ({ segments: { project, view } }) => ({ type: 'DeleteView', data: { project, view } }),
    }),
  ]
}
