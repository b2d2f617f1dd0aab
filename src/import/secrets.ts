import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../events/common.js'
import { hideSecrets, mask } from '../vault/secrets.js'

/** What a service shows in the place of a secret. */
const isMask = (value: Json | undefined): boolean => typeof value === 'string' && (/^\*{3,}$/.test(value) || /:\*{3,}@/.test(value))

/** The paths of values that `isSought` finds, such as `model.api_key`. */
const pathsOf = (value: Json, isSought: (value: Json) => boolean, path = ''): string[] => {
  if (isSought(value)) return [path]
  if (Array.isArray(value)) return value.flatMap((item, i) => pathsOf(item, isSought, `${path}[${i}]`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) => pathsOf(member, isSought, path === '' ? key : `${path}.${key}`))
}

/** Where a service shows a mask instead of a secret. `maskedPaths({ api_key: '***' })` → ['api_key'] */
export const maskedPaths = (value: JsonObject): string[] => pathsOf(value, isMask)

/** Where secrets stand that a service shows as they are. `secretPaths({ api_key: 'sk-1' })` → ['api_key'] */
export const secretPaths = (value: JsonObject): string[] => {
  const masked = new Set(maskedPaths(value))
  return pathsOf(hideSecrets(value), (one) => typeof one === 'string' && one === mask).filter((path) => !masked.has(path))
}

/**
 * The same without what is only a mask: it says nothing of the secret.
 *
 * @example withoutMasks({ user: 'u', password: '******' }) // { user: 'u' }
 */
export const withoutMasks = (value: JsonObject): JsonObject => unmasked(value) as JsonObject

const unmasked = (value: Json): Json => {
  if (Array.isArray(value)) return value.filter((item) => !isMask(item)).map(unmasked)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, member]) => (isMask(member) ? [] : [[key, unmasked(member)]])))
}

/** A mask may stand for any secret, or for one that is still missing; null is as good as nothing. */
const agrees = (old: Json | undefined, here: Json | undefined): boolean => {
  if (isMask(old) || isMask(here)) return true
  if (isObject(old) && isObject(here)) return differences(old, here).length === 0
  if (Array.isArray(old) && Array.isArray(here)) return old.length === here.length && old.every((item, i) => agrees(item, here[i]))
  return isDeepStrictEqual(old ?? null, here ?? null)
}

/**
 * The members in which two records differ, as far as their masks let it be known.
 *
 * @example differences({ type: 'sql', key: 'sk-1' }, { type: 'text2sql', key: '******' }) // ['type']
 */
export const differences = (old: JsonObject, here: JsonObject): string[] =>
  [...new Set([...Object.keys(old), ...Object.keys(here)])].filter((key) => !agrees(old[key], here[key]))
