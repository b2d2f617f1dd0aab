import { LRUCache } from 'lru-cache'
import { readHeader, type Header } from '../../../events/stored/header.js'
import { limits } from '../../basics/limits.js'
import type { Log, StoredEvent } from '../contract/log.js'
import { LoopTurns } from '../../basics/loop-turns.js'

/** An event prepared for reading: the fields before its data, and its stored text. */
export type ReadEvent = Header & { text: string }

/** All events after one position up to another, in order. */
export type Slice = { after: number; to: number; events: readonly ReadEvent[] }

/** How many slices are kept for readers at the same place. */
const slicesKept = 8
/** Reading this near to the head costs so little that nobody need wait for a turn. */
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
