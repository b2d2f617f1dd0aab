import type { StreamId } from '../../../events/common.js'
import type { PredictionRow } from '../../../events/records/predictions.js'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import type { Execution, LaterCommand, Ledger } from '../../commands/ledger.js'
import type { AnsweredRequest } from '../../commands/records/predictions.js'
import { causedBy } from '../../log/contract/origins.js'
import type { Log, Origin, Outcome } from '../../log/contract/log.js'
import { lastKnown } from '../../log/read/last-known.js'

/** Predictions of one request that are about to be answered. */
export type RequestPredictions = {
  model: StreamId
  version: number
  origin: Origin
  rows: { input: object; output: object }[]
  /** The log position at which the model was read. */
  readAt: number
}

/** The record of a scoring inside a query: its rows are counted, not kept. */
export type Receipt = { model: StreamId; version: number; origin: Origin; rows: number; statement: string; readAt: number }

const brackets = '[]'.length

/** A request's rows as the payload has them: JSON objects joined by commas. @throws Problem too_large */
const textOf = async ({ origin, rows }: RequestPredictions): Promise<{ text: string; bytes: number }> => {
  const work = new LongWork()
  const texts: string[] = []
  for (const [row, { input, output }] of rows.entries()) {
    texts.push(JSON.stringify({ request: origin.request ?? '', row, input, output } satisfies PredictionRow))
    await work.pause()
  }
  const text = texts.join(',')
  const bytes = Buffer.byteLength(text) + brackets
  if (bytes > limits.payloadMaxBytes) throw tooLarge()
  return { text, bytes }
}

const tooLarge = () =>
  new Problem('too_large', 'Too large', `the rows and their predictions have more than ${limits.payloadMaxBytes} bytes`, {
    hint: 'Send fewer rows at a time.',
  })

/** Requests that share one event. */
type Group = {
  first: RequestPredictions
  requests: AnsweredRequest[]
  texts: string[]
  bytes: number
  readAt: number
  done: Promise<number>
}

/**
 * Records predictions before they are answered. Requests that wait for the same commit share an event.
 *
 * @example await recorder.served({ model, version: 1, origin, rows: [{ input, output }], readAt })
 */
export class PredictionRecorder {
  /** The content of the next commit, in groups of requests with common properties. */
  readonly #open = new Map<string, Group>()

  constructor(
    private readonly ledger: Ledger,
    private readonly log: Pick<Log, 'readStream' | 'resources'>,
  ) {}

  /** Whether rows of this model are recorded. For a deleted model, the setting before its deletion applies. */
  async records(model: StreamId): Promise<boolean> {
    return (await lastKnown(this.log, 'model', model))?.state.recording !== 'off'
  }

  /** Resolves with the event's position once the rows are durable. @throws Problem too_large */
  async served(served: RequestPredictions): Promise<number> {
    const { text, bytes } = await textOf(served)
    const { origin, rows, readAt } = served
    const group = this.#groupFor(served, bytes)
    group.requests.push({ request: origin.request, rows: rows.length })
    group.texts.push(text)
    group.bytes += bytes
    group.readAt = Math.max(group.readAt, readAt)
    return group.done
  }

  /**
   * The same for a request with an idempotency key. It gets a separate event, because the key identifies a single request. A repeated
   * request gets the first result.
   */
  async servedOnce(first: RequestPredictions, idempotency: NonNullable<Execution['idempotency']>): Promise<Outcome> {
    const { origin, rows, readAt } = first
    const { text } = await textOf(first)
    const group = { first, requests: [{ request: origin.request, rows: rows.length }], texts: [text], readAt }
    const { command, execution } = this.#commandOf(group)
    return this.ledger.execute(command, origin, { ...execution, idempotency })
  }

  /** Records that a query scored rows. */
  async scored({ model, version, origin, rows, statement, readAt }: Receipt): Promise<number> {
    const data = { model, version, requests: [{ request: origin.request, rows }], payload: null, statement, read_at: readAt }
    const { positions } = await this.ledger.execute({ type: 'RecordPredictions', data }, origin)
    return positions[0] ?? 0
  }

  #groupFor(served: RequestPredictions, bytes: number): Group {
    const { model, version, origin } = served
    const key = `${model} ${version} ${origin.source} ${origin.actor}`
    const open = this.#open.get(key)
    if (open && open.bytes + bytes <= limits.payloadMaxBytes) return open
    const done = this.ledger.executeLater(() => {
      if (this.#open.get(key) === group) this.#open.delete(key)
      return this.#commandOf(group)
    })
    const group: Group = {
      first: served,
      requests: [],
      texts: [],
      bytes: 0,
      readAt: 0,
      done: done.then(({ positions }) => positions[0] ?? 0),
    }
    this.#open.set(key, group)
    // If the queue refused a group, that group must not stay open.
    done.catch(() => this.#open.get(key) === group && this.#open.delete(key))
    return group
  }

  #commandOf({ first, requests, texts, readAt }: Pick<Group, 'first' | 'requests' | 'texts' | 'readAt'>): LaterCommand {
    const { model, version, origin } = first
    const { actor, source } = origin
    const payload = this.ledger.vault.seal(Buffer.from(`[${texts.join(',')}]`))
    const data = { model, version, requests, payload: payload.hash, statement: null, read_at: readAt }
    return {
      command: { type: 'RecordPredictions', data },
      origin: requests.length === 1 ? origin : causedBy({ actor, source }, undefined),
      execution: { payloads: [payload] },
    }
  }
}
