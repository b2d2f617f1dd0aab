import type { StreamId } from '../../events/common.js'
import { predictionsStream, type PredictionRow } from '../../events/predictions.js'
import { Problem } from '../errors.js'
import { limits } from '../limits.js'
import type { Log, Origin } from '../log/log.js'
import type { Vault } from '../vault/vault.js'

/** Predictions of one request, about to be answered. */
export type Served = {
  model: StreamId
  version: number
  origin: Origin
  rows: { input: object; output: object }[]
  /** The position of the log that the model was read at. */
  readAt: number
}

/** A scoring inside a query: its rows are counted, not kept. */
export type Receipt = { model: StreamId; version: number; origin: Origin; rows: number; statement: string; readAt: number }

type Waiting = Served & { resolve: (position: number) => void; reject: (error: unknown) => void }

/**
 * Records what models answer, before it is answered. Requests that arrive while a commit runs share the next event.
 *
 * @example await recorder.served({ model, version: 1, origin, rows: [{ input, output }], readAt })
 */
export class PredictionRecorder {
  #waiting: Waiting[] = []

  constructor(
    private readonly log: Log,
    private readonly vault: Vault,
  ) {}

  /** Resolves with the event's position when the rows are durable. */
  served(served: Served): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush())
      this.#waiting.push({ ...served, resolve, reject })
    })
  }

  /** Records that a query scored rows. */
  async scored({ model, version, origin, rows, statement, readAt }: Receipt): Promise<number> {
    const data = { model, version, rows, requests: requestOf(origin, rows), payload: null, statement, read_at: readAt }
    const { positions } = await this.log.submit({
      origin,
      lookups: {},
      decide: () => [{ stream: predictionsStream(model), event: { type: 'PredictionsServed', data } }],
      payloads: [],
    })
    return positions[0] ?? 0
  }

  #flush(): void {
    const groups = new Map<string, Waiting[]>()
    for (const one of this.#waiting) {
      const key = `${one.model} ${one.version} ${one.origin.source} ${one.origin.actor}`
      const group = groups.get(key)
      if (group) group.push(one)
      else groups.set(key, [one])
    }
    this.#waiting = []
    for (const group of groups.values())
      this.#record(group).then(
        (position) => {
          for (const { resolve } of group) resolve(position)
        },
        (error: unknown) => {
          for (const { reject } of group) reject(error)
        },
      )
  }

  async #record(group: readonly Waiting[]): Promise<number> {
    const [first] = group
    if (!first) throw new RangeError('nothing to record')
    const { model, version } = first
    const kept = group.flatMap(({ origin, rows }) =>
      rows.map(({ input, output }, row): PredictionRow => ({ request: origin.request ?? '', row, input, output })),
    )
    const text = Buffer.from(JSON.stringify(kept))
    if (text.length > limits.payloadMaxBytes)
      throw new Problem('too_large', 'Too large', `the rows and their predictions have more than ${limits.payloadMaxBytes} bytes`, {
        hint: 'Send fewer rows at a time.',
      })
    const payload = this.vault.seal(text)
    const requests = group.flatMap(({ origin, rows }) => requestOf(origin, rows.length))
    const readAt = group.reduce((latest, one) => Math.max(latest, one.readAt), 0)
    const data = { model, version, rows: kept.length, requests, payload: payload.hash, statement: null, read_at: readAt }
    const { positions } = await this.log.submit({
      origin: group.length === 1 ? first.origin : { ...first.origin, request: null, correlation: null, causation: null },
      lookups: {},
      decide: () => [{ stream: predictionsStream(model), event: { type: 'PredictionsServed', data } }],
      payloads: [payload],
    })
    return positions[0] ?? 0
  }
}

const requestOf = ({ request }: Origin, rows: number) => (request === null ? [] : [{ request, rows }])
