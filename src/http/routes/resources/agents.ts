import * as z from 'zod'
import type { Agent } from '../../../../events/agent.js'
import { jsonObject, resourceName } from '../../../../events/common.js'
import { isProblem, notFound, Problem } from '../../../basics/errors.js'
import { agentChanges, agentCreation, agentFields } from '../../../commands/agent.js'
import type { Ledger } from '../../../commands/ledger.js'
import { resultOf } from '../../../log/read/by-name.js'
import { wrapped, wrappedNamed } from '../../protocol/body-schema.js'
import { carryOut, carryOutOnce, deletion } from '../../protocol/carry-out.js'
import { oneOf } from '../../protocol/parameters.js'
import { json } from '../../protocol/reply.js'
import { commandHeaders, route, type Route } from '../../protocol/route.js'
import { listOfProject, oneOfProject } from '../../reads/project-reads.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import type { Records } from '../../reads/records.js'

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
const creation = wrappedNamed('agent', agentFields, agentFields.extend({ name: resourceName }))

/** MindsDB's refusal for a missing agent. Only the command can decide this: the retry of an update creates nothing. */
const creationNotAllowed =
  (project: string, name: string) =>
  (error: unknown): never => {
    if (!isProblem(error) || error.title !== notFound('agent', name).title) throw error
    throw new Problem('missing_parameter', 'Creation is not allowed', `there is no agent ${name}, and PUT does not create one`, {
      hint: `POST /api${path.replace(':project', project)} creates it.`,
    })
  }

/** Calls the language model that an agent would have. @throws Problem that says why it cannot be used */
export type CheckModel = (
  agent: Pick<Agent, 'model_name' | 'provider' | 'params'> & { skills: readonly unknown[] },
  signal: AbortSignal,
) => Promise<void>

type Services = { ledger: Ledger; records: Records; reading: ReadRouteFactory; checkModel: CheckModel }

/** The routes for the agents of a project: list, create, get, change and delete. */
export const agentRoutes = ({ ledger, records, reading, checkModel }: Services): Route[] => {
  const command = ({ segments: { project, agent } }: { segments: { project: string; agent: string } }) =>
    ({ type: 'DeleteAgent', data: { project, agent } }) as const
  return [
    listOfProject(reading, {
      path,
      kind: 'agent',
      summary: 'List the agents of a project',
      record: agentRecord,
      show: ({ records: at }, agent, project) => at.agent(agent, project),
    }),
    route({
      method: 'post',
      path,
      summary: 'Create an agent; with check=true only if its language model answers',
      commandHeaders,
      onlyCommands: true,
      query: { check: oneOf(['true', 'false'], 'check is true or false') },
      body: creation,
      answers: { 201: agentRecord },
      async handle({ segments: { project }, body, call, query: { check } }) {
        const command = { type: 'CreateAgent' as const, data: { project, agent: body.name, ...agentCreation(body) } }
        const outcome = await carryOutOnce(ledger, call, async () => {
          // If the creation would be refused, the model is not called.
          if (check === 'true') {
            await ledger.execute(command, call.origin(), { dryRun: true })
            await checkModel(command.data, call.gone)
          }
          return command
        })
        return json(await records.agent(resultOf('agent', outcome.resource)), { status: 201 })
      },
    }),
    oneOfProject(reading, {
      path: `${path}/:agent`,
      kind: 'agent',
      summary: 'Get an agent by name or id',
      record: agentRecord,
      show: ({ records: at }, agent, project) => at.agent(agent, project),
    }),
    route({
      method: 'put',
      path: `${path}/:agent`,
      summary: 'Update an agent: params are merged, skills replaced, or added and removed',
      commandHeaders,
      onlyCommands: true,
      body: wrapped('agent', agentFields),
      answers: { 200: agentRecord },
      async handle({ segments: { project, agent: name }, body, call }) {
        const data = { project, agent: name, ...agentChanges(body) }
        const outcome = await carryOut(ledger, { type: 'UpdateAgent', data }, call).catch(creationNotAllowed(project, name))
        return json(await records.agent(await records.written('agent', outcome, project, name)))
      },
    }),
    deletion(ledger, { path: `${path}/:agent`, summary: 'Delete an agent by name or id', command }),
    deletion(ledger, {
      path: '/projects/:project/agent/:agent',
      summary: 'Delete an agent by name or id (the documented singular path)',
      command,
    }),
  ]
}
