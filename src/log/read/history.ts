import { LRUCache } from 'lru-cache'
import { evolve, upcast, type Kind, type States } from '../../../events/catalogue/catalogue.js'
import { isObject, type Json, type JsonObject } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import { patchedState, stateDiff, type Operation } from './diff.js'
import type { Log } from '../contract/log.js'
import { readEvent, type ReadEvent } from './slices.js'
import type { LoopTurns } from '../../basics/long-work.js'

/** One change of a resource: who, when, why, and what it did to the state. */
export type Change = {
  position: number
  version: number
  type: string
  recorded_at: string
  actor: string
  source: string
  request: string | null
  correlation: string | null
  causation: string | null
  traceparent?: string
  /** RFC 6902: the change from the state before to the state after; null stands for no resource. */
  diff: Operation[]
}

/** Changes as JSON texts, the state before them, and the version after which the next page begins; null at the end. */
export type HistoryPage = { before: Json; changes: string[]; next: number | null; version: number }

type State = States[Kind] | undefined

/** While a stream is folded, the state is kept each time that this many versions have passed. */
const keptEvery = 500
/** After this time, other work gets its turn. */
const sliceMs = 4

const dataOf = ({ text, dataAt }: ReadEvent): JsonObject => {
  const data: unknown = JSON.parse(text.slice(dataAt, -1))
  if (!isObject(data)) throw new Error('the data of an event is an object')
  return data as JsonObject
}

const after = (kind: Kind, state: State, event: ReadEvent): State => {
  const { type, schema } = event
  return evolve(kind, state, { type, data: upcast(type, schema, dataOf(event)) })
}

const changeOf = (event: ReadEvent, diff: Operation[]): Change => {
  const { position, version, type, recorded_at, source } = event
  const read = (json: string) => JSON.parse(json) as string | null
  const traceparent = read(event.traceparent ?? 'null')
  return {
    position,
    version,
    type,
    recorded_at,
    actor: JSON.parse(`"${event.actor}"`) as string,
    source,
    request: read(event.request),
    correlation: read(event.correlation),
    causation: read(event.causation),
    ...(traceparent !== null && { traceparent }),
    diff,
  }
}

/**
 * Histories of resources. A page needs the state that it begins with, which is folded from the stream's first event or from a state
 * kept earlier. Pages read in order fold each event once; any page of a long history costs one fold, in slices that let other work
 * run in between.
 */
export class Histories {
  readonly #states = new LRUCache<string, { state: State }>({
    maxSize: limits.historyStatesMaxChars,
    sizeCalculation: ({ state }) => JSON.stringify(state ?? null).length,
  })

  constructor(
    private readonly log: Pick<Log, 'readStream'>,
    private readonly turns: LoopTurns,
  ) {}

  /** Changes of a stream after a version up to `head`, in order. */
  async page(
    kind: Kind,
    stream: string,
    { after: version, limit, head }: { after: number; limit: number; head: number },
  ): Promise<HistoryPage> {
    const changes: string[] = []
    let [chars, at] = [0, Math.min(version, head)]
    let state = await this.#stateAt(kind, stream, at)
    const before = patchedState(kind, state)
    for await (const event of this.#events(stream, at, head)) {
      const next = after(kind, state, event)
      const change = JSON.stringify(changeOf(event, stateDiff(kind, state, next)))
      changes.push(change)
      chars += change.length
      state = next
      at = event.version
      if (changes.length === limit || chars >= limits.historyPageMaxChars) break
    }
    if (at < head) this.#keep(stream, at, state)
    return { before, changes, next: at < head ? at : null, version: head }
  }

  async #stateAt(kind: Kind, stream: string, version: number): Promise<State> {
    let [state, from] = this.#nearest(stream, version)
    for await (const event of this.#events(stream, from, version)) {
      state = after(kind, state, event)
      from = event.version
      if (from % keptEvery === 0) this.#keep(stream, from, state)
    }
    return state
  }

  /** The latest known state at or before a version. */
  #nearest(stream: string, version: number): [State, number] {
    for (let at = version; at > 0; at = Math.floor((at - 1) / keptEvery) * keptEvery) {
      const known = this.#states.get(`${stream} ${at}`)
      if (known) return [known.state, at]
    }
    return [undefined, 0]
  }

  #keep(stream: string, version: number, state: State): void {
    this.#states.set(`${stream} ${version}`, { state })
  }

  /** Events of a stream after a version up to another. */
  async *#events(stream: string, from: number, to: number): AsyncGenerator<ReadEvent, void, void> {
    let began = 0
    for (let version = from; version < to;) {
      await this.turns.take()
      began = performance.now()
      const count = Math.min(limits.eventSliceMaxEvents, to - version)
      const events = await this.log.readStream(stream, version, count, limits.eventSliceMaxChars)
      if (events.length === 0) return
      for (const stored of events) {
        if (performance.now() - began > sliceMs) {
          await this.turns.take()
          began = performance.now()
        }
        yield readEvent(stored)
      }
      version += events.length
    }
  }
}
