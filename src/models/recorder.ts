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

/** A request's rows as they will stand in the payload: JSON objects joined by commas. */
type Waiting = Omit<Served, 'rows'> & {
  rows: number
  text: string
  bytes: number
  resolve: (position: number) => void
  reject: (error: unknown) => void
}

const brackets = '[]'.length

const textOf = ({ origin, rows }: Served): string =>
  rows
    .map(({ input, output }, row) => JSON.stringify({ request: origin.request ?? '', row, input, output } satisfies PredictionRow))
    .join(',')

const tooLarge = () =>
  new Problem('too_large', 'Too large', `the rows and their predictions have more than ${limits.payloadMaxBytes} bytes`, {
    hint: 'Send fewer rows at a time.',
  })

/** Requests whose rows stand in one event. One more is taken while their payload stays within its limit. */
const groupsOf = (waiting: readonly Waiting[]): Waiting[][] => {
  const groups: Waiting[][] = []
  const open = new Map<string, { group: Waiting[]; bytes: number }>()
  for (const one of waiting) {
    const key = `${one.model} ${one.version} ${one.origin.source} ${one.origin.actor}`
    const last = open.get(key)
    if (last && last.bytes + one.bytes <= limits.payloadMaxBytes) {
      last.group.push(one)
      last.bytes += one.bytes
    } else {
      const group = [one]
      groups.push(group)
      open.set(key, { group, bytes: one.bytes })
    }
  }
  return groups
}

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

  /** Resolves with the event's position when the rows are durable. @throws Problem too_large */
  async served(served: Served): Promise<number> {
    const text = textOf(served)
    const bytes = Buffer.byteLength(text) + brackets
    if (bytes > limits.payloadMaxBytes) throw tooLarge()
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush())
      this.#waiting.push({ ...served, rows: served.rows.length, text, bytes, resolve, reject })
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
    const groups = groupsOf(this.#waiting)
    this.#waiting = []
    for (const group of groups)
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
    const payload = this.vault.seal(Buffer.from(`[${group.map(({ text }) => text).join(',')}]`))
    const rows = group.reduce((sum, one) => sum + one.rows, 0)
    const requests = group.flatMap((one) => requestOf(one.origin, one.rows))
    const readAt = group.reduce((latest, one) => Math.max(latest, one.readAt), 0)
    const data = { model, version, rows, requests, payload: payload.hash, statement: null, read_at: readAt }
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
