import { DuckDBDecimalType, DuckDBListType, DuckDBStructType, type DuckDBConnection, type DuckDBType, type Json } from '@duckdb/node-api'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { someAtOnce } from '../../../src/basics/concurrency/some-at-once.js'
import { queries } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { duck } from '../../support/connections/answers.js'
import { temporaryDirectory } from '../../support/service.js'

const shop = new AgentShop()
const place = temporaryDirectory()
/** A database of SQLite: the test and the service read it side by side. */
const plant = new Database(join(place.path, 'plant.db'))

/** Ten schemas: a fact table and one that it refers to, with types and names that differ, and a view over both. */
const schemas = Array.from({ length: 10 }, (_, n) => {
  const [fact, dimension, view] = [`fact_${n}`, n % 2 === 0 ? `kinds_${n}` : `Kinds of ${n}`, `joined_${n}`]
  const amount = ['i * 1.25', 'CAST(i * 3 AS DECIMAL(12, 2))', 'i * i', 'CAST(i AS HUGEINT) * 1000000007', 'sqrt(i)'][n % 5] ?? 'i'
  const day = n % 3 === 0 ? `DATE '2026-01-01' + CAST(i AS INTEGER)` : `TIMESTAMP '2026-01-01 10:00:00' + to_hours(i)`
  return {
    ...{ n, fact, dimension, view },
    create: [
      `CREATE TABLE files.${fact} AS (SELECT i AS id, i % ${n + 3} AS kind, ${amount} AS amount, ${day} AS "day ${n}", CASE WHEN i % 7 = 0 THEN NULL ELSE 'note ' || i END AS note FROM range(${60 + n * 10}) AS t(i))`,
      `CREATE TABLE files."${dimension}" AS (SELECT i AS kind, ['red', 'blue', 'grün', 'it''s', '🙂'][i % 5 + 1] AS label FROM range(${n + 3}) AS t(i))`,
      `CREATE VIEW shop.${view} AS (SELECT f.*, k.label FROM files.${fact} AS f JOIN files."${dimension}" AS k ON k.kind = f.kind)`,
    ],
  }
})
type Schema = (typeof schemas)[number]

const asked: readonly ((schema: Schema) => string)[] = [
  ({ fact }) => `SELECT count(*) AS n FROM files.${fact}`,
  ({ fact }) => `SELECT kind, sum(amount) AS total FROM ${fact} GROUP BY kind ORDER BY kind`,
  ({ fact, dimension }) =>
    `SELECT k.label, max(f.amount) AS most FROM files.${fact} f JOIN files."${dimension}" k USING (kind) GROUP BY ALL ORDER BY ALL`,
  ({ view }) => `SELECT label, count(*) FROM shop.${view} WHERE note IS NOT NULL GROUP BY label ORDER BY label`,
  ({ fact, n }) => `SELECT id, "day ${n}", note FROM files.${fact} ORDER BY amount DESC, id LIMIT 12`,
  ({ fact, n }) =>
    `WITH d AS (SELECT date_trunc('week', "day ${n}") AS week, amount FROM files.${fact}) SELECT week, avg(amount) FROM d GROUP BY week ORDER BY week`,
  ({ view }) =>
    `SELECT id, label, row_number() OVER (PARTITION BY label ORDER BY id DESC) AS place FROM shop.${view} QUALIFY place <= 2 ORDER BY label, place`,
  ({ fact }) => `SELECT id FROM files.${fact} WHERE amount > (SELECT avg(amount) FROM files.${fact}) ORDER BY id`,
  ({ fact, dimension }) =>
    `SELECT label, list(id ORDER BY id)[:3] AS first, {'n': count(*)} AS s FROM files.${fact} NATURAL JOIN files."${dimension}" GROUP BY label ORDER BY label`,
  ({ fact }) =>
    `SELECT note FROM files.${fact} WHERE note LIKE '%1' UNION SELECT CAST(id AS VARCHAR) FROM files.${fact} WHERE id < 3 ORDER BY 1`,
]

/** A DuckDB of the test itself with the same tables and views: what it answers owes nothing to this service. */
let alone: DuckDBConnection

/** A value of DuckDB as an answer has it: a number where JavaScript keeps it. */
const cellOf = (value: Json, type: DuckDBType): Json => {
  if (value === null) return null
  if (type instanceof DuckDBListType && Array.isArray(value)) return value.map((item) => cellOf(item, type.valueType))
  if (type instanceof DuckDBStructType && typeof value === 'object')
    return Object.fromEntries(type.entryNames.map((name, i) => [name, cellOf((value as Record<string, Json>)[name]!, type.entryTypes[i]!)]))
  if (type instanceof DuckDBDecimalType) return Number(value)
  if (typeof value !== 'string') return value
  if (String(type) === 'TIMESTAMP') return `${value}.000000`
  const isNumber = /INT$|^DOUBLE$/.test(String(type))
  return isNumber && (!/^-?\d+$/.test(value) || Number.isSafeInteger(Number(value))) ? Number(value) : value
}

/** What DuckDB itself answers to a query. */
const answerAlone = async (query: string) => {
  const reader = await alone.runAndReadAll(query)
  const types = reader.columnTypes()
  // The service names a column that has no name as the public one does.
  const columns = reader.columnNames().map((name) => name.replace(/^(count|avg)(?:_star)?\(.*\)$/, '$1_0'))
  return { columns, rows: reader.getRowsJson().map((row) => row.map((value, i) => cellOf(value, types[i]!))) }
}

beforeAll(async () => {
  const rows = 'WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199) SELECT i, i % 4, i * 1.25'
  plant.exec('CREATE TABLE kinds (id INTEGER, label TEXT); CREATE TABLE orders (id INTEGER, kind INTEGER, amount REAL, note TEXT)')
  plant.exec(`INSERT INTO kinds VALUES (0, 'red'), (1, 'grün'), (2, 'it''s'), (3, NULL)`)
  plant.exec(`INSERT INTO orders ${rows}, CASE WHEN i % 7 = 0 THEN NULL ELSE 'note ' || i END FROM n`)
  await shop.start({ CONNECTION_FILES: place.path })
  await shop.run(`CREATE DATABASE plant WITH ENGINE = 'sqlite', PARAMETERS = {"path": "plant.db"}`)
  alone = await duck()
  for (const schema of ['files', 'shop']) await alone.run(`CREATE SCHEMA ${schema}`)
  await alone.run("SET search_path = 'files'")
  for (const { create } of schemas)
    for (const statement of create) {
      await shop.run(statement)
      await alone.run(statement)
    }
  await shop.agent('analyst', { data: { tables: ['files.*', 'shop.*'] } })
  await shop.agent('clerk', { data: { tables: ['plant.*'] } })
})
afterAll(async () => {
  await shop.stop()
  alone.closeSync()
  plant.close()
  place.remove()
})

test('for a hundred questions over ten schemas an answer has exactly the rows that the query gives, over REST, as a stream and in SQL', async () => {
  const questions = schemas.flatMap((schema) => asked.map((query) => query(schema)))
  expect(questions).toHaveLength(100)
  shop.model.script = queries((question) => question)
  await someAtOnce(questions, 6, async (query) => {
    const expected = [{ sql: query, ...(await answerAlone(query)), cut: false }]
    expect(expected[0]?.rows).not.toEqual([])
    const { body } = await shop.ask('analyst', query)
    expect(body).toMatchObject({ outcome: 'answered', sql: [query], data: expected })
    const [[context] = []] = await shop.run(`SELECT context FROM shop.analyst WHERE question = '${query.replaceAll("'", "''")}'`)
    expect(JSON.parse(String(context))).toMatchObject({ outcome: 'answered', queries: expected })
    const frames = await shop.stream('analyst', query)
    expect(frames.find((frame) => frame.type === 'answer')).toMatchObject({ outcome: 'answered', data: expected })
  })
  const recorded = await shop.answers(300)
  expect(recorded.map(({ outcome }) => outcome)).toEqual(Array(300).fill('answered'))
})

test.each([
  'SELECT count(*) AS n FROM plant.orders',
  'SELECT count(*) AS n FROM orders WHERE note IS NULL',
  'SELECT kind, count(*) AS n, sum(amount) AS total FROM plant.orders GROUP BY kind ORDER BY kind',
  `SELECT id, amount, note FROM plant.orders WHERE note LIKE '%1' AND amount > 30 ORDER BY id DESC LIMIT 7`,
  'SELECT k.label, max(o.amount) AS most FROM plant.orders AS o JOIN plant.kinds AS k ON k.id = o.kind GROUP BY k.label ORDER BY most',
  'SELECT id FROM plant.orders WHERE amount > (SELECT avg(amount) FROM plant.orders) ORDER BY id',
  'WITH o AS (SELECT kind, row_number() OVER (PARTITION BY kind ORDER BY id DESC) AS place, id FROM plant.orders) SELECT * FROM o WHERE place <= 2 ORDER BY id',
])('an answer over a connected database has exactly the rows that the database itself gives: %s', async (query) => {
  const itself = plant.prepare(query.replaceAll('plant.', '')).raw()
  const expected = [{ sql: query, columns: itself.columns().map(({ name }) => name), rows: itself.all(), cut: false }]
  expect(expected[0]?.rows).not.toEqual([])
  shop.model.script = queries((question) => question)
  expect((await shop.ask('clerk', query)).body).toMatchObject({ outcome: 'answered', sql: [query], data: expected })
  const [[context] = []] = await shop.run(`SELECT context FROM shop.clerk WHERE question = '${query.replaceAll("'", "''")}'`)
  expect(JSON.parse(String(context))).toMatchObject({ outcome: 'answered', queries: expected })
  expect((await shop.stream('clerk', query)).find(({ type }) => type === 'answer')).toMatchObject({ outcome: 'answered', data: expected })
})

test('an agent with many tables is told those that fit the question, and may ask for others', async () => {
  for (let i = 0; i < 60; i++) await shop.run(`CREATE VIEW shop.report_${i} AS (SELECT ${i} AS value_${i})`)
  await shop.run('CREATE VIEW shop.warehouse_stock AS (SELECT 7 AS pallets)')
  await shop.agent('reader', { data: { tables: ['shop.*'] } })
  shop.model.asked.length = 0
  shop.model.script = (request) => {
    const results = request.messages.filter(({ role }) => role === 'tool')
    return results.length === 0
      ? { toolCalls: [{ name: 'describe_tables', arguments: '{"tables": ["shop.report_59", "shop.nope"]}' }] }
      : 'Seven.'
  }
  const warnings: Error[] = []
  const warned = (warning: Error) => warnings.push(warning)
  process.on('warning', warned)
  await shop.ask('reader', 'How many pallets are in stock at the warehouse?')
  process.off('warning', warned)
  const [first, second] = shop.model.asked
  const prompt = JSON.stringify(first?.messages[0])
  expect(prompt).toMatch(/table shop\.warehouse_stock\\n *\\"pallets\\" INTEGER/)
  expect(prompt).toContain('shop.report_59')
  expect(prompt).not.toContain('value_59')
  expect(first?.tools?.map((tool) => (tool as { function: { name: string } }).function.name)).toEqual(['sql', 'describe_tables'])
  expect(JSON.stringify(second?.messages.at(-1))).toMatch(/value_59\\" INTEGER[^]*There is no table shop\.nope/)
  // Forty tables are read at the same time: Node would warn of so many listeners on one signal.
  expect(warnings).toEqual([])
})

test('an answer keeps at most a thousand rows of a query and says so, the model sees thirty, and long numbers lose no digit', async () => {
  shop.model.script = queries((question) => question)
  const ask = async (query: string) => (await shop.ask('analyst', query)).body as { data: { rows: unknown[][]; cut: boolean }[] }
  const long = await ask('SELECT a.id FROM files.fact_9 AS a, files.fact_9 AS b ORDER BY a.id')
  expect([long.data[0]?.rows.length, long.data[0]?.cut]).toEqual([1_000, true])
  expect(JSON.stringify(shop.model.asked.at(-1)?.messages.at(-1))).toContain('more than 1000 rows; the first 30 are shown')
  expect(
    (
      await ask(
        'SELECT 9007199254740993 AS a, 0.1 AS b, -12345678901234567890 AS c, [9007199254740993] AS d, 5.0 AS e, 12345678901234.567 AS f',
      )
    ).data[0]?.rows,
  ).toEqual([['9007199254740993', 0.1, '-12345678901234567890', ['9007199254740993'], 5, '12345678901234.567']])
})
