import type { Response } from 'express'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { EventFeed, Window } from '../../log/feed/event-feed.js'
import type { EventFilter } from '../../log/feed/filter.js'
import type { ReadEvent } from '../../log/read/slices.js'
import { Places } from '../../basics/places.js'
import type { Write } from './event-answers.js'
import { leaving, taken } from '../protocol/back-pressure.js'

export type StreamBounds = {
  eventStreamsMax: number
  eventStreamsPerClientMax: number
  eventStreamHeartbeatMs: number
  eventReaderStallMs: number
}

/** One client's wishes: who it is, which events, from where, how written, whether it may still see them, and when its session ends. */
export type Following = {
  client: string
  filter: EventFilter
  window: Window
  format: string
  write: Write
  mayGoOn: () => boolean
  sessionEnd?: AbortSignal | undefined
}

/**
 * Server-sent events: what clients get of the log as it is written. Each client reads for itself from its position on, in
 * slices that those who are at the same place share, and no faster than it takes them: one that is slow only falls behind.
 */
export class EventStreams {
  readonly #stopping = new AbortController()
  readonly #places: Places
  #clients = 0
  /** Messages of events that several clients get, as bytes. */
  readonly #written = new WeakMap<readonly ReadEvent[], Map<string, Buffer>>()

  constructor(
    private readonly feed: EventFeed,
    private readonly bounds: StreamBounds = limits,
  ) {
    this.#places = new Places({
      what: 'streams of events',
      max: 'eventStreamsMax',
      perClientMax: 'eventStreamsPerClientMax',
      bounds,
    })
  }

  /** How many clients follow the log now. */
  get clients(): number {
    return this.#clients
  }

  /**
   * Sends events until the window ends, the client leaves or the service stops.
   * @throws Problem 503 when there are too many clients, or the service is stopping
   */
  async serve(res: Response, following: Following): Promise<void> {
    if (this.#stopping.signal.aborted) throw new Problem('busy', 'Busy', 'the service is stopping', { retryAfterSeconds: 5 })
    const release = this.#places.take(following.client)
    this.#clients += 1
    const ends = [leaving(res), this.#stopping.signal, ...(following.sessionEnd ? [following.sessionEnd] : [])]
    try {
      await this.#follow(res, following, AbortSignal.any(ends))
    } finally {
      release()
      this.#clients -= 1
      res.end()
    }
  }

  async #follow(res: Response, { filter, window, format, write, mayGoOn }: Following, ended: AbortSignal): Promise<void> {
    // The connection ends with the stream, so that a stop does not wait for it to be idle long enough.
    res.status(200).set({
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
      Connection: 'close',
    })
    // A client that is cut before the first event must know where it stood, too.
    res.write(`retry: 1000\nid: ${window.after}\n\n`)
    let [at, told] = [window.after, window.after]
    const heartbeat = setInterval(() => {
      if (!mayGoOn()) res.end()
      else if (!res.writableNeedDrain) {
        // An id alone is no message: it only moves the place from which the client would resume.
        res.write(at === told ? ': heartbeat\n\n' : `: heartbeat\nid: ${at}\n\n`)
        told = at
      }
    }, this.bounds.eventStreamHeartbeatMs)
    try {
      for await (const step of this.feed.forwards(filter, window, ended)) {
        if (res.writableEnded) return
        if (step.events.length > 0) {
          res.write(this.#messages(step.events, format, write))
          told = step.events.at(-1)?.position ?? told
        }
        at = step.at
        if (!(await taken(res, ended, this.bounds.eventReaderStallMs))) return
      }
      if (!ended.aborted && at !== told) res.write(`id: ${at}\n\n`)
    } finally {
      clearInterval(heartbeat)
    }
  }

  #messages(events: readonly ReadEvent[], format: string, write: Write): Buffer {
    let formats = this.#written.get(events)
    if (!formats) this.#written.set(events, (formats = new Map<string, Buffer>()))
    let bytes = formats.get(format)
    if (!bytes) {
      // JSON has no line breaks of its own: each event is one line of data.
      bytes = Buffer.from(events.map((event) => `id: ${event.position}\nevent: ${event.type}\ndata: ${write(event)}\n\n`).join(''))
      formats.set(format, bytes)
    }
    return bytes
  }

  /** Ends every stream, and takes no more. Clients come back to where they were. */
  stop(): void {
    this.#stopping.abort()
  }
}
