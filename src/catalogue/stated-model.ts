import { isObject, type Json, type JsonObject } from '../../events/common.js'
import { isSecretReference } from '../../events/secrets.js'
import { llmProvider, providerName, providerOf } from './llm-providers.js'

/** A key as it stands in params: `of` is the provider that its name tells, as in `openai_api_key`. */
export type StatedKey = { path: string; of: string | null; value: Json }

/** What an agent, or a default, says of its language model or its embedder. Null where it says nothing. */
export type StatedModel = {
  provider: string | null
  model: string | null
  /** The base of the addresses that are called, as it was written; sealed if it holds a password. */
  address: Json | null
  keys: readonly StatedKey[]
  apiVersion: string | null
  temperature: number | null
  maxTokens: number | null
  /** Seconds. */
  timeout: number | null
}

type ModelFields = { provider?: string | null; model_name?: string | null; params: JsonObject }

const addressMember = /^(?:(\w+)_)?(?:base_url|api_base|endpoint)$/
const keyMember = /^(?:(\w+)_)?api_key$/

/** Whether a param says something of a model: its name, its provider, an address or a key. @example isOfModel('openai_api_key') // true */
export const isOfModel = (name: string): boolean =>
  name === 'model' || name === 'provider' || name === 'model_name' || addressMember.test(name) || keyMember.test(name)

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value.trim() !== '' ? value.trim() : null)
/** A number as clients write it, also as a text; null for what is none. @example statedNumber('20') // 20 */
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

/** `base_url` counts before an address under a longer name. One that names a provider, as `ollama_base_url`, is for that provider only. */
const addressIn = (params: JsonObject, provider: string | null): Json | null => {
  const given = Object.entries(params).filter(([name, value]) => {
    const [found, of] = addressMember.exec(name) ?? []
    return found !== undefined && isGiven(value) && (of === undefined || providerName(of) === provider)
  })
  const [, address = null] = given.find(([name]) => name === 'base_url') ?? given[0] ?? []
  return address
}

/**
 * Reads what is said of a model, in the words of both generations of clients: `model_name`, `provider` and params such as
 * `openai_api_key` and `base_url`, or an object `model` with all of them. The object counts before the others.
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
    timeout: statedNumber(all['timeout']),
  }
}

/** Scheme, host and port of an address; null for one that cannot be called. @example originOf('https://a.example/v1') // 'https://a.example' */
export const originOf = (address: string): string | null => {
  if (!URL.canParse(address)) return null
  const { protocol, origin } = new URL(address)
  return protocol === 'https:' || protocol === 'http:' ? origin : null
}

const addressOf = (provider: string | null): string | null => (provider === null ? null : llmProvider(provider).address)

/**
 * Where a key would be sent: to the address that is stated beside it, else to the provider that its name tells, else to the provider that
 * is stated. Null if that leads nowhere. It does not depend on whether the key is used, so that it can be compared before and after a change.
 */
export const destinationOf = ({ of }: StatedKey, { address, provider }: StatedModel): string | null => {
  if (address !== null) return typeof address === 'string' ? (originOf(address) ?? address) : JSON.stringify(address)
  const own = addressOf(of ?? provider)
  return own === null ? null : originOf(own)
}
