import type { Request, RequestHandler, Response } from 'express'
import { parseEnvelope } from '../../../events/envelope.js'
import type { Execution, Ledger } from '../../commands/ledger.js'
import { wrong } from '../../basics/errors.js'
import type { Outcome, Reply } from '../../log/contract/log.js'
import { maskSecrets } from '../../vault/secrets.js'
import { expectsOf } from './conditions.js'
import { hasRows, holdBack } from './hold-back.js'
import { idempotencyOf, originOf, plannedBy } from './origin.js'
import { dryRunApplied, isDryRun } from './prefer.js'
import type { CommandHeader, Route } from './route.js'

/** Runs the handler and gives the body that it wrote; undefined when that went to the client by itself. */
const heldAnswer = async (route: Route, req: Request, res: Response): Promise<Buffer | undefined> => {
  const held = holdBack(res)
  try {
    await route.handle(req, res)
    return held.body()
  } finally {
    held.release()
  }
}

const sendReply = (res: Response, { status, type, etag, body }: Reply): void => {
  res.status(status)
  if (type !== null) res.setHeader('Content-Type', type)
  if (etag !== null) res.setHeader('ETag', etag)
  if (body === '') res.end()
  else res.setHeader('Content-Length', Buffer.byteLength(body)).end(body)
}

/**
 * Answers a request with a key: what it was answered before, byte for byte, or else what the handler writes, which is kept before
 * it is sent. A crash in between leaves nobody with an answer, so that the next one to ask may be given another.
 */
const answerOnce = async (ledger: Ledger, route: Route, execution: Execution, req: Request, res: Response): Promise<void> => {
  const origin = originOf(req, res)
  const kept = await ledger.replyTo(origin, execution)
  if (kept) {
    sendReply(res, kept)
    return
  }
  const erasedAt = await ledger.log.erasedAt()
  const body = await heldAnswer(route, req, res)
  if (body === undefined) return
  const reply: Reply = {
    status: res.statusCode,
    type: res.get('Content-Type') ?? null,
    etag: res.get('ETag') ?? null,
    body: body.toString(),
    ...(hasRows(res) && { rows: true }),
  }
  res.removeHeader('ETag')
  sendReply(res, await ledger.keepReply(origin, execution, reply, erasedAt))
}

/** An event that there would be: as it would be stored, without its place and time, which are nobody's yet. */
const plannedEvent = (text: string): object => {
  const { position: _, recorded_at: __, data, ...rest } = parseEnvelope(text)
  return { ...rest, data: maskSecrets(data) }
}

/** A record without the id that it would only get by being written. */
const plannedRecord = ({ stream, planned = [] }: Outcome, body: Buffer): unknown => {
  if (body.length === 0) return null
  const record: unknown = JSON.parse(body.toString())
  if (typeof record !== 'object' || record === null) return null
  const isNew = planned.map(parseEnvelope).some((event) => event.stream === stream && event.version === 1)
  const { id: _, ...rest } = record as { id?: unknown }
  return isNew ? rest : record
}

const answerDryRun = async (route: Route, req: Request, res: Response): Promise<void> => {
  const body = await heldAnswer(route, req, res)
  if (body === undefined) return
  const outcome = plannedBy(res)
  if (!outcome) {
    // There was no command in it, or the statement has an answer of its own.
    res.end(body)
    return
  }
  dryRunApplied(res)
  res.removeHeader('Content-Type')
  res.status(200).json({ events: (outcome.planned ?? []).map(plannedEvent), resource: plannedRecord(outcome, body) })
}

/** What would keep something from being written, and is not looked at here. */
const refuseUntaken = (route: Route, req: Request): void => {
  const takes = (header: CommandHeader) => route.commandHeaders?.includes(header) ?? false
  if (isDryRun(req) && !takes('Prefer'))
    throw wrong('there is no dry run of this', 'Leave out Prefer: dry-run; the commands of resources take it.')
  const conditional = (['If-Match', 'If-None-Match'] as const).find((header) => req.get(header) !== undefined && !takes(header))
  if (conditional) throw wrong(`${conditional} is not taken here`, 'Leave the header out; writes of a single resource take it.')
}

/**
 * What the headers of a command mean at every address: `Idempotency-Key` gives one effect and one answer, `Prefer: dry-run` shows
 * what would happen, and a header that an address does not take is refused where ignoring it could do harm.
 *
 * @example app.post(route.path, handlerOf(route, ledger))
 */
export const handlerOf =
  (route: Route, ledger: Ledger): RequestHandler =>
  async (req, res) => {
    if (route.method === 'get') return route.handle(req, res)
    refuseUntaken(route, req)
    expectsOf(req)
    if (isDryRun(req)) return answerDryRun(route, req, res)
    // What an upload brings is read by its handler, which looks at the key itself.
    const keyed = route.commandHeaders?.includes('Idempotency-Key') && !route.takes
    const execution = keyed ? idempotencyOf(req) : {}
    return execution.idempotency ? answerOnce(ledger, route, execution, req, res) : route.handle(req, res)
  }
