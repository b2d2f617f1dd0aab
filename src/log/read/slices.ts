/** Room: readers of the log: slices, names, histories and earlier states. It imports only events, basics, vault and log/contract. */

import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { parseEnvelope, readHeader, type Envelope, type Header } from '../../../events/stored/envelope.js'
import { limits } from '../../basics/limits.js'
import type { Log, StoredEvent } from '../contract/log.js'
import { LoopTurns } from '../../basics/long-work.js'

/**
 * The events of the log after a position, up to another if it is given, whose stored text passes a test, in order. They are read in slices
 * with a limit of events and characters; other work can run in between.
 *
 * @example for await (const event of eventsWith(log, 0, (text) => text.includes(id))) …
 */
export async function* eventsWith(
  log: Pick<Log, 'readAll'>,
  after: number,
  wanted: (text: string) => boolean,
  upTo = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<Envelope, void, void> {
  while (after < upTo) {
    const slice = await log.readAll(after, Math.min(limits.eventSliceMaxEvents, upTo - after), limits.eventSliceMaxChars)
    for (const { text } of slice) if (wanted(text)) yield parseEnvelope(text)
    const last = slice.at(-1)
    if (!last) return
    after = last.position
    await setImmediate()
  }
}

/** The same for one stream, after a version. */
export async function* streamEventsWith(
  log: Pick<Log, 'readStream'>,
  stream: string,
  after: number,
  wanted: (text: string) => boolean,
): AsyncGenerator<Envelope, void, void> {
  for (let version = after; ;) {
    const slice = await log.readStream(stream, version, limits.eventSliceMaxEvents, limits.eventSliceMaxChars)
    for (const { text } of slice) if (wanted(text)) yield parseEnvelope(text)
    if (slice.length === 0) return
    version += slice.length
    await setImmediate()
  }
}

/**
 * The last event of one stream whose stored text passes a test, as it is stored; undefined if there is none. The stream is read from its
 * end, one event at a time.
 *
 * @example (await lastEventWith(log, logStream, (text) => text.includes('"type":"DataErased"')))?.position // 812
 */
export const lastEventWith = async (
  log: Pick<Log, 'readStream' | 'streamVersion'>,
  stream: string,
  wanted: (text: string) => boolean,
): Promise<StoredEvent | undefined> => {
  for (let version = await log.streamVersion(stream); version > 0; version--) {
    const [stored] = await log.readStream(stream, version - 1, 1)
    if (stored && wanted(stored.text)) return stored
    await setImmediate()
  }
  return undefined
}

/**
 * The events of one stream after a version up to another, in order, read in slices in the same way.
 *
 * @example for await (const envelope of eventsOf(log, stream)) found = foldEvent(kind, stream, found, envelope)
 */
export async function* eventsOf(
  log: Pick<Log, 'readStream'>,
  stream: string,
  until = Number.MAX_SAFE_INTEGER,
  after = 0,
): AsyncGenerator<Envelope, void, void> {
  for (let version = after; version < until;) {
    const count = Math.min(limits.eventSliceMaxEvents, until - version)
    const slice = await log.readStream(stream, version, count, limits.eventSliceMaxChars)
    for (const { text } of slice) yield parseEnvelope(text)
    if (slice.length === 0) return
    version += slice.length
    if (version < until) await setImmediate()
  }
}

/**
 * The event at a position, as it is stored; undefined if there is none.
 *
 * @example (await eventAt(log, 812))?.text // '{"position":812,…'
 */
export const eventAt = async (log: Pick<Log, 'readAll'>, position: number): Promise<StoredEvent | undefined> => {
  const [event] = position < 1 ? [] : await log.readAll(position - 1, 1)
  return event
}

/** Every event of one stream. */
export const streamEvents = async (log: Pick<Log, 'readStream'>, stream: string): Promise<Envelope[]> => {
  const events: Envelope[] = []
  for await (const event of eventsOf(log, stream)) events.push(event)
  return events
}

/** An event prepared for reading: the fields before its data, and its stored text. */
export type ReadEvent = Header & { text: string }

/** All events after one position up to another, in order. */
export type Slice = { after: number; to: number; events: readonly ReadEvent[] }

/** How many slices are kept for readers at the same place. */
const slicesKept = 8
/** Reading this near to the head costs so little that it does not wait for a turn. */
const nearEvents = 32

/** @throws Error when the text is not that of an event */
export const readEvent = ({ position, text }: StoredEvent): ReadEvent => {
  const header = readHeader(text)
  if (!header) throw new Error(`the text at position ${position} is not that of an event`)
  return { ...header, text }
}

/**
 * The log in slices. Each is read once for all readers at the same place, such as those that follow its head.
 *
 * @example const slice = await slices.after(41) // { after: 41, to: 43, events: […] }
 */
export class Slices {
  readonly turns = new LoopTurns()
  #head: number
  readonly #kept = new LRUCache<number, Promise<Slice>>({ max: slicesKept })
  readonly #waiting = new Set<() => void>()
  readonly #unsubscribe: () => void

  private constructor(
    private readonly log: Pick<Log, 'readAll'>,
    head: number,
    subscribe: Log['onCommitted'],
  ) {
    this.#head = head
    this.#unsubscribe = subscribe((position) => {
      if (position <= this.#head) return
      this.#head = position
      for (const wake of [...this.#waiting]) wake()
    })
  }

  /** Opens slices of a log; they know of each commit from now on. */
  static async of(log: Pick<Log, 'readAll' | 'head' | 'onCommitted'>): Promise<Slices> {
    const { position } = await log.head()
    return new Slices(log, position, (listener) => log.onCommitted(listener))
  }

  /** The position of the newest event. */
  get head(): number {
    return this.#head
  }

  /** The slice after a position; it is empty at the head. */
  async after(position: number): Promise<Slice> {
    if (this.#head - position > nearEvents) await this.turns.take()
    const known = this.#kept.get(position)
    if (known) return known
    const slice = this.#read(position)
    this.#kept.set(position, slice)
    try {
      if ((await slice).events.length > 0) return await slice
    } catch (error) {
      this.#kept.delete(position)
      throw error
    }
    // An empty slice is not kept: events may come.
    this.#kept.delete(position)
    return slice
  }

  async #read(after: number): Promise<Slice> {
    const events = (await this.log.readAll(after, limits.eventSliceMaxEvents, limits.eventSliceMaxChars)).map(readEvent)
    return { after, to: events.at(-1)?.position ?? after, events }
  }

  /** Resolves when there is an event after a position, or the signal ends the wait. */
  async beyond(position: number, signal: AbortSignal): Promise<void> {
    while (this.#head <= position && !signal.aborted)
      await new Promise<void>((resolve) => {
        const wake = () => {
          signal.removeEventListener('abort', wake)
          this.#waiting.delete(wake)
          resolve()
        }
        signal.addEventListener('abort', wake, { once: true })
        this.#waiting.add(wake)
      })
  }

  close(): void {
    this.#unsubscribe()
  }
}
