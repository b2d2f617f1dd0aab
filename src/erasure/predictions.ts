import { z } from 'zod'
import { parseEnvelope, type Envelope } from '../../events/envelope.js'
import { payloadsOf } from '../../events/references.js'
import { Problem } from '../errors.js'
import type { Log } from '../log/log.js'
import { emptyPlan, type Plan, type PlannedPayload } from './plan.js'
import { withoutRequest } from './recorded-rows.js'
import { eventsWith } from '../log/walk.js'

type Reading = Pick<Log, 'readAll' | 'payload' | 'payloadState'>

const served = '"type":"PredictionsServed"'
const dataOf = z.object({ rows: z.number(), requests: z.array(z.object({ request: z.string(), rows: z.number() })) })

/** All of a payload; undefined when it is erased. */
const whole = async (log: Reading, hash: string, rows: number): Promise<PlannedPayload | undefined> => {
  const state = await log.payloadState(hash)
  if (!state || (state.isErased && state.replacedBy === null)) return undefined
  const standsIn = state.replacedBy ?? hash
  if ((await log.payloadState(standsIn))?.isErased) return undefined
  return { hash, standsIn, stays: null, rows }
}

const unreadable = (position: number) =>
  new Problem('storage_failed', 'Payload unreadable', `the rows of the event at position ${position} cannot be read`, {
    hint: 'Rows of one request cannot be told from its neighbours’. Erase the whole event: {"prediction": position}.',
  })

/** Those rows of a payload that one request has in it; undefined when they are erased. */
const part = async (log: Reading, { position, data }: Envelope, hash: string, request: string): Promise<PlannedPayload | undefined> => {
  const { rows, requests } = dataOf.parse(data)
  const all = await whole(log, hash, rows)
  if (!all || requests.every((one) => one.request === request)) return all
  const bytes = await log.payload(hash)
  if (!bytes) throw unreadable(position)
  const without = withoutRequest(bytes.toString(), request)
  return without && { ...all, stays: without.stays, rows: without.goes }
}

const add = (plan: Plan, planned: PlannedPayload | undefined): void => {
  if (planned) plan.payloads.push(planned)
  else plan.already++
}

/** The rows that the event at a position kept, of all its requests. */
export const planPrediction = async (log: Reading, position: number): Promise<Plan> => {
  const plan = emptyPlan('prediction', String(position))
  const [stored] = await log.readAll(position - 1, 1)
  const event = stored && parseEnvelope(stored.text)
  const [hash] = event?.type === 'PredictionsServed' ? payloadsOf(event.type, event.data) : []
  if (!event || hash === undefined)
    throw new Problem('not_found', 'Prediction not found', `the event at position ${position} kept no rows of predictions`, {
      hint: 'SELECT position, request FROM log.predictions lists those that did.',
    })
  add(plan, await whole(log, hash, dataOf.parse(event.data).rows))
  return plan
}

/** The rows of one request, in whatever events. */
export const planRequest = async (log: Reading, request: string): Promise<Plan> => {
  const plan = emptyPlan('request', request)
  const quoted = `"request":${JSON.stringify(request)},"rows":`
  let found = false
  for await (const event of eventsWith(log, 0, (text) => text.includes(quoted) && text.includes(served)))
    for (const hash of payloadsOf(event.type, event.data)) {
      found = true
      add(plan, await part(log, event, hash, request))
    }
  if (!found)
    throw new Problem('not_found', 'Request not found', `no rows of a request ${request} were kept`, {
      hint: 'SELECT DISTINCT request FROM log.predictions lists those of which there are.',
    })
  return plan
}

/** All rows that were recorded before a time, in events after a position. Gives also the last event before the time. */
export const planOlderRows = async (
  log: Reading,
  time: string,
  after: number,
): Promise<{ payloads: PlannedPayload[]; to: number; already: number }> => {
  const found = { payloads: [] as PlannedPayload[], to: after, already: 0 }
  for await (const event of eventsWith(log, after, () => true)) {
    if (event.recorded_at >= time) break
    found.to = event.position
    if (event.type !== 'PredictionsServed') continue
    for (const hash of payloadsOf(event.type, event.data)) {
      const planned = await whole(log, hash, dataOf.parse(event.data).rows)
      if (planned) found.payloads.push(planned)
      else found.already++
    }
  }
  return found
}
