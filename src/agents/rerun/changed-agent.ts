import type { Agent } from '../../../events/agent.js'
import { isObject, type JsonObject } from '../../../events/common.js'
import { notFound, Problem } from '../../basics/errors.js'
import { llmProviders } from '../../catalogue/llm-providers.js'
import { isOfModel, statedModel } from '../../catalogue/stated-model.js'
import { lastKnown } from '../../log/read/last-known.js'
import type { Resource, Log, Resources } from '../../log/contract/log.js'

/** What is to be different when an agent is asked again. */
export type AgentChange = {
  /** A version of the agent, instead of that of the moment. */
  version?: number | undefined
  /** `model`, or `provider/model`. */
  model?: string | undefined
  /** Instead of its prompt_template. */
  prompt?: string | undefined
}

/** A provider that is known by name, and the name of its model; of a name without one the provider stays. */
const partsOf = (written: string): { provider: string | null; name: string } => {
  const slash = written.indexOf('/')
  const provider = written.slice(0, Math.max(0, slash))
  return llmProviders.has(provider) && slash < written.length - 1
    ? { provider, name: written.slice(slash + 1) }
    : { provider: null, name: written }
}

/** The params without what they say of the language model, so that the service says where another provider is, and has its key. */
const withoutModel = (params: JsonObject): JsonObject => Object.fromEntries(Object.entries(params).filter(([name]) => !isOfModel(name)))

/** Another model at the same provider, with the same address and key; or one of another provider, as the service knows it. */
const withModel = (agent: Agent, written: string): Agent => {
  const { provider, name } = partsOf(written)
  const own = statedModel(agent)
  if (provider !== null && provider !== own.provider) return { ...agent, provider, model_name: name, params: withoutModel(agent.params) }
  const { model } = agent.params
  const inner = isObject(model) ? { model: { ...model, model_name: name } } : {}
  return { ...agent, provider: own.provider, model_name: name, params: { ...agent.params, ...inner } }
}

/** Where the agent is looked up; `position` names a moment in the past. */
type Place = { log: Pick<Log, 'earlier' | 'readStream' | 'resources'>; resources: Resources; position?: number | undefined }

/**
 * The agent to ask again: as it is in `resources`, or at one of its versions, with another model or another prompt.
 *
 * @throws Problem not_found when the agent is not there, or has no such version
 * @example await changedAgent({ log, resources }, agent, { version: 2, model: 'ollama/llama3.2' })
 */
export const changedAgent = async (
  { log, resources, position }: Place,
  stream: Resource<'agent'>['stream'],
  { version, model, prompt }: AgentChange,
): Promise<Resource<'agent'>> => {
  const found = await resources.byStream('agent', stream)
  if (!found) throw notFound('agent', (await lastKnown(log, 'agent', stream))?.state.name ?? stream, position)
  const earlier = version === undefined ? found : await log.earlier(found, version)
  if (!earlier)
    throw new Problem('not_found', 'No such version', `the agent ${found.state.name} has no version ${version ?? ''}`, {
      hint: `It has the versions 1 to ${found.version}.`,
    })
  const named = model === undefined ? earlier.state : withModel(earlier.state, model)
  const state = prompt === undefined ? named : { ...named, params: { ...named.params, prompt_template: prompt } }
  return { ...found, state, version: version ?? found.version }
}
