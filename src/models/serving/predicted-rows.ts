import * as z from 'zod'
import { erasureOfPayload } from '../../log/read/find-erasure.js'
import { erased, Problem, wrong } from '../../basics/errors.js'
import { LongWork } from '../../basics/long-work.js'
import type { Log } from '../../log/contract/log.js'
import type { PredictionEvent } from './prediction-events.js'

/** A predicted row and its answer. */
export type PredictedRow = {
  position: number
  version: number
  request: string
  row: number
  input: Record<string, unknown>
  output: { value: unknown; confidence: unknown }
}

const rowSchema = z.looseObject({
  request: z.string(),
  row: z.number(),
  erased: z.boolean().optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  output: z.looseObject({ value: z.unknown(), confidence: z.unknown() }).optional(),
})
/** A kept row. Only rows that are looked up are checked completely. */
type KeptRow = { request: string; row: number }

type ReadableLog = Pick<Log, 'payload' | 'payloadState' | 'readStream'>

const listed = (names: readonly string[]) => `${names.slice(0, 5).join(', ')}${names.length > 5 ? ' …' : ''}`

const keptRows = async (log: ReadableLog, { position, payload }: PredictionEvent, label: string): Promise<KeptRow[]> => {
  const bytes = payload === null ? undefined : await log.payload(payload)
  if (bytes) return JSON.parse(bytes.toString()) as KeptRow[]
  if (payload === null)
    throw new Problem('not_found', 'Prediction not found', `${label}: of the predictions at position ${position} no rows were kept`, {
      hint: 'Rows that a query scores are counted. Those of requests are kept: see log.predictions.',
    })
  if ((await log.payloadState(payload))?.isErased) throw await goneRow(log, payload, label, position)
  throw new Problem('storage_failed', 'Payload unreadable', `${label}: the rows at position ${position} cannot be read`)
}

const goneRow = async (log: ReadableLog, payload: string, label: string, position: number): Promise<Problem> =>
  erased(
    `${label}: the prediction at position ${position}`,
    (await erasureOfPayload(log, payload)) ?? { position, reason: null },
    'Nothing is kept of a row that was erased, neither its truth. Leave it out.',
  )

/** The rows of one event, for lookups by reports of outcomes: a lookup takes the same time however many rows there are. */
export class PredictedRows {
  /** By request, then by place. If several requests have the same id, a place has several rows; the first two are kept. */
  readonly #requests = new Map<string, { count: number; rows: Map<number, KeptRow[]> }>()

  private constructor(
    private readonly log: ReadableLog,
    private readonly served: PredictionEvent,
  ) {}

  /** @throws Problem when the rows cannot be read */
  static async of(log: ReadableLog, served: PredictionEvent, label: string): Promise<PredictedRows> {
    const rows = new PredictedRows(log, served)
    const kept = await keptRows(log, served, label)
    // Reading many rows took a while, so other work runs now.
    const work = new LongWork({ goesOn: true })
    for (const row of kept) {
      await work.pause()
      rows.#add(row)
    }
    return rows
  }

  #add(row: KeptRow): void {
    const ofRequest = this.#requests.get(row.request) ?? { count: 0, rows: new Map<number, KeptRow[]>() }
    const there = ofRequest.rows.get(row.row) ?? []
    ofRequest.count++
    if (there.length < 2) ofRequest.rows.set(row.row, [...there, row])
    this.#requests.set(row.request, ofRequest)
  }

  /**
   * @param label the row's description in a refusal: `Outcome 3`
   * @throws Problem if there is no such row, if there are several, or if it was erased
   */
  async one(request: string | undefined, row: number | undefined, label: string): Promise<PredictedRow> {
    const { position, version } = this.served
    const name = request ?? this.#onlyRequest(label)
    const ofRequest = this.#requests.get(name)
    if (!ofRequest)
      throw new Problem(
        'not_found',
        'Prediction not found',
        `${label}: the predictions at position ${position} do not belong to request ${name}`,
        {
          hint: `They are of ${listed([...this.#requests.keys()])}.`,
        },
      )
    if (row === undefined && ofRequest.count > 1)
      throw wrong(`${label}: which row is missing, request ${name} has ${ofRequest.count}`, 'Say "row": 0 for the first.')
    const [found, twin] = ofRequest.rows.get(row ?? 0) ?? []
    if (!found)
      throw new Problem('not_found', 'Prediction not found', `${label}: request ${name} has no row ${row ?? 0}`, {
        hint: `Its rows are 0 to ${ofRequest.count - 1}.`,
      })
    if (twin)
      throw wrong(
        `${label}: at position ${position} two requests have the id ${name}, and nothing tells their rows apart`,
        'Send each request with an X-Request-Id of its own, or with none.',
      )
    const { erased: isErased, input, output } = rowSchema.parse(found)
    if (isErased || !input || !output) throw await goneRow(this.log, this.served.payload ?? '', label, position)
    return { position, version, request: name, row: found.row, input, output }
  }

  #onlyRequest(label: string): string {
    const requests = [...this.#requests.keys()]
    const [first = ''] = requests
    if (requests.length < 2) return first
    throw wrong(
      `${label}: at position ${this.served.position} are predictions of ${requests.length} requests`,
      `Say "request", too: ${listed(requests)}.`,
    )
  }
}
