import { isObject, mapMembers, type Json, type JsonObject } from '../../../events/common.js'
import { isSecretReference } from '../../../events/secrets.js'
import { wrong } from '../../basics/errors.js'
import { isSecretKey } from '../../vault/secret-keys.js'
import { mask } from '../../basics/shown.js'

/** A mask that is sent back keeps the secret at the same place. */
const unmask = (next: Json, before: Json | undefined, path: string, key: string): Json => {
  if (next === mask) {
    if (isSecretReference(before)) return before
    if (isSecretKey(key)) throw wrong(`${path} is a mask, and there is no secret at this place to keep`, 'Send the secret itself.')
    return next
  }
  if (Array.isArray(next)) return next.map((item, i) => unmask(item, Array.isArray(before) ? before[i] : undefined, `${path}[${i}]`, key))
  if (!isObject(next)) return next
  return mapMembers(next, (value, name) =>
    unmask(value, isObject(before) ? before[name] : undefined, path === '' ? name : `${path}.${name}`, name),
  )
}

/** Params that replace all earlier ones; a mask keeps the secret at its place. */
export const replacedParams = (before: JsonObject, next: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(next).map(([key, value]) => [key, unmask(value, before[key], key, key)]))

/** Params of a new resource; a mask has no secret to keep. */
export const newParams = (params: JsonObject): JsonObject => mergeParams({}, params)

/**
 * Merges params: the patch's keys replace, null removes (at the top level), and a mask keeps the existing secret.
 *
 * @example mergeParams({ a: 1, b: 2 }, { b: null, c: 3 }) // { a: 1, c: 3 }
 */
export const mergeParams = (current: JsonObject, patch: JsonObject): JsonObject => {
  const merged = { ...current }
  for (const [key, value] of Object.entries(patch))
    if (value === null) Reflect.deleteProperty(merged, key)
    else merged[key] = unmask(value, current[key], key, key)
  return merged
}
