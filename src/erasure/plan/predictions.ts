import * as z from 'zod'
import { parseEnvelope, type Envelope } from '../../../events/stored/envelope.js'
import { keepsRows, payloadsOf } from '../../../events/catalogue/references.js'
import { logStream } from '../../../events/records/log.js'
import { Problem } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import { eventAt, eventsWith, lastEventWith, streamEventsWith } from '../../log/read/slices.js'
import { isOfAnswers, recordsAnswers, takeAnswers } from './answers.js'
import { LaterEvents, StepPart, type OlderPlan, type OlderRange, type StepBounds } from './older-steps.js'
import { emptyPlan, whole, type Plan, type PlannedPayload, type PlanPart } from './plan.js'
import { withoutRows, type RowPlace } from './recorded-rows.js'

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'streamVersion' | 'payload' | 'payloadState' | 'hasRepliesWithRows'>

const outcomes = '"type":"OutcomesReported"'
const keeping = (text: string): boolean => text.includes('"type":"PredictionsServed"') || text.includes(outcomes)

const count = z.number()
const dataOf = z.object({
  rows: count,
  requests: z.array(z.object({ request: z.string(), rows: count })).default([]),
  predictions: z.array(z.object({ position: count, request: z.string() })).default([]),
})

/** The number and the kind of the rows that an event recorded: rows of requests, or truths of rows predicted before. */
const keptBy = ({ data }: Envelope): { rows: number; places: RowPlace[] } => {
  const { rows, requests, predictions } = dataOf.parse(data)
  return { rows, places: [...requests, ...predictions] }
}

const unreadable = (position: number) =>
  new Problem('storage_failed', 'Payload unreadable', `the rows of the event at position ${position} cannot be read`, {
    hint: 'Rows of one request cannot be told from its neighbours’. Erase the whole event: {"prediction": position}.',
  })

type Leaves = (row: RowPlace) => boolean

/** Plans to erase some rows of a payload; undefined when they were erased before. */
const part = async (log: ReadableLog, event: Envelope, hash: string, leaves: Leaves): Promise<PlannedPayload | undefined> => {
  const { rows, places } = keptBy(event)
  const all = await whole(log, hash, rows)
  if (!all || places.every(leaves)) return all
  const bytes = await log.payload(hash)
  if (!bytes) throw unreadable(event.position)
  const without = withoutRows(bytes.toString(), leaves)
  return without && { ...all, stays: without.stays, rows: without.goes }
}

const everything: Leaves = () => true

/** Plans the rows of an event to erase. Returns whether the event ever had some. */
const take = async (log: ReadableLog, event: Envelope, leaves: Leaves, into: PlanPart): Promise<boolean> => {
  if (!keepsRows(event.type) || (leaves !== everything && !keptBy(event).places.some(leaves))) return false
  const hashes = payloadsOf(event.type, event.data)
  for (const hash of hashes) {
    const planned = await part(log, event, hash, leaves)
    if (planned) into.payloads.push(planned)
    else into.already++
  }
  return hashes.length > 0
}

/** The position of the last erasure that took kept answers with rows; 0 when there was none. */
const repliesErasedAt = async (log: ReadableLog): Promise<number> => {
  const isOne = (text: string): boolean => text.includes('"type":"DataErased"') && !text.includes('"what":"secrets"')
  return (await lastEventWith(log, logStream, isOne))?.position ?? 0
}

/**
 * Plans to erase the kept answer to a request that left only a receipt: the receipt has no rows, and the answer may show them. Most
 * requests have no key, and no kept answer. Returns whether the event is such a receipt.
 */
const takeReceipt = async (log: ReadableLog, event: Envelope, of: Leaves, into: Pick<Plan, 'replies' | 'already'>): Promise<boolean> => {
  if (event.type !== 'PredictionsServed' || event.data['payload'] !== null || !keptBy(event).places.some(of)) return false
  if (event.position <= (await repliesErasedAt(log))) into.already++
  else if (await log.hasRepliesWithRows()) into.replies = true
  return true
}

/** The rows that the event at a position recorded, for all its requests, and the truths reported of them. */
export const planPrediction = async (log: ReadableLog, position: number): Promise<Plan> => {
  const plan = emptyPlan('prediction', String(position))
  const stored = await eventAt(log, position)
  const event = stored && parseEnvelope(stored.text)
  if (!event || !((await take(log, event, everything, plan)) || (await takeReceipt(log, event, everything, plan))))
    throw new Problem('not_found', 'Prediction not found', `the event at position ${position} kept no rows of predictions`, {
      hint: 'SELECT position, request FROM log.predictions lists the positions with rows.',
    })
  for await (const later of streamEventsWith(log, event.stream, event.version, (text) => text.includes(outcomes)))
    await take(log, later, (row) => row.position === position, plan)
  return plan
}

/**
 * The rows of one request and their truths, in any event; the truths that the request reported; the agents' answers to the request; and its
 * comments.
 */
export const planRequest = async (log: ReadableLog, request: string): Promise<Plan> => {
  const plan = emptyPlan('request', request)
  const quoted = `"request":${JSON.stringify(request)},`
  const answers: Envelope[] = []
  let found = false
  for await (const event of eventsWith(log, 0, (text) => text.includes(quoted) && (keeping(text) || recordsAnswers(text)))) {
    if (isOfAnswers(event) && event.request === request) answers.push(event)
    const isReport = event.type === 'OutcomesReported' && event.request === request
    const isOfRequest: Leaves = (row) => row.request === request
    const hasRows = await take(log, event, isReport ? everything : isOfRequest, plan)
    found = hasRows || (await takeReceipt(log, event, isOfRequest, plan)) || found
  }
  await takeAnswers(log, answers, plan)
  if (!found && answers.length === 0)
    throw new Problem('not_found', 'Request not found', `no rows and no answers of a request ${request} were kept`, {
      hint: 'SELECT DISTINCT request FROM log.predictions lists the requests with rows, and log.answers those with an answer.',
    })
  return plan
}

/** The positions of the predictions that a report of outcomes is about. */
const reportedOn = (event: Envelope): { low: number; high: number } | undefined => {
  if (event.type !== 'OutcomesReported') return undefined
  let [low, high] = [Infinity, 0]
  for (const { position } of dataOf.parse(event.data).predictions) [low, high] = [Math.min(low, position), Math.max(high, position)]
  return { low, high }
}

/** The reports of outcomes that may be about older rows. */
export const laterOutcomes = (): LaterEvents => new LaterEvents((text) => text.includes(outcomes), reportedOn)

/** Plans in steps the rows that were recorded in a range, and their truths, whenever reported. */
export const olderRows = (log: ReadableLog, range: OlderRange, later: LaterEvents, bounds: StepBounds): OlderPlan => {
  const { from, bound } = range
  // Nobody can report truths for rows that were erased before.
  const isOlder: Leaves = ({ position }) => position !== undefined && position > from && position <= bound
  let isAny = false
  return async ({ at }, until, isRest = false) => {
    const found = new StepPart(isRest ? undefined : bounds)
    const last = Math.min(bound, until.at)
    const end = found.end(at, last)
    for await (const event of eventsWith(log, at, keeping, end)) {
      if (!keepsRows(event.type)) continue
      isAny = true
      await take(log, event, everything, found)
      if (found.isFull) return found.reached({ at: event.position, cut: 0 })
    }
    if (end < last) return found.reached({ at: end, cut: 0 })
    if (isAny && until.at > bound)
      for await (const event of later.about(log, range, Math.max(at, bound), until.at)) {
        await take(log, event, isOlder, found)
        if (found.isFull) return found.reached({ at: event.position, cut: 0 })
      }
    return found.reached(until, true)
  }
}
