import { expect, test } from '@jest/globals'
import { fc } from '../support/random/properties.js'
import { sha256Hex } from '../../events/stored/chain.js'
import { Replay, replay, replayLimits } from '../../projections/replay.js'
import { countOf } from '../support/counts.js'
import { MemoryLog, streamOf } from '../support/log/memory-log.js'
import { dump, rowsOf } from '../support/log/states.js'
import { memoryDatabase } from '../support/memory-database.js'

type Kept = { request: string; row: number; input?: object; output?: object; erased?: boolean }
type Truth = { position: number; request: string; row: number; truth?: number; probability?: null; erased?: boolean }
type Step =
  | { kind: 'serve'; requests: number[] }
  | { kind: 'report'; events: number[] }
  | { kind: 'erase'; event: number; request: number | null }
  | { kind: 'follow'; events: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('serve' as const),
      requests: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('erase' as const), event: fc.nat(9), request: fc.option(fc.nat(3), { nil: null }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('report' as const), events: fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('follow' as const), events: fc.integer({ min: 1, max: 4 }) }) },
)

/** A log whose events serve rows, report what became true of them, and erase both; and what every row should show at the end. */
class History {
  readonly log = new MemoryLog()
  readonly served: { position: number; hash: string; rows: Kept[] }[] = []
  readonly reported: { position: number; hash: string; rows: Truth[] }[] = []
  #payloads = 0

  #seal(rows: readonly (Kept | Truth)[]): string {
    const hash = sha256Hex(Buffer.from(`payload ${this.#payloads++}`))
    this.log.payloads.set(hash, Buffer.from(JSON.stringify(rows)))
    return hash
  }

  serve(sizes: readonly number[]): void {
    const n = this.served.length
    const requests = sizes.map((rows, i) => ({ request: `request ${n}.${i}`, rows }))
    const rows = requests.flatMap(({ request, rows: count }) =>
      Array.from({ length: count }, (_, row): Kept => ({ request, row, input: { n, row }, output: { value: row } })),
    )
    const payload = this.#seal(rows)
    const data = { model: streamOf(1), version: 1, rows: rows.length, requests, payload, statement: null, read_at: 0 }
    this.served.push({
      position: this.log.append({ stream: `${streamOf(1)}/predictions`, type: 'PredictionsServed', data }),
      hash: payload,
      rows,
    })
  }

  /** Truths of all rows of some events that are left. */
  report(events: readonly number[]): void {
    const chosen = new Set(events.flatMap((event) => this.served[event % Math.max(1, this.served.length)] ?? []))
    const rows = [...chosen].flatMap(({ position, rows: kept }) =>
      kept.flatMap(({ request, row, erased }): Truth[] =>
        erased ? [] : [{ position, request, row, truth: row + 0.5, probability: null }],
      ),
    )
    if (rows.length === 0) return
    const payload = this.#seal(rows)
    const places = new Map<string, { position: number; version: number; request: string; rows: number[] }>()
    for (const { position, request, row } of rows) {
      const place = places.get(`${position} ${request}`) ?? { position, version: 1, request, rows: [] }
      place.rows.push(row)
      places.set(`${position} ${request}`, place)
    }
    const data = { model: streamOf(1), rows: rows.length, predictions: [...places.values()], payload }
    const position = this.log.append({ stream: `${streamOf(1)}/predictions`, type: 'OutcomesReported', data })
    this.reported.push({ position, hash: payload, rows })
  }

  /** All rows of an event, or those of one of its requests, and the truths of them. */
  erase(event: number, request: number | null): void {
    const chosen = this.served[event % Math.max(1, this.served.length)]
    if (!chosen) return
    const names = [...new Set(chosen.rows.map((row) => row.request))]
    const name = request === null ? undefined : names[request % names.length]
    const goes = (row: { request: string }) => name === undefined || row.request === name
    chosen.rows = chosen.rows.map((row) => (goes(row) ? { request: row.request, row: row.row, erased: true } : row))
    const payloads = [this.#replace(chosen)]
    for (const report of this.reported) {
      const isOf = (row: Truth) => row.position === chosen.position && goes(row)
      if (!report.rows.some(isOf)) continue
      report.rows = report.rows.map((row) => {
        const { position, request: of, row: place } = row
        return isOf(row) ? { position, request: of, row: place, erased: true } : row
      })
      payloads.push(this.#replace(report))
    }
    const data = { what: 'request', subject: name ?? '', reason: null, payloads, blobs: [] }
    this.log.append({ stream: 'log', type: 'DataErased', data })
  }

  /** As the log does it: readers of the old hash get the replacement. */
  #replace({ hash, rows }: { hash: string; rows: readonly (Kept | Truth)[] }) {
    const replacement = rows.every((row) => row.erased) ? null : this.#seal(rows)
    if (replacement === null) this.log.payloads.delete(hash)
    else this.log.payloads.set(hash, Buffer.from(JSON.stringify(rows)))
    return { hash, replacement }
  }

  expectedTruths() {
    return this.reported.flatMap(({ position, rows }) =>
      rows.map(({ position: prediction, request, row, truth, erased }) => ({
        ...{ position, prediction, prediction_request: request, row },
        ...{ truth: truth ?? null, readable: erased !== true },
      })),
    )
  }

  expected() {
    return this.served.flatMap(({ position, rows }) =>
      rows.map(({ request, row, input, output, erased }) => ({
        ...{ position, request, row },
        ...(erased ? { input: null, output: null, readable: false } : { input, output, readable: true }),
      })),
    )
  }
}

test('tables that followed erasures are those that a replay gives afterwards, and those that the erasures say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), async (steps) => {
      const history = new History()
      const [followed, afterwards] = [await memoryDatabase(), await memoryDatabase()]
      const tables = await Replay.open(
        { events: history.log, payloads: history.log, database: followed },
        { ...replayLimits, batchMaxEvents: 3 },
      )
      for (const one of steps) {
        if (one.kind === 'serve') history.serve(one.requests)
        else if (one.kind === 'report') history.report(one.events)
        else if (one.kind === 'erase') history.erase(one.event, one.request)
        else await tables.catchUp(tables.position + one.events)
      }
      await tables.catchUp()
      tables.close()
      await replay({ events: history.log, payloads: history.log, database: afterwards })
      const { checkpoint: _, ...replayed } = await dump(afterwards)
      expect(await dump(followed)).toMatchObject(replayed)
      const connection = await followed.connect()
      const rows = 'SELECT position, request, row, input, output, readable FROM ledger.predictions ORDER BY position, request, row'
      expect(await rowsOf(connection, rows)).toEqual(history.expected())
      const truths = 'SELECT position, prediction, prediction_request, row, truth, readable FROM ledger.outcomes ORDER BY position, rowid'
      const told = await rowsOf(connection, truths)
      expect(told).toHaveLength(history.expectedTruths().length)
      expect(told).toEqual(expect.arrayContaining(history.expectedTruths()))
      connection.closeSync()
      followed.closeSync()
      afterwards.closeSync()
    }),
    { numRuns: 12 * countOf('PROPERTY_TIMES') },
  )
})
