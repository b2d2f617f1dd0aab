import * as z from 'zod'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { readInstant } from '../../basics/times.js'

/** The query string of a request. A repeated parameter has a list of values. */
export type QueryString = Readonly<Record<string, unknown>>

/** One parameter of the query string: its schema for the OpenAPI document, and its reader. */
export type Parameter<T> = {
  /** Accepts undefined if the parameter is optional. */
  schema: z.ZodType
  /** @throws Problem 400 that says what is allowed */
  read: (query: QueryString, name: string) => T
}

/** The parameters that a route takes. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>

/** The values of parameters after reading. */
export type ValuesOf<Q extends Parameters> = { readonly [K in keyof Q]: Q[K] extends Parameter<infer T> ? T : never }

// The group stays open: each month adds its last days.
const day = '(?:0[1-9]|[12]\\d'
const date = `\\d{4}-(?:(?:0[13578]|1[02])-${day}|3[01])|(?:0[469]|11)-${day}|30)|02-${day}))`
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,6})?)?'
const zone = '(?:Z|[+-](?:(?:0\\d|1[0-3])(?::?[0-5]\\d)?|14(?::?00)?))?'
const time = `${date}(?:[T ]${clock}${zone})?`

/** Numbers have at most 15 digits, because these are exact in every client. */
const most = 999_999_999_999_999

/** A whole number, such as a position or a version. */
export const count = z.int().min(0).max(most)
/** How many items a page has, at most. */
export const pageSize = (most: number) => z.int().min(1).max(most)
/** A time by which events are filtered. */
export const timeText = z.string().regex(new RegExp(`^${time}$`))
/** A position of the log or a time. */
export const whenText = z.string().regex(new RegExp(`^(?:[1-9]\\d{0,14}|${time})$`))

const oneValue = (query: QueryString, name: string): string | undefined => {
  const value = query[name]
  const list = Object.keys(query).find((key) => key.startsWith(`${name}[`))
  if (list === undefined && (value === undefined || typeof value === 'string')) return value
  throw wrong(`the query parameter ${name} must be given once${list === undefined ? '' : `, and not as ${list}`}`)
}

/** A parameter with one value; undefined when it is missing. */
export const value = (schema: z.ZodType): Parameter<string | undefined> => ({ schema, read: oneValue })

/**
 * A whole number; undefined when it is missing.
 *
 * @example whole(pageSize(1_000), { least: 1, most: 1_000 }) // 20 for ?limit=20
 */
export const whole = (
  schema: z.ZodType,
  { least = 0, most = Infinity }: { least?: number; most?: number } = {},
): Parameter<number | undefined> => ({
  schema,
  read: (query, name) => {
    const said = oneValue(query, name)
    if (said === undefined) return undefined
    const number = /^\d{1,15}$/.test(said) ? Number(said) : NaN
    if (number >= least && number <= most) return number
    const bounds = most === Infinity ? `from ${least} on` : `from ${least} to ${most}`
    throw wrong(`the query parameter ${name} must be a whole number ${bounds}, not ${said}`)
  },
})

/** A position that must be given. */
export const neededPosition = (schema: z.ZodType): Parameter<number> => ({
  schema,
  read: (query, name) => {
    const said = whole(schema).read(query, name)
    if (said === undefined) throw wrong(`the query parameter ${name} is missing`, `Add ?${name}=<position>.`)
    return said
  },
})

/** One of a few words; undefined when it is missing. `refusal` begins the error message; the value that was sent follows it. */
export const oneOf = <W extends string>(
  words: readonly [W, ...W[]],
  refusal: string,
  schema: z.ZodType = z.enum(words).optional(),
): Parameter<W | undefined> => ({
  schema,
  read: (query, name) => {
    const said = oneValue(query, name)
    if (said === undefined) return undefined
    const word = words.find((one) => one === said)
    if (word === undefined) throw wrong(`${refusal}, not ${said}`)
    return word
  },
})

/** A time in the format of the log; undefined when it is missing. */
export const instantIn = (schema: z.ZodType): Parameter<string | undefined> => ({
  schema,
  read: (query, name) => {
    const said = oneValue(query, name)
    return said === undefined ? undefined : readInstant(said, name, Date.now())
  },
})

/** Names, separated by commas or in a repeated parameter; an empty list when it is missing. */
export const names = (schema: z.ZodType): Parameter<readonly string[]> => ({
  schema,
  read: (query, name) => {
    const said = query[name] ?? []
    const given: unknown[] = Array.isArray(said) ? said : [said]
    const all = given.flatMap((one) => (typeof one === 'string' ? one.split(',') : ['']))
    if (all.includes('')) throw wrong(`the query parameter ${name} must name at least one`)
    if (all.length > limits.eventFilterMaxTypes) throw wrong(`the query parameter ${name} may name ${limits.eventFilterMaxTypes} at most`)
    return all
  },
})

/** Reads the parameters of a route from a query string. @throws Problem 400 that names the parameter */
export const readParameters = <Q extends Parameters>(parameters: Q, query: QueryString): ValuesOf<Q> =>
  Object.fromEntries(Object.entries(parameters).map(([name, parameter]) => [name, parameter.read(query, name)])) as ValuesOf<Q>

/** Refuses unknown parameters: a misspelt filter must not match everything. */
export const refuseUnknown = (parameters: Parameters, query: QueryString): void => {
  const known = Object.keys(parameters)
  const unknown = Object.keys(query).find((name) => !known.includes(name))
  if (unknown !== undefined) throw wrong(`there is no query parameter ${unknown} here`, `There are ${known.join(', ')}.`)
}
