import { parseEnvelope } from '../../../events/stored/envelope.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Execution, Ledger } from '../../commands/ledger.js'
import type { Log, Outcome, Reply as KeptReply } from '../../log/contract/log.js'
import { maskSecrets } from '../../vault/seal-secrets.js'
import type { Call } from './call.js'
import { dryRunApplied, positionHeader } from './request-headers.js'
import { seesNewest } from './read-consistency.js'
import { bodyOf, json, textUpTo, type Reply } from './reply.js'
import type { CommandHeader, Route, Segments } from './route.js'

/** The parts that answer calls. With `readsLocally`, they wait for no other node. */
type Parts = { ledger: Ledger; log: Log; readsLocally?: boolean }

/** Makes the reply of the route. */
type Handle = () => Promise<Reply>

/** The kept reply to an earlier request, byte for byte. Its positions are noted, as they were for the earlier request. */
const keptReply = (call: Call, { status, type, etag, body, positions }: KeptReply, first?: Reply): Reply => {
  if (positions) call.positions = positions
  const { ETag: _, ...headers } = first?.headers ?? {}
  return {
    status,
    ...(type !== null && { type }),
    headers: { ...headers, ...(etag !== null && { ETag: etag }) },
    ...(body !== '' && { body }),
  }
}

/**
 * Answers a request with an idempotency key: with the kept reply, byte for byte, or else with the handler's reply. It is kept before it is
 * sent, unless it is too long or tells an error. Requests with the same key come one after the other. After a crash in between nobody has
 * an answer yet, so a retry may get a different one.
 */
const answerOnce = async ({ ledger, log }: Parts, call: Call, execution: Execution, handle: Handle): Promise<Reply> => {
  const origin = call.origin()
  return ledger.inTurn(origin, execution, async () => {
    const kept = await ledger.replyTo(origin, execution)
    if (kept) return keptReply(call, kept)
    const erasedAt = await log.erasedAt()
    const reply = await handle()
    if (reply.keep === 'never') return reply
    const body = await textUpTo(reply, limits.keptReplyMaxBytes)
    if (typeof body !== 'string') return body
    const told: KeptReply = {
      status: reply.status,
      type: reply.type ?? null,
      etag: reply.headers?.['ETag'] ?? null,
      body,
      ...(reply.keep === 'rows' && { rows: true }),
      ...(call.positions && { positions: call.positions }),
    }
    return keptReply(call, await ledger.keepReply(origin, execution, told, erasedAt), reply)
  })
}

/** A planned event as it would be stored, without a position and time, which it does not have yet. */
const plannedEvent = (text: string): object => {
  const { position: _, recorded_at: __, data, ...rest } = parseEnvelope(text)
  return { ...rest, data: maskSecrets(data) }
}

/** A planned record; a new one has no id yet. */
const plannedRecord = ({ stream, planned = [] }: Outcome, reply: Reply): unknown => {
  const body = bodyOf(reply)
  if (!body || 'stream' in body) return null
  const record: unknown = JSON.parse(body.whole.toString())
  if (typeof record !== 'object' || record === null) return null
  const isNew = planned.map(parseEnvelope).some((event) => event.stream === stream && event.version === 1)
  const { id: _, ...rest } = record as { id?: unknown }
  return isNew ? rest : record
}

const answerDryRun = async (call: Call, handle: Handle): Promise<Reply> => {
  const reply = await handle()
  const { planned: outcome } = call
  // The request has no command, or the statement makes its own answer.
  if (!outcome) return reply
  const shown = { events: (outcome.planned ?? []).map(plannedEvent), resource: plannedRecord(outcome, reply) }
  return json(shown, { headers: { ...reply.headers, ...dryRunApplied } })
}

/** Refuses headers that would prevent a write but that this route does not support. */
const refuseUntaken = (route: Route, call: Call): void => {
  const takes = (header: CommandHeader) => route.commandHeaders?.includes(header) ?? false
  if (call.isDryRun && !takes('Prefer'))
    throw wrong('there is no dry run of this', 'Leave out Prefer: dry-run; the commands of resources take it.')
  const conditional = (['If-Match', 'If-None-Match'] as const).find((header) => call.header(header) !== undefined && !takes(header))
  if (conditional) throw wrong(`${conditional} is not taken here`, 'Leave the header out; writes of a single resource take it.')
}

/** Answers a command, with the options of its headers. */
const answerCommand = async (route: Route, parts: Parts, call: Call, segments: Segments): Promise<Reply> => {
  refuseUntaken(route, call)
  // A header that cannot be read is refused before the handler begins.
  call.expects()
  const handle = async (): Promise<Reply> => {
    const reply = await route.handle(call, segments)
    return { ...reply, headers: { ...call.tag, ...reply.headers } }
  }
  if (call.isDryRun) return answerDryRun(call, handle)
  // The handler of an upload reads the body and checks the key itself.
  const keyed = route.commandHeaders?.includes('Idempotency-Key') && !route.takes
  const execution = keyed ? call.idempotency() : {}
  return execution.idempotency ? answerOnce(parts, call, execution, handle) : handle()
}

/** Refuses `as_of` on a route that does not take it. @throws Problem 400 */
const refuseAsOf = ({ method, query }: Route, call: Call): void => {
  if (query?.['as_of'] !== undefined || call.query['as_of'] === undefined) return
  if (method === 'get') throw wrong('this address takes no as_of: it does not show the state of resources', 'Leave out as_of.')
  throw wrong('as_of is for reads: the past cannot be changed', 'Send the request without as_of; it writes now.')
}

/**
 * Whether the node must catch up with other nodes before the handler begins. For a command the log does so by itself; for a kept reply it
 * must happen here.
 */
const looksFirst = ({ ofNode, onlyCommands }: Route, call: Call): boolean =>
  !ofNode && !(onlyCommands && call.header(positionHeader) === undefined && call.header('Idempotency-Key') === undefined)

/**
 * Answers a call by its route. The headers of a command mean the same on every route: `Idempotency-Key` gives one effect and one answer,
 * `Prefer: dry-run` only shows the events, and a header that a route does not support is refused if ignoring it could do harm. Before that
 * the node catches up with other nodes, unless reads are local.
 *
 * @example await answer(route, { ledger, log }, call, { project: 'shop' })
 */
export const answer = async (route: Route, parts: Parts, call: Call, segments: Segments): Promise<Reply> => {
  const { log, readsLocally = false } = parts
  refuseAsOf(route, call)
  call.parameters = Object.keys(route.query ?? {})
  const seen = looksFirst(route, call) ? seesNewest(call, log, readsLocally) : undefined
  if (seen) await seen
  return route.method === 'get' ? route.handle(call, segments) : answerCommand(route, parts, call, segments)
}
