import type { Request, Response } from 'express'
import type { z } from 'zod'
import { illFormed, isObject } from '../../../events/common.js'
import { missingField, Problem, wrong } from '../../basics/errors.js'

/** The headers by which a client says how its command is to be carried out. */
export const commandHeaders = ['Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer'] as const
export type CommandHeader = (typeof commandHeaders)[number]
/** The same without `Prefer: dry-run`: for writes that do their work before there is a command. */
export const withoutDryRun: readonly CommandHeader[] = commandHeaders.filter((header) => header !== 'Prefer')

/** How large a JSON body may be: a few fields, what one event may hold, or rows. */
export type BodySize = 'small' | 'resource' | 'rows'

/** One address: what it does, what it takes and gives, and who does it. The router and the OpenAPI document are made of the same list. */
export type Route = {
  method: 'get' | 'post' | 'put' | 'delete'
  /** Without prefix: `/projects/:project/skills`. */
  path: string
  summary: string
  query?: z.ZodObject
  body?: z.ZodType
  /** Without it, `resource` where there is a body and `small` where there is none. */
  bodySize?: BodySize
  /** Media types that the body has in the place of JSON, with its form's fields; null where it is the content itself. */
  takes?: Readonly<Record<string, z.ZodType | null>>
  /** Media types that the answer may have in the place of JSON. */
  gives?: readonly string[]
  /** The JSON body of each status; null for none, or for other media types alone. */
  answers: Record<number, z.ZodType | null>
  /** Which of the headers for commands it takes. Where one is not taken that would keep something from being written, it is refused. */
  commandHeaders?: readonly CommandHeader[]
  handle: (req: Request, res: Response) => Promise<void>
}

/** A segment of the path. Express has decoded it. */
export const param = (req: Request, name: string): string => {
  const value = req.params[name]
  if (typeof value !== 'string') throw new TypeError(`no path parameter ${name}`)
  const reason = illFormed(value)
  if (reason !== undefined) throw wrong(`the path segment ${name} ${reason}`)
  return value
}

/** One value of the query string; undefined when it is missing. */
export const queryValue = (req: Request, name: string): string | undefined => {
  const value = req.query[name]
  const list = Object.keys(req.query).find((key) => key.startsWith(`${name}[`))
  if (list === undefined && (value === undefined || typeof value === 'string')) return value
  throw wrong(`the query parameter ${name} must be given once${list === undefined ? '' : `, and not as ${list}`}`)
}

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined), value)

/** Checks a value; the refusal names the field. A field that is not there at all is a "Missing field". */
export const parse = <T>(schema: z.ZodType<T>, value: unknown, kind: string): T => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  if (!issue) throw wrong(`the ${kind} does not fit`)
  const path = issue.path.map(String).join('.')
  if (issue.path.length > 0 && at(value, issue.path) === undefined) throw missingField(path, kind)
  throw wrong(`${kind}${path === '' ? '' : `.${path}`}: ${issue.message}`)
}

const hasBody = ({ headers }: Request): boolean => headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** A body came that is not said to be JSON. */
export const notJson = (): Problem =>
  new Problem('wrong_media_type', 'Unsupported media type', 'the body must be JSON', {
    hint: 'Send the header Content-Type: application/json.',
  })

const bodyOf = (req: Request): unknown => {
  if (req.body === undefined && hasBody(req)) throw notJson()
  return req.body
}

/** The JSON object that a body is. */
export const jsonBody = (req: Request): Record<string, unknown> => {
  const body = bodyOf(req)
  if (!isObject(body)) throw wrong('the body must be a JSON object')
  return body
}

/**
 * The object that a body wraps under its kind's name, checked.
 *
 * @example unwrap(req, 'skill', z.object({ name: z.string() })) // of {"skill": {"name": "s"}}
 */
export const unwrap = <T>(req: Request, kind: string, schema: z.ZodType<T>): T => {
  const body = bodyOf(req)
  const inner = isObject(body) ? body[kind] : undefined
  if (!isObject(inner))
    throw new Problem('missing_parameter', 'Missing parameter', `Must provide "${kind}" parameter in ${req.method} body`, {
      hint: `Send {"${kind}": {…}}.`,
    })
  return parse(schema, inner, kind)
}

/** The fields that were sent: null means, as nothing does, "leave it". */
export const given = <T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
