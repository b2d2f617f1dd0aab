import type { Agent } from '../../../events/agent.js'
import type { JsonObject } from '../../../events/common.js'
import { notFound, Problem } from '../../basics/errors.js'
import { llmProviders } from '../../catalogue/llm-providers.js'
import { isOfModel, renamedModel, statedModel } from '../../catalogue/stated-model.js'
import { lastKnown } from '../../log/read/last-known.js'
import type { Resource, Log, Resources } from '../../log/contract/log.js'

/** The changes for a rerun of an agent. */
export type AgentChange = {
  /** A version of the agent, instead of the current one. */
  version?: number | undefined
  /** `model`, or `provider/model`. */
  model?: string | undefined
  /** Instead of its prompt_template. */
  prompt?: string | undefined
}

/** A known provider and the name of its model. A name without a provider keeps the agent's provider. */
const partsOf = (written: string): { provider: string | null; name: string } => {
  const slash = written.indexOf('/')
  const provider = written.slice(0, Math.max(0, slash))
  return llmProviders.has(provider) && slash < written.length - 1
    ? { provider, name: written.slice(slash + 1) }
    : { provider: null, name: written }
}

/** The params without those of the language model: the service's settings then give the address and the key of the new provider. */
const withoutModel = (params: JsonObject): JsonObject => Object.fromEntries(Object.entries(params).filter(([name]) => !isOfModel(name)))

/**
 * Another model of the same provider, with the same address and key; or a model of another provider, with the service's address and key.
 */
const withModel = (agent: Agent, written: string): Agent => {
  const { provider, name } = partsOf(written)
  const own = statedModel(agent)
  if (provider !== null && provider !== own.provider) return { ...agent, provider, model_name: name, params: withoutModel(agent.params) }
  const model = renamedModel(agent.params, { model_name: name })
  return { ...agent, provider: own.provider, model_name: name, params: { ...agent.params, ...(model && { model }) } }
}

/** Where to find the agent; `position` is an earlier position of the log. */
type Place = { log: Pick<Log, 'earlier' | 'readStream' | 'resources'>; resources: Resources; position?: number | undefined }

/**
 * The agent for a rerun: the one in `resources` or one of its versions, with another model or another prompt.
 *
 * @throws Problem not_found when there is no such agent or version
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
