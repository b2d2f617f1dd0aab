import type { Event } from '@event-driven-io/emmett'
import { illFormed, unfitJson, type JsonObject } from './common.js'
import { eventLimits } from './limits.js'
import { secretKey } from './secrets.js'

/**
 * Events of other programs, which stand in the log beside ours. Their streams have names such as `invoice-7`, of the category `invoice`.
 * The category is a prefix of their stored types: the event `InvoiceIssued` is stored as `invoice.InvoiceIssued`. Our own types never have
 * a dot, in any release, so nobody can confuse the two.
 */
export type ForeignEvent = Event<`${string}.${string}`, JsonObject>

/** Stands for the types of all foreign events in lists of our types. */
export const anyForeign = 'foreign'

const category = '[A-Za-z]\\w*'
const foreignType = new RegExp(`^${category}\\.${category}$`)
const foreignStream = new RegExp(`^(${category})-.`, 's')
const ownName = new RegExp(`^${category}$`)
/** The stream of a resource is a UUID, sometimes with a suffix; a UUID may look as if it had a category. */
const resourceStream = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i
const unfitChars = /["\\\p{Cc}]/u

/** Whether a stored type is that of a foreign event. `isForeignType('invoice.InvoiceIssued')` */
export const isForeignType = (type: string): type is ForeignEvent['type'] => foreignType.test(type)

/** The category of a foreign stream; undefined for any other name. `categoryOf('invoice-7')` → `invoice` */
export const categoryOf = (stream: string): string | undefined =>
  resourceStream.test(stream) ? undefined : foreignStream.exec(stream)?.[1]

/** The type as its owner names it; our own types are unchanged. `ownTypeOf('invoice.InvoiceIssued')` → `InvoiceIssued` */
export const ownTypeOf = (type: string): string => (isForeignType(type) ? type.slice(type.indexOf('.') + 1) : type)

/** The type as it is stored in a stream. `storedTypeIn('invoice-7', 'InvoiceIssued')` → `invoice.InvoiceIssued` */
export const storedTypeIn = (stream: string, type: string): ForeignEvent['type'] => `${categoryOf(stream) ?? ''}.${type}`

/** Why a stream cannot be foreign, or undefined. */
export const unfitStream = (stream: string): string | undefined => {
  if (categoryOf(stream) === undefined)
    return `the stream "${stream}" does not accept events from outside: give it a name like invoice-7, with a category, a hyphen and an id`
  if (stream.length > eventLimits.nameMaxChars) return `a stream's name has at most ${eventLimits.nameMaxChars} characters`
  if (unfitChars.test(stream)) return 'stream must not contain quotes, backslashes or control characters'
  const reason = illFormed(stream)
  return reason === undefined ? undefined : `stream ${reason}`
}

/** Why an owner's type cannot be stored in a foreign stream, or undefined. */
export const unfitType = (stream: string, type: string): string | undefined => {
  if (!ownName.test(type)) return `the event type "${type}" must begin with a letter, and have only letters, digits and underscores`
  if (storedTypeIn(stream, type).length > eventLimits.nameMaxChars)
    return `category and type of an event have at most ${eventLimits.nameMaxChars - 1} characters together`
  return undefined
}

/** Dates, maps and other objects that JSON would change or empty have a prototype of their own. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Array.isArray(value) || Object.getPrototypeOf(prototype) === null
}

/** The first value, in depth, that JSON would change or that refers to a secret. */
const oddAt = (value: unknown, path: string): string | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  if (!isPlain(value)) return `${path} is not a plain object: write it as JSON values`
  for (const [key, member] of Object.entries(value)) {
    const here = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`
    if (key === secretKey) return `${here} is not allowed: it is how the log refers to sealed secrets`
    const odd = oddAt(member, here)
    if (odd !== undefined) return odd
  }
  return undefined
}

/** Why a value cannot be the data of a foreign event, or undefined: readers must get exactly the data that was written. */
export const unfitData = (data: unknown): string | undefined => {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return 'data is not an object'
  const unfit = unfitJson(data)
  return unfit ? `data.${unfit.join(' ')}` : oddAt(data, 'data')
}
