import * as z from 'zod'
import { jsonObject, resourceName, text } from '../../../../events/common.js'
import type { Ledger } from '../../../commands/ledger.js'
import { notFound } from '../../../basics/errors.js'
import type { Resource } from '../../../log/contract/log.js'
import { given, wrapped } from '../../protocol/body-schema.js'
import { carryOut, deletion } from '../../protocol/carry-out.js'
import { value } from '../../protocol/parameters.js'
import { json } from '../../protocol/reply.js'
import { list, listParameters, resourcesPart } from '../../reads/paged-list.js'
import { oneOfProject } from '../../reads/project-reads.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, route, type Route } from '../../protocol/route.js'
import { projectNamed, resultOf } from '../../../log/read/by-name.js'

const record = z
  .object({
    id: z.int(),
    name: z.string(),
    project_id: z.int(),
    agent_ids: z.array(z.int()),
    type: z.string(),
    params: jsonObject,
    created_at: z.string(),
  })
  .meta({ id: 'Skill' })

const creation = z.object({ name: resourceName, type: text, params: jsonObject })
const changes = z.object({ name: resourceName.nullish(), type: text.nullish(), params: jsonObject.nullish() })
const path = '/projects/:project/skills'

/** The filter of the list, under each name that a client may expect. */
const agentOf = value(z.string().optional().describe('name or id of an agent of the project: only its skills are listed'))

/** The routes for the skills of a project: list (all, or those of an agent), create, get, change and delete. */
export const skillRoutes = (ledger: Ledger, records: Records, reading: ReadRouteFactory): Route[] => [
  reading({
    path,
    summary: 'List the skills of a project, or those an agent uses',
    query: { ...listParameters, agent: agentOf, agent_name: agentOf, agent_id: agentOf },
    answers: { 200: z.array(record) },
    async handle(input, moment) {
      const project = await projectNamed(moment, input.segments.project)
      const { agent: named, agent_name, agent_id } = input.query
      const ref = named ?? agent_name ?? agent_id
      const agent = ref === undefined ? undefined : await moment.resources.one('agent', ref, project)
      if (ref !== undefined && !agent) throw notFound('agent', ref)
      const used = agent && new Set(agent.state.skills.map(({ skill }) => skill))
      const read = (after: number, limit: number) => moment.resources.page('skill', project, after, limit)
      const show = async (skill: Resource<'skill'>) =>
        (used?.has(skill.stream) ?? true) ? [await moment.records.skill(skill, project)] : []
      return list(input, [resourcesPart(read, show)])
    },
  }),
  route({
    method: 'post',
    path,
    summary: 'Create a skill',
    commandHeaders,
    onlyCommands: true,
    body: wrapped('skill', creation),
    answers: { 201: record },
    async handle({ segments: { project }, body: { name, type, params }, call }) {
      const command = { type: 'CreateSkill', data: { project, skill: name, type, params } } as const
      const outcome = await carryOut(ledger, command, call)
      const skill = resultOf('skill', outcome.resource)
      return json(await (outcome.repeated ? records.skill(skill) : records.newSkill(skill)), { status: 201 })
    },
  }),
  oneOfProject(reading, {
    path: `${path}/:skill`,
    kind: 'skill',
    summary: 'Get a skill by name or id',
    record,
    show: ({ records: at }, skill, project) => at.skill(skill, project),
  }),
  route({
    method: 'put',
    path: `${path}/:skill`,
    summary: 'Update a skill: params are merged, null removes; a skill that does not exist is created',
    commandHeaders,
    onlyCommands: true,
    body: wrapped('skill', changes),
    answers: { 200: record, 201: record },
    async handle({ segments: { project, skill: ref }, body, call }) {
      const data = { project, skill: ref, ...given(body) }
      const outcome = await carryOut(ledger, { type: 'PutSkill', data }, call)
      const skill = await records.written('skill', outcome, project, ref)
      const status = outcome.positions[0] === skill.id ? 201 : 200
      return json(await records.skill(skill), { status })
    },
  }),
  deletion(ledger, {
    path: `${path}/:skill`,
    summary: 'Delete a skill by name or id',
    command: ({ segments: { project, skill } }) => ({ type: 'DeleteSkill', data: { project, skill } }),
  }),
]
