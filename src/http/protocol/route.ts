import type { z } from 'zod'
import { illFormed } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import type { Body, Sent } from './body.js'
import type { Call } from './call.js'
import { readParameters, refuseUnknown, type Parameters, type ValuesOf } from './parameters.js'
import type { Reply } from './reply.js'

/** The headers by which a client says how its command is to be carried out. */
export const commandHeaders = ['Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer'] as const
export type CommandHeader = (typeof commandHeaders)[number]
/** The same without `Prefer: dry-run`: for writes that do their work before there is a command. */
export const withoutDryRun: readonly CommandHeader[] = commandHeaders.filter((header) => header !== 'Prefer')

/** How large a JSON body may be: a few fields, what one event may hold, or rows. */
export type BodySize = 'small' | 'resource' | 'rows'

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** The named segments of a path, decoded. Of a path that is put together at run time, whatever it names. */
export type Segments<Path extends string = string> = Readonly<Record<string extends Path ? string : NamesIn<Path>, string>>

/** What a handler gets: the request, read and checked. `call` is the rest of it: who asks, and how. */
export type Input<Path extends string, Query extends Parameters, Content> = {
  segments: Segments<Path>
  query: ValuesOf<Query>
  body: Content
  call: Call
}

/** What the router and the OpenAPI document need to know of an address. */
type Described = {
  method: 'get' | 'post' | 'put' | 'delete'
  /** Without prefix: `/projects/:project/skills`. */
  path: string
  summary: string
  query?: Parameters
  /** Whether parameters beside those of `query` are refused. */
  knowsAll?: boolean
  body?: Body<unknown>
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
}

/** One address: what it does, what it takes and gives, and who does it. The router and the OpenAPI document are made of the same list. */
export type Route = Described & {
  /** Reads and checks what the request brings, and gives what its handler replies. @throws Problem */
  handle: (call: Call, segments: Segments) => Promise<Reply>
}

/** How a route is written down: its handler gets what `path`, `query` and `body` say. */
export type RouteOf<Path extends string, Query extends Parameters, Content> = Described & {
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

const sentBy = (call: Call): Sent => ({ method: call.method, json: call.json, isOther: call.json === undefined && hasBody(call) })

/**
 * Makes a route whose handler gets the request typed.
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

/** How large the body of a route may be: what it says, or what its kind of route takes. */
export const bodySizeOf = ({ body, bodySize }: Route): BodySize => bodySize ?? (body ? 'resource' : 'small')

/** A segment of a path that is put together at run time. */
export const segmentOf = (segments: Segments, name: string): string => {
  const value = segments[name]
  if (value === undefined) throw new TypeError(`no path parameter ${name}`)
  return value
}
