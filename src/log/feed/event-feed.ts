/**
 * Room: the events as clients get them: pages, filters, live events and exports. It imports only events, basics, log/contract and log/read.
 */

import { limits } from '../../basics/limits.js'
import { EventProjects } from './event-project.js'
import { Matcher, type EventFilter } from './filter.js'
import type { Log } from '../contract/log.js'
import { readEvent, Slices, type ReadEvent, type Slice } from '../read/slices.js'

/** The positions to look at: those after `after`, up to and including `until`. */
export type Window = { after: number; until: number }

/** One step through the log: the matching events, the position reached, and how many events were looked at. */
export type Step = { events: readonly ReadEvent[]; at: number; looked: number }

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'versionAt' | 'head' | 'onCommitted'>

/** Filtered reading of the log for pages, lines and streams, in slices that let other work run in between. */
export class EventFeed {
  readonly #projects: EventProjects

  private constructor(
    private readonly log: ReadableLog,
    readonly slices: Slices,
  ) {
    this.#projects = new EventProjects(async (stream) => (await log.readStream(stream, 0, 1))[0])
  }

  /** Opens a feed at the newest position of a log. */
  static async of(log: ReadableLog): Promise<EventFeed> {
    return new EventFeed(log, await Slices.of(log))
  }

  /** The position of the newest event. */
  get head(): number {
    return this.slices.head
  }

  /**
   * Goes through a window in order. If the window reaches beyond the head, it waits there for new events until the signal ends it.
   *
   * @example for await (const { events } of feed.forwards({ actor: 'ann' }, { after: 0, until: feed.head })) …
   */
  async *forwards(filter: EventFilter, { after, until }: Window, signal: AbortSignal = never): AsyncGenerator<Step, void, void> {
    const matcher = new Matcher(filter, this.#projects)
    const next = filter.stream === undefined ? (at: number) => this.slices.after(at) : this.#ofStream(filter.stream)
    for (let at = after; at < until && !signal.aborted;) {
      if (at >= this.head) {
        await this.slices.beyond(at, signal)
        continue
      }
      const slice = await next(at)
      const matching = await matcher.in(slice)
      at = Math.min(slice.to, until)
      yield { events: slice.to > until ? matching.filter(({ position }) => position <= until) : matching, at, looked: slice.events.length }
    }
  }

  /** Reads one stream by its index while the head is far, and the shared slices when it is near. */
  #ofStream(stream: string): (at: number) => Promise<Slice> {
    let version: number | undefined
    return async (at) => {
      if (this.head - at <= limits.eventSliceMaxEvents) {
        // The shared slices do not count the versions of this stream.
        version = undefined
        return this.slices.after(at)
      }
      const { head } = this
      await this.slices.turns.take()
      version ??= await this.log.versionAt(stream, at)
      const events = (await this.log.readStream(stream, version, limits.eventSliceMaxEvents, limits.eventSliceMaxChars)).map(readEvent)
      version += events.length
      return { after: at, to: events.at(-1)?.position ?? head, events }
    }
  }

  /** Goes through a window from its end. All events of the window after `at` have been looked at. */
  async *backwards(filter: EventFilter, { after, until }: Window): AsyncGenerator<Step, void, void> {
    const matcher = new Matcher(filter, this.#projects)
    const { stream } = filter
    if (stream === undefined) {
      for (let at = until; at > after;) {
        const events = await this.#before(at, after, (from, count) => this.log.readAll(from, count, limits.eventSliceMaxChars))
        const to = at
        at -= events.length
        yield { events: [...(await matcher.in({ after: at, to, events }))].reverse(), at, looked: events.length }
      }
      return
    }
    for (let version = await this.log.versionAt(stream, until); version > 0;) {
      const read = (from: number, count: number) => this.log.readStream(stream, from, count, limits.eventSliceMaxChars)
      const events = (await this.#before(version, 0, read)).filter(({ position }) => position > after)
      version = Math.max(0, (events[0]?.version ?? 1) - 1)
      const at = version === 0 ? after : (events[0]?.position ?? 1) - 1
      yield { events: [...(await matcher.in({ after: at, to: until, events }))].reverse(), at, looked: events.length }
    }
  }

  /** The events up to and including a number, as many as may be read at once. */
  async #before(number: number, after: number, read: (from: number, count: number) => ReturnType<Log['readAll']>): Promise<ReadEvent[]> {
    await this.slices.turns.take()
    for (let count = Math.min(limits.eventSliceMaxEvents, number - after); ; count = Math.ceil(count / 2)) {
      const events = await read(number - count, count)
      // A read that was cut short does not reach that number.
      if (events.length === count || count === 1) return events.map(readEvent)
    }
  }

  close(): void {
    this.slices.close()
  }
}

const never = new AbortController().signal

/** A page of events, and the rest of the window; null when all of it has been looked at. */
export type Page = { events: ReadEvent[]; left: Window | null }

/**
 * Reads one page: it ends when it is full, or has looked at as many events as it may.
 *
 * @example await readPage(feed, { types: ['SkillCreated'] }, { window: { after: 0, until: feed.head }, order: 'asc', limit: 100 })
 */
export const readPage = async (
  feed: EventFeed,
  filter: EventFilter,
  { window, order, limit }: { window: Window; order: 'asc' | 'desc'; limit: number },
): Promise<Page> => {
  const events: ReadEvent[] = []
  let [looked, chars] = [0, 0]
  const leftFrom = (at: number): Window | null => {
    const left = order === 'asc' ? { ...window, after: at } : { ...window, until: at }
    return left.after < left.until ? left : null
  }
  // A page that ends after an event has looked no further than that event.
  const behind = (event: ReadEvent | undefined) => (order === 'asc' ? (event?.position ?? 0) : (event?.position ?? 1) - 1)
  for await (const step of order === 'asc' ? feed.forwards(filter, window) : feed.backwards(filter, window)) {
    for (const event of step.events) {
      if (events.length === limit || chars >= limits.eventsPageMaxChars) return { events, left: leftFrom(behind(events.at(-1))) }
      events.push(event)
      chars += event.text.length
    }
    looked += step.looked
    if (looked >= limits.eventsScanMaxEvents || events.length === limit || chars >= limits.eventsPageMaxChars)
      return { events, left: leftFrom(step.at) }
  }
  return { events, left: null }
}
