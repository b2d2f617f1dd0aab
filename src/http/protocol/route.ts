/** Room: a request and its reply: headers and bodies. It imports only events, basics, setup, vault, log and commands. */

import type * as z from 'zod'
import { illFormed } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import type { Body, RequestBody } from './body-schema.js'
import type { Call, Refusal } from './call.js'
import { readParameters, refuseUnknown, type Parameters, type ValuesOf } from './parameters.js'
import type { Reply } from './reply.js'

/** The headers by which a client says how to execute its command. */
export const commandHeaders = ['Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer'] as const
export type CommandHeader = (typeof commandHeaders)[number]
/** The same without `Prefer: dry-run`: for writes that do work before they have a command. */
export const withoutDryRun: readonly CommandHeader[] = commandHeaders.filter((header) => header !== 'Prefer')

/** How large a JSON body may be: a few fields, what one event may hold, or rows. */
export type BodySize = 'small' | 'resource' | 'rows'

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** The named segments of a path, decoded. A path that is built at run time may have any names. */
export type Segments<Path extends string = string> = Readonly<Record<string extends Path ? string : NamesIn<Path>, string>>

/** The input of a handler: the request, parsed and checked. `call` has the rest, such as the caller and the headers. */
export type Input<Path extends string, Query extends Parameters, Content> = {
  segments: Segments<Path>
  query: ValuesOf<Query>
  body: Content
  call: Call
}

/** What the router and the OpenAPI document need to know about a route. */
type RouteDescription = {
  method: 'get' | 'post' | 'put' | 'delete'
  /** Without prefix: `/projects/:project/skills`. */
  path: string
  summary: string
  query?: Parameters
  /** Whether parameters that are not in `query` are refused. */
  knowsAll?: boolean
  body?: Body<unknown>
  /** The default is `resource` for a route with a body and `small` for one without. */
  bodySize?: BodySize
  /** Media types of the body instead of JSON, with the fields of its form; null if the body is the content itself. */
  takes?: Readonly<Record<string, z.ZodType | null>>
  /** Media types that the answer may have instead of JSON. */
  gives?: readonly string[]
  /** The JSON body of each status; null if there is no body, or only other media types. */
  answers: Record<number, z.ZodType | null>
  /** The description of an answer with status 200, instead of OK. */
  success?: string
  /** The command headers that it supports. An unsupported header that would prevent a write is refused. */
  commandHeaders?: readonly CommandHeader[]
  /** Whether it is only about this node, and so does not wait for other nodes. */
  ofNode?: true
  /** Whether it reads nothing before the log decides its command; the log always decides on the newest state. */
  onlyCommands?: true
  /** The form of a refusal for clients that do not read `application/problem+json`. */
  refusal?: Refusal
}

/** One route: its summary, its input and output, and its handler. The router and the OpenAPI document are made from the same list. */
export type Route = RouteDescription & {
  /** Parses and checks the request, and returns the reply of the handler. @throws Problem */
  handle: (call: Call, segments: Segments) => Promise<Reply>
}

/** The definition of a route: its handler gets the values that `path`, `query` and `body` declare. */
export type RouteOf<Path extends string, Query extends Parameters, Content> = RouteDescription & {
  path: Path
  query?: Query
  body?: Body<Content>
  handle: (input: Input<Path, Query, Content>) => Promise<Reply>
}

const checkSegments = (segments: Segments): void => {
  for (const [name, value] of Object.entries(segments)) {
    const reason = illFormed(value)
    if (reason !== undefined) throw wrong(`the path segment ${name} ${reason}`)
  }
}

const hasBody = (call: Call): boolean => {
  const { headers } = call.incoming
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

const sentBy = (call: Call): RequestBody => ({ method: call.method, json: call.json, isOther: call.json === undefined && hasBody(call) })

/**
 * Makes a route whose handler gets typed input.
 *
 * @example
 * route({ method: 'get', path: '/skills/:skill', summary, answers, handle: async ({ segments: { skill } }) => json(await find(skill)) })
 */
export const route = <const Path extends string, Query extends Parameters = Parameters, Content = undefined>(
  described: RouteOf<Path, Query, Content>,
): Route => {
  const { query: parameters, body, knowsAll = false, handle } = described
  return {
    ...described,
    async handle(call, segments) {
      checkSegments(segments)
      if (parameters && knowsAll) refuseUnknown(parameters, call.query)
      const query = (parameters ? readParameters(parameters, call.query) : {}) as ValuesOf<Query>
      const content = (body ? await body.read(sentBy(call)) : undefined) as Content
      return handle({ segments, query, body: content, call })
    },
  }
}

/** The size limit of a route's body: its own, or the default. */
export const bodySizeOf = ({ body, bodySize }: Route): BodySize => bodySize ?? (body ? 'resource' : 'small')

/** A segment of a path that is built at run time. */
export const segmentOf = (segments: Segments, name: string): string => {
  const value = segments[name]
  if (value === undefined) throw new TypeError(`no path parameter ${name}`)
  return value
}
