import { isObject, type JsonObject } from '../../events/common.js'
import { wrong } from '../basics/errors.js'

/** A setting that must be a text; undefined when it is missing or null. */
export const textSetting = (settings: JsonObject, key: string): string | undefined => {
  const value = settings[key]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw wrong(`${key} must be a text`)
  return value
}

/** A setting that is on or off: true and false, 1 and 0, and the same values as text. */
export const switchSetting = (settings: JsonObject, key: string): boolean | undefined => {
  const value = settings[key]
  if (value === undefined || value === null) return undefined
  const text = String(typeof value === 'object' ? 'object' : value).toLowerCase()
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw wrong(`${key} must be true or false`)
}

/** The remaining settings after the named ones: params. The members of an object under the key `params` are part of them. */
export const otherSettings = (settings: JsonObject, named: readonly string[]): JsonObject => {
  const { params, ...others } = settings
  const rest = Object.fromEntries(Object.entries(others).filter(([key]) => !named.includes(key)))
  if (params === undefined || params === null) return rest
  if (!isObject(params)) throw wrong('params must be an object')
  return { ...params, ...rest }
}
