import type { Json, JsonObject } from '../../events/common.js'
import { Problem } from '../basics/errors.js'
import { llmProvider, llmProviders, type LlmWire } from '../catalogue/llm-providers.js'
import { destinationOf, originOf, statedModel, type StatedModel } from '../catalogue/stated-model.js'
import type { ModelAccess } from '../setup/language-model-settings.js'

/** Where a key comes from, for errors. */
export type KeySource = 'agent' | 'config' | 'environment'

/** A model with its address, and a key that may still be sealed. */
export type ResolvedModel = {
  wire: LlmWire
  provider: string
  model: string
  /** Without a slash at its end. */
  address: string
  key: { value: Json; name: string; source: KeySource } | null
  apiVersion: string | null
  temperature: number | null
  maxTokens: number | null
  /** Milliseconds. */
  timeoutMs: number | null
  /** The length of the vectors of an embedder, if it is not the model's own. */
  dimensions?: number
}

/** The places of a model's settings; the first with a value counts. */
export type ModelSources = {
  /** What uses the model, for errors: an agent, or a knowledge base. */
  what: 'agent' | 'knowledge base'
  own: { model_name?: string | null; provider?: string | null; params: JsonObject }
  /** The default that was set with PUT /api/config; undefined if none was. */
  defaults: JsonObject | undefined
  /** The name of that default. */
  defaultName: 'default_llm' | 'default_embedding_model' | 'default_reranking_model'
  environment: ModelAccess
}

const failed = (title: string, detail: string, hint: string): Problem => new Problem('llm_failed', title, detail, { hint })

/** The address as it is called: with the path of the provider if it has none, and without what is appended to it. */
const baseOf = (provider: string, written: string): string => {
  const url = new URL(written)
  const given = url.pathname.replace(/(?<!\/)\/+$/, '').replace(/\/(?:chat\/completions|messages|embeddings)$/, '')
  const { address } = llmProvider(provider)
  const usual = address === null ? (provider === 'azure_openai' ? '/openai/v1' : '') : new URL(address).pathname
  return url.origin + (given === '' ? usual : given)
}

type Access = { address: string; key: ResolvedModel['key'] }

const addressOf = (provider: string, environment: ModelAccess): string | null =>
  environment[provider]?.address ?? llmProvider(provider).address

/** The key of a source that may go to this address; the one that is named for the provider counts first. */
const keyFor = (stated: StatedModel, provider: string, address: string, source: KeySource): ResolvedModel['key'] => {
  const origin = originOf(address)
  const fitting = stated.keys.filter((key) => destinationOf(key, stated) === origin)
  const key =
    fitting.find(({ of }) => of === provider) ??
    fitting.find(({ of }) => of === null) ??
    fitting.find(({ of }) => of === 'openai' && llmProvider(provider).wire === 'openai')
  return key ? { value: key.value, name: key.path, source } : null
}

const readAddress = (address: Json): string => {
  if (typeof address !== 'string' || originOf(address) === null)
    throw failed(
      'No such address',
      'The address of the language model cannot be called, or it holds a password',
      'Write base_url as https://host/v1, and the key as api_key.',
    )
  const { search, hash } = new URL(address)
  if (search !== '' || hash !== '')
    throw failed(
      'No such address',
      'The address of the language model has parameters behind its path',
      'Write base_url without them, the key as api_key, and the version of an API as api_version.',
    )
  return address
}

/**
 * The key that the service gives to an address from its own settings: the default's key, then the environment's, each to its own origin.
 */
const lentKey = (provider: string, address: string, defaults: StatedModel, environment: ModelAccess): ResolvedModel['key'] => {
  const byDefault = keyFor(defaults, defaults.provider ?? provider, address, 'config')
  if (byDefault) return byDefault
  const { apiKey } = environment[provider] ?? {}
  const own = addressOf(provider, environment)
  return apiKey !== undefined && own !== null && originOf(own) === originOf(address)
    ? { value: apiKey, name: `${provider.toUpperCase()}_API_KEY`, source: 'environment' }
    : null
}

const noProvider = (model: string, { what, defaultName }: ModelSources): Problem =>
  failed(
    'No language model',
    `The ${what} names the model ${model}, and nothing says who provides it`,
    `Name a provider (${[...llmProviders.keys()].join(', ')}), or give its base_url, or set ${defaultName} with PUT /api/config.`,
  )

const accessOf = (own: StatedModel, provider: string, defaults: StatedModel, { environment }: ModelSources): Access => {
  if (own.address !== null) {
    const address = baseOf(provider, readAddress(own.address))
    return { address, key: keyFor(own, provider, address, 'agent') ?? lentKey(provider, address, defaults, environment) }
  }
  const standard = llmProvider(provider).address
  const ownKey = standard === null ? null : keyFor(own, provider, standard, 'agent')
  if (ownKey && standard !== null) return { address: standard, key: ownKey }
  const isDefaults = (defaults.provider ?? 'openai_compatible') === provider && (defaults.address !== null || defaults.keys.length > 0)
  const given =
    isDefaults && defaults.address !== null ? readAddress(defaults.address) : isDefaults ? standard : addressOf(provider, environment)
  if (given === null || (standard === null && own.keys.length > 0))
    throw failed(
      'No address',
      `The provider ${provider} has no address of its own`,
      provider === 'azure_openai'
        ? 'Give base_url beside the key, or neither and set AZURE_OPENAI_ENDPOINT.'
        : 'Give the base_url of its OpenAI-compatible interface.',
    )
  const address = baseOf(provider, given)
  return { address, key: lentKey(provider, address, defaults, environment) }
}

/** The provider of a model that has only a name: the default, or the server whose address the environment gives. */
const providerOfName = (defaults: StatedModel, environment: ModelAccess): string | null => {
  if (defaults.provider !== null) return defaults.provider
  if (defaults.address !== null) return 'openai_compatible'
  return ['openai', 'ollama'].find((name) => environment[name]?.address !== undefined) ?? null
}

/**
 * Finds the model, its address and its key: from the agent, else from the default of the service, else from the environment. Each key stays
 * with the address that stands beside it, so an agent that names an address of its own gets the service's key only for the service's own
 * origin.
 *
 * @example
 * resolveModel({ what: 'agent', own: agent, defaults: undefined, defaultName: 'default_llm', environment: config.modelAccess }).address
 * // 'https://api.openai.com/v1'
 * @throws Problem llm_failed that says what to set
 */
export const resolveModel = (sources: ModelSources): ResolvedModel => {
  const { environment, what, defaultName } = sources
  const own = statedModel(sources.own)
  const defaults = statedModel({ params: sources.defaults ?? {} })
  const model = own.model ?? (own.address === null && own.provider === null ? defaults.model : sameProvider(own, defaults))
  if (model === null)
    throw failed(
      'No language model',
      `The ${what} names no language model, and there is no default`,
      `Give ${what === 'agent' ? 'the agent a model_name' : 'it a model_name'}, or set ${defaultName} with PUT /api/config.`,
    )
  const provider = own.provider ?? (own.address === null ? providerOfName(defaults, environment) : 'openai_compatible')
  if (provider === null) throw noProvider(model, sources)
  if (provider === 'mindsdb')
    throw failed(
      'No language model',
      `The model ${model} of this service predicts, and does not converse`,
      'Give the agent a language model; a model of this service can be one of its tools.',
    )
  const { address, key } = accessOf(own, provider, defaults, sources)
  const known = llmProvider(provider)
  if (known.wantsKey && key === null && originOf(address) === (known.address === null ? null : originOf(known.address)))
    throw noKey(known.title, provider, own)
  return {
    wire: known.wire,
    provider,
    model,
    address,
    key,
    apiVersion: own.apiVersion ?? defaults.apiVersion ?? environment[provider]?.apiVersion ?? null,
    temperature: own.temperature ?? defaults.temperature,
    maxTokens: own.maxTokens ?? defaults.maxTokens,
    timeoutMs: own.timeout === null ? null : own.timeout * 1_000,
    ...(own.dimensions !== null && { dimensions: own.dimensions }),
  }
}

const sameProvider = (own: StatedModel, defaults: StatedModel): string | null =>
  own.address === null && own.provider === defaults.provider ? defaults.model : null

const noKey = (title: string, provider: string, { keys }: StatedModel): Problem =>
  failed(
    'No key',
    `${title} needs a key, and no key for it is set`,
    keys.length > 0
      ? `The key that was given belongs to another address. Give ${provider}_api_key, or api_key beside the base_url that it is for.`
      : `Give the agent ${provider}_api_key, or set default_llm with PUT /api/config, or ${provider.toUpperCase()}_API_KEY in the environment.`,
  )
