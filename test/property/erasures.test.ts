import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sha256Hex } from '../../events/chain.js'
import { Replay, replay, replayLimits } from '../../projections/replay.js'
import { MemoryLog, streamOf } from '../support/memory-log.js'
import { dump, rowsOf } from '../support/states.js'

type Kept = { request: string; row: number; input?: object; output?: object; erased?: boolean }
type Step =
  { kind: 'serve'; requests: number[] } | { kind: 'erase'; event: number; request: number | null } | { kind: 'follow'; events: number }

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
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('follow' as const), events: fc.integer({ min: 1, max: 4 }) }) },
)

/** A log whose events serve rows and erase them, and what every row should show at the end. */
class History {
  readonly log = new MemoryLog()
  readonly served: { position: number; hash: string; rows: Kept[] }[] = []
  #payloads = 0

  #seal(rows: Kept[]): string {
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

  /** All rows of an event, or those of one of its requests. As the log does it: readers of the old hash get the replacement. */
  erase(event: number, request: number | null): void {
    const chosen = this.served[event % Math.max(1, this.served.length)]
    if (!chosen) return
    const names = [...new Set(chosen.rows.map((row) => row.request))]
    const name = request === null ? undefined : names[request % names.length]
    chosen.rows = chosen.rows.map((row) =>
      name === undefined || row.request === name ? { request: row.request, row: row.row, erased: true } : row,
    )
    const replacement = chosen.rows.every((row) => row.erased) ? null : this.#seal(chosen.rows)
    if (replacement === null) this.log.payloads.delete(chosen.hash)
    else this.log.payloads.set(chosen.hash, Buffer.from(JSON.stringify(chosen.rows)))
    const data = { what: 'request', subject: name ?? '', reason: null, payloads: [{ hash: chosen.hash, replacement }], blobs: [] }
    this.log.append({ stream: 'log', type: 'DataErased', data })
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
      const [followed, afterwards] = [await DuckDBInstance.create(':memory:'), await DuckDBInstance.create(':memory:')]
      const tables = await Replay.open(
        { events: history.log, payloads: history.log, database: followed },
        { ...replayLimits, batchMaxEvents: 3 },
      )
      for (const one of steps) {
        if (one.kind === 'serve') history.serve(one.requests)
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
      connection.closeSync()
      followed.closeSync()
      afterwards.closeSync()
    }),
    { numRuns: 25 },
  )
}, 120_000)
