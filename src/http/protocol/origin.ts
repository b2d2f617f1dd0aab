import type { Request, Response } from 'express'
import { v7 as uuidv7 } from 'uuid'
import type { Source } from '../../../events/envelope.js'
import type { Execution } from '../../commands/ledger.js'
import { unfitJson } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import type { Origin, Outcome } from '../../log/contract/log.js'
import { expectsOf } from './conditions.js'
import { tag } from './etag.js'
import { isDryRun } from './prefer.js'
import { readTraceparent } from './traceparent.js'

const printable = /^[\x21-\x7e]{1,200}$/

const header = (req: Request, name: string): string | null => {
  const value = req.get(name)
  if (value === undefined) return null
  if (!printable.test(value)) throw wrong(`the header ${name} must be 1 to 200 printable ASCII characters without spaces`)
  return value
}

/**
 * Gives the request its id: the client's `X-Request-Id`, or a new one. What the client says of where the request belongs is told
 * back: `X-Correlation-Id`, and a `traceparent` that is valid.
 */
export const identify = (req: Request, res: Response): string => {
  const given = req.get('x-request-id')
  const id = given !== undefined && printable.test(given) ? given : uuidv7()
  res.locals['request'] = id
  res.setHeader('X-Request-Id', id)
  const correlation = req.get('x-correlation-id')
  if (correlation !== undefined && printable.test(correlation)) res.setHeader('X-Correlation-Id', correlation)
  const traceparent = readTraceparent(req.get('traceparent'))
  if (traceparent !== undefined) res.setHeader('traceparent', traceparent)
  return id
}

export const requestId = (res: Response): string => String(res.locals['request'])

/** Who asks, for the log. */
export const originOf = (req: Request, res: Response, source: Source = 'rest'): Origin => {
  const traceparent = readTraceparent(req.get('traceparent'))
  return {
    actor: typeof res.locals['actor'] === 'string' ? res.locals['actor'] : 'anonymous',
    source,
    request: requestId(res),
    correlation: header(req, 'x-correlation-id'),
    causation: header(req, 'x-causation-id'),
    ...(traceparent !== undefined && { traceparent }),
  }
}

/**
 * The request's `Idempotency-Key`, with what tells whether the same key comes with another request: the body as it was
 * parsed, or what stands for one that was not.
 */
export const idempotencyOf = (req: Request, body?: unknown): Execution => {
  if (body !== undefined) return readIdempotency(req, body)
  const known = ofBodies.get(req) ?? readIdempotency(req, req.body ?? null)
  ofBodies.set(req, known)
  return known
}

/** What was read of requests whose body is JSON: it takes a while when that is large, and is asked for several times. */
const ofBodies = new WeakMap<Request, Execution>()

const readIdempotency = (req: Request, body: unknown): Execution => {
  const key = header(req, 'idempotency-key')
  if (key === null) return {}
  // Also of what no schema asks for: a body nested deeply enough has no text.
  const unfit = unfitJson(body)
  if (unfit) throw wrong(`body: ${unfit[0]} ${unfit[1]}`)
  return { idempotency: { key, request: JSON.stringify([req.method, req.path, body]) } }
}

/** How the request wants its command carried out: once for its key, only if things are as it expects, or for show. */
export const executionOf = (req: Request, body?: unknown): Execution => {
  const expects = expectsOf(req)
  return { ...idempotencyOf(req, body), ...(expects && { expects }), ...(isDryRun(req) && { dryRun: true }) }
}

/** What a command came to in a dry run, when the request's was one. */
export const plannedBy = (res: Response): Outcome | undefined => res.locals['planned'] as Outcome | undefined

/** Notes what a request produced: for its log line, in `ETag`, and in a dry run for its answer. */
export const note = (res: Response, outcome: Outcome): Outcome => {
  if (outcome.planned) {
    res.locals['planned'] = outcome
    return outcome
  }
  if (outcome.resource) tag(res, outcome.resource)
  const before: unknown = res.locals['positions']
  res.locals['positions'] = [...(Array.isArray(before) ? (before as number[]) : []), ...outcome.positions]
  return outcome
}
