import { z } from 'zod'
import { jsonObject, resourceName } from '../../../../events/common.js'
import { agentChanges, agentCreation, agentFields } from '../../../commands/agent-input.js'
import type { Ledger } from '../../../commands/ledger.js'
import { isProblem, missingField, notFound, Problem } from '../../../basics/errors.js'
import { carryOut, deletion } from '../../protocol/carry-out.js'
import { tag } from '../../protocol/etag.js'
import { listParameters, resourcesPart, sendList } from '../../reads/paged-list.js'
import type { Reading } from '../../reads/reading.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, param, type Route, unwrap } from '../../protocol/route.js'
import { asWritten, inProject, projectNamed, projectOf, resultOf } from '../../reads/scope.js'

export const agentRecord = z
  .looseObject({
    id: z.int(),
    name: z.string(),
    project_id: z.int(),
    created_at: z.string(),
    updated_at: z.string(),
    model_name: z.string().optional(),
    provider: z.string().optional(),
    skills: z.array(jsonObject).optional(),
    skills_extra_parameters: jsonObject.optional(),
    data: jsonObject.optional(),
    model: jsonObject.optional(),
    prompt_template: z.string().optional(),
    params: jsonObject.optional(),
  })
  .meta({ id: 'Agent' })

const path = '/projects/:project/agents'
const body = z.object({ agent: agentFields })
const creation = z.object({ agent: agentFields.extend({ name: resourceName }) })

/** The public service says so of an agent that does not exist; the command alone knows, since a request sent again is no creation. */
const creationNotAllowed =
  (project: string, name: string) =>
  (error: unknown): never => {
    if (!isProblem(error) || error.title !== notFound('agent', name).title) throw error
    throw new Problem('missing_parameter', 'Creation is not allowed', `there is no agent ${name}, and PUT does not create one`, {
      hint: `POST /api${path.replace(':project', project)} creates it.`,
    })
  }

export const agentRoutes = (ledger: Ledger, records: Records, reading: Reading): Route[] => {
  const remove = deletion(ledger, (req) => ({ type: 'DeleteAgent', data: { project: param(req, 'project'), agent: param(req, 'agent') } }))
  return [
    reading({
      path,
      summary: 'List the agents of a project',
      query: listParameters,
      answers: { 200: z.array(agentRecord) },
      async handle(req, res, moment) {
        const project = await projectNamed(moment, param(req, 'project'))
        const read = (after: number, limit: number) => moment.resources.page('agent', project, after, limit)
        await sendList(req, res, [resourcesPart(read, async (agent) => [await moment.records.agent(agent, project)])])
      },
    }),
    {
      method: 'post',
      path,
      summary: 'Create an agent',
      commandHeaders,
      body: creation,
      answers: { 201: agentRecord },
      async handle(req, res) {
        const fields = unwrap(req, 'agent', agentFields)
        if (fields.name === undefined || fields.name === null) throw missingField('name', 'agent')
        const project = param(req, 'project')
        const data = { project, agent: fields.name, ...agentCreation(fields) }
        const outcome = await carryOut(ledger, { type: 'CreateAgent', data }, req, res)
        const agent = resultOf('agent', outcome.resource)
        res.status(201).json(await records.agent(agent, await projectOf(ledger.log, agent)))
      },
    },
    reading({
      path: `${path}/:agent`,
      summary: 'Get an agent by name or id',
      answers: { 200: agentRecord },
      async handle(req, res, moment) {
        const { project, found } = await inProject(moment, 'agent', param(req, 'project'), param(req, 'agent'))
        tag(res, found)
        res.json(await moment.records.agent(found, project))
      },
    }),
    {
      method: 'put',
      path: `${path}/:agent`,
      summary: 'Update an agent: params are merged, skills replaced, or added and removed',
      commandHeaders,
      body,
      answers: { 200: agentRecord },
      async handle(req, res) {
        const changes = agentChanges(unwrap(req, 'agent', agentFields))
        const project = param(req, 'project')
        const name = param(req, 'agent')
        const data = { project, agent: name, ...changes }
        const outcome = await carryOut(ledger, { type: 'UpdateAgent', data }, req, res).catch(creationNotAllowed(project, name))
        const agent = await asWritten(ledger.log, 'agent', outcome, project, name)
        res.json(await records.agent(agent, await projectOf(ledger.log, agent)))
      },
    },
    {
      method: 'delete',
      path: `${path}/:agent`,
      summary: 'Delete an agent by name or id',
      commandHeaders,
      answers: { 204: null },
      handle: remove,
    },
    {
      method: 'delete',
      path: '/projects/:project/agent/:agent',
      summary: 'Delete an agent by name or id (the documented singular path)',
      commandHeaders,
      answers: { 204: null },
      handle: remove,
    },
  ]
}
