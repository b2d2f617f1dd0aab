import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { limits } from '../../../../src/basics/limits.js'
import { freePort, mindledger } from '../../../support/cli.js'
import { onnxBytes } from '../../../support/models/onnx-models.js'
import { settled, uploadRentals } from '../../../support/models/rentals.js'
import { restartable, send, sql } from '../../../support/service.js'

const at = restartable()
let url: string
let environment: Record<string, string>

const rentals = 'FROM files (SELECT * FROM rentals)'
const price = `${rentals} PREDICT rental_price USING`
/** Each model by its name: how it is made, what it predicts, and the rows that it is asked for. */
const models = {
  auto: { made: `${price} preset = 'fast'`, target: 'rental_price', asked: 'homes' },
  trees: { made: `${price} engine = 'boosted_trees', preset = 'fast', confidence = 0.8`, target: 'rental_price', asked: 'homes' },
  line: { made: `${price} engine = 'linear'`, target: 'rental_price', asked: 'homes' },
  mean: { made: `${price} engine = 'constant'`, target: 'rental_price', asked: 'homes' },
  place: { made: `${rentals} PREDICT location USING preset = 'fast', class_weights = 'balanced'`, target: 'location', asked: 'homes' },
  placed: { made: `${rentals} PREDICT location USING engine = 'linear'`, target: 'location', asked: 'homes' },
  series: { made: 'FROM files (SELECT * FROM days) PREDICT sold ORDER BY day GROUP BY shop HORIZON 7', target: 'sold', asked: 'dates' },
  imported: { made: "PREDICT price USING engine = 'onnx', file = 'rent'", target: 'price', asked: 'flats' },
  graded: { made: "PREDICT grade USING engine = 'onnx', file = 'grade'", target: 'grade', asked: 'flats' },
} as const
type Name = keyof typeof models
const names = Object.keys(models) as Name[]
const isClasses = (name: Name) => ['place', 'placed', 'graded'].includes(name)

const run = async (statement: string): Promise<unknown[][]> => {
  const { error_message, data } = await sql(url, statement)
  expect(error_message).toBeUndefined()
  return data
}

beforeAll(async () => {
  environment = { DATA_DIR: at.path, PORT: String(await freePort()) }
  url = await at.start(environment)
  await uploadRentals(url)
  for (const name of ['rent', 'grade'])
    await send(url, 'PUT', `/api/files/${name}`, new Uint8Array(onnxBytes(name)), { 'content-type': 'application/x-onnx' })
  // Numbers that no short text says, what is missing, and what no model has seen.
  const odd = `CASE WHEN i % 7 = 3 THEN NULL ELSE 300 + i * 70 / 3 END`
  await run(`CREATE TABLE files.homes (SELECT i AS id, ${odd} AS sqft, ['good', 'poor', 'odd', NULL][i % 4 + 1] AS location, i % 5 / 3 AS rooms
    FROM range(40) AS t(i))`)
  await run(`CREATE TABLE files.flats (SELECT i AS id, 20 + i * 7 / 3 AS sqft, i * 3 AS age, ['centre', 'north', 'odd'][i % 3 + 1] AS district
    FROM range(40) AS t(i))`)
  const dates = "DATE '2024-01-01' + CAST(i AS INTEGER) AS day, shop"
  await run(
    `CREATE TABLE files.days (SELECT ${dates}, (5 + i % 7) * shop + sin(i * i) AS sold FROM range(60) AS t(i), range(1, 4) AS s(shop))`,
  )
  await run(`CREATE TABLE files.dates (SELECT row_number() OVER () AS id, ${dates} FROM range(60, 67) AS t(i), range(1, 4) AS s(shop))`)
  for (const name of names) {
    await run(`CREATE MODEL ${name} ${models[name].made}`)
    expect([name, await settled(url, name)]).toEqual([name, 'complete'])
  }
})
afterAll(() => at.remove())

/** What a model answers to rows, as columns that all models have: the value as a number or a label. */
const shown = (name: Name): string => {
  const { target } = models[name]
  const value = isClasses(name) ? `NULL AS value, m.${target} AS label` : `m.${target} AS value, NULL AS label`
  return `${value}, m.${target}_confidence AS confidence, m.${target}_min AS least, m.${target}_max AS most`
}
const joined = (name: Name): string =>
  `SELECT '${name}' AS model, t.id AS id, ${shown(name)} FROM files.${models[name].asked} AS t JOIN ${name} AS m`

/** The same over REST, in the order of the rows. */
const answered = async (name: Name): Promise<unknown[][]> => {
  const { target, asked } = models[name]
  const { column_names, data } = await sql(url, `SELECT * FROM files.${asked} ORDER BY id`)
  // What is predicted would be taken for the truth.
  const isInput = (column: string) => !['id', target].includes(column)
  const inputs = data.map((cells) => {
    const row: Record<string, unknown> = {}
    for (const [i, column] of column_names.entries()) if (isInput(column)) row[column] = cells[i]
    return row
  })
  const { status, body } = await send(url, 'POST', `/api/projects/mindsdb/models/${name}/predict`, inputs)
  expect([status, Array.isArray(body)]).toEqual([200, true])
  return (body as Record<string, unknown>[]).map((answer, i) => {
    const value = answer[target]
    const rest = ['confidence', 'min', 'max'].map((suffix) => answer[`${target}_${suffix}`])
    return [name, data[i]?.[column_names.indexOf('id')], ...(isClasses(name) ? [null, value] : [value, null]), ...rest]
  })
}

test.each(names)('%s says the same over REST and in SQL, to the last bit', async (name) => {
  const rest = await answered(name)
  expect(rest.length).toBeGreaterThan(20)
  expect(await run(`${joined(name)} ORDER BY id`)).toEqual(rest)
})

test('and on the command line, for all of them in one statement', async () => {
  const query = `${names.map(joined).join(' UNION ALL ')} ORDER BY model, id`
  const { code, out } = await mindledger(['sql', query], environment)
  expect(code).toBe(0)
  const rest = (await Promise.all(names.map(answered))).flat()
  const told = out
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const text = (cell: unknown) => (cell === null ? 'NULL' : typeof cell === 'string' ? cell : JSON.stringify(cell))
  const inOrder = [...rest].sort(([a], [b]) => (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0))
  expect(told).toEqual(inOrder.map((cells) => cells.map(text)))
})

test('and where more rows are scored than inside a query', async () => {
  const many = `SELECT * FROM files.homes UNION ALL SELECT 1000 + i, i / 7, NULL, i FROM range(${limits.modelInsideMaxRows}) AS t(i)`
  const query = joined('line').replace('files.homes AS t', `(${many}) AS t`)
  expect(await run(`SELECT * FROM (${query}) AS s WHERE id < 1000 ORDER BY id`)).toEqual(await answered('line'))
})
