import { illFormed, isObject, mapMembers, type Json, type JsonObject } from '../../events/common.js'
import { isSecretReference, secretKey } from '../../events/secrets.js'
import { Problem, wrong } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { mask } from '../basics/shown.js'
import { isSecretKey, sealKey } from './secret-keys.js'
import { holdsSecretOf } from './looks-secret.js'
import type { SealedPayload, Vault } from './vault.js'

/** The same JSON with a reference instead of each secret, and the payloads with the secrets. */
export type SealedJson<T extends Json> = { value: T; payloads: SealedPayload[] }

const isSecret = (key: string, value: Json) =>
  value !== mask &&
  ((isSecretKey(key) && value !== null && value !== '' && typeof value !== 'boolean') ||
    (typeof value === 'string' && holdsSecretOf(key, value)))

/** The value that a request marks as a secret: the number in `{"$seal": 1234}`. */
const marked = (value: JsonObject): Json | undefined => {
  if (!(sealKey in value)) return undefined
  if (Object.keys(value).length > 1)
    throw wrong(`"${sealKey}" must stand alone in its object`, `Send {"${sealKey}": <the secret>} in the place of the value.`)
  return value[sealKey]
}

const valueNames: ReadonlySet<string> = new Set(['value', 'val'])

/** The key of a member. In `{"name": "Authorization", "value": "…"}` the key of the value is Authorization. */
const keyOf = (member: string, { name, key, header }: JsonObject): string => {
  const named = name ?? key ?? header
  return valueNames.has(member) && typeof named === 'string' && isSecretKey(named) ? named : member
}

/** A header as a pair: `["Authorization", "Bearer k"]`. A pair of column names is not a header. */
const isSecretPair = (list: readonly Json[]): list is [string, string] => {
  const [name, value] = list
  return list.length === 2 && typeof name === 'string' && isSecretKey(name) && typeof value === 'string' && /[\s\d]/.test(value)
}

/** Weights have the names of classes. A number there is no secret, even if the name of its class is a telling one. */
const weightsKey = 'class_weights'

const walk = (value: Json, key: string, seal: (secret: Json) => Json, isWeight = false): Json => {
  const secret = isObject(value) ? marked(value) : undefined
  if (secret !== undefined) return secret === null || secret === mask ? secret : seal(secret)
  if (isWeight && typeof value === 'number') return value
  if (isSecret(key, value)) return seal(value)
  if (Array.isArray(value))
    return value.map((item) => (Array.isArray(item) && isSecretPair(item) ? [item[0], seal(item[1])] : walk(item, key, seal)))
  if (!isObject(value)) return value
  return mapMembers(value, (member, name) => {
    if (name === secretKey) throw wrong(`the key "${secretKey}" is reserved`, 'Choose another name for this parameter.')
    return walk(member, keyOf(name, value), seal, key === weightsKey)
  })
}

/**
 * Takes the secrets out of params before they reach the log. Values under secret keys (whatever their type), texts that hold a
 * secret, and values marked with `$seal` become `{"$secret": hash}`.
 *
 * @example sealSecrets(vault, { api_key: 'sk-1', k: 1 }).value // { api_key: { $secret: '…' }, k: 1 }
 */
export const sealSecrets = <T extends Json>(vault: Vault, params: T): SealedJson<T> => {
  const payloads: SealedPayload[] = []
  if (isObject(params) && sealKey in params) throw wrong(`"${sealKey}" cannot seal all params at once`, 'Mark the values in them.')
  const value = walk(params, '', (secret) => {
    const text = JSON.stringify(secret)
    const reason = illFormed(text)
    if (reason !== undefined) throw wrong(`a secret ${reason}`)
    if (payloads.length >= limits.secretsMaxPerCommand)
      throw wrong(
        `there are more than ${limits.secretsMaxPerCommand} secrets (secretsMaxPerCommand)`,
        'Spread them over several resources.',
      )
    const payload = vault.seal(Buffer.from(text))
    payloads.push(payload)
    return { [secretKey]: payload.hash }
  })
  return { value: value as T, payloads }
}

/**
 * Params with the secrets instead of their references, only for immediate use.
 *
 * @throws Problem erased when a secret is gone
 * @example await openSecrets({ api_key: { $secret: '…' } }, (hash) => log.payload(hash)) // { api_key: 'sk-1' }
 */
export const openSecrets = async (params: JsonObject, payload: (hash: string) => Promise<Buffer | undefined>): Promise<JsonObject> => {
  const opened = async (value: Json, name: string): Promise<Json> => {
    if (isSecretReference(value)) {
      const body = await payload(value[secretKey])
      if (body) return JSON.parse(body.toString()) as Json
      throw new Problem('erased', 'A secret was erased', `The secret ${name} was erased`, {
        hint: 'Set it again, with PUT, ALTER DATABASE or, for a model, RETRAIN.',
      })
    }
    if (Array.isArray(value)) return Promise.all(value.map((item) => opened(item, name)))
    return isObject(value) ? openSecrets(value, payload) : value
  }
  const members = Object.entries(params).map(async ([name, value]) => [name, await opened(value, name)] as const)
  return Object.fromEntries(await Promise.all(members))
}

/** The params as everyone may see them, without secrets. */
export const maskSecrets = <T extends Json>(value: T): T => {
  const masked = (node: Json): Json => {
    if (isSecretReference(node)) return mask
    if (Array.isArray(node)) return node.map(masked)
    return isObject(node) ? mapMembers(node, masked) : node
  }
  return masked(value) as T
}

/** Params that were never sealed, as everyone may see them. */
export const hideSecrets = (value: Json): Json => walk(value, '', () => mask)
