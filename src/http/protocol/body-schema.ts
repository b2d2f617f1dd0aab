import * as z from 'zod'
import { isObject } from '../../../events/common.js'
import { isProblem, missingField, Problem, wrong, type ProblemCode } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'

/** The body that came with a request: its JSON value, or a note that it had another form. */
export type RequestBody = { method: string; json: unknown; isOther: boolean }

/** The body that a route takes: its schema for the OpenAPI document, and its reader. */
export type Body<T> = {
  /** Null if the document has no place for it. */
  schema: z.ZodType | null
  /** @throws Problem that names the field */
  read: (sent: RequestBody) => T | Promise<T>
}

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined), value)

/** Checks a value; the refusal names the field. A field that is absent is a "Missing field". */
export const parse = <T>(schema: z.ZodType<T>, value: unknown, kind: string): T => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  if (!issue) throw wrong(`the ${kind} does not fit`)
  const path = issue.path.map(String).join('.')
  if (issue.path.length > 0 && at(value, issue.path) === undefined) throw missingField(path, kind)
  throw wrong(`${kind}${path === '' ? '' : `.${path}`}: ${issue.message}`)
}

/** The refusal of a body whose type is not JSON. */
export const notJson = (): Problem =>
  new Problem('wrong_media_type', 'Unsupported media type', 'the body must be JSON', {
    hint: 'Send the header Content-Type: application/json.',
  })

const jsonOf = ({ json, isOther }: RequestBody): unknown => {
  if (json === undefined && isOther) throw notJson()
  return json
}

/** The body as a JSON object. @throws Problem when it is not one */
export const objectIn = (sent: RequestBody): Record<string, unknown> => {
  const body = jsonOf(sent)
  if (!isObject(body)) throw wrong('the body must be a JSON object')
  return body
}

/** Checks and returns the object that a body wraps under its kind's name. @throws Problem when it is missing or invalid */
export const unwrap = <T>(sent: RequestBody, kind: string, schema: z.ZodType<T>): T => {
  const body = jsonOf(sent)
  const inner = isObject(body) ? body[kind] : undefined
  if (!isObject(inner))
    throw new Problem('missing_parameter', 'Missing parameter', `Must provide "${kind}" parameter in ${sent.method} body`, {
      hint: `Send {"${kind}": {…}}.`,
    })
  return parse(schema, inner, kind)
}

/** A body that is a JSON object. `kind` is what refusals call it. */
export const object = <T>(schema: z.ZodType<T>, kind: string): Body<T> => ({
  schema,
  read: (sent) => parse(schema, objectIn(sent), kind),
})

/** The same; a missing body counts as an empty object. */
export const objectOrNone = <T>(schema: z.ZodType<T>, kind: string): Body<T> => ({
  schema,
  read: (sent) => parse(schema, sent.json ?? {}, kind),
})

/**
 * A body that wraps an object under its kind's name.
 *
 * @example wrapped('skill', z.object({ name: z.string() })) // reads {"skill": {"name": "s"}}
 */
export const wrapped = <T>(kind: string, schema: z.ZodType<T>): Body<T> => ({
  schema: z.object({ [kind]: schema }),
  read: (sent) => unwrap(sent, kind, schema),
})

/**
 * The same; a member that the schema does not have is refused instead of dropped. `shown` are members of the record that nobody can set: a
 * client that changes the record it read sends them back.
 *
 * @example wrappedKnown('skill', z.object({ name: z.string() })) // refuses {"skill": {"nmae": "s"}}
 */
export const wrappedKnown = <Shape extends z.core.$ZodLooseShape>(
  kind: string,
  schema: z.ZodObject<Shape>,
  shown: readonly string[] = [],
): Body<z.infer<z.ZodObject<Shape>>> => ({
  schema: z.object({ [kind]: schema }),
  read: (sent) => {
    const known = Object.keys(schema.shape)
    const unknown = Object.keys(unwrap(sent, kind, z.looseObject({}))).find((key) => !known.includes(key) && !shown.includes(key))
    if (unknown !== undefined)
      throw wrong(`${kind}: there is no "${unknown}"`, `Did you mean "${nearest(unknown, known)}"? It takes ${known.join(', ')}.`)
    return unwrap(sent, kind, schema)
  },
})

/**
 * The same for an object that must have a name although its schema makes it optional. `documented` is the schema with the required name.
 */
export const wrappedNamed = <T extends { name?: string | null | undefined }>(
  kind: string,
  schema: z.ZodType<T>,
  documented: z.ZodType,
): Body<T & { name: string }> => ({
  schema: z.object({ [kind]: documented }),
  read: (sent) => {
    const fields = unwrap(sent, kind, schema)
    const { name } = fields
    if (name === undefined || name === null) throw missingField('name', kind)
    return { ...fields, name }
  },
})

const ofFields: ReadonlySet<ProblemCode> = new Set(['missing_parameter', 'missing_field', 'wrong_arguments'])

/** The same body, with the title that MindsDB gives the refusal of its fields: clients compare titles. The code stays. */
export const titled = <T>(title: string, { schema, read }: Body<T>): Body<T> => ({
  schema,
  read: async (sent) => {
    try {
      return await read(sent)
    } catch (error) {
      if (!isProblem(error) || !ofFields.has(error.code)) throw error
      throw new Problem(error.code, title, error.detail, error.extras)
    }
  },
})

/** The fields that were sent. Both null and a missing field mean "leave it". */
export const given = <T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
