import type { Request } from 'express'
import { z } from 'zod'
import { leafHash } from '../../../events/chain.js'
import { envelopeSchema } from '../../../events/envelope.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { cloudEvent } from '../../log/feed/cloud-events.js'
import type { EventFeed } from '../../log/feed/event-feed.js'
import type { Log } from '../../log/contract/log.js'
import { readEvent } from '../../log/read/slices.js'
import { clientOf } from '../protocol/client.js'
import { batchType, Downloads, lineTypes, sendPage, writer } from '../reads/event-answers.js'
import {
  boundsOf,
  filterParameters,
  followedFilterOf,
  formatOf,
  limitOf,
  pageParameters,
  pageQueryOf,
  refuseUnknown,
} from '../reads/event-query.js'
import type { EventStreams } from '../reads/event-stream.js'
import { param, type Route } from '../protocol/route.js'

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

/** Where a stream begins: a client that comes back says what it has seen, which its address does not know. */
const resumedAt = (req: Request): number | undefined => {
  const said = req.get('last-event-id')
  if (said === undefined || said === '') return undefined
  if (/^\d{1,15}$/.test(said)) return Number(said)
  throw wrong(`Last-Event-ID must be a position, not ${said}`)
}

export const eventRoutes = (log: Log, feed: EventFeed, streams: EventStreams): Route[] => {
  const downloads = new Downloads(feed)
  return [
    {
      method: 'get',
      path: '/events',
      summary: 'Events of the log in order, filtered: as pages, as JSON lines or as a batch of CloudEvents',
      query: pageParameters,
      gives: [...lineTypes, batchType],
      answers: { 200: page },
      async handle(req, res) {
        refuseUnknown(req, pageParameters)
        const { head } = feed
        const query = await pageQueryOf(req, log, head)
        const type = req.accepts(['application/json', ...lineTypes, batchType])
        const batch = type === batchType
        const write = writer(batch ? 'cloudevents' : formatOf(req), log.id)
        res.vary('Accept')
        if (type === false || type === 'application/json' || batch) {
          const limit = limitOf(req, limits.eventsPageMaxEvents) ?? pageEventsDefault
          await sendPage(req, res, feed, { query, limit, write, batch, head })
          return
        }
        const limit = limitOf(req, Number.MAX_SAFE_INTEGER) ?? Infinity
        if (req.method === 'HEAD') res.type(type).end()
        else await downloads.send(res, clientOf(req, res), query, { type, limit, write })
      },
    },
    {
      method: 'get',
      path: '/events/stream',
      summary: 'Events as they are recorded, as server-sent events from any position; Last-Event-ID resumes',
      query: filterParameters,
      gives: ['text/event-stream'],
      answers: { 200: null, 204: null },
      async handle(req, res) {
        refuseUnknown(req, filterParameters)
        const format = formatOf(req)
        const filter = await followedFilterOf(req, log)
        const { head } = feed
        const bounds = await boundsOf(req, log, head)
        const after = resumedAt(req) ?? bounds.after ?? head
        if (after > head)
          throw wrong(
            `the log ends at position ${head}, before ${after}`,
            'Was it brought back from a backup? Read again from the beginning: after=0.',
          )
        const until = bounds.until ?? Infinity
        // This answer tells an EventSource that it need not come back.
        if (after >= until) {
          res.status(204).end()
          return
        }
        if (req.method === 'HEAD') {
          res.type('text/event-stream').end()
          return
        }
        const mayGoOn = (res.locals['stillIn'] as (() => boolean) | undefined) ?? (() => true)
        const sessionEnd = res.locals['sessionEnd'] as AbortSignal | undefined
        const window = { after, until }
        const write = writer(format, log.id)
        await streams.serve(res, { client: clientOf(req, res), filter, window, format: format ?? '', write, mayGoOn, sessionEnd })
      },
    },
    {
      method: 'get',
      path: '/events/:position',
      summary: 'One event as it is stored, byte for byte; its leaf hash in a header',
      query: z.object({ format: filterParameters.shape.format }),
      gives: [cloudType],
      answers: { 200: event },
      async handle(req, res) {
        const said = param(req, 'position')
        if (!/^\d{1,15}$/.test(said)) throw wrong(`a position is a whole number, not ${said}`)
        const [stored] = said === '0' ? [] : await log.readAll(Number(said) - 1, 1)
        if (stored?.position !== Number(said))
          throw new Problem('not_found', 'Event not found', `there is no event at position ${said}: the log ends at ${feed.head}`)
        res.vary('Accept')
        const leaf = leafHash(stored.text).toString('hex')
        res.set({ 'Mindledger-Leaf-Hash': leaf, 'Cache-Control': 'private, max-age=31536000, immutable' })
        if (formatOf(req) === 'cloudevents' || req.accepts(['application/json', cloudType]) === cloudType)
          res.type(cloudType).send(cloudEvent(readEvent(stored), log.id))
        else res.set('ETag', `"${leaf}"`).type('application/json').send(stored.text)
      },
    },
  ]
}
