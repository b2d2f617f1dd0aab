import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { jsonObject, nothing, resourceName, streamId, text, unreachable, type JsonObject, type SchemasOf, type StreamId } from './common.js'
import type { ResourceKind } from './kind.js'

/** A skill that an agent uses, with what the agent adds to it. */
export type AgentSkill = { skill: StreamId; params: JsonObject }

/** An agent: a language model's name, the skills it may use, and its params (`model`, `data`, `prompt_template` and others). */
export type Agent = {
  project: StreamId
  name: string
  model_name: string | null
  provider: string | null
  skills: AgentSkill[]
  params: JsonObject
}

export type AgentEvent =
  | Event<'AgentCreated', Agent>
  | Event<'AgentUpdated', Partial<Pick<Agent, 'model_name' | 'provider' | 'skills' | 'params'>>> // the values that result, already merged
  | Event<'AgentRenamed', { name: string }>
  | Event<'AgentDeleted', Record<string, never>>

const fields = {
  model_name: text.nullable(),
  provider: text.nullable(),
  skills: z.array(z.strictObject({ skill: streamId, params: jsonObject })),
  params: jsonObject,
}

const schemas: SchemasOf<AgentEvent> = {
  AgentCreated: z.strictObject({ project: streamId, name: resourceName, ...fields }).describe('An agent was created.'),
  AgentUpdated: z
    .strictObject({
      model_name: fields.model_name.exactOptional(),
      provider: fields.provider.exactOptional(),
      skills: fields.skills.exactOptional(),
      params: fields.params.exactOptional(),
    })
    .describe('An agent got another model, other skills or other params; each value is the new value.'),
  AgentRenamed: z.strictObject({ name: resourceName }).describe('An agent got another name.'),
  AgentDeleted: nothing.describe('An agent was deleted.'),
}

const evolve = (agent: Agent | undefined, event: AgentEvent): Agent | undefined => {
  switch (event.type) {
    case 'AgentCreated':
      return event.data
    case 'AgentUpdated':
    case 'AgentRenamed':
      return agent && { ...agent, ...event.data }
    case 'AgentDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

/** The streams an agent refers to. */
const links = (agent: Agent): StreamId[] => agent.skills.map(({ skill }) => skill)

export const agentKind: ResourceKind<Agent, AgentEvent> = {
  plural: 'agents',
  inProject: true,
  schemas,
  evolve,
  links,
}
