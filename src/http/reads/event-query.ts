import { createHash } from 'node:crypto'
import * as z from 'zod'
import { instant } from '../../../events/stored/envelope.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { firstRecordedFrom } from '../../log/read/bisect.js'
import type { Window } from '../../log/feed/event-feed.js'
import { typesOf, type EventFilter } from '../../log/feed/filter.js'
import type { Log } from '../../log/contract/log.js'
import { streamOf } from '../../log/read/stream-of.js'
import {
  count,
  instantIn,
  names,
  oneOf,
  pageSize,
  timeText,
  value,
  whole,
  type QueryString,
  type ValuesOf,
} from '../protocol/parameters.js'

const position = count.describe('a position in the log')
const list = names(
  z
    .string()
    .regex(/^[^,]+(?:,[^,]+)*$/)
    .describe('one, several with commas between them, or the parameter several times')
    .optional(),
)

/** The filter parameters of every route that reads events. */
export const filterParameters = {
  after: whole(position.describe('events after this position; 0: from the beginning').optional()),
  from: whole(position.describe('events from this position on').optional(), { least: 1 }),
  until: whole(position.describe('events up to and with this position').optional(), { least: 1 }),
  type: list,
  kind: list,
  project: value(z.string().describe('name, id or stream of a project; id or stream of one that was deleted').optional()),
  stream: value(z.string().describe('the stream of one resource').optional()),
  actor: value(z.string().describe('who did it').optional()),
  since: instantIn(timeText.describe('events recorded at this time or later (UTC unless it has an offset)').optional()),
  before: instantIn(timeText.describe('events recorded before this time').optional()),
  format: oneOf(
    ['cloudevents'],
    'the query parameter format must be cloudevents',
    z.enum(['cloudevents']).describe('cloudevents: with the names of CloudEvents 1.0').optional(),
  ),
}

/** The further parameters of pages and lines. */
export const pageParameters = {
  ...filterParameters,
  order: oneOf(['asc', 'desc'], 'the query parameter order must be asc or desc'),
  limit: whole(
    pageSize(limits.eventsPageMaxEvents)
      .describe(`events of a page, up to ${limits.eventsPageMaxEvents}; of lines, all together`)
      .optional(),
    { least: 1 },
  ),
  cursor: value(z.string().describe('`next` of the page before; the filter may be left out then').optional()),
}

type FilterValues = ValuesOf<typeof filterParameters>
type PageValues = ValuesOf<typeof pageParameters>

type Order = 'asc' | 'desc'

/** The query of a request: the filter, the range of positions and the order. */
export type EventQuery = { filter: EventFilter; window: Window; order: Order }

const filterOf = async ({ kind, type, project, stream, actor }: FilterValues, log: Log): Promise<EventFilter> => {
  const types = typesOf(kind, type)
  return {
    ...(types && { types }),
    ...(project !== undefined && { project: await streamOf(log, 'project', project) }),
    ...(stream !== undefined && { stream }),
    ...(actor !== undefined && { actor }),
  }
}

/** The range of positions of a request; a bound that it does not give is undefined. */
export const boundsOf = async (
  { after, from, until, since, before }: FilterValues,
  log: Log,
  head: number,
): Promise<{ after: number | undefined; until: number | undefined }> => {
  if (after !== undefined && from !== undefined) throw wrong('after and from say the same: give one of them')
  const begins = [
    ...(after === undefined ? [] : [after]),
    ...(from === undefined ? [] : [from - 1]),
    ...(since === undefined ? [] : [(await firstRecordedFrom(log, since, head)) - 1]),
  ]
  const ends = [
    ...(until === undefined ? [] : [until]),
    ...(before === undefined ? [] : [(await firstRecordedFrom(log, before, head)) - 1]),
  ]
  return { after: begins.length > 0 ? Math.max(...begins) : undefined, until: ends.length > 0 ? Math.min(...ends) : undefined }
}

/** The filter of a stream of new events. @throws Problem when it ends at a time in the future */
export const followedFilterOf = async (values: FilterValues, log: Log): Promise<EventFilter> => {
  const { before } = values
  if (before !== undefined && before > instant(log.now()))
    throw wrong('before lies in the future, and a stream ends at a position', 'Leave before out, or give until.')
  return filterOf(values, log)
}

/** A digest of the query's parameters in any order, by which pages of the same query are recognised. */
const asked = (query: QueryString): string => {
  const besides = ['cursor', 'limit', 'format']
  const given = Object.entries(query).filter(([name]) => !besides.includes(name))
  if (given.length === 0) return ''
  const text = JSON.stringify(given.sort(([a], [b]) => (a < b ? -1 : 1)))
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}

const bound = z.int().nonnegative()
const cursorShape = z.strictObject({
  asked: z.string(),
  order: z.enum(['asc', 'desc']),
  after: bound,
  // Null for a query without an end: each page reads up to the current head.
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
    throw wrong('the cursor was not made by this service', 'Take `next` of the previous page as it is.')
  }
}

/** The query of a page, and a function that makes the cursor for the rest of its window. */
export type PageQuery = EventQuery & { cursorOf: (left: Window) => string }

/**
 * Reads the query of a page. A cursor contains the whole filter as it was resolved for the first page, so that renaming a project
 * between two pages changes nothing.
 *
 * @throws Problem when the cursor comes with another filter
 */
export const pageQueryOf = async (query: QueryString, values: PageValues, log: Log, head: number): Promise<PageQuery> => {
  const { cursor } = values
  const of = asked(query)
  let known: Omit<Cursor, 'asked'>
  let as = of
  if (cursor === undefined) {
    const { after, until } = await boundsOf(values, log, head)
    known = { order: values.order ?? 'asc', after: after ?? 0, until: until ?? null, filter: await filterOf(values, log) }
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
