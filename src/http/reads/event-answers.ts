import { cloudEvent } from '../../log/feed/cloud-events.js'
import { readPage, type EventFeed } from '../../log/feed/event-feed.js'
import type { ReadEvent } from '../../log/read/slices.js'
import type { EventQuery, PageQuery } from './event-query.js'
import { SharesPerClient } from '../../basics/concurrency/shares-per-client.js'
import type { Call } from '../protocol/call.js'
import { jsonText, text, type Reply } from '../protocol/reply.js'

export const batchType = 'application/cloudevents-batch+json'
/** The media types of JSON lines; the first is the default. */
export const lineTypes = ['application/x-ndjson', 'application/jsonl', 'application/jsonlines'] as const

/** Serialises an event: as it is stored, or as a CloudEvent. */
export type EventFormatter = (event: ReadEvent) => string
/** How a client gets events: as they are stored, or as CloudEvents whose source names the log. */
export const writer = (format: 'cloudevents' | undefined, logId: string): EventFormatter =>
  format === 'cloudevents' ? (event) => cloudEvent(event, logId) : ({ text }) => text

/** The link to the next page: the URL of this one with the cursor. */
const linkTo = ({ address }: Call, cursor: string): string => {
  address.searchParams.set('cursor', cursor)
  return `<${address.pathname}${address.search}>; rel="next"`
}

/** Answers one page: an object with `events`, `next` and `head`, or a batch of CloudEvents with the last two in headers. */
export const pageOf = async (
  call: Call,
  feed: EventFeed,
  { query, limit, write, batch, head }: { query: PageQuery; limit: number; write: EventFormatter; batch: boolean; head: number },
): Promise<Reply> => {
  const { events, left } = await readPage(feed, query.filter, { window: query.window, order: query.order, limit })
  const next = left && query.cursorOf(left)
  const texts = `[${events.map(write).join(',')}]`
  const headers = { ...(next !== null && { Link: linkTo(call, next) }), 'Mindledger-Head': String(head) }
  return batch
    ? text(batchType, texts, { headers })
    : jsonText(`{"events":${texts},"next":${JSON.stringify(next)},"head":${head}}`, { headers })
}

/** Downloads of events as lines, as fast as the client reads them; their number is limited. */
export class Downloads {
  readonly #places = new SharesPerClient({
    what: 'downloads of events',
    max: 'eventDownloadsMax',
    shares: [{ max: 'eventDownloadsPerClientMax' }],
  })

  /** The lines of a download of the client. @throws Problem 503 at the first line, when too many clients download */
  async *of({ client }: Pick<Call, 'client'>, lines: AsyncIterable<string>): AsyncGenerator<string, void, void> {
    const release = this.#places.take(client)
    try {
      yield* lines
    } finally {
      release()
    }
  }
}

/** All matching events as JSON lines. */
export async function* linesOf(
  call: Call,
  feed: EventFeed,
  { query: { filter, window, order }, limit, write }: { query: EventQuery; limit: number; write: EventFormatter },
): AsyncGenerator<string, void, void> {
  let left = limit
  const steps = order === 'asc' ? feed.forwards(filter, window, call.gone) : feed.backwards(filter, window)
  for await (const { events } of steps) {
    const some = events.slice(0, left)
    yield some.map((event) => `${write(event)}\n`).join('')
    left -= some.length
    if (left === 0) return
  }
}
