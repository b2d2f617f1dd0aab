import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { described } from '../../support/agents/described.js'
import { contentOf } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { send, temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

const shop = new AgentShop()
const place = temporaryDirectory()

beforeAll(async () => {
  const lite = new Database(join(place.path, 'lots.db'))
  const rows = (most: number) =>
    `WITH n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < ${most - 1}) SELECT i AS id, CASE WHEN i < ${most / 4} THEN 'open' ELSE 'closed' END AS status FROM n`
  lite.exec(`CREATE TABLE lots AS ${rows(2_000)}; CREATE TABLE few AS ${rows(20)}`)
  lite.close()
  await shop.start({ CONNECTION_FILES: place.path })
  await shop.run(`CREATE DATABASE plant WITH ENGINE = 'sqlite', PARAMETERS = {"path": "lots.db"}`)
  await shop.run(`CREATE TABLE files.lot (SELECT i AS id, CASE WHEN i < 500 THEN 'open' ELSE 'closed' END AS status FROM range(2000) t(i))`)
  await shop.run('CREATE VIEW shop.lots AS (SELECT * FROM files.lot)')
  await shop.run('CREATE VIEW shop.few AS (SELECT * FROM files.lot WHERE id BETWEEN 490 AND 510)')
  await shop.run('CREATE VIEW shop.most AS (SELECT * FROM plant.lots)')
})
afterAll(async () => {
  await shop.stop()
  place.remove()
})

test('values are given as all of a column only where all rows were read; else the prompt calls them some', async () => {
  await shop.agent('keeper', {
    data: { tables: ['files.lot', 'shop.lots', 'shop.few', 'shop.most', 'plant.lots', 'plant.few'] },
  })
  type Plan = {
    schema: { name: string; columns: { name: string; values: string[]; some_values?: string[] }[] }[]
    messages: { role: string; content: string }[]
  }
  const planned = async () => {
    const messages = [{ role: 'user', content: 'Is any lot closed?' }]
    return (await send(shop.url, 'POST', `${shop.path('keeper')}?dry_run=true`, { messages })).body as Plan
  }
  await described(shop.url, shop.path('keeper'))
  // On a busy machine all values of the file may come too late, as its first rows may.
  const isFile = ({ name }: { name: string }) => name === 'files.lot'
  await until(async () => (await planned()).schema.find(isFile)?.columns.some(({ values }) => values.length > 0) === true)
  const { schema, messages } = await planned()
  const said = schema.map(({ name, columns }) => {
    const { values, some_values } = columns.find((column) => column.name === 'status') ?? {}
    return [name, values, some_values]
  })
  const all = ['closed', 'open']
  expect(Object.fromEntries(said.map(([name, ...rest]) => [name, rest]))).toEqual({
    'files.lot': [all, undefined],
    'shop.lots': [[], ['open']],
    'shop.few': [all, undefined],
    'shop.most': [[], ['open']],
    'plant.lots': [[], ['open']],
    'plant.few': [all, undefined],
  })
  const prompt = contentOf(messages[0] as never)
  const lines = prompt.split('\n').filter((line) => line.startsWith('  "status"'))
  expect(lines).toEqual([
    '  "status" VARCHAR, values: "closed", "open"',
    '  "status" VARCHAR, some values: "open"',
    '  "status" VARCHAR, values: "closed", "open"',
    '  "status" VARCHAR, some values: "open"',
    '  "status" VARCHAR, some values: "open"',
    '  "status" VARCHAR, values: "closed", "open"',
  ])
  expect(prompt).toContain('"some values" are those of the first rows alone')
})

test('the codes of a column of whole numbers are told in digits, but no ids, and none of many values', async () => {
  const codes = 'i % 3 * 5 - 5 AS code, CASE WHEN i % 2 = 0 THEN CAST(12 AS UTINYINT) ELSE NULL END AS half, i % 13 AS many'
  await shop.run(`CREATE TABLE files.coded (SELECT i AS id, ${codes} FROM range(500) AS t(i))`)
  await shop.run(`CREATE TABLE files.coded_few (SELECT i AS id, ${codes} FROM range(9) AS t(i))`)
  await shop.run('CREATE VIEW shop.coded_all AS (SELECT * FROM files.coded)')
  await shop.run('CREATE VIEW shop.coded_some AS (SELECT * FROM files.coded_few)')
  await shop.agent('coder', { data: { tables: ['files.coded', 'files.coded_few', 'shop.coded_all', 'shop.coded_some'] } })
  const prompt = async () => {
    const messages = [{ role: 'user', content: 'Which code?' }]
    const { body } = await send(shop.url, 'POST', `${shop.path('coder')}?dry_run=true`, { messages })
    return contentOf((body as { messages: { content: string }[] }).messages[0] ?? { content: '' })
  }
  await described(shop.url, shop.path('coder'))
  await until(async () => (await prompt()).match(/"code" \w+, /g)?.length === 4)
  const said = await prompt()
  const linesOf = (table: string) => new RegExp(`table ${table}\\n((?:  "\\w+" .*\\n)+)`).exec(said)?.[1]?.trimEnd().split('\n')
  const types = { id: '  "id" BIGINT', many: '  "many" BIGINT' }
  const all = [types.id, '  "code" BIGINT, values: -5, 0, 5', '  "half" UTINYINT, values: 12', types.many]
  expect(linesOf('files\\.coded')).toEqual(all)
  expect(linesOf('files\\.coded_few')).toEqual(all)
  expect(linesOf('shop\\.coded_some')).toEqual(all)
  expect(linesOf('shop\\.coded_all')).toEqual(all.map((line) => line.replace('values', 'some values')))
})

test('the comments on a table or a view in a file of DuckDB are told with it', async () => {
  const instance = await DuckDBInstance.create(join(place.path, 'told.duckdb'))
  const connection = await instance.connect()
  await connection.run(`CREATE TABLE sold (kind INTEGER); COMMENT ON TABLE sold IS 'All sales'; COMMENT ON COLUMN sold.kind IS '1: cash'`)
  await connection.run(`CREATE VIEW lately AS FROM sold; COMMENT ON VIEW lately IS 'Those of this year'; CHECKPOINT`)
  connection.disconnectSync()
  instance.closeSync()
  await shop.run(`CREATE DATABASE told WITH ENGINE = 'duckdb', PARAMETERS = {"path": "told.duckdb"}`)
  await shop.agent('teller', { data: { tables: ['told.sold', 'told.lately'] } })
  const messages = [{ role: 'user', content: 'What was sold?' }]
  let prompt = ''
  // On a busy machine the processes of the file may be too many, or too late.
  await until(async () => {
    const { body } = await send(shop.url, 'POST', `${shop.path('teller')}?dry_run=true`, { messages })
    prompt = contentOf((body as { messages: { content: string }[] }).messages[0] ?? { content: '' })
    return !/(?:could not|cannot) be read/.test(prompt)
  })
  expect(prompt).toContain('table told.sold, comment: "All sales"\n  "kind" INTEGER, comment: "1: cash"')
  expect(prompt).toContain('table told.lately, comment: "Those of this year"\n  "kind" INTEGER')
})

test('values are those of their column also if its name has a backslash', async () => {
  await shop.run("CREATE TABLE files.odd (SELECT CASE WHEN i < 500 THEN 'open' ELSE 'closed' END AS `a\\tb` FROM range(2000) AS t(i))")
  await shop.agent('reader', { data: { tables: ['files.odd'] } })
  const columns = async () => {
    const messages = [{ role: 'user', content: 'Is any lot closed?' }]
    const { body } = await send(shop.url, 'POST', `${shop.path('reader')}?dry_run=true`, { messages })
    return (body as { schema: { columns: { name: string; values: string[] }[] }[] }).schema[0]?.columns ?? []
  }
  await described(shop.url, shop.path('reader'))
  await until(async () => (await columns()).some(({ values }) => values.length > 0))
  expect(await columns()).toMatchObject([{ name: 'a\\tb', values: ['closed', 'open'] }])
})

test('rows and values of a file are no longer described once they were erased', async () => {
  await shop.run("CREATE TABLE files.people (SELECT 'planted-name' AS name)")
  await shop.run('CREATE VIEW shop.persons AS (SELECT * FROM files.people)')
  await shop.agent('registrar', { data: { tables: ['files.people', 'shop.persons'] } })
  const prompt = async () => {
    const messages = [{ role: 'user', content: 'Who?' }]
    return JSON.stringify((await send(shop.url, 'POST', `${shop.path('registrar')}?dry_run=true`, { messages })).body)
  }
  await described(shop.url, shop.path('registrar'))
  expect(await prompt()).toContain('planted-name')
  expect((await send(shop.url, 'POST', '/api/log/erasures', { file: { name: 'people' } })).status).toBe(200)
  expect(await prompt()).not.toContain('planted-name')
})
