import { illFormed, isObject, type Json } from '../../events/common.js'
import { isSecretReference, secretKey } from '../../events/references.js'
import { wrong } from '../errors.js'
import { hasUrlPassword, isSecretKey } from './secret-keys.js'
import type { SealedPayload, Vault } from './vault.js'

/** What a read shows in the place of a secret; sent back at the same place it means "unchanged". */
export const mask = '******'

/** The same JSON with each secret replaced by a reference, and the payloads that hold them. */
export type Sealed<T extends Json> = { value: T; payloads: SealedPayload[] }

const isSecret = (key: string, value: Json) =>
  value !== mask &&
  ((isSecretKey(key) && value !== null && value !== '' && typeof value !== 'boolean') ||
    (typeof value === 'string' && hasUrlPassword(value)))

const walk = (value: Json, key: string, seal: (secret: Json) => Json): Json => {
  if (isSecret(key, value)) return seal(value)
  if (Array.isArray(value)) return value.map((item) => walk(item, key, seal))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (name === secretKey) throw wrong(`the key "${secretKey}" is reserved`, 'Choose another name for this parameter.')
      return [name, walk(member, name, seal)]
    }),
  )
}

/**
 * Takes the secrets out of params before they come near the log. Values under secret keys (whatever their type) and
 * URLs with a password become `{"$secret": hash}`.
 *
 * @example sealSecrets(vault, { api_key: 'sk-1', k: 1 }).value // { api_key: { $secret: '…' }, k: 1 }
 */
export const sealSecrets = <T extends Json>(vault: Vault, params: T): Sealed<T> => {
  const payloads: SealedPayload[] = []
  const value = walk(params, '', (secret) => {
    const text = JSON.stringify(secret)
    const reason = illFormed(text)
    if (reason !== undefined) throw wrong(`a secret ${reason}`)
    const payload = vault.seal(Buffer.from(text))
    payloads.push(payload)
    return { [secretKey]: payload.hash }
  })
  return { value: value as T, payloads }
}

/** The params as anyone may see them. */
export const maskSecrets = <T extends Json>(value: T): T => {
  const masked = (node: Json): Json => {
    if (isSecretReference(node)) return mask
    if (Array.isArray(node)) return node.map(masked)
    return isObject(node) ? Object.fromEntries(Object.entries(node).map(([key, member]) => [key, masked(member)])) : node
  }
  return masked(value) as T
}

/** Params that were never sealed, as anyone may see them. */
export const hideSecrets = (value: Json): Json => walk(value, '', () => mask)
