import * as z from 'zod'
import { jsonObject, resourceName, text, type Json, type JsonObject } from '../../events/common.js'
import { llmProviders, providerOf } from '../catalogue/llm-providers.js'
import type { SkillRef } from './agent.js'
import { settingSchemas } from './rules/agent-settings.js'

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
