import type { Request, Response } from 'express'
import { cloudEvent } from '../../log/feed/cloud-events.js'
import { readPage, type EventFeed } from '../../log/feed/event-feed.js'
import type { ReadEvent } from '../../log/read/slices.js'
import type { EventQuery, PageQuery } from './event-query.js'
import { Places } from '../../basics/places.js'
import { leaving, taken } from '../protocol/back-pressure.js'

export const batchType = 'application/cloudevents-batch+json'
/** The media types of lines; the first is answered where the client takes any. */
export const lineTypes = ['application/x-ndjson', 'application/jsonl', 'application/jsonlines'] as const

/** How an event is written: as it is stored, or with the names of CloudEvents. */
export type Write = (event: ReadEvent) => string
export const writer = (format: 'cloudevents' | undefined, logId: string): Write =>
  format === 'cloudevents' ? (event) => cloudEvent(event, logId) : ({ text }) => text

/** The address of the next page: that of this one, with the cursor. */
const linkTo = (req: Request, cursor: string): string => {
  const url = new URL(req.originalUrl, 'http://localhost')
  url.searchParams.set('cursor', cursor)
  return `<${url.pathname}${url.search}>; rel="next"`
}

/** Answers one page: an object with `events`, `next` and `head`, or a batch of CloudEvents, which has them in headers. */
export const sendPage = async (
  req: Request,
  res: Response,
  feed: EventFeed,
  { query, limit, write, batch, head }: { query: PageQuery; limit: number; write: Write; batch: boolean; head: number },
): Promise<void> => {
  const { events, left } = await readPage(feed, query.filter, { window: query.window, order: query.order, limit })
  const next = left && query.cursorOf(left)
  const texts = `[${events.map(write).join(',')}]`
  if (next !== null) res.setHeader('Link', linkTo(req, next))
  res.setHeader('Mindledger-Head', String(head))
  if (batch) res.type(batchType).send(texts)
  else res.type('application/json').send(`{"events":${texts},"next":${JSON.stringify(next)},"head":${head}}`)
}

type Lines = { type: string; limit: number; write: Write }

/** Streams all events that match as JSON lines, as fast as the client takes them; one at a time waits for the log. */
export class Downloads {
  readonly #places = new Places({
    what: 'downloads of events',
    max: 'eventDownloadsMax',
    perClientMax: 'eventDownloadsPerClientMax',
  })

  constructor(private readonly feed: EventFeed) {}

  /** `client` is who reads. @throws Problem 503 when too many do */
  async send(res: Response, client: string, query: EventQuery, { type, limit, write }: Lines): Promise<void> {
    const release = this.#places.take(client)
    try {
      await this.#stream(res.status(200).type(type), query, limit, write)
    } finally {
      release()
    }
  }

  async #stream(res: Response, { filter, window, order }: EventQuery, limit: number, write: Write): Promise<void> {
    const gone = leaving(res)
    let left = limit
    for await (const { events } of order === 'asc' ? this.feed.forwards(filter, window, gone) : this.feed.backwards(filter, window)) {
      const some = events.slice(0, left)
      if (some.length > 0) res.write(some.map((event) => `${write(event)}\n`).join(''))
      left -= some.length
      if (left === 0) break
      if (!(await taken(res, gone))) return
    }
    res.end()
  }
}
