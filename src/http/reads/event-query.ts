import type { Request } from 'express'
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { instant } from '../../../events/envelope.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { firstRecordedFrom } from '../../log/read/bisect.js'
import type { Window } from '../../log/feed/event-feed.js'
import { typesOf, type EventFilter } from '../../log/feed/filter.js'
import type { Log } from '../../log/contract/log.js'
import { streamOf } from '../../log/read/stream-of.js'
import { readInstant } from '../../basics/times.js'
import { count, pageSize, timeText } from '../protocol/query-values.js'
import { queryValue } from '../protocol/route.js'
import { wholeNumber } from '../protocol/whole-number.js'

const position = count.describe('a position in the log')
const list = z
  .string()
  .regex(/^[^,]+(?:,[^,]+)*$/)
  .describe('one, several with commas between them, or the parameter several times')

/** What every way of reading events can be asked. */
export const filterParameters = z.object({
  after: position.describe('events after this position; 0: from the beginning').optional(),
  from: position.describe('events from this position on').optional(),
  until: position.describe('events up to and with this position').optional(),
  type: list.optional(),
  kind: list.optional(),
  project: z.string().describe('name, id or stream of a project; id or stream of one that was deleted').optional(),
  stream: z.string().describe('the stream of one resource').optional(),
  actor: z.string().describe('who did it').optional(),
  since: timeText.describe('events recorded at this time or later (UTC unless it has an offset)').optional(),
  before: timeText.describe('events recorded before this time').optional(),
  format: z.enum(['cloudevents']).describe('cloudevents: with the names of CloudEvents 1.0').optional(),
})

/** What pages and lines can be asked beside. */
export const pageParameters = filterParameters.extend({
  order: z.enum(['asc', 'desc']).optional(),
  limit: pageSize(limits.eventsPageMaxEvents)
    .describe(`events of a page, up to ${limits.eventsPageMaxEvents}; of lines, all together`)
    .optional(),
  cursor: z.string().describe('`next` of the page before; the filter may be left out then').optional(),
})

type Order = 'asc' | 'desc'

/** What a request asks for: which events, where, and in which order. */
export type EventQuery = { filter: EventFilter; window: Window; order: Order }

/** The values of a parameter that may have several. */
const values = (req: Request, name: string): string[] => {
  const value: unknown = req.query[name] ?? []
  const given: unknown[] = Array.isArray(value) ? value : [value]
  const all = given.flatMap((one) => (typeof one === 'string' ? one.split(',') : ['']))
  if (all.includes('')) throw wrong(`the query parameter ${name} must name at least one`)
  if (all.length > limits.eventFilterMaxTypes) throw wrong(`the query parameter ${name} may name ${limits.eventFilterMaxTypes} at most`)
  return all
}

/** How many are wanted. @throws Problem when that is more than may be */
export const limitOf = (req: Request, most: number): number | undefined => {
  const limit = wholeNumber(req, 'limit', { least: 1 })
  if (limit !== undefined && limit > most) throw wrong(`the query parameter limit must be ${most} at most, not ${limit}`)
  return limit
}

const timeOf = (req: Request, name: string): string | undefined => {
  const value = queryValue(req, name)
  return value === undefined ? undefined : readInstant(value, name)
}

/** Refuses what is no parameter: a misspelt filter must not let everything pass. */
export const refuseUnknown = (req: Request, known: z.ZodObject): void => {
  const names = Object.keys(known.shape)
  const unknown = Object.keys(req.query).find((name) => !names.includes(name))
  if (unknown !== undefined) throw wrong(`there is no query parameter ${unknown} here`, `There are ${names.join(', ')}.`)
}

export const formatOf = (req: Request): 'cloudevents' | undefined => {
  const format = queryValue(req, 'format')
  if (format === undefined || format === 'cloudevents') return format
  throw wrong(`the query parameter format must be cloudevents, not ${format}`)
}

const orderOf = (req: Request): Order => {
  const order = queryValue(req, 'order') ?? 'asc'
  if (order === 'asc' || order === 'desc') return order
  throw wrong(`the query parameter order must be asc or desc, not ${order}`)
}

const filterOf = async (req: Request, log: Log): Promise<EventFilter> => {
  const types = typesOf(values(req, 'kind'), values(req, 'type'))
  const [project, stream, actor] = [queryValue(req, 'project'), queryValue(req, 'stream'), queryValue(req, 'actor')]
  return {
    ...(types && { types }),
    ...(project !== undefined && { project: await streamOf(log, 'project', project) }),
    ...(stream !== undefined && { stream }),
    ...(actor !== undefined && { actor }),
  }
}

/** Where a request begins and ends; `until` is undefined where it says nothing. */
export const boundsOf = async (req: Request, log: Log, head: number): Promise<{ after: number | undefined; until: number | undefined }> => {
  const [after, from] = [wholeNumber(req, 'after'), wholeNumber(req, 'from', { least: 1 })]
  if (after !== undefined && from !== undefined) throw wrong('after and from say the same: give one of them')
  const [since, before] = [timeOf(req, 'since'), timeOf(req, 'before')]
  const begins = [
    ...(after === undefined ? [] : [after]),
    ...(from === undefined ? [] : [from - 1]),
    ...(since === undefined ? [] : [(await firstRecordedFrom(log, since, head)) - 1]),
  ]
  const until = wholeNumber(req, 'until', { least: 1 })
  const ends = [
    ...(until === undefined ? [] : [until]),
    ...(before === undefined ? [] : [(await firstRecordedFrom(log, before, head)) - 1]),
  ]
  return { after: begins.length > 0 ? Math.max(...begins) : undefined, until: ends.length > 0 ? Math.min(...ends) : undefined }
}

/** A filter for what is still to come. @throws Problem when it ends at a time that is still to come */
export const followedFilterOf = async (req: Request, log: Log): Promise<EventFilter> => {
  const before = timeOf(req, 'before')
  if (before !== undefined && before > instant(Date.now()))
    throw wrong('before lies in the future, and a stream ends at a position', 'Leave before out, or give until.')
  return filterOf(req, log)
}

/** What makes a page the next one of the same query, whatever the order of its parameters. */
const asked = (req: Request): string => {
  const besides = ['cursor', 'limit', 'format']
  const given = Object.entries(req.query).filter(([name]) => !besides.includes(name))
  if (given.length === 0) return ''
  const text = JSON.stringify(given.sort(([a], [b]) => (a < b ? -1 : 1)))
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}

const bound = z.int().nonnegative()
const cursorShape = z.strictObject({
  asked: z.string(),
  order: z.enum(['asc', 'desc']),
  after: bound,
  // Of a query without an end: up to the head of then.
  until: bound.nullable(),
  filter: z.strictObject({
    types: z.array(z.string()).readonly().exactOptional(),
    project: z.string().exactOptional(),
    stream: z.string().exactOptional(),
    actor: z.string().exactOptional(),
  }),
})
type Cursor = z.infer<typeof cursorShape>

const readCursor = (text: string): Cursor => {
  try {
    if (text.length > limits.eventCursorMaxChars) throw new Error('too long')
    return cursorShape.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    throw wrong('the cursor is none of this service', 'Take `next` of the page before as it is.')
  }
}

/** A request for a page, and what makes the cursor of the window that a page leaves. */
export type PageQuery = EventQuery & { cursorOf: (left: Window) => string }

/**
 * Reads the query of a page. A cursor brings the whole filter along, as it was understood at the first page: a project that
 * is renamed meanwhile stays the one that was meant.
 *
 * @throws Problem when the cursor comes with another filter
 */
export const pageQueryOf = async (req: Request, log: Log, head: number): Promise<PageQuery> => {
  const cursor = queryValue(req, 'cursor')
  const of = asked(req)
  let known: Omit<Cursor, 'asked'>
  let as = of
  if (cursor === undefined) {
    const { after, until } = await boundsOf(req, log, head)
    known = { order: orderOf(req), after: after ?? 0, until: until ?? null, filter: await filterOf(req, log) }
  } else {
    const read = readCursor(cursor)
    if (of !== '' && of !== read.asked)
      throw wrong('the cursor belongs to another filter', 'Send the cursor alone, or with the parameters of the first page.')
    known = read
    as = read.asked
  }
  const { filter, order, after, until } = known
  const cursorOf = (left: Window): string => {
    const next: Cursor = { asked: as, order, after: left.after, until: order === 'asc' ? until : left.until, filter }
    return Buffer.from(JSON.stringify(next)).toString('base64url')
  }
  return { filter, order, window: { after, until: Math.min(until ?? head, head) }, cursorOf }
}
