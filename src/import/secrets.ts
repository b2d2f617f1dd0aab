import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../events/common.js'
import { mask } from '../basics/shown.js'
import { hideSecrets } from '../vault/seal-secrets.js'

/** Whether a value is a mask that a service shows instead of a secret. */
const isMask = (value: Json | undefined): boolean => typeof value === 'string' && (/^\*{3,}$/.test(value) || /:\*{3,}@/.test(value))

/** The paths of values that match `isSought`, such as `model.api_key`. */
const pathsOf = (value: Json, isSought: (value: Json) => boolean, path = ''): string[] => {
  if (isSought(value)) return [path]
  if (Array.isArray(value)) return value.flatMap((item, i) => pathsOf(item, isSought, `${path}[${i}]`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) => pathsOf(member, isSought, path === '' ? key : `${path}.${key}`))
}

/** The paths where a service shows a mask instead of a secret. `maskedPaths({ api_key: '***' })` → ['api_key'] */
export const maskedPaths = (value: JsonObject): string[] => pathsOf(value, isMask)

/** The paths of secrets that a service shows unmasked. `secretPaths({ api_key: 'sk-1' })` → ['api_key'] */
export const secretPaths = (value: JsonObject): string[] => {
  const masked = new Set(maskedPaths(value))
  return pathsOf(hideSecrets(value), (one) => typeof one === 'string' && one === mask).filter((path) => !masked.has(path))
}

/**
 * Removes masks, because they contain nothing of the secret.
 *
 * @example withoutMasks({ user: 'u', password: '******' }) // { user: 'u' }
 */
export const withoutMasks = (value: JsonObject): JsonObject => unmasked(value) as JsonObject

const unmasked = (value: Json): Json => {
  if (Array.isArray(value)) return value.filter((item) => !isMask(item)).map(unmasked)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, member]) => (isMask(member) ? [] : [[key, unmasked(member)]])))
}

/** Whether two values may be equal. A mask may replace any secret, or a missing one; null equals undefined. */
const agrees = (old: Json | undefined, here: Json | undefined): boolean => {
  if (isMask(old) || isMask(here)) return true
  if (isObject(old) && isObject(here)) return differences(old, here).length === 0
  if (Array.isArray(old) && Array.isArray(here)) return old.length === here.length && old.every((item, i) => agrees(item, here[i]))
  return isDeepStrictEqual(old ?? null, here ?? null)
}

/**
 * The members in which two records differ; masked members count as equal.
 *
 * @example differences({ type: 'sql', key: 'sk-1' }, { type: 'text2sql', key: '******' }) // ['type']
 */
export const differences = (old: JsonObject, here: JsonObject): string[] =>
  [...new Set([...Object.keys(old), ...Object.keys(here)])].filter((key) => !agrees(old[key], here[key]))
