import * as z from 'zod'
import { leafHash } from '../../../events/stored/chain.js'
import { envelopeSchema } from '../../../events/stored/envelope.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { cloudEvent } from '../../log/feed/cloud-events.js'
import type { EventFeed } from '../../log/feed/event-feed.js'
import type { Log, StoredEvent } from '../../log/contract/log.js'
import { eventAt, readEvent } from '../../log/read/slices.js'
import { batchType, type Downloads, linesOf, lineTypes, pageOf, writer } from '../reads/event-answers.js'
import { boundsOf, filterParameters, followedFilterOf, pageParameters, pageQueryOf } from '../reads/event-query.js'
import type { EventStreams } from '../reads/event-stream.js'
import type { Call } from '../protocol/call.js'
import { headFor } from '../protocol/read-consistency.js'
import { headOnly, jsonText, noContent, stream, text } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'

const event = envelopeSchema.meta({ id: 'Event' })
const cloudEventShape = z
  .looseObject({ specversion: z.literal('1.0'), id: z.string(), source: z.string(), type: z.string(), time: z.string() })
  .meta({ id: 'CloudEvent' })
const page = z
  .object({
    events: z.array(z.union([event, cloudEventShape])).describe('events as they are stored, or with format=cloudevents as CloudEvents'),
    next: z.string().nullable().describe('the cursor of the next page; null when everything up to head was looked at'),
    head: z.int().describe('the position of the newest event when the page was read'),
  })
  .meta({ id: 'EventPage' })
const cloudType = 'application/cloudevents+json'
const pageEventsDefault = 100

/** The position where a client resumes a stream. The client sends the last position that it has seen; its URL still has the first one. */
const resumedAt = (call: Call): number | undefined => {
  const said = call.header('last-event-id')
  if (said === undefined || said === '') return undefined
  if (/^\d{1,15}$/.test(said)) return Number(said)
  throw wrong(`Last-Event-ID must be a position, not ${said}`)
}

/** The event at a position. Another node may have written it just now. */
const newestAt = async (log: Log, position: number): Promise<StoredEvent | undefined> => {
  const stored = await eventAt(log, position)
  if (stored) return stored
  await log.newest()
  return eventAt(log, position)
}

/** Refuses a page that is too large. */
const refuseTooMany = (limit: number | undefined): void => {
  const most = limits.eventsPageMaxEvents
  if (limit !== undefined && limit > most) throw wrong(`the query parameter limit must be ${most} at most, not ${limit}`)
}

const varies = { Vary: 'Accept' }

/** The routes for the events of the log: pages, downloads, a continuous stream, and one event by its position. */
export const eventRoutes = (log: Log, feed: EventFeed, streams: EventStreams, downloads: Downloads): Route[] => [
  route({
    method: 'get',
    path: '/events',
    summary: 'Events of the log in order, filtered: as pages, as JSON lines or as a batch of CloudEvents',
    query: pageParameters,
    knowsAll: true,
    gives: [...lineTypes, batchType],
    answers: { 200: page },
    async handle({ query: asked, call }) {
      const { head } = feed
      const query = await pageQueryOf(call.query, asked, log, head)
      const type = call.accepts(['application/json', ...lineTypes, batchType])
      const batch = type === batchType
      const write = writer(batch ? 'cloudevents' : asked.format, log.id)
      if (type === false || type === 'application/json' || batch) {
        refuseTooMany(asked.limit)
        const found = await pageOf(call, feed, { query, limit: asked.limit ?? pageEventsDefault, write, batch, head })
        return { ...found, headers: { ...found.headers, ...varies } }
      }
      if (call.method === 'HEAD') return headOnly(type, { headers: varies })
      const lines = linesOf(call, feed, { query, limit: asked.limit ?? Infinity, write })
      return stream(type, { pieces: downloads.of(call, lines) }, { headers: varies })
    },
  }),
  route({
    method: 'get',
    path: '/events/stream',
    summary: 'Events as they are recorded, as server-sent events from any position; Last-Event-ID resumes',
    query: filterParameters,
    knowsAll: true,
    gives: ['text/event-stream'],
    answers: { 200: null, 204: null },
    async handle({ query, call }) {
      const { format } = query
      const filter = await followedFilterOf(query, log)
      // The client may come from another node, which had more events.
      const resumed = resumedAt(call)
      await headFor(log, resumed ?? 0)
      const { head } = feed
      const bounds = await boundsOf(query, log, head)
      const after = resumed ?? bounds.after ?? head
      if (after > head)
        throw wrong(
          `the log ends at position ${head}, before ${after}`,
          'Was it brought back from a backup? Read again from the beginning: after=0.',
        )
      const until = bounds.until ?? Infinity
      // Status 204 tells an EventSource not to reconnect.
      if (after >= until) return noContent
      if (call.method === 'HEAD') return headOnly('text/event-stream; charset=utf-8')
      const { mayGoOn, sessionEnd } = call.caller
      const window = { after, until }
      const write = writer(format, log.id)
      const subscription = { client: call.client, filter, window, format: format ?? '', write, mayGoOn, sessionEnd }
      return streams.reply(subscription, call.gone)
    },
  }),
  route({
    method: 'get',
    path: '/events/:position',
    summary: 'One event as it is stored, byte for byte; its leaf hash in a header',
    query: { format: filterParameters.format },
    gives: [cloudType],
    answers: { 200: event },
    async handle({ segments: { position: said }, query, call }) {
      if (!/^\d{1,15}$/.test(said)) throw wrong(`a position is a whole number, not ${said}`)
      const stored = await newestAt(log, Number(said))
      if (!stored) throw new Problem('not_found', 'Event not found', `there is no event at position ${said}: the log ends at ${feed.head}`)
      const leaf = leafHash(stored.text).toString('hex')
      const headers = { ...varies, 'Mindledger-Leaf-Hash': leaf, 'Cache-Control': 'private, max-age=31536000, immutable' }
      if (query.format === 'cloudevents' || call.accepts(['application/json', cloudType]) === cloudType)
        return text(cloudType, cloudEvent(readEvent(stored), log.id), { headers })
      return jsonText(stored.text, { headers: { ...headers, ETag: `"${leaf}"` }, tagsContent: true })
    },
  }),
]
