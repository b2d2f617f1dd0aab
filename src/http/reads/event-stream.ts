import { abortWith } from '../../basics/concurrency/bounded-waits.js'
import { stopping } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { EventFeed, Window } from '../../log/feed/event-feed.js'
import type { EventFilter } from '../../log/feed/filter.js'
import type { ReadEvent } from '../../log/read/slices.js'
import { SharesPerClient } from '../../basics/concurrency/shares-per-client.js'
import type { EventFormatter } from './event-answers.js'
import { eventHeaders, stream, type Piece, type Reply } from '../protocol/reply.js'
import { withBeats } from './heartbeat.js'

export type StreamBounds = {
  eventStreamsMax: number
  eventStreamsPerClientMax: number
  eventStreamHeartbeatMs: number
  eventReaderStallMs: number
}

/** One client's subscription: its events, their format, and how long it may read them. */
export type Subscription = {
  client: string
  filter: EventFilter
  window: Window
  format: string
  write: EventFormatter
  mayGoOn: () => boolean
  sessionEnd?: AbortSignal | undefined
}

/**
 * Server-sent events: clients follow the log as it is written. Each client reads from its own position, no faster than it can, so a
 * slow client only falls behind. Clients at the same position share the slices that are read.
 */
export class EventStreams {
  readonly #stopping = new AbortController()
  readonly #places: SharesPerClient
  #clients = 0
  /** The bytes of messages, shared by clients that get the same events. */
  readonly #written = new WeakMap<readonly ReadEvent[], Map<string, Buffer>>()

  constructor(
    private readonly feed: EventFeed,
    private readonly bounds: StreamBounds = limits,
    /** Whether this node still gets new events. */
    private readonly follows: () => Promise<boolean> = () => Promise.resolve(true),
  ) {
    this.#places = new SharesPerClient({
      what: 'streams of events',
      max: 'eventStreamsMax',
      shares: [{ max: 'eventStreamsPerClientMax' }],
      bounds,
    })
  }

  /** How many clients follow the log now. */
  get clients(): number {
    return this.#clients
  }

  /**
   * The events as messages, until the window ends, the client leaves, the service stops, or this node no longer follows the log: then the
   * client continues at another node, from its position.
   * @throws Problem 503 at the first message, when there are too many clients, or the service is stopping
   */
  reply(subscription: Subscription, gone: AbortSignal): Reply {
    const ends = new AbortController()
    const close = abortWith(ends, [gone, this.#stopping.signal, ...(subscription.sessionEnd ? [subscription.sessionEnd] : [])])
    const { eventReaderStallMs: stallMs } = this.bounds
    const pieces = this.#serve(subscription, ends)
    return stream('text/event-stream; charset=utf-8', { pieces, stallMs, ends: ends.signal, close }, { headers: eventHeaders })
  }

  async *#serve(subscription: Subscription, ends: AbortController): AsyncGenerator<Piece, void, void> {
    if (this.#stopping.signal.aborted) throw stopping()
    const release = this.#places.take(subscription.client)
    this.#clients += 1
    try {
      yield* this.#follow(subscription, ends.signal)
    } finally {
      ends.abort()
      release()
      this.#clients -= 1
    }
  }

  async *#follow({ filter, window, format, write, mayGoOn }: Subscription, ends: AbortSignal): AsyncGenerator<Piece, void, void> {
    // A client that is disconnected before the first event must know its position, too.
    yield `retry: 1000\nid: ${window.after}\n\n`
    let [at, told] = [window.after, window.after]
    for await (const step of withBeats(this.feed.forwards(filter, window, ends), this.bounds.eventStreamHeartbeatMs)) {
      if (step === 'beat') {
        if (!mayGoOn()) return
        if (!(await this.follows())) break
        // An id alone is not a message: it only moves the position from which the client would resume.
        yield at === told ? ': heartbeat\n\n' : `: heartbeat\nid: ${at}\n\n`
        told = at
        continue
      }
      if (step.events.length > 0) {
        told = step.events.at(-1)?.position ?? told
        yield this.#messages(step.events, format, write)
      }
      at = step.at
    }
    if (!ends.aborted && at !== told) yield `id: ${at}\n\n`
  }

  #messages(events: readonly ReadEvent[], format: string, write: EventFormatter): Buffer {
    let formats = this.#written.get(events)
    if (!formats) this.#written.set(events, (formats = new Map<string, Buffer>()))
    let bytes = formats.get(format)
    if (!bytes) {
      // JSON.stringify writes no line breaks, so each event is one line of data.
      bytes = Buffer.from(events.map((event) => `id: ${event.position}\nevent: ${event.type}\ndata: ${write(event)}\n\n`).join(''))
      formats.set(format, bytes)
    }
    return bytes
  }

  /** Ends every stream and accepts no new ones. Clients reconnect and resume at their positions. */
  stop(): void {
    this.#stopping.abort()
  }
}
