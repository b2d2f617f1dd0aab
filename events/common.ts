import * as z from 'zod'
import { eventLimits } from './limits.js'

export type Json = string | number | boolean | null | Json[] | JsonObject
export type JsonObject = { [key: string]: Json }

/**
 * Why a text may not enter the log, or undefined: DuckDB refuses lone surrogates and NUL, and a single one of them would stop every
 * projection.
 */
export const illFormed = (text: string): string | undefined => {
  if (!text.isWellFormed()) return 'is not well-formed Unicode (a lone surrogate)'
  return text.includes('\0') ? 'contains a NUL character' : undefined
}

/** Whether a text has nothing that a reader sees: no characters, or only white space and invisible ones. @example isBlank(' \u200b') // true */
export const isBlank = (text: string): boolean => !/[^\s\p{Cc}\p{Cf}]/u.test(text)

/** Whether the log can keep a value as JSON. `unfitJson` also says where and why not, and takes several times as long. */
const isFitJson = (value: unknown, depth = 0): boolean => {
  switch (typeof value) {
    case 'string':
      return illFormed(value) === undefined
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
      return true
    case 'object':
      break
    default:
      return false
  }
  if (value === null) return true
  if (depth >= eventLimits.jsonMaxDepth) return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isFitJson(item, depth + 1)) return false
    return true
  }
  const members = value as Record<string, unknown>
  for (const key of Object.keys(members))
    if (key === '__proto__' || illFormed(key) !== undefined || !isFitJson(members[key], depth + 1)) return false
  return true
}

/** Where and why a value cannot be kept as JSON, or undefined when it can. `["params.a[2]", "contains a NUL character"]`. */
export const unfitJson = (value: unknown): [path: string, reason: string] | undefined =>
  isFitJson(value) ? undefined : unfitAt(value, '', 0)

const unfitAt = (value: unknown, path: string, depth: number): [path: string, reason: string] | undefined => {
  switch (typeof value) {
    case 'string': {
      const reason = illFormed(value)
      return reason === undefined ? undefined : [path, reason]
    }
    case 'number':
      return Number.isFinite(value) ? undefined : [path, 'is not a finite number']
    case 'boolean':
      return undefined
    case 'object':
      break
    default:
      return [path, 'is not a JSON value']
  }
  if (value === null) return undefined
  if (depth >= eventLimits.jsonMaxDepth) return [path, `is nested deeper than ${eventLimits.jsonMaxDepth} levels`]
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const unfit = unfitAt(value[i], `${path}[${i}]`, depth + 1)
      if (unfit) return unfit
    }
    return undefined
  }
  for (const [key, member] of Object.entries(value)) {
    const here = path === '' ? key : `${path}.${key}`
    const reason = key === '__proto__' ? 'is a key that is not allowed' : illFormed(key)
    if (reason !== undefined) return [here, reason]
    const unfit = unfitAt(member, here, depth + 1)
    if (unfit) return unfit
  }
  return undefined
}

/** Whether a value is an object with members, and no array. */
export function isObject(value: Json | undefined): value is JsonObject
export function isObject(value: unknown): value is Record<string, unknown>
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The same members with other values. It makes no pairs of keys and values: these would be most of the memory that a write allocates.
 *
 * @example mapMembers({ a: 1, b: 2 }, (value, key) => `${key}${value}`) // { a: 'a1', b: 'b2' }
 */
export const mapMembers = (from: JsonObject, change: (value: Json, key: string) => Json): JsonObject => {
  const to: JsonObject = {}
  for (const key of Object.keys(from)) {
    const member = from[key]
    if (member === undefined) continue
    const value = change(member, key)
    // An assignment would set the prototype.
    if (key === '__proto__') Object.defineProperty(to, key, { value, enumerable: true, configurable: true, writable: true })
    else to[key] = value
  }
  return to
}

/** A JSON object of any shape: well-formed Unicode, no NUL, finite numbers, bounded depth. */
export const jsonObject = z
  .custom<JsonObject>(isObject, 'must be an object')
  .meta({ type: 'object' })
  .superRefine((value, context) => {
    const unfit = unfitJson(value)
    if (unfit) context.addIssue({ code: 'custom', message: `${unfit[0]} ${unfit[1]}`.trim() })
  })

/** Any text that DuckDB can hold. */
export const text = z
  .string()
  .max(eventLimits.textMaxChars)
  .superRefine((value, context) => {
    const reason = illFormed(value)
    if (reason !== undefined) context.addIssue({ code: 'custom', message: reason })
  })

// A name is one segment of a path and one part of a qualified SQL name.
const unfitName = (name: string): string | undefined => {
  if (name.length === 0) return 'must not be empty'
  if (name.length > eventLimits.nameMaxChars) return `must have at most ${eventLimits.nameMaxChars} characters`
  if (/[\p{Cc}/\\]/u.test(name)) return 'must not contain slashes or control characters'
  if (name !== name.trim()) return 'must not begin or end with a space'
  if (name === '.' || name === '..' || name === '__proto__') return 'is not allowed as a name'
  return illFormed(name)
}

/** The name of a resource, kept as it was typed and compared after `foldName`. */
export const resourceName = z.string().superRefine((value, context) => {
  const reason = unfitName(value)
  if (reason !== undefined) context.addIssue({ code: 'custom', message: reason })
})

/**
 * The only form in which names are compared: NFC, lower case, and NFC again, because some letters compose only in lower case (J̌, ǰ). The
 * result is stored; no database folds names by itself.
 */
export const foldName = (name: string): string =>
  /^[\x20-\x7e]*$/.test(name) ? name.toLowerCase() : name.normalize('NFC').toLowerCase().normalize('NFC')

/** The stream of one resource, a UUIDv7: events refer to it by this id, so that its name can change. */
export const streamId = z.uuid().brand<'StreamId'>()
export type StreamId = z.infer<typeof streamId>

/** The SHA-256 of a payload's ciphertext or of a blob, in lower-case hex. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')

export const nothing = z.strictObject({})

type AnyEvent = { type: string; data: unknown }
/** One schema for each event of a union, under the event's type. */
export type SchemasOf<E extends AnyEvent> = { [T in E['type']]: z.ZodType<Extract<E, { type: T }>['data']> }

/** Turns the data that an older schema version wrote into the next version's. */
export type Upcaster = (data: JsonObject) => JsonObject
/** For each event that changed, its upcasters: the first takes version 1 to 2. The current version is their number plus one. */
export type UpcastersOf<E extends AnyEvent> = { [T in E['type']]?: readonly Upcaster[] }

/** Ends a switch over a union: the compiler then reports a forgotten case. */
export const unreachable = (value: never): never => {
  throw new TypeError(`unreachable: ${JSON.stringify(value)}`)
}
