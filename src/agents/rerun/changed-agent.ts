import type { Agent } from '../../../events/agent.js'
import type { JsonObject } from '../../../events/common.js'
import { notFound, Problem, wrong } from '../../basics/errors.js'
import { providerName } from '../../catalogue/llm-providers.js'
import { isOfModel, renamedModel, statedModel } from '../../catalogue/stated-model.js'
import { lastKnown } from '../../log/read/last-known.js'
import type { Resource, Log, Resources } from '../../log/contract/log.js'

/** The changes for a rerun of an agent. */
export type AgentChange = {
  /** A version of the agent, instead of the current one. */
  version?: number | undefined
  /** The name of another language model. */
  model?: string | undefined
  /** The provider of that model, if it is not the agent's own. */
  provider?: string | undefined
  /** Instead of its prompt_template. */
  prompt?: string | undefined
}

const withoutMembers = (of: JsonObject, isOut: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(of).filter(([name]) => !isOut(name)))

/**
 * The params without those that choose the language model: the service's settings then give the address and the key of the new provider.
 * Its other settings stay, including those in an object `model`.
 */
const withoutModel = (params: JsonObject): JsonObject => {
  const settings = withoutMembers(renamedModel(params, {}) ?? {}, (name) => name === 'name' || isOfModel(name))
  const others = withoutMembers(params, isOfModel)
  return Object.keys(settings).length > 0 ? { ...others, model: settings } : others
}

/**
 * Another model at the agent's own address, with its key; or, if a provider is named, a model of that provider, with the service's address
 * and key. A name such as `openai/gpt-4o` names no provider: gateways and others have such models of their own.
 */
const withModel = (agent: Agent, name: string, provider: string | undefined): Agent => {
  if (provider !== undefined) return { ...agent, provider: providerName(provider), model_name: name, params: withoutModel(agent.params) }
  const model = renamedModel(agent.params, { model_name: name })
  return { ...agent, provider: statedModel(agent).provider, model_name: name, params: { ...agent.params, ...(model && { model }) } }
}

/** Where to find the agent; `position` is an earlier position of the log. */
type Place = { log: Pick<Log, 'earlier' | 'readStream' | 'resources'>; resources: Resources; position?: number | undefined }

/**
 * The agent for a rerun: the one in `resources` or one of its versions, with another model or another prompt.
 *
 * @throws Problem not_found when there is no such agent or version; wrong_arguments for a provider without a model
 * @example await changedAgent({ log, resources }, agent, { version: 2, model: 'llama3.2', provider: 'ollama' })
 */
export const changedAgent = async (
  { log, resources, position }: Place,
  stream: Resource<'agent'>['stream'],
  { version, model, provider, prompt }: AgentChange,
): Promise<Resource<'agent'>> => {
  if (provider !== undefined && model === undefined) throw wrong('provider: the model of the provider is missing', 'Name a model, too.')
  const found = await resources.byStream('agent', stream)
  if (!found) throw notFound('agent', (await lastKnown(log, 'agent', stream))?.state.name ?? stream, position)
  const earlier = version === undefined ? found : await log.earlier(found, version)
  if (!earlier)
    throw new Problem('not_found', 'No such version', `the agent ${found.state.name} has no version ${version ?? ''}`, {
      hint: `It has the versions 1 to ${found.version}.`,
    })
  const named = model === undefined ? earlier.state : withModel(earlier.state, model, provider)
  const state = prompt === undefined ? named : { ...named, params: { ...named.params, prompt_template: prompt } }
  return { ...found, state, version: version ?? found.version }
}
