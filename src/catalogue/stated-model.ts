import { isObject, type Json, type JsonObject } from '../../events/common.js'
import { isSecretReference } from '../../events/secrets.js'
import { llmProvider, providerName, providerOf } from './llm-providers.js'

/** A key in params: `of` is the provider in the param's name, for example in `openai_api_key`. */
export type StatedKey = { path: string; of: string | null; value: Json }

/** The settings of an agent, or of a default, for its language model or embedder. Null for a missing setting. */
export type StatedModel = {
  provider: string | null
  model: string | null
  /** The base of the called addresses, as it was written; sealed if it has a password. */
  address: Json | null
  keys: readonly StatedKey[]
  apiVersion: string | null
  temperature: number | null
  maxTokens: number | null
  /** The length of the vectors of an embedder. */
  dimensions: number | null
  /** Seconds. */
  timeout: number | null
}

type ModelFields = { provider?: string | null; model_name?: string | null; params: JsonObject }

const addressMember = /^(?:(\w+)_)?(?:base_url|api_base|endpoint)$/
const keyMember = /^(?:(\w+)_)?api_key$/
const versionMembers = ['api_version', 'openai_api_version']

/** Whether a param is about the model: its name, its provider, an address, a version of it or a key. @example isOfModel('openai_api_key') // true */
export const isOfModel = (name: string): boolean =>
  name === 'model' ||
  name === 'provider' ||
  name === 'model_name' ||
  addressMember.test(name) ||
  versionMembers.includes(name) ||
  keyMember.test(name)

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value.trim() !== '' ? value.trim() : null)
/** A number, which clients may also write as a text; null if it is no number. @example statedNumber('20') // 20 */
export const statedNumber = (value: Json | undefined): number | null => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

const isGiven = (value: Json): boolean => value !== null && value !== ''

const keysIn = (params: JsonObject, prefix: string): StatedKey[] =>
  Object.entries(params).flatMap(([name, value]) => {
    const [found, of] = keyMember.exec(name) ?? []
    return found === undefined || !isGiven(value) ? [] : [{ path: prefix + name, of: of === undefined ? null : providerName(of), value }]
  })

/**
 * `base_url` comes before an address under a longer name. An address with a provider in its name, such as `ollama_base_url`, only applies
 * to that provider.
 */
const addressIn = (params: JsonObject, provider: string | null): Json | null => {
  const given = Object.entries(params).filter(([name, value]) => {
    const [found, of] = addressMember.exec(name) ?? []
    return found !== undefined && isGiven(value) && (of === undefined || providerName(of) === provider)
  })
  const [, address = null] = given.find(([name]) => name === 'base_url') ?? given[0] ?? []
  return address
}

/**
 * Reads the settings of a model, in the forms of both generations of clients: `model_name`, `provider` and params such as `openai_api_key`
 * and `base_url`, or an object `model` with all of them. The object comes before the others.
 *
 * @example statedModel({ model_name: 'gpt-4o', params: { openai_api_key: { $secret: '…' } } }).provider // 'openai'
 */
export const statedModel = ({ provider, model_name, params }: ModelFields): StatedModel => {
  const { model: inner = null } = params
  const own = isObject(inner) && !isSecretReference(inner) ? inner : {}
  const all: JsonObject = { ...params, ...Object.fromEntries(Object.entries(own).filter(([, value]) => isGiven(value))) }
  const model = textOf(own['model_name']) ?? textOf(own['name']) ?? model_name ?? textOf(params['model_name']) ?? textOf(inner)
  const said = textOf(own['provider']) ?? provider ?? textOf(params['provider']) ?? (model === null ? null : providerOf(model))
  const known = said === null ? null : providerName(said)
  return {
    provider: known,
    model,
    address: addressIn(own, known) ?? addressIn(params, known),
    keys: [...keysIn(own, 'model.'), ...keysIn(params, '')],
    apiVersion: textOf(all['api_version']) ?? textOf(all['openai_api_version']),
    temperature: statedNumber(all['temperature']),
    maxTokens: statedNumber(all['max_tokens']) ?? statedNumber(all['max_output_tokens']),
    dimensions: statedNumber(all['dimensions']),
    timeout: statedNumber(all['timeout']),
  }
}

/** The object `model` of params with another name, and with other members; undefined if the params have no such object. */
export const renamedModel = ({ model }: JsonObject, named: JsonObject): JsonObject | undefined =>
  isObject(model) && !isSecretReference(model) ? { ...model, ...named } : undefined

/** Scheme, host and port of an address; null for one that cannot be called. @example originOf('https://a.example/v1') // 'https://a.example' */
export const originOf = (address: string): string | null => {
  if (!URL.canParse(address)) return null
  const { protocol, origin } = new URL(address)
  return protocol === 'https:' || protocol === 'http:' ? origin : null
}

const addressOf = (provider: string | null): string | null => (provider === null ? null : llmProvider(provider).address)

/**
 * The destination of a key: the address beside it, else the provider in its name, else the given provider. Null if there is none. It does
 * not depend on whether the key is in use, so that a caller can compare it before and after a change.
 */
export const destinationOf = ({ of }: StatedKey, { address, provider }: StatedModel): string | null => {
  if (address !== null) return typeof address === 'string' ? (originOf(address) ?? address) : JSON.stringify(address)
  const own = addressOf(of ?? provider)
  return own === null ? null : originOf(own)
}
