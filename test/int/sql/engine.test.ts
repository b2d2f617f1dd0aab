import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { MatrixBuilder } from '../../../src/models/data/matrix.js'
import { loadInMemory } from '../../support/models/in-memory.js'
import { loadPredictor } from '../../../src/models/engines/tabular/predictor.js'
import type { ColumnType } from '../../../src/models/data/values.js'
import type { LoadModel } from '../../../src/sql/engine/scoring/load.js'
import type { ScoringModel } from '../../../src/sql/engine/scoring/scoring-model.js'
import { TestLedger } from '../../support/log/ledger.js'
import { train } from '../../support/models/train.js'

const descriptors: { name: string; type: ColumnType }[] = [
  { name: 'size', type: 'number' },
  { name: 'rooms', type: 'integer' },
  { name: 'new', type: 'boolean' },
  { name: 'place', type: 'text' },
  { name: 'day', type: 'date' },
  { name: 'moment', type: 'timestamp' },
  { name: 'price', type: 'number' },
  { name: 'tier', type: 'text' },
]
const sql = `SELECT (i * 7 % 101) / 3.0 AS size, (i % 5)::INTEGER AS rooms, i % 2 = 0 AS new, ['a', 'b', 'c'][i % 3 + 1] AS place,
  DATE '2024-01-01' + (i % 300)::INTEGER AS day, TIMESTAMP '2024-01-01 00:00:00.123' + to_minutes(i * 11) AS moment,
  ((i * 7 % 101) / 3.0 * 10 + (i % 5) * 20 + (i % 3) * 5)::DOUBLE AS price, CASE WHEN i * 7 % 101 > 50 THEN 'high' ELSE 'low' END AS tier FROM range(240) AS t(i)`

/** How many rows the models were asked for, by how. */
const counted = { predictPoints: 0, predictBatch: 0 }
/** Called for each prediction with bounds. */
let onBatch = (): void => undefined
/** The features of the rows that were asked for last. */
let asked = new Float64Array()
const counting: LoadModel = (artefact) => {
  const model = loadInMemory(artefact)
  const counts = (way: keyof typeof counted): ScoringModel['predictPoints'] => {
    return (features, rows, out) => {
      counted[way] += rows
      if (way === 'predictBatch') onBatch()
      asked = features.slice(0, rows * model.width)
      model[way](features, rows, out)
    }
  }
  return { ...model, predictPoints: counts('predictPoints'), predictBatch: counts('predictBatch') }
}

let ledger: TestLedger
const artefacts: Record<string, Uint8Array> = {}

const trained = (rows: unknown[][], target: string, without: string) => {
  const kept = descriptors.flatMap((descriptor, index) => (descriptor.name === without ? [] : [{ descriptor, index }]))
  const builder = new MatrixBuilder(kept.map(({ descriptor }) => descriptor))
  for (const row of rows) builder.addRow(kept.map(({ index }) => row[index]))
  return train(builder.build(7), { target, seed: 7 }).artefact
}

beforeAll(async () => {
  ledger = await TestLedger.create()
  ledger.loadModel = counting
  await ledger.history('projects', { stream: 'p-shop', name: 'shop', from: 1 })
  await ledger.file('homes', sql)
  const connection = await ledger.instance.connect()
  const rows = (
    await connection.runAndReadAll(`SELECT * REPLACE (day::VARCHAR AS day, moment::VARCHAR AS moment, size::DOUBLE AS size) FROM (${sql})`)
  ).getRowsJS()
  connection.closeSync()
  for (const [target, without] of [
    ['price', 'tier'],
    ['tier', 'price'],
  ] as const) {
    const bytes = trained(rows, target, without)
    artefacts[target] = bytes
    const artefact = await ledger.blob(bytes)
    await ledger.history('models', { stream: `m-${target}`, project: 'p-shop', name: `${target}s`, active: 1, from: 2 })
    await ledger.history('model_versions', {
      stream: `m-${target}`,
      version: 1,
      engine: 'auto',
      target,
      status: 'complete',
      artefact,
      options: {},
      from: 2,
    })
  }
  await ledger.events(5)
})
afterAll(() => ledger.close())

const direct = (target: string, row: Record<string, unknown>) => {
  const predictor = loadPredictor(artefacts[target]!)
  const features = new Float64Array(predictor.width)
  const out = new Float64Array(predictor.outputWidth)
  predictor.encodeRow(row, 0, features, 0)
  predictor.predictBatch(features, 1, out)
  return { predictor, out }
}

test('a JOIN gives the same bits as the engine does for the same rows', async () => {
  const inputs = 't.size, t.rooms, t.new, t.place, t.day::VARCHAR AS day, t.moment::VARCHAR AS moment'
  const { data } = await ledger.select(
    `SELECT ${inputs}, m.price, m.price_min, m.price_max, m.price_confidence FROM files.homes AS t JOIN shop.prices AS m`,
  )
  expect(data).toHaveLength(240)
  for (const [size, rooms, isNew, place, day, moment, ...answer] of data) {
    const { out } = direct('price', { size, rooms, new: isNew, place, day, moment })
    expect(answer).toEqual([out[0], out[2], out[3], out[1]])
  }
})

test.each(['2024-01-01 00:00:00.123456', '1969-12-31 23:59:59.999999', '2024-02-29 23:59:59'])(
  'a time reaches a model as it would in a request, whatever stands behind its milliseconds: %s',
  async (moment) => {
    await ledger.select(`SELECT m.price FROM (SELECT TIMESTAMP '${moment}' AS moment) AS t JOIN shop.prices AS m`)
    const predictor = loadPredictor(artefacts['price']!)
    const features = new Float64Array(predictor.width)
    predictor.encodeRow({ moment }, 0, features, 0)
    expect([...asked]).toEqual([...features])
  },
)

test('a value that is missing, or has no column, is missing to the model, of whatever type', async () => {
  const missing = `SELECT NULL::DOUBLE AS size, NULL::INTEGER AS rooms, NULL::BOOLEAN AS new, NULL::VARCHAR AS place, NULL::DATE AS day, NULL::TIMESTAMP AS moment`
  for (const table of [missing, 'SELECT NULL::DOUBLE AS size', 'SELECT NULL::BOOLEAN AS new'])
    expect((await ledger.select(`SELECT m.price FROM (${table}) AS t JOIN shop.prices AS m`)).data).toEqual([[direct('price', {}).out[0]]])
})

test('classes come as labels, with a probability each', async () => {
  const { data } = await ledger.select(
    `SELECT t.size, m.tier, m.tier_confidence, m.tier_explain FROM files.homes AS t JOIN shop.tiers AS m LIMIT 20`,
  )
  for (const [, label, confidence, explain] of data) {
    expect(['high', 'low']).toContain(label)
    const parsed = JSON.parse(String(explain)) as Record<string, number>
    expect(parsed[`probability_class_${String(label)}`]).toBe(confidence)
    expect((parsed['probability_class_high'] ?? 0) + (parsed['probability_class_low'] ?? 0)).toBeCloseTo(1)
  }
})

test.each([
  ['price_confidence', { predictPoints: 240, predictBatch: 0 }],
  ['price_max', { predictPoints: 0, predictBatch: 240 }],
  ['price_anomaly', { predictPoints: 0, predictBatch: 240 }],
  ['price_explain', { predictPoints: 0, predictBatch: 240 }],
])('bounds are computed where they are shown, and change no other number: %s', async (column, counts) => {
  const joined = 'FROM files.homes AS t JOIN shop.prices AS m'
  const { data: both } = await ledger.select(`SELECT m.price, m.price_min ${joined}`)
  counted.predictPoints = counted.predictBatch = 0
  const { data } = await ledger.select(`SELECT m.price, m.${column} ${joined}`)
  expect(counted).toEqual(counts)
  expect(data.map(([price]) => price)).toEqual(both.map(([price]) => price))
})

test('bounds that are not shown are not computed for many rows either', async () => {
  counted.predictPoints = counted.predictBatch = 0
  const many = '(SELECT a.* REPLACE (row_number() OVER () AS size) FROM files.homes AS a, files.homes AS b)'
  const { data } = await ledger.select(`SELECT count(m.price) AS n FROM ${many} AS t JOIN shop.prices AS m`)
  expect(data).toEqual([[57_600]])
  expect(counted.predictPoints).toBeGreaterThanOrEqual(57_600)
  expect(counted.predictBatch).toBe(0)
})

test.each([
  ['m.tier', { predictPoints: 240, predictBatch: 0 }],
  ['m.tier, m.tier_min, m.tier_anomaly', { predictPoints: 240, predictBatch: 0 }],
  ['m.tier, m.tier_explain', { predictPoints: 0, predictBatch: 240 }],
])('a classifier gives the probabilities of all classes only where they are shown: %s', async (columns, counts) => {
  const plain = await ledger.select('SELECT m.tier, m.tier_explain FROM files.homes AS t JOIN shop.tiers AS m')
  counted.predictPoints = counted.predictBatch = 0
  const { data } = await ledger.select(`SELECT ${columns} FROM files.homes AS t JOIN shop.tiers AS m`)
  expect(counted).toEqual(counts)
  expect(data.map(([tier]) => tier)).toEqual(plain.data.map(([tier]) => tier))
})

test('rows given in WHERE give the same, and are told to be recorded', async () => {
  const { data, served } = await ledger.select(
    `SELECT price, price_min FROM shop.prices WHERE size = 12.5 AND rooms = 3 AND new = true AND place = 'b' AND day = '2024-02-03'`,
  )
  const { out } = direct('price', { size: 12.5, rooms: 3, new: true, place: 'b', day: '2024-02-03' })
  expect(data).toEqual([[out[0], out[2]]])
  expect(served?.[0]?.rows[0]).toEqual({
    input: { size: 12.5, rooms: 3, new: true, place: 'b', day: '2024-02-03' },
    output: { value: out[0], confidence: out[1], min: out[2], max: out[3] },
  })
})

describe('rows given in WHERE that take long', () => {
  const sql = `SELECT price FROM shop.prices WHERE rooms IN (${Array.from({ length: 30 }, (_, i) => i).join(', ')})`
  const takeLong = () => {
    for (const end = performance.now() + 5; performance.now() < end;);
  }
  afterEach(() => {
    onBatch = () => undefined
  })

  test('are predicted in several turns', async () => {
    let turn = 0
    const seen = new Set<number>()
    const timer = setInterval(() => turn++, 1)
    onBatch = () => {
      takeLong()
      seen.add(turn)
    }
    await ledger.select(sql).finally(() => clearInterval(timer))
    expect(seen.size).toBeGreaterThan(2)
  })

  test('end soon after their query is stopped', async () => {
    const stopped = new AbortController()
    let rows = 0
    onBatch = () => {
      takeLong()
      if (++rows === 10) stopped.abort()
    }
    await expect(ledger.frames(sql, {}, stopped.signal).next()).rejects.toMatchObject({ title: 'The query was stopped' })
    expect(rows).toBe(10)
  })
})

test.each([
  `SELECT price FROM shop.prices WHERE size = 'large'`,
  `SELECT m.price FROM (SELECT 'large' AS size) AS t JOIN shop.prices AS m`,
  `SELECT price FROM shop.prices WHERE day = 'tomorrow'`,
])('a value that does not fit is refused: %s', async (statement) => {
  await expect(ledger.select(statement)).rejects.toMatchObject({ detail: expect.stringMatching(/large|tomorrow/) })
})
