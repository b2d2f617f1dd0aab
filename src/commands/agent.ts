import type { Command } from '@event-driven-io/emmett'
import * as z from 'zod'
import type { Agent, AgentEvent, AgentSkill } from '../../events/agent.js'
import { unreachable, jsonObject, resourceName, text, type JsonObject, type Json } from '../../events/common.js'
import { conflict, notFound, Problem, wrong } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { refuseUnfitNames } from '../catalogue/grants.js'
import { providerOf, llmProviders } from '../catalogue/llm-providers.js'
import { renamedModel, statedModel } from '../catalogue/stated-model.js'
import {
  byName,
  byNames,
  byExactName,
  byStream,
  usersOf,
  type FactsOf,
  type NamedResource,
  type Resource,
} from '../log/contract/lookups.js'
import { refuseUnfitSettings, settingSchemas } from './rules/agent-settings.js'
import { refuseMovedKeys } from './rules/bound-keys.js'
import { decider } from './rules/decider.js'
import { listed } from './rules/listed.js'
import { mergeParams, newParams, replacedParams } from './rules/params.js'
import { gone, updatedTo, type RollbackRule } from './rules/rollback.js'
import { namesakes, refuseTakenName } from './rules/taken-names.js'

const skillRef = z.union([text, z.looseObject({ name: text })])
const skillList = z.array(skillRef).nullish()

/** The settings of an agent in the form of clients, over REST and in `USING`. */
export const agentFields = z.object({
  name: resourceName.nullish(),
  model: z.union([text, jsonObject]).nullish(),
  model_name: text.nullish(),
  provider: text.meta({ examples: [...llmProviders.keys()] }).nullish(),
  skills: skillList,
  skills_to_add: skillList,
  skills_to_remove: skillList,
  data: jsonObject.nullish(),
  prompt_template: text.nullish(),
  params: jsonObject.meta({ properties: settingSchemas }).nullish(),
})
export type AgentFields = z.infer<typeof agentFields>

const refs = (list: NonNullable<AgentFields['skills']>): SkillRef[] =>
  list.map((entry) => {
    if (typeof entry === 'string') return { name: entry, params: {} }
    const { name, ...params } = entry
    return { name, params: params as JsonObject }
  })

// A model given as text is a name; an object is a param, which the agent keeps unchanged.
const modelName = ({ model, model_name }: AgentFields): string | undefined =>
  typeof model === 'string' ? model : (model_name ?? undefined)

const paramsOf = ({ model, data, prompt_template, params }: AgentFields): JsonObject | undefined => {
  const lifted: [string, Json | null | undefined][] = [
    ['model', typeof model === 'string' ? undefined : model],
    ['data', data],
    ['prompt_template', prompt_template],
  ]
  const sent = lifted.flatMap(([key, value]) => (value === null || value === undefined ? [] : [[key, value] as const]))
  return params || sent.length > 0 ? { ...params, ...Object.fromEntries(sent) } : undefined
}

/** The data of a CreateAgent command, except its project and name. */
export const agentCreation = (fields: AgentFields) => {
  const model_name = modelName(fields) ?? null
  return {
    model_name,
    provider: fields.provider ?? (model_name === null ? null : providerOf(model_name)),
    skills: refs(fields.skills ?? []),
    params: paramsOf(fields) ?? {},
  }
}

/** The data of an UpdateAgent command, except its project and name: only the fields that were sent. */
export const agentChanges = (fields: AgentFields) => {
  const model_name = modelName(fields)
  const params = paramsOf(fields)
  return {
    ...(fields.name && { name: fields.name }),
    ...(model_name !== undefined && { model_name }),
    ...(fields.provider && { provider: fields.provider }),
    ...(fields.skills && { skills: refs(fields.skills) }),
    ...(fields.skills_to_add && { skills_to_add: refs(fields.skills_to_add) }),
    ...(fields.skills_to_remove && { skills_to_remove: refs(fields.skills_to_remove).map(({ name }) => name) }),
    ...(params && { params }),
  }
}

type Target = { project: string; agent: string }
/** A skill by its name, with the agent's own params for it. */
type SkillRef = { name: string; params: JsonObject }
type Changes = {
  model_name?: string | null
  provider?: string | null
  skills?: SkillRef[]
  skills_to_add?: SkillRef[]
  skills_to_remove?: string[]
  params?: JsonObject
}
export type AgentCommand =
  | Command<
      'CreateAgent',
      Target & { model_name: string | null; provider: string | null; skills: SkillRef[]; params: JsonObject; unlessExists?: boolean }
    >
  | Command<'UpdateAgent', Target & Changes & { name?: string }>
  | Command<'DeleteAgent', Target & { ifExists?: boolean }>

const refsOf = (command: AgentCommand) => {
  if (command.type === 'DeleteAgent') return { added: [], removed: [] }
  const { skills = [] } = command.data
  if (command.type === 'CreateAgent') return { added: skills, removed: [] }
  return { added: [...skills, ...(command.data.skills_to_add ?? [])], removed: command.data.skills_to_remove ?? [] }
}

const refuseTooMany = (skills: number): void => {
  if (skills > limits.agentMaxSkills)
    throw wrong(`skills: has ${skills} skills; an agent has at most ${limits.agentMaxSkills}`, 'Leave out some, or make another agent.')
}

const reads = (command: AgentCommand) => {
  const { data } = command
  const { added, removed } = refsOf(command)
  // Each is looked up in the transaction: too many would delay other commands.
  refuseTooMany(Math.max(added.length, removed.length))
  const local = 'model_name' in data && typeof data.model_name === 'string' ? data.model_name : ''
  return {
    project: byName('project', data.project),
    agent: (command.type === 'CreateAgent' ? byExactName : byName)('agent', data.agent, data.project),
    clash: byExactName('agent', 'name' in data ? data.name : data.agent, data.project),
    ...namesakes(('name' in data ? data.name : undefined) ?? data.agent, data.project),
    added: byNames(
      'skill',
      added.map(({ name }) => name),
      data.project,
    ),
    removed: byNames('skill', removed, data.project),
    localModel: byName('model', local, data.project),
    chatbots: usersOf('chatbot', 'agent', command.type === 'DeleteAgent' ? data.agent : '', data.project),
  }
}

type Facts = FactsOf<ReturnType<typeof reads>>

const decide = (command: AgentCommand, facts: Facts): AgentEvent[] => {
  const { data } = command
  const { project, agent, clash } = facts
  if (!project) throw notFound('project', data.project)
  switch (command.type) {
    case 'CreateAgent': {
      if (agent && command.data.unlessExists) return []
      if (agent) throw conflict('agent', data.agent)
      refuseTakenName('agent', data.agent, facts)
      const { model_name, provider, params } = command.data
      refuseMissingModel(command.data, facts)
      refuseUnfitSettings(params)
      refuseUnfitNames({ agentParams: params })
      const skills = resolve(command.data.skills, facts.added)
      return [
        {
          type: 'AgentCreated',
          data: { project: project.stream, name: data.agent, model_name, provider, skills, params: newParams(params) },
        },
      ]
    }
    case 'UpdateAgent': {
      if (!agent) throw notFound('agent', data.agent)
      const name = command.data.name ?? agent.state.name
      if (clash && clash.stream !== agent.stream) throw conflict('agent', name)
      if (name !== agent.state.name) refuseTakenName('agent', name, facts)
      const changes = update(agent.state, command.data, facts)
      refuseMissingModel({ provider: agent.state.provider, ...changes }, facts)
      const events: AgentEvent[] = []
      if (Object.keys(changes).length > 0) events.push({ type: 'AgentUpdated', data: changes })
      if (name !== agent.state.name) events.push({ type: 'AgentRenamed', data: { name } })
      return events
    }
    case 'DeleteAgent':
      if (!agent && command.data.ifExists) return []
      if (!agent) throw notFound('agent', data.agent)
      if (facts.chatbots.length > 0) throw inUse(agent, facts.chatbots)
      return [{ type: 'AgentDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}

/**
 * The provider of an agent whose model is named without one. It stays, because another provider would get the agent's data, unless only the
 * name of the earlier model implied it.
 */
const providerOfNamed = (agent: Agent, model: string): string | null => {
  const isImplied = agent.provider === null || agent.provider === providerOf(agent.model_name ?? '')
  return (isImplied && statedModel(agent).address === null ? providerOf(model) : null) ?? agent.provider
}

/**
 * The further changes that follow from a new name of the model. If the agent has the object `model`, the name changes there too, because
 * this object takes precedence.
 */
const withModel = (agent: Agent, { model_name, provider, params }: Changes): Changes => {
  if (typeof model_name !== 'string' || params?.['model'] !== undefined) return {}
  const model = renamedModel(agent.params, { model_name, ...(provider && { provider }) })
  return model ? { params: { ...params, model } } : { provider: provider ?? providerOfNamed(agent, model_name) }
}

/** The change that follows from an added skill of the type `retrieval`: the agent searches before it answers, unless it has a mode. */
const withMode = (agent: Agent, { params, skills_to_add }: Changes, { added }: Facts): Changes => {
  const isRetrieval = (skills_to_add ?? []).some((_, i) => added[i]?.state.type === 'retrieval')
  const isChosen = (params?.['mode'] ?? agent.params['mode']) !== undefined
  return isRetrieval && !isChosen ? { params: { ...params, mode: 'retrieval' } } : {}
}

const update = (agent: Agent, sent: Changes, facts: Facts) => {
  const changes = { ...sent, ...withMode(agent, sent, facts) }
  const { model_name, provider, params } = { ...changes, ...withModel(agent, changes) }
  if (params) {
    refuseUnfitSettings(params, agent.params)
    refuseUnfitNames({ agentParams: params })
  }
  const skills = changedSkills(agent, changes, facts)
  const changed = {
    ...(model_name !== undefined && { model_name }),
    ...(provider !== undefined && { provider }),
    ...(skills && { skills }),
    ...(params && { params: mergeParams(agent.params, params) }),
  }
  refuseMovedKeys(agent, { ...agent, ...changed })
  return changed
}

const changedSkills = (
  agent: Agent,
  { skills, skills_to_add, skills_to_remove, params }: Changes,
  { added, removed }: Facts,
): AgentSkill[] | undefined => {
  if (!skills && !skills_to_add && !skills_to_remove) return undefined
  if (skills && (skills_to_add ?? skills_to_remove))
    throw wrong('skills replaces the whole list: it cannot come with skills_to_add or skills_to_remove')
  if (skills) return resolve(skills, added, agent.skills)
  // Clients that change no skills send empty lists beside the data.
  if (params?.['data'] !== undefined && (skills_to_add?.length ?? 0) + (skills_to_remove?.length ?? 0) > 0)
    throw wrong('data cannot come with skills_to_add or skills_to_remove', 'Send the skills first, and then data.')
  const adding = resolve(skills_to_add ?? [], added, agent.skills)
  const removing = resolve(
    (skills_to_remove ?? []).map((name) => ({ name, params: {} })),
    removed,
  )
  const gone = new Set(removing.map(({ skill }) => skill))
  const both = adding.findIndex(({ skill }) => gone.has(skill))
  if (both >= 0) throw wrong(`${skills_to_add?.[both]?.name ?? 'a skill'} is in skills_to_add and in skills_to_remove`)
  const replaced = new Set(adding.map(({ skill }) => skill))
  const changed = [...agent.skills.filter(({ skill }) => !gone.has(skill) && !replaced.has(skill)), ...adding]
  // An agent that already has more may still remove some.
  if (adding.length > 0) refuseTooMany(changed.length)
  return changed
}

const resolve = (refs: readonly SkillRef[], found: readonly (Resource<'skill'> | undefined)[], before: AgentSkill[] = []): AgentSkill[] => {
  const skills = new Map<string, AgentSkill>()
  refs.forEach(({ name, params }, i) => {
    const skill = found[i]
    if (!skill) throw missingResource(`skill ${name} does not exist`)
    refuseUnfitNames({ type: skill.state.type, params })
    const used = before.find((one) => one.skill === skill.stream)
    skills.set(skill.stream, { skill: skill.stream, params: replacedParams(used?.params ?? {}, params) })
  })
  return [...skills.values()]
}

const refuseMissingModel = ({ provider, model_name }: Pick<Changes, 'provider' | 'model_name'>, { localModel }: Facts): void => {
  if (provider === 'mindsdb' && typeof model_name === 'string' && !localModel) throw missingResource(`model ${model_name} does not exist`)
}

const missingResource = (detail: string) =>
  new Problem('not_found', 'Resource not found', detail, { hint: 'Create it first, or correct the name.' })

const inUse = ({ state }: Resource<'agent'>, chatbots: readonly NamedResource[]) =>
  new Problem('not_empty', 'Agent is in use', `Agent '${state.name}' can not be deleted, because it answers for: ${listed(chatbots)}`, {
    hint: 'Delete them first, or give them another agent.',
  })

const rollbackRule: RollbackRule<'agent'> = {
  needs: ({ skills, provider, model_name }, project) => ({
    ...Object.fromEntries(skills.map(({ skill }) => [`skill ${skill}`, byStream('skill', skill)])),
    ...(provider === 'mindsdb' && model_name !== null && { model: byName('model', model_name, project) }),
  }),
  check: ({ skills, model_name }, facts) => {
    if (skills.some(({ skill }) => facts[`skill ${skill}`] === undefined)) throw gone('a skill')
    if ('model' in facts && facts['model'] === undefined) throw gone(`the model ${model_name ?? ''}`)
  },
  events: updatedTo('AgentUpdated', ['model_name', 'provider', 'skills', 'params'], 'AgentRenamed'),
}

/** Decides the commands of agents. */
export const agentDecider = decider('agent', {
  commands: { CreateAgent: true, UpdateAgent: true, DeleteAgent: true },
  secrets: ['params'],
  rollback: rollbackRule,
  reads,
  decide,
})
