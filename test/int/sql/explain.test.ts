import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { tmpdir } from 'node:os'
import { sql as sqlOf, startTestService, type SqlReply } from '../../support/service.js'
import type { TestLedger } from '../../support/log/ledger.js'
import { shopLedger } from '../../support/sql/shop.js'

let ledger: TestLedger
let service: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.lock()
  service = await startTestService()
})
afterAll(async () => {
  await service.stop()
  await ledger.close()
})

const explained = async (sql: string, analyze = false) => {
  const { names, data } = await ledger.select(sql, { wanted: { kind: 'plan', analyze } })
  expect(names).toEqual(['section', 'text'])
  const of = (section: string) => data.filter(([of]) => of === section).map(([, text]) => String(text))
  return { sql: of('sql'), tables: of('table'), models: of('model'), plan: of('plan'), all: JSON.stringify(data) }
}
const run = (query: string): Promise<SqlReply> => sqlOf(service.url, query)

describe('EXPLAIN of a query', () => {
  test('shows it with the names of tables, clause by clause, and the plan', async () => {
    const { sql, tables, plan } = await explained('SELECT location, count(*) FROM files.rentals WHERE sqft > 310 GROUP BY 1')
    expect(sql).toEqual(['SELECT location, count_star() AS count_0', 'FROM files.rentals AS rentals', 'WHERE (sqft > 310)', 'GROUP BY 1'])
    expect(tables).toEqual([expect.stringMatching(/^files\.rentals: content [0-9a-f]{64}$/)])
    expect(plan[0]).toMatch(/^HASH_GROUP_BY/)
    expect(plan.at(-1)).toMatch(/^ +READ_PARQUET.*filters: sqft>310.*about \d+ rows$/)
  })

  test('says as of which position resources are read, and expands views', async () => {
    expect((await explained('SELECT name FROM agents AT (VERSION => 9)')).tables).toEqual(['shop.agents: as of position 9'])
    const { sql, tables } = await explained('WITH w AS (SELECT * FROM v2) SELECT * FROM w')
    expect(sql.join('\n')).toMatch(/^WITH w AS .*FROM files\.rentals AS rentals WHERE .*FROM w AS w$/s)
    expect(tables).toContain('shop.v2: a view, expanded')
  })

  test('names models with their versions, and says where they score', async () => {
    const { sql, models } = await explained('SELECT r.sqft, m.rental_price FROM files.rentals AS r JOIN rent.1 AS m')
    expect(models).toEqual([expect.stringMatching(/^shop\.rent version 1: up to 20000 rows are scored inside the query/)])
    expect(sql.join('\n')).toContain('"shop.rent.1"(')
  })

  test('with ANALYZE runs it and says what each step took', async () => {
    const { plan } = await explained('SELECT sum(i) FROM range(1000) AS t(i) WHERE i > 9', true)
    expect(plan[0]).toMatch(/ ms in all$/)
    expect(plan.join('\n')).toMatch(/990 rows.* ms/)
    const many =
      'SELECT max(m.rental_price) FROM (SELECT sqft + 100 * i AS sqft, location, rooms FROM files.rentals, range(1000) AS n(i)) AS r JOIN rent AS m'
    expect((await explained(many, true)).models).toEqual(['shop.rent version 2: 60000 rows scored before the query'])
  })

  test('with ANALYZE says that nothing was measured where statistics answer', async () => {
    expect((await explained('SELECT count(*) FROM files.rentals', true)).plan).toEqual([
      'no steps were measured: the answer is known without reading rows',
    ])
  })

  test.each([
    'SELECT * FROM agents JOIN skills USING (name)',
    'SELECT rental_price FROM rent WHERE sqft = 400',
    'SELECT count(*) FROM log.events',
    'WITH a AS (SELECT 1 AS x) SELECT * FROM a',
    'SELECT max(m.rental_price) FROM (SELECT sqft + 100 * i AS sqft, location, rooms FROM files.rentals, range(1000) AS n(i)) AS r JOIN rent AS m',
  ])('shows no name of the inside: %s', async (sql) => {
    for (const analyze of [false, true]) {
      const { all } = await explained(sql, analyze)
      expect(all).not.toMatch(/ledger|blobs/)
      expect(all).not.toContain(tmpdir())
    }
  })

  test('fails where the query does', async () => {
    await expect(explained('SELECT nope FROM skills')).rejects.toMatchObject({ extras: { line: 1, column: 8 } })
    await expect(explained('SELECT CAST(location AS INT) FROM files.rentals', true)).rejects.toMatchObject({ extras: { column: 8 } })
  })
})

describe('EXPLAIN over SQL', () => {
  test('answers a table, and counts places in the whole statement', async () => {
    const reply = await run('EXPLAIN SELECT count(*) FROM agents')
    expect(reply).toMatchObject({ type: 'table', column_names: ['section', 'text'] })
    expect(reply.data[0]).toEqual(['sql', 'SELECT count_star() AS count_0'])
    expect((await run('EXPLAIN ANALYZE\nSELECT nope FROM agents')).error_message).toContain('line 2, column 8')
  })

  test('of a statement that writes shows the command, carries nothing out and shows no secret', async () => {
    const before = (await service.service.head()).position
    const reply = await run("EXPLAIN CREATE AGENT a USING model = 'm', openai_api_key = 'sk-hidden', prompt_template = 'x'")
    expect(reply.data[0]).toEqual(['command', 'CreateAgent'])
    expect(JSON.parse(String(reply.data[1]?.[1]))).toMatchObject({ agent: 'a', params: { openai_api_key: '******', prompt_template: 'x' } })
    const job = await run('EXPLAIN CREATE JOB j (SELECT 1; SELECT 2;) EVERY day')
    expect(JSON.parse(String(job.data[1]?.[1]))).toMatchObject({ statements: 'SELECT 1;\nSELECT 2' })
    expect((await run('EXPLAIN DROP VIEW a, b')).data.map(([section]) => section)).toEqual(['command', 'data', 'command', 'data'])
    expect((await service.service.head()).position).toBe(before)
  })

  test.each([
    ['EXPLAIN SHOW TABLES', 'EXPLAIN SELECT'],
    ['EXPLAIN CREATE TABLE files.t (SELECT 1)', 'explain its query'],
    ['EXPLAIN EXPLAIN SELECT 1', 'EXPLAIN SELECT'],
    ['EXPLAIN DELETE FROM files.t', 'EXPLAIN SELECT'],
  ])('%s says what can be explained', async (query, reason) => expect((await run(query)).error_message).toContain(reason))
})

describe('a connection', () => {
  beforeAll(async () => {
    for (const engine of ['postgres', 'mysql', 'slack'])
      await run(`CREATE DATABASE my_${engine} WITH ENGINE = '${engine}', PARAMETERS = {"host": "127.0.0.1", "port": 1, "user": "u"}`)
  })

  test.each([
    ['SELECT * FROM my_postgres.orders', '127.0.0.1', 15],
    ['SELECT * FROM my_mysql.db.orders', '127.0.0.1', 15],
    ['SELECT o.id FROM agents AS a JOIN my_postgres.orders AS o ON TRUE', '127.0.0.1', 35],
    ['SELECT * FROM my_postgres (SELECT 1 FROM orders)', '127.0.0.1', 15],
    ['SELECT * FROM `my_postgres` (show tables) AS t', '127.0.0.1', 15],
    ['SELECT * FROM my_slack.messages', 'my_slack is a connection to slack, which has no tables', 15],
    ['SELECT * FROM my_slack (messages)', 'my_slack is a connection to slack, which has no tables', 15],
  ])('%s says what is missing', async (query, reason, column) => {
    const { error_message: message } = await run(query)
    expect(message).toContain(reason)
    expect(message).toContain(`line 1, column ${column}`)
  })
})
