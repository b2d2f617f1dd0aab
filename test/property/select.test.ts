import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isProblem } from '../../src/basics/errors.js'
import { countOf } from '../support/counts.js'
import { rowsNow, send, startTestService } from '../support/service.js'
import { Twins, type Answer } from '../support/sql/twins.js'
import { Draw } from './select/expressions.js'
import { Queries } from './select/queries.js'
import { randomTables, tableSources } from './select/tables.js'

const count = countOf('SELECTS')
const seed = countOf('SEED')

let twins: Twins
beforeAll(async () => {
  twins = await Twins.create(tableSources)
})
afterAll(() => twins.close())

type Outcome = { answer: Answer } | { error: string; refusal: boolean }

const outcomeOf = async (run: Promise<Answer>): Promise<Outcome> => {
  try {
    return { answer: await run }
  } catch (error) {
    return { error: String(Reflect.get(Object(error), 'message')), refusal: isProblem(error) && error.code !== 'internal' }
  }
}

const comparable = (outcome: Outcome, ordered: boolean) =>
  'answer' in outcome ? { ...outcome.answer, rows: ordered ? outcome.answer.rows : [...outcome.answer.rows].sort() } : { refused: true }

test(`of ${count} random SELECTs each is answered as DuckDB answers it, or refused where it refuses`, async () => {
  let ran = 0
  for (let i = 0; i < count; i++) {
    const { sql, ordered } = new Queries(new Draw(seed * 1_000_003 + i), randomTables).statement()
    const [plain, ours] = [await outcomeOf(twins.plain.select(sql)), await outcomeOf(twins.ours(sql))]
    if ('answer' in plain) ran++
    expect({ sql, ...comparable(ours, ordered) }).toEqual({ sql, ...comparable(plain, ordered) })
    if ('error' in ours) expect({ sql, ...ours }).toMatchObject({ refusal: true })
  }
  expect(ran / count).toBeGreaterThan(0.8)
})

/** A value as JavaScript reads its JSON: numbers beyond its own are rounded on both sides. */
const read = (rows: readonly string[]) => rows.map((row) => JSON.stringify(JSON.parse(row)))

test('a share of them goes through the service, over HTTP and its own process, with uploaded tables', async () => {
  const at = await startTestService()
  try {
    for (const name of Object.keys(tableSources)) {
      const form = new FormData()
      form.set('file', new Blob([await twins.plain.parquet(name)]), `${name}.parquet`)
      expect(await send(at.url, 'PUT', `/api/files/${name}`, form)).toMatchObject({ status: 200 })
    }
    // A statement is refused while SQL is starting, which takes long on a busy machine.
    await rowsNow(at.url, 'SELECT 1')
    for (let i = 0; i < count / 10; i++) {
      const { sql, ordered } = new Queries(new Draw(seed * 7_000_003 + i), randomTables).statement()
      const plain = await outcomeOf(twins.plain.select(sql))
      const { body } = await send(at.url, 'POST', '/api/sql/query', { query: sql, context: { db: 'files' } })
      if ('error' in plain) expect({ sql, body }).toMatchObject({ body: { type: 'error' } })
      else {
        const { data } = body as { data: unknown[][] }
        const [rows, wanted] = [data.map((row) => JSON.stringify(row)), read(plain.answer.rows)]
        expect({ sql, rows: ordered ? rows : rows.sort() }).toEqual({ sql, rows: ordered ? wanted : wanted.sort() })
      }
    }
  } finally {
    await at.stop()
  }
})
