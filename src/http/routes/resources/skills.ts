import { z } from 'zod'
import { jsonObject, resourceName, text } from '../../../../events/common.js'
import type { Ledger } from '../../../commands/ledger.js'
import { notFound } from '../../../basics/errors.js'
import type { Found } from '../../../log/contract/log.js'
import { carryOut, deletion } from '../../protocol/carry-out.js'
import { tag } from '../../protocol/etag.js'
import { listParameters, resourcesPart, sendList } from '../../reads/paged-list.js'
import type { Reading } from '../../reads/reading.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, given, param, queryValue, type Route, unwrap } from '../../protocol/route.js'
import { asWritten, inProject, projectNamed, projectOf, resultOf } from '../../reads/scope.js'

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

export const skillRoutes = (ledger: Ledger, records: Records, reading: Reading): Route[] => [
  reading({
    path,
    summary: 'List the skills of a project, or those an agent uses',
    query: listParameters.extend({ agent: z.string().optional().describe('name or id of an agent of the project') }),
    answers: { 200: z.array(record) },
    async handle(req, res, moment) {
      const project = await projectNamed(moment, param(req, 'project'))
      const agentRef = queryValue(req, 'agent')
      const agent = agentRef === undefined ? undefined : await moment.resources.one('agent', agentRef, project)
      if (agentRef !== undefined && !agent) throw notFound('agent', agentRef)
      const used = agent && new Set(agent.state.skills.map(({ skill }) => skill))
      const read = (after: number, limit: number) => moment.resources.page('skill', project, after, limit)
      const show = async (skill: Found<'skill'>) => ((used?.has(skill.stream) ?? true) ? [await moment.records.skill(skill, project)] : [])
      await sendList(req, res, [resourcesPart(read, show)])
    },
  }),
  {
    method: 'post',
    path,
    summary: 'Create a skill',
    commandHeaders,
    body: z.object({ skill: creation }),
    answers: { 201: record },
    async handle(req, res) {
      const { name, type, params } = unwrap(req, 'skill', creation)
      const project = param(req, 'project')
      const command = { type: 'CreateSkill', data: { project, skill: name, type, params } } as const
      const outcome = await carryOut(ledger, command, req, res)
      const skill = resultOf('skill', outcome.resource)
      res.status(201).json(await records.skill(skill, await projectOf(ledger.log, skill)))
    },
  },
  reading({
    path: `${path}/:skill`,
    summary: 'Get a skill by name or id',
    answers: { 200: record },
    async handle(req, res, moment) {
      const { project, found } = await inProject(moment, 'skill', param(req, 'project'), param(req, 'skill'))
      tag(res, found)
      res.json(await moment.records.skill(found, project))
    },
  }),
  {
    method: 'put',
    path: `${path}/:skill`,
    summary: 'Update a skill: params are merged, null removes; a skill that does not exist is created',
    commandHeaders,
    body: z.object({ skill: changes }),
    answers: { 200: record, 201: record },
    async handle(req, res) {
      const { name, type, params } = unwrap(req, 'skill', changes)
      const project = param(req, 'project')
      const data = { project, skill: param(req, 'skill'), ...given({ name, type, params }) }
      const outcome = await carryOut(ledger, { type: 'PutSkill', data }, req, res)
      const skill = await asWritten(ledger.log, 'skill', outcome, project, data.skill)
      res.status(outcome.positions[0] === skill.id ? 201 : 200).json(await records.skill(skill, await projectOf(ledger.log, skill)))
    },
  },
  {
    method: 'delete',
    path: `${path}/:skill`,
    summary: 'Delete a skill by name or id',
    commandHeaders,
    answers: { 204: null },
    handle: deletion(ledger, (req) => ({ type: 'DeleteSkill', data: { project: param(req, 'project'), skill: param(req, 'skill') } })),
  },
]
