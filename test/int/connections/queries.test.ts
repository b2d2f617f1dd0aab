import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { allRows } from '../../../src/sql/contract/answer.js'
import { readPage } from '../../../docs/generators/pages.js'
import { until } from '../../support/until.js'
import { password, startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { proxyTo, type Fault } from '../../support/connections/proxy.js'
import { comparable } from '../../support/connections/random-selects.js'
import { oldClient } from '../../support/mcp.js'
import { settled } from '../../support/models/rentals.js'
import { send, sql, startTestService } from '../../support/service.js'
import { signalTo } from '../../support/processes.js'

let postgres: Postgres
let service: Awaited<ReturnType<typeof startTestService>>

beforeAll(async () => {
  postgres = await startPostgres()
  await postgres.run(`
    CREATE TABLE homes (id int PRIMARY KEY, size int, place text, rent numeric(10,2), listed date);
    INSERT INTO homes SELECT i, 300 + i * 10, (ARRAY['good','great','poor'])[1 + i % 3], 500 + i * 12.5, date '2026-01-01' + i FROM generate_series(1, 200) AS i;
    CREATE SCHEMA shop;
    CREATE TABLE shop.orders (id bigint, home int, note text);
    INSERT INTO shop.orders VALUES (1, 3, 'a'), (2, 5, NULL), (3, 3, 'Ünïcode ✓');
    CREATE VIEW cheap AS SELECT * FROM homes WHERE rent < 600;
    CREATE TABLE alike ("A" int, a int);
    CREATE TYPE feeling AS ENUM ('sad', 'ok');
    CREATE TABLE seen (id int, mood feeling, active boolean, since timestamptz, day date);
    INSERT INTO seen VALUES (1, 'ok', true, '2026-03-01 00:30:00+01', '2026-03-01'), (2, 'sad', false, '2026-03-01 00:30:00+00', '2026-03-02'), (3, NULL, NULL, NULL, NULL)`)
  service = await startTestService()
  const { connection } = postgres
  const created = await send(service.url, 'POST', '/api/databases', {
    database: { name: 'pg', engine: 'postgres', parameters: connection().parameters },
    check_connection: true,
  })
  expect(created).toMatchObject({ status: 201, body: { name: 'pg', engine: 'postgres' } })
})
afterAll(async () => {
  await service.stop()
  await postgres.stop()
})

const ask = async (query: string, db?: string): Promise<unknown[][]> => {
  const answer = await sql(service.url, query, db)
  if (answer.type === 'error') throw new Error(answer.error_message)
  return answer.data
}

const planned = async (query: string): Promise<string> => (await ask(`EXPLAIN ${query}`)).flat().join('\n')

test('the sessions of a connection that is changed or deleted are closed, and not before', async () => {
  await postgres.run('CREATE DATABASE left_behind')
  const { parameters } = postgres.connection()
  const made = { name: 'left_behind', engine: 'postgres', parameters: { ...parameters, database: 'left_behind' } }
  await send(service.url, 'POST', '/api/databases', { database: made })
  const sessions = async () => (await postgres.run("SELECT FROM pg_stat_activity WHERE datname = 'left_behind'")).rowCount
  const use = async () => {
    expect(await ask('SELECT * FROM left_behind (SELECT 1 AS a)')).toEqual([[1]])
    await until(async () => (await sessions()) === 1)
  }
  await use()
  await ask('SELECT * FROM pg (SELECT 1 AS a)')
  expect(await sessions()).toBe(1)
  const changed = { ...made, parameters: { ...made.parameters, schema: 'public' } }
  expect((await send(service.url, 'PUT', '/api/databases/left_behind', { database: changed })).status).toBe(200)
  await until(async () => (await sessions()) === 0)
  await use()
  expect((await send(service.url, 'DELETE', '/api/databases/left_behind')).status).toBe(204)
  await until(async () => (await sessions()) === 0)
})

describe('a SELECT from a connected database', () => {
  test.each([
    ['SELECT count(*), sum(size) FROM pg.homes', [[200, 261000]]],
    ['SELECT avg(size), avg(size) / 2 AS half FROM pg.homes', [[1305, 652.5]]],
    ['SELECT avg(id) FROM pg.homes WHERE id < 0', [[null]]],
    ['SELECT avg(id) AS mean FROM pg.homes WHERE id < 4 GROUP BY place HAVING avg(id) > 1 ORDER BY mean', [[2], [3]]],
    ['SELECT place FROM pg.homes WHERE id < 4 GROUP BY place ORDER BY place', [['good'], ['great'], ['poor']]],
    ['SELECT DISTINCT place AS p FROM pg.homes WHERE id < 4 ORDER BY p DESC LIMIT 2', [['poor'], ['great']]],
    ['SELECT count(*) FROM (SELECT DISTINCT place FROM pg.homes)', [[3]]],
    ['SELECT DISTINCT place, place FROM pg.homes WHERE id = 1', [['great', 'great']]],
    ['SELECT DISTINCT avg(id) FROM pg.homes', [[100.5]]],
    [
      'SELECT avg(o.home), h.place FROM pg.homes h JOIN pg.shop.orders o ON o.home = h.id GROUP BY h.place ORDER BY 1',
      [
        [3, 'good'],
        [5, 'poor'],
      ],
    ],
    ['SELECT id, place, rent, listed FROM pg.homes WHERE id = 7', [[7, 'great', 587.5, '2026-01-08']]],
    ['SELECT h.id FROM pg.homes AS h WHERE h.id IN (3, 4) AND h.size >= 330 ORDER BY 1', [[3], [4]]],
    ['SELECT `id` FROM `pg`.`public`.`homes` WHERE "place" = \'good\' AND id < 7 ORDER BY id', [[3], [6]]],
    ['SELECT id FROM "pg"."homes" WHERE place LIKE \'gr%\' AND id BETWEEN 1 AND 5 ORDER BY id', [[1], [4]]],
    ['SELECT o.note FROM pg.shop.orders o ORDER BY o.id', [['a'], [null], ['Ünïcode ✓']]],
    ['SELECT count(*) FROM pg.shop.orders WHERE note IS NULL', [[1]]],
    ['SELECT count(*) FROM pg.cheap', [[7]]],
    [
      'SELECT place, count(*) AS n, sum(rent), min(h.id) + 1 FROM pg.homes AS h WHERE id <= 6 GROUP BY place HAVING count(*) > 1 ORDER BY place',
      [
        ['good', 2, 1112.5, 4],
        ['great', 2, 1062.5, 2],
        ['poor', 2, 1087.5, 3],
      ],
    ],
    ['SELECT count(*), max(listed), sum(size) FROM pg.homes WHERE id < 0', [[0, null, null]]],
    ['SELECT DISTINCT count(note) FROM pg.shop.orders GROUP BY home ORDER BY 1', [[0], [2]]],
    ['SELECT avg(size), sum(size + 1) FROM pg.homes WHERE id <= 2', [[315, 632]]],
    [
      'SELECT h.id, count(*) FROM pg.homes h JOIN pg.shop.orders o ON o.home = h.id GROUP BY 1 ORDER BY 1',
      [
        [3, 2],
        [5, 1],
      ],
    ],
    ['SELECT h.id FROM pg.homes h LEFT JOIN pg.shop.orders o ON o.home = h.id WHERE o.id IS NULL AND h.id < 4 ORDER BY 1', [[1], [2]]],
    ['SELECT max(id) FROM (SELECT * FROM pg.homes WHERE size > 400)', [[200]]],
    ['WITH h AS (SELECT id FROM pg.homes WHERE id <= 3) SELECT sum(id) FROM h', [[6]]],
    ['SELECT id FROM pg.homes LIMIT 0', []],
    ['SELECT id FROM pg.homes ORDER BY id DESC LIMIT 3', [[200], [199], [198]]],
    [
      'SELECT id, rent FROM pg.homes ORDER BY rent LIMIT 2 OFFSET 1',
      [
        [2, 525],
        [3, 537.5],
      ],
    ],
    ['SELECT id FROM pg.seen ORDER BY day DESC LIMIT 2', [[2], [1]]],
    ['SELECT id FROM pg.seen ORDER BY day DESC NULLS FIRST LIMIT 2', [[3], [2]]],
    ['SELECT id FROM pg.seen ORDER BY since, id LIMIT 3', [[1], [2], [3]]],
    ['SELECT id FROM pg.seen ORDER BY since NULLS FIRST LIMIT 1', [[3]]],
    ['SELECT size AS id, id AS n FROM pg.homes WHERE id < 4 ORDER BY id DESC LIMIT 1', [[330, 3]]],
    ['SELECT sum(id) FROM (SELECT id FROM pg.homes ORDER BY id DESC LIMIT 2)', [[399]]],
    ['SELECT count(*) FROM (SELECT id FROM pg.homes LIMIT 5)', [[5]]],
    [
      'SELECT * FROM pg (SELECT generate_series(1, 3) AS n, current_database() AS d)',
      [
        [1, 'postgres'],
        [2, 'postgres'],
        [3, 'postgres'],
      ],
    ],
    ['SELECT sum(n) FROM pg (SELECT 1::bigint AS n UNION ALL SELECT 2) AS t', [[3]]],
    ['SELECT pg.n FROM pg (SELECT 1 AS n)', [[1]]],
    // Names that a FROM gives to columns, and places of columns, do not say which columns are read.
    ['SELECT max(x.size + 0) FROM pg.homes AS x(size)', [[200]]],
    ['SELECT count(*), min(size) FROM pg.homes AS h(size, id, p, r, l) WHERE h.id = 310', [[1, 1]]],
    ['SELECT h.a FROM pg.homes AS h(a, b) WHERE b = 320', [[2]]],
    ['SELECT #1 FROM pg.homes WHERE size = 310', [[1]]],
    ["SELECT count(*) FROM pg.seen WHERE since < now() - INTERVAL '1 day' AND day < current_date", [[2]]],
    ["SELECT count(*) FROM pg.seen WHERE since > now() + INTERVAL '9000 days'", [[0]]],
    // A cast may round a text, or cut it off: DuckDB does it, and the text is not sent.
    ["SELECT count(*) FROM pg.seen WHERE since >= CAST('2026-03-01 00:15:00' AS DATE)", [[1]]],
    ["SELECT count(*) FROM pg.seen WHERE since < TIMESTAMP '2026-03-01 00:45:00+02'", [[2]]],
    ["SELECT count(*) FROM pg.homes WHERE rent / 1000 < CAST('0.5' AS INTEGER) AND id = 1", [[1]]],
    ["SELECT id FROM pg.seen WHERE id = 1 OR (id > 9 AND since < date_trunc('nothing', now()))", [[1]]],
    ['SELECT area FROM (SELECT *, size AS area FROM pg.homes) AS s WHERE id = 1', [[310]]],
    // A column may have the name of a word.
    ['SELECT count(*) FROM (SELECT id, day AS current_date FROM pg.seen) WHERE current_date = current_date', [[2]]],
    ['SELECT x.id FROM (SELECT id, day, day AS current_date FROM pg.seen) AS x WHERE day <= current_date ORDER BY 1', [[1], [2]]],
    ["SELECT s.id FROM pg.seen AS s JOIN (SELECT DATE '2026-03-01' AS current_date) ON true WHERE s.day = current_date", [[1]]],
    ["SELECT id FROM pg.seen WHERE since >= '2026-03-01' ORDER BY id", [[2]]],
    ["SELECT id FROM pg.seen WHERE since < '2026-03-01T00:00:00Z' ORDER BY id", [[1]]],
    ["SELECT id FROM pg.seen WHERE since < DATE '2026-03-02' AND NOT active ORDER BY id", [[2]]],
    ["SELECT id FROM pg.seen WHERE mood <> 'glad' ORDER BY mood", [[1], [2]]],
    ["SELECT count(*), max(id) FROM pg.seen WHERE mood = 'ok' AND active", [[1, 1]]],
    ['SELECT min(#1) FROM pg.homes WHERE size > 310', [[2]]],
  ] as [string, unknown[][]][])('%s', async (query, rows) => {
    expect(
      (await ask(query)).map((row) => row.map((cell) => (typeof cell === 'string' && /^\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell))),
    ).toEqual(rows)
  })

  test('names are looked up in the database that a query is sent to', async () => {
    expect(await ask('SELECT id FROM homes WHERE id = 3', 'pg')).toEqual([[3]])
    expect(await ask('SELECT count(*) FROM shop.orders', 'pg')).toEqual([[3]])
  })

  test('a SELECT that names no table is answered by the database that it is sent to', async () => {
    expect(await ask('SELECT 7 / 2', 'pg')).toEqual([[3]])
    expect(
      await ask('WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT sum(n)::int FROM t', 'pg'),
    ).toEqual([[10]])
    const [[version] = []] = await ask("SELECT split_part(version(), ' ', 1) -- of the server", 'pg')
    expect(version).toBe('PostgreSQL')
  })

  test.each([
    ['SELECT size FROM pg.homes WHERE id > 5 AND size * 2 > 100', 'SELECT "id", "size" FROM "homes" WHERE "id" >'],
    ['SELECT h.size FROM pg.homes AS h WHERE h.size * 2 > 100', 'SELECT "size" FROM "homes"'],
    ['SELECT id FROM pg.homes LIMIT 10', 'LIMIT 10'],
    // Where no value is NULL, the order is that of an index.
    ['SELECT id FROM pg.homes ORDER BY id DESC LIMIT 10', 'SELECT "id" FROM "homes" ORDER BY "id" DESC LIMIT 10'],
    ['SELECT * FROM pg.homes ORDER BY rent DESC, id LIMIT 5 OFFSET 2', 'ORDER BY "rent" DESC NULLS LAST, "id" LIMIT 7'],
    ['SELECT h.place FROM pg.homes AS h WHERE h.id > 3 ORDER BY h.listed NULLS FIRST LIMIT 2', 'ORDER BY "listed" NULLS FIRST LIMIT 2'],
    ['SELECT place, size AS id FROM pg.homes ORDER BY id LIMIT 3', 'FROM "homes" ORDER BY "size" NULLS LAST LIMIT 3'],
    ['SELECT place, size AS id FROM pg.homes AS h ORDER BY h.id, 2 LIMIT 3', 'ORDER BY "id", "size" NULLS LAST LIMIT 3'],
    [
      'SELECT id FROM (SELECT size AS id FROM pg.homes WHERE id > 9) AS s ORDER BY id DESC LIMIT 3',
      'ORDER BY "size" DESC NULLS LAST LIMIT 3',
    ],
    ['SELECT id FROM pg.seen ORDER BY since DESC LIMIT 1', 'ORDER BY "since" DESC NULLS LAST LIMIT 1'],
    ['SELECT place, count(*) AS n, sum(rent) FROM pg.homes WHERE id > 3 GROUP BY 1 HAVING n > 5 ORDER BY 1', 'sum("rent")'],
    ["SELECT h.rent FROM pg.homes h WHERE h.listed >= DATE '2026-02-01'", '"listed" >='],
    ['SELECT a FROM pg.alike', 'SELECT "A", "a" FROM "alike"'],
    ["SELECT id FROM pg.seen WHERE mood = 'ok'", 'WHERE "mood"::text = $1::text'],
    ['SELECT id FROM pg.seen WHERE active', 'WHERE "active" = $1::bool'],
    ['SELECT id FROM pg.seen WHERE NOT active LIMIT 2', 'WHERE NOT ("active" = $1::bool) LIMIT 2'],
    ["SELECT id FROM pg.seen WHERE since >= '2026-03-01'", 'WHERE "since" >= $1::timestamptz'],
    ["SELECT id FROM pg.seen WHERE since >= TIMESTAMP '2026-03-01 00:00:00'", 'WHERE "since" >= $1::timestamptz'],
    ['SELECT mood, count(*) FROM pg.seen GROUP BY mood', 'GROUP BY "mood"'],
    ['SELECT place FROM pg.homes WHERE id > 3 GROUP BY place', 'WHERE "id" > $1::int8 GROUP BY "place"'],
    ['SELECT DISTINCT place FROM pg.homes ORDER BY 1 LIMIT 2', 'count(*) AS "ledger_0" FROM "homes" GROUP BY "place"'],
    ['SELECT DISTINCT h.place FROM (SELECT * FROM pg.homes) AS h', 'GROUP BY "place"'],
    ['SELECT avg(size) FROM pg.homes', 'count("size") AS "ledger_1" FROM "homes"'],
    ['SELECT avg(rent) FROM pg.homes', 'SELECT "rent" FROM "homes"'],
    ['SELECT avg(DISTINCT size) FROM pg.homes', 'SELECT "size" FROM "homes"'],
    ['SELECT DISTINCT ON (place) id FROM pg.homes ORDER BY place, id', 'SELECT "id", "place" FROM "homes"\n'],
    ['SELECT DISTINCT size % 7 FROM pg.homes', 'SELECT "size" FROM "homes"'],
    ["SELECT id FROM pg.seen WHERE since >= CAST('2026-03-01 00:15:00' AS DATE)", 'SELECT "id", "since" FROM "seen"\n'],
    ['SELECT h.id FROM pg.homes AS h JOIN pg.shop.orders AS o ON o.home = h.id', 'SELECT "id", "home" FROM "shop"."orders"'],
    [
      'SELECT h.id FROM (SELECT * FROM information_schema.tables) AS i JOIN pg.homes AS h ON i.TABLE_NAME = h.place',
      'SELECT "id", "place" FROM "homes"',
    ],
    ["SELECT id FROM pg.seen WHERE since > now() - INTERVAL '7 days'", 'WHERE "since" > $1::timestamptz'],
    ['SELECT id FROM pg.seen WHERE day BETWEEN current_date - 7 AND today() LIMIT 3', 'AND "day" <= $2::date) LIMIT 3'],
    ["SELECT s.id FROM pg.seen AS s WHERE s.since >= date_trunc('month', now())", 'WHERE "since" >= $1::timestamptz'],
    ['SELECT id FROM (SELECT * FROM pg.seen) WHERE day < current_date', 'WHERE "day" < $1::date'],
  ])('%s sends what the database can do', async (query, text) => {
    expect(await planned(query)).toContain(text)
  })

  test.each(['SELECT DISTINCT place FROM pg.homes HAVING count(*) > 1', 'SELECT DISTINCT place FROM pg.homes ORDER BY count(*)'])(
    '%s has an aggregate of all rows, and is refused as that of a file',
    async (query) => {
      await expect(ask(query)).rejects.toThrow(/must appear in the GROUP BY clause/)
    },
  )

  test('EXPLAIN sends no limit where more rows may be needed', async () => {
    for (const query of [
      'SELECT id FROM pg.homes ORDER BY place LIMIT 2',
      'SELECT id FROM pg.homes ORDER BY size % 7 LIMIT 2',
      'SELECT id FROM pg.homes ORDER BY size, place LIMIT 2',
      'SELECT id FROM pg.seen ORDER BY mood LIMIT 2',
      'SELECT *, rent AS r FROM pg.homes ORDER BY 6 LIMIT 2',
      'SELECT id FROM pg.homes ORDER BY ALL LIMIT 2',
      'SELECT DISTINCT size FROM pg.homes ORDER BY size LIMIT 2',
      'SELECT id, row_number() OVER () AS n FROM pg.homes ORDER BY id LIMIT 2',
      'SELECT h.id FROM pg.homes AS h JOIN pg.shop.orders AS o ON o.home = h.id ORDER BY h.id LIMIT 2',
      'SELECT DISTINCT place FROM pg.homes LIMIT 2',
      'SELECT id FROM pg.homes WHERE size % 7 = 0 LIMIT 2',
      'SELECT id FROM pg.homes WHERE size % 7 = 0 ORDER BY id LIMIT 2',
    ]) {
      const plan = await planned(query)
      expect(plan).toMatch(/sends SELECT/)
      expect(plan).not.toMatch(/sends SELECT .*LIMIT 2/)
    }
  })
})

describe('groups of joined tables', () => {
  const joined = 'FROM pg.homes AS h JOIN pg.shop.orders AS o ON o.home = h.id'
  const both = 'FROM "homes" AS t1 JOIN "shop"."orders" AS t2 ON t2."home" = t1."id"'

  test.each([
    [
      `SELECT h.place, count(*) AS n, sum(o.id) ${joined} WHERE h.size > 100 GROUP BY 1`,
      `${both} WHERE t1."size" > $1::int8 GROUP BY t1."place"`,
    ],
    [
      `SELECT count(o.note), max(rent) ${joined} AND note = 'a'`,
      `count(t2."note") AS "ledger_0", max(t1."rent") AS "ledger_1" ${both} WHERE t2."note" = $1`,
    ],
    ['SELECT count(*) FROM pg.homes AS h, pg.shop.orders AS o WHERE o.home = h.id', both],
    [`SELECT h.place, count(DISTINCT o.note) ${joined.replace('JOIN', 'LEFT JOIN')} GROUP BY h.place`, 'count(DISTINCT t2."note")'],
    [`SELECT count(*) ${joined} JOIN pg.homes AS g ON g.place = h.place`, 'JOIN "homes" AS t3 ON t3."place" = t1."place"'],
    [
      'SELECT id, count(*) FROM pg.homes AS h LEFT JOIN pg.seen AS s USING (id) GROUP BY id',
      'LEFT JOIN "seen" AS t2 ON t1."id" = t2."id" GROUP BY t1."id"',
    ],
    ['SELECT count(DISTINCT place) FROM pg.homes', 'count(DISTINCT "place")'],
  ])('%s is one statement there', async (query, text) => {
    const plan = await planned(query)
    expect(plan).toContain(text)
    expect(plan.match(/sends SELECT/g)).toHaveLength(1)
  })

  test.each([
    [`SELECT avg(h.rent) ${joined}`],
    [`SELECT count(*) FROM pg.homes AS h JOIN pg.shop.orders AS o ON o.home > h.id`],
    [`SELECT count(*) ${joined} WHERE length(o.note) > 1`],
    [`SELECT count(*) FROM pg.homes AS h LEFT JOIN pg.shop.orders AS o ON o.home = h.id AND o.note = 'a'`],
    [`SELECT count(*) FROM pg.homes AS h FULL JOIN pg.shop.orders AS o ON o.home = h.id`],
    [`SELECT count(*) FROM pg.seen AS a JOIN pg.seen AS b ON a.mood = b.mood`],
    [`SELECT count(*) FROM pg.homes, pg.shop.orders`],
    [`SELECT count(*) FROM pg.homes AS h JOIN pg.shop.orders AS o ON o.home = h.rent`],
    [`SELECT h.place AS note, count(*) ${joined} GROUP BY o.note, h.place HAVING note = 'a'`],
    [`SELECT count(*) ${joined} JOIN (SELECT 1 AS id) AS x ON x.id = o.id`],
    ['SELECT count(DISTINCT size + 1) FROM pg.homes'],
    // One table more than the service joins there.
    [`SELECT count(*) FROM pg.seen AS t${Array.from({ length: 61 }, (_, i) => ` LEFT JOIN pg.seen AS t${i} USING (id)`).join('')}`],
  ])('%s is computed here', async (query) => {
    expect(await planned(query)).not.toMatch(/sends SELECT .*(?:count|avg)\(/)
  })

  test.each([
    [`SELECT h.place, count(*), sum(o.id) ${joined} GROUP BY 1 ORDER BY 1`],
    [`SELECT place AS p, h.size + 1, count(*) + max(o.id) AS n ${joined} GROUP BY place, h.size HAVING count(*) > 1 ORDER BY n, h.size, p`],
    [
      `SELECT h.place, count(o.id), count(DISTINCT o.note), min(o.id) ${joined.replace('JOIN', 'LEFT JOIN')} WHERE h.id < 9 GROUP BY place ORDER BY place`,
    ],
    [`SELECT count(*) ${joined.replace('JOIN', 'LEFT JOIN')} WHERE o.note IS NULL`],
    [`SELECT count(*), sum(h.size) ${joined} WHERE h.id > 1000`],
    ['SELECT id, count(s.id), count(mood) FROM pg.homes LEFT JOIN pg.seen AS s USING (id) WHERE id < 5 GROUP BY id ORDER BY id'],
    ['SELECT sum(id) FROM pg.homes JOIN pg.seen USING (id) JOIN pg.shop.orders USING (id)'],
    [`SELECT DISTINCT count(*) ${joined} JOIN pg.homes AS g ON g.place = h.place AND g.size = h.size GROUP BY g.id ORDER BY 1`],
    [`SELECT count(*) FROM (SELECT h.place ${joined} GROUP BY h.place) AS x`],
    [`SELECT h.id, (SELECT count(*) FROM pg.homes AS g JOIN pg.shop.orders AS p ON p.home = g.id WHERE g.id = h.id) ${joined} ORDER BY 1`],
  ])('%s has the rows of the database', async (query) => {
    expect(comparable(await ask(query))).toEqual(comparable(await postgres.rows(query.replaceAll('pg.', ''))))
  })

  test('have the names and types that they have here', async () => {
    const query = `SELECT h.PLACE, h.id + 1, o.home AS h, count(*), sum(o.id), max(h.rent), sum(h.rent) ${joined} GROUP BY h.place, h.id, o.home ORDER BY h.id`
    const { column_names } = await sql(service.url, query)
    expect(column_names).toEqual(['place', '(h.id + 1)', 'h', 'count_0', 'sum_0', 'max_0', 'sum_1'])
    const types = column_names.map((name) => `typeof("${name}")`).join(', ')
    const here = query.replace(' GROUP', ' AND length(place) > 0 GROUP')
    expect(await planned(here)).not.toMatch(/sends SELECT .*count\(/)
    expect(await ask(`SELECT ${types} FROM (${query})`)).toEqual(await ask(`SELECT ${types} FROM (${here})`))
  })
})

describe('through views and queries in a FROM', () => {
  beforeAll(async () => {
    await ask('CREATE VIEW whole AS (SELECT * FROM pg.homes)')
    await ask('CREATE VIEW named AS (SELECT h.id AS number, place AS "where", 7 AS seven FROM pg.homes AS h WHERE size > 400 ORDER BY id)')
    await ask('CREATE VIEW summed AS (SELECT place, count(*) AS n FROM pg.homes GROUP BY place)')
  })

  test.each([
    ['SELECT size FROM whole WHERE id = 3', 'SELECT "id", "size" FROM "homes" WHERE "id" ='],
    ['SELECT w.size FROM whole AS w WHERE w.id BETWEEN 3 AND 4', 'SELECT "id", "size" FROM "homes" WHERE ("id" >='],
    ['SELECT * FROM whole LIMIT 3', 'LIMIT 3'],
    ['SELECT number FROM named WHERE "where" = \'good\'', `"size" >`],
    ['SELECT number FROM named WHERE "where" = \'good\'', `"place" =`],
    ['SELECT x.id FROM (SELECT * FROM pg.homes) AS x WHERE x.id < 3', 'SELECT "id" FROM "homes" WHERE "id" <'],
    ['SELECT w.id FROM whole AS w LEFT JOIN pg.shop.orders AS o ON o.home = w.id WHERE w.id < 4', 'FROM "homes" WHERE "id" <'],
    ['SELECT place, count(*) AS n FROM whole WHERE id > 3 GROUP BY place HAVING n > 5 ORDER BY 1', 'GROUP BY "place"'],
    ['SELECT n."where", max(n.number) FROM named AS n GROUP BY 1', 'max("id")'],
    ['SELECT max(x.s) + 1 FROM (SELECT size AS s FROM pg.homes WHERE id < 9) AS x', 'max("size")'],
  ])('%s sends what the reader needs', async (query, text) => {
    expect(await planned(query)).toContain(text)
  })

  test.each([
    ['SELECT n FROM summed WHERE n > 60', '$1'],
    ['SELECT count(*) FROM pg.shop.orders AS o LEFT JOIN whole AS w ON w.id = o.home WHERE w.place IS NULL', '"place" IS NULL'],
    ['SELECT number FROM named WHERE number > 3 LIMIT 2', 'LIMIT 2"'],
    ['SELECT number FROM named WHERE seven = 7', '"seven"'],
    ['SELECT place FROM whole WHERE length(place) = 4 LIMIT 2', 'LIMIT 2"'],
    ['SELECT seven, count(*) FROM named GROUP BY 1', 'count('],
    ['SELECT place, count(*) FROM whole WHERE length(place) = 4 GROUP BY 1', 'count('],
    ['SELECT place, count(*) FROM (SELECT place FROM pg.homes LIMIT 5) GROUP BY 1', 'count('],
    ['SELECT count(*) FROM (SELECT DISTINCT place FROM pg.homes)', 'SELECT count('],
    ['SELECT count(*) FROM whole TABLESAMPLE reservoir(5 ROWS)', 'count('],
    ['SELECT w.place, count(*) FROM whole AS w JOIN named AS n ON n.number = w.id GROUP BY 1', 'count('],
    // DuckDB takes a sample before WHERE.
    ['SELECT id FROM pg.homes TABLESAMPLE reservoir(5 ROWS) WHERE id > 100', 'WHERE "id"'],
    ['SELECT id FROM pg.homes WHERE id > 100 USING SAMPLE 5 ROWS', 'WHERE "id"'],
    ['SELECT id FROM pg.homes WHERE id > 100 USING SAMPLE 5 ROWS LIMIT 2', 'LIMIT 2"'],
    ['SELECT id FROM whole WHERE id > 100 USING SAMPLE 5 ROWS', 'WHERE "id"'],
    ['SELECT id FROM whole TABLESAMPLE reservoir(5 ROWS) WHERE id > 100', 'WHERE "id"'],
    ['SELECT x.id FROM (SELECT * FROM pg.homes TABLESAMPLE reservoir(5 ROWS)) AS x WHERE x.id > 100', 'WHERE "id"'],
    ['SELECT count(*) FROM pg.homes TABLESAMPLE reservoir(5 ROWS) WHERE id > 100', 'WHERE "id"'],
  ])('%s does not send what would change its rows', async (query, text) => {
    expect(await planned(query)).not.toContain(text)
  })

  test.each([
    ['SELECT count(*), min(size) FROM whole WHERE id > 190', [[10, 2210]]],
    [
      'SELECT number, seven FROM named WHERE "where" = \'good\' AND number < 16 ORDER BY 1',
      [
        [12, 7],
        [15, 7],
      ],
    ],
    [
      'SELECT "where", count(*), max(number), sum(number) FROM named WHERE number < 16 GROUP BY "where" ORDER BY "where"',
      [
        ['good', 2, 15, 27],
        ['great', 1, 13, 13],
        ['poor', 2, 14, 25],
      ],
    ],
    ['SELECT a, b, count(*) FROM (SELECT place AS a, place AS b FROM pg.homes) GROUP BY a, b ORDER BY a LIMIT 1', [['good', 'good', 66]]],
    ['SELECT count(*) AS n FROM whole WHERE id > 190 HAVING n > 10', []],
    ['SELECT sum(n) FROM (SELECT place, count(*) AS n FROM whole GROUP BY place)', [[200]]],
    ['SELECT count(*) FROM named AS a JOIN named AS b ON b.number = a.number + 1 WHERE a.number < 14 AND b.number < 14', [[2]]],
    ["SELECT count(*) FROM whole AS w JOIN (SELECT id FROM pg.homes WHERE id < 9) AS x USING (id) WHERE w.place = 'good'", [[2]]],
    ['SELECT w.* FROM whole AS w WHERE id = 1', [[1, 310, 'great', 512.5, '2026-01-02']]],
    ['SELECT count(*) FROM pg.shop.orders AS o LEFT JOIN whole AS w ON w.id = o.home + 300 WHERE w.place IS NULL', [[3]]],
    ['SELECT sum(id) FROM (SELECT id FROM whole WHERE id > 2 LIMIT 3)', [[12]]],
    ['SELECT id FROM (SELECT * FROM whole) AS w WHERE id = 5', [[5]]],
    ['SELECT * FROM (SELECT 7 AS n FROM pg.homes GROUP BY ()) AS g LIMIT 5', [[7]]],
    ['SELECT id FROM (SELECT id, size AS id FROM pg.homes) AS w LIMIT 0', []],
    // Of two columns with one name, the name means the first.
    ["SELECT count(*) FROM (SELECT 'eu' AS place, * FROM pg.homes) AS w WHERE place = 'eu'", [[200]]],
    ["SELECT count(*) FROM (SELECT *, 'eu' AS place FROM pg.homes) AS w WHERE place = 'good'", [[66]]],
    ['SELECT count(*) FROM (SELECT 1 AS id, size AS ID FROM pg.homes) AS w WHERE id = 1', [[200]]],
  ] as [string, unknown[][]][])('%s', async (query, rows) => {
    const answer = await ask(query)
    expect(answer.map((row) => row.map((cell) => (typeof cell === 'string' && /^\d+$/.test(cell) ? Number(cell) : cell)))).toEqual(rows)
  })
})

test('what is in it is listed and described, over SQL and REST', async () => {
  expect((await ask('SHOW TABLES FROM pg')).flat()).toEqual(expect.arrayContaining(['homes', 'cheap']))
  expect(await ask("SHOW TABLES FROM pg LIKE 'ho%'")).toEqual([['homes']])
  expect((await ask('DESCRIBE pg.homes')).map((row) => row.slice(0, 2))).toEqual([
    ['id', 'integer'],
    ['size', 'integer'],
    ['place', 'varchar'],
    ['rent', 'decimal(10,2)'],
    ['listed', 'date'],
  ])
  for (const [table, count] of [
    ['homes', 5],
    ['HOMES', 5],
    ['SHOP.orders', 3],
    ['orders', 0],
    ['nowhere', 0],
  ] as const)
    expect(await ask(`SELECT count(*) FROM information_schema.columns WHERE table_schema = 'pg' AND table_name = '${table}'`)).toEqual([
      [count],
    ])
  await postgres.run(
    "DO $$ BEGIN FOR i IN 1..1000 LOOP EXECUTE format('CREATE TABLE shop.part_%s (a int, b numeric(5,2))', i); IF i % 200 = 0 THEN COMMIT; END IF; END LOOP; END $$",
  )
  const all = "FROM information_schema.columns WHERE table_schema = 'pg'"
  expect(await ask(`SELECT count(*), count(DISTINCT table_name) ${all}`)).toEqual([[2_000 + 5 + 3 + 5 + 2 + 5, 1_000 + 5]])
  const second = await ask(`SELECT ordinal_position, data_type ${all} AND table_name LIKE 'shop.part_77%' AND column_name = 'b' LIMIT 1`)
  expect(second).toEqual([[2, 'decimal(5,2)']])
  const tables = await send(service.url, 'GET', '/api/databases/pg/tables')
  expect(tables.body).toEqual(
    expect.arrayContaining([
      { name: 'homes', type: 'data', schema: 'public' },
      { name: 'cheap', type: 'view', schema: 'public' },
      { name: 'shop.orders', type: 'data', schema: 'shop' },
    ]),
  )
  const one = await send(service.url, 'GET', '/api/databases/pg/tables/shop.orders')
  expect(one.body).toEqual({ name: 'shop.orders', type: 'data', schema: 'shop' })
  const columnsOf = async (table: string) => (await send(service.url, 'GET', `/api/databases/pg/tables/${table}/columns`)).body
  expect(await columnsOf('shop.orders')).toEqual([
    { name: 'id', type: 'BIGINT' },
    { name: 'home', type: 'INTEGER' },
    { name: 'note', type: 'VARCHAR' },
  ])
  expect(await columnsOf('HOMES')).toEqual(expect.arrayContaining([{ name: 'place', type: 'VARCHAR' }]))
  expect(await columnsOf('nothing')).toMatchObject({ status: 404 })
  const leaf = { class: 'table', type: 'table', engine: null, deletable: false }
  expect((await send(service.url, 'GET', '/api/tree/pg')).body).toEqual(
    expect.arrayContaining([
      { name: 'homes', schema: 'public', ...leaf },
      { name: 'orders', schema: 'shop', ...leaf },
    ]),
  )
})

test('a database that cannot be reached is asked once by queries that name none, and each time by those that name it', async () => {
  let calls = 0
  const broken = createServer((socket) => {
    calls += 1
    socket.destroy()
  })
  await once(broken.listen(0, '127.0.0.1'), 'listening')
  const { port } = broken.address() as AddressInfo
  const parameters = { ...postgres.connection().parameters, port }
  await ask(`CREATE DATABASE unreachable WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(parameters)}`)
  const count = (where: string) => ask(`SELECT count(*) > 0 FROM information_schema.tables WHERE ${where}`)
  const made = async (where: string) => {
    const before = calls
    await count(where).catch(() => undefined)
    return calls > before
  }
  /** A list over all databases waits a short time for each, so it may be there before a busy machine has called. */
  const called = async (where: string) => {
    const before = calls
    await count(where)
    await until(() => calls > before)
  }
  await called("table_name = 'homes'")
  await until(async () => (await count("table_name = 'homes'"))[0]?.[0] === true)
  expect(await made("table_name = 'homes'")).toBe(false)
  expect(await made("table_schema = 'unreachable'")).toBe(true)
  expect(await made("table_schema IN ('files', 'unreachable')")).toBe(true)
  await expect(count("table_schema IN ('files', 'unreachable')")).rejects.toThrow(/broke off/)
  // Other parameters may be better ones.
  await ask(`ALTER DATABASE unreachable PARAMETERS = {"user": "other"}`)
  expect(await made("table_schema IN ('files', 'pg')")).toBe(false)
  await called("table_name = 'homes'")
  await ask('DROP DATABASE unreachable')
  broken.close()
})

describe('a table of another schema', () => {
  const columns = [
    ['id', 'bigint', 'YES'],
    ['home', 'integer', 'YES'],
    ['note', 'varchar', 'YES'],
  ]
  test('is listed under the name that finds it', async () => {
    const [[name] = []] = await ask("SHOW TABLES FROM pg LIKE '%orders'")
    expect(name).toBe('shop.orders')
    expect(await ask(`SELECT count(*) FROM pg.${String(name)}`)).toEqual([[3]])
    expect(await ask("SHOW FULL TABLES FROM pg LIKE 'shop.or%'")).toEqual([['shop.orders', 'BASE TABLE']])
    const listed = "FROM information_schema.columns WHERE table_schema = 'pg' AND table_name"
    const ordered = 'ORDER BY ordinal_position'
    for (const condition of ["= 'shop.orders'", "= 'SHOP.Orders'", "LIKE 'shop.or%'"])
      expect(await ask(`SELECT column_name, data_type, is_nullable ${listed} ${condition} ${ordered}`)).toEqual(columns)
  })

  test.each([
    ['SELECT count(*) FROM pg.`shop.orders`', [[3]]],
    ['SELECT count(*) FROM pg."Shop.Orders"', [[3]]],
    ['SELECT DISTINCT h.id FROM pg.homes h JOIN pg.`shop.orders` o ON o.home = h.id ORDER BY 1', [[3], [5]]],
  ])('is read under its listed name in one pair of quotes: %s', async (query, rows) => {
    expect(await ask(query)).toEqual(rows)
    await expect(ask('SELECT * FROM pg.`shop.homes`')).rejects.toThrow('no table "shop.homes"')
  })

  test.each([
    ['DESCRIBE pg.shop.orders', undefined],
    ['SHOW COLUMNS FROM pg.shop.orders', undefined],
    ['SHOW COLUMNS FROM shop.orders', 'pg'],
    ['DESCRIBE shop.orders', 'pg'],
  ])('%s', async (statement, db) => {
    expect((await ask(statement, db)).map((row) => row.slice(0, 3))).toEqual(columns)
  })

  test.each([
    ['SELECT * FROM pg.orders', 'Did you mean pg.shop.orders?'],
    ['SELECT * FROM pg.shop.ordrs', 'Did you mean pg.shop.orders?'],
    ['SELECT * FROM pg.shop.homes', 'Did you mean pg.homes?'],
    ['SELECT * FROM pg.hoems', 'Did you mean pg.homes?'],
  ])('%s: %s', async (query, hint) => {
    await expect(ask(query)).rejects.toThrow(hint)
  })

  test('and what is declared NOT NULL is told as such, in lists and alone', async () => {
    const nullable = (where: string) =>
      ask(`SELECT column_name FROM information_schema.columns WHERE table_schema = 'pg' AND is_nullable = 'NO' AND ${where}`)
    expect(await nullable("table_name = 'homes'")).toEqual([['id']])
    expect(await nullable("table_name LIKE 'home%'")).toEqual([['id']])
    expect((await ask('DESCRIBE pg.homes')).map((row) => row[2])).toEqual(['NO', 'YES', 'YES', 'YES', 'YES'])
  })
})

const trained = async (model: string): Promise<void> => {
  for (;;) {
    const [[status, error] = []] = await ask(`SELECT status, error FROM models WHERE name = '${model}'`)
    if (status === 'error') throw new Error(String(error))
    if (status === 'complete') return
    await sleep(100)
  }
}

test('a view, a file, a model and a join read from it', async () => {
  await ask('CREATE VIEW big AS (SELECT * FROM pg.homes WHERE size > 1000)')
  expect(await ask('SELECT count(*) FROM big')).toEqual([[130]])
  await ask('CREATE TABLE files.copy (SELECT id, rent FROM pg.homes WHERE id <= 10)')
  expect(await ask('SELECT count(*) FROM files.copy c JOIN pg.homes h ON h.id = c.id AND h.rent = c.rent')).toEqual([[10]])
  await ask('CREATE MODEL learned FROM pg (SELECT size, place, rent FROM homes WHERE id > 0) PREDICT rent')
  await trained('learned')
  const [[fact, detail] = []] = await ask("SELECT data->'$.connections', data->>'$.rows' FROM log.events WHERE type = 'ModelTrained'")
  expect([JSON.parse(String(fact)), detail]).toEqual([[{ connection: expect.any(String), name: 'pg', version: 1 }], '200'])
  const columns = (await send(service.url, 'GET', '/api/databases/mindsdb/tables/learned/columns')).body as { name: string }[]
  expect(columns.map(({ name }) => name)).toEqual(expect.arrayContaining(['size', 'place', 'rent', 'rent_confidence']))
  const rents = await ask('SELECT h.id, m.rent FROM pg.homes AS h JOIN learned AS m WHERE h.id IN (1, 2)')
  expect(rents).toHaveLength(2)
  expect(await ask('SELECT h.id, m.rent FROM (SELECT * FROM pg.homes) AS h JOIN learned AS m WHERE h.id IN (1, 2)')).toEqual(rents)
  expect(await ask('SELECT id, m.rent FROM pg.homes JOIN learned AS m WHERE id IN (1, 2)')).toEqual(rents)
  expect(await ask('SELECT h.id, m.rent FROM pg.homes AS h(id, size, place) JOIN learned AS m WHERE h.id IN (1, 2)')).toEqual(rents)
})

test('two connections, and what the service has itself beside one, are joined', async () => {
  const parameters = JSON.stringify({ ...postgres.connection().parameters, schema: 'shop' })
  await ask(`CREATE DATABASE branch WITH ENGINE = 'postgres', PARAMETERS = ${parameters}`)
  await ask("CREATE SKILL good USING type = 'sql'")
  const both = 'SELECT h.place, o.note FROM pg.homes AS h JOIN branch.orders AS o ON o.home = h.id WHERE h.size < 340 AND o.id > 1'
  expect(await ask(both)).toEqual([['good', 'Ünïcode ✓']])
  const plan = await planned(both)
  for (const sent of ['FROM "homes" WHERE "size" <', 'FROM "orders" WHERE "id" >']) expect(plan).toContain(sent)
  expect(await ask('SELECT s.name, count(*) FROM pg.homes AS h JOIN skills AS s ON s.name = h.place GROUP BY 1')).toEqual([['good', 66]])
  expect(await ask('SELECT count(*) FROM branch.orders AS o JOIN log.events AS e ON e.position = o.id')).toEqual([[3]])
  await ask('DROP DATABASE branch')
})

test('a view FROM a connection is in the SQL of its database, like the same query outside of a view', async () => {
  const half = "SELECT id / 2 AS half, to_char(listed, 'YYYY') AS year FROM homes WHERE id = 7"
  await ask(`CREATE VIEW native FROM pg (${half})`)
  expect(await ask('SELECT * FROM native')).toEqual([[3, '2026']])
  expect(await ask(`SELECT * FROM pg (${half})`)).toEqual([[3, '2026']])
  expect(await ask("SELECT query FROM views WHERE name = 'native'")).toEqual([[`SELECT * FROM pg (${half})`]])
  await ask('ALTER VIEW native FROM pg AS SELECT generate_series(1, 2) AS n')
  expect(await ask('SELECT * FROM native')).toEqual([[1], [2]])
  await ask('ALTER VIEW native FROM pg AS SELECT 3 AS n -- three')
  expect(await ask('SELECT * FROM native')).toEqual([[3]])
  expect(await ask('EXPLAIN CREATE VIEW other FROM pg (SELECT 1 AS n)')).toContainEqual([
    'data',
    expect.stringContaining('FROM pg (SELECT 1 AS n)'),
  ])
  const bound = { query: 'CREATE VIEW bound FROM pg (SELECT id FROM homes WHERE place = :place AND id < 4)', params: { place: 'good' } }
  expect((await send(service.url, 'POST', '/api/sql/query', bound)).body).toMatchObject({ type: 'ok' })
  expect(await ask('SELECT * FROM bound')).toEqual([[3]])
  await expect(ask('CREATE VIEW wrong FROM pg (SELECT nothing FROM homes)')).rejects.toThrow(/nothing/)
  await expect(ask('CREATE VIEW wrong FROM pg (DELETE FROM homes)')).rejects.toThrow()
  expect(await ask('SELECT count(*) FROM pg.homes')).toEqual([[200]])
})

test('native_query in the context sends the statement as it is', async () => {
  const asked = (query: string, context: object) => send(service.url, 'POST', '/api/sql/query', { query, context })
  const query = "SELECT id / 2 AS half, to_char(listed, 'YYYY') AS year FROM homes WHERE id = 7 -- one"
  const native = { db: 'pg', native_query: true }
  expect((await asked(`${query}\n;\n`, native)).body).toMatchObject({ type: 'table', column_names: ['half', 'year'], data: [[3, '2026']] })
  expect((await asked('DELETE FROM homes', native)).body).toMatchObject({ type: 'error' })
  expect((await asked('SELECT id / 2 AS half FROM homes WHERE id = 7', { db: 'pg', native_query: false })).body).toMatchObject({
    data: [[3.5]],
  })
  expect(await asked(query, { native_query: true })).toMatchObject({ status: 400, body: { detail: expect.stringContaining('needs "db"') } })
  expect(await asked(query, { ...native, native_query: 'yes' })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('true or false') },
  })
})

test('a statement in dollar quotes is free of the rules for texts, comments and parameters here', async () => {
  const query = String.raw`SELECT '\' || replace('a\b', '\', '?') || (('{"pool": 1}'::jsonb ? 'pool')::text) AS x -- it's :one`
  const answer = [['\\a?btrue']]
  expect(await ask(`SELECT * FROM pg ($$${query}\n$$)`)).toEqual(answer)
  const native = { query, context: { db: 'pg', native_query: true } }
  expect((await send(service.url, 'POST', '/api/sql/query', native)).body).toMatchObject({ type: 'table', data: answer })
  await ask(`CREATE VIEW dollars FROM pg ($q$${query}$q$)`)
  expect(await ask('SELECT * FROM dollars')).toEqual(answer)
  await ask('DROP VIEW dollars')
  const training = {
    query: String.raw`CREATE MODEL dollars FROM pg ($$SELECT size, rent FROM homes WHERE '{"a":1}'::jsonb ? 'a' AND place <> '\'$$) PREDICT rent`,
    params: { place: 'good' },
  }
  expect((await send(service.url, 'POST', '/api/sql/query', training)).body).toMatchObject({ type: 'table' })
  await trained('dollars')
  await ask('DROP MODEL dollars')
  await expect(ask('SELECT * FROM pg ($$DELETE FROM homes$$)')).rejects.toThrow(/only reads/)
  await expect(ask("SELECT replace(place, '\\', '/') FROM pg.homes")).rejects.toThrow(/between \$\$ and \$\$/)
})

test('a backslash is the character of ESCAPE, here and there', async () => {
  const escaped = String.raw`SELECT 'a_b' LIKE 'a\_b' ESCAPE '\' AS x, 'acb' LIKE 'a\_b' ESCAPE '\' AS y`
  expect(await ask(escaped)).toEqual([[true, false]])
  expect(await ask(`SELECT * FROM pg (${escaped})`)).toEqual([[true, false]])
})

test('a secret in a statement in dollar quotes is refused where it would be kept', async () => {
  const people = 'FROM (SELECT id, place AS password FROM homes) AS p'
  for (const condition of ["= 'hunter2-x'", "IN ('hunter2-x')", "LIKE 'hunter2-x'", "<> 'hunter2-x'"])
    for (const column of ['id', String.raw`'\' AS x`, String.raw`'\' AS x, 'it''s \' AS y`])
      await expect(ask(`CREATE VIEW secret FROM pg ($$SELECT ${column} ${people} WHERE password ${condition}$$)`)).rejects.toThrow(
        /the query holds a secret/,
      )
  const names = `SELECT p.id ${people}\nJOIN homes AS h\nON p.password = h.place\nWHERE p.id = 1 AND 'https://example.com'::text LIKE '%@%' IS FALSE`
  await ask(`CREATE VIEW harmless FROM pg ($$${names}$$)`)
  expect(await ask('SELECT count(*) FROM harmless')).toEqual([[67]])
  await ask('DROP VIEW harmless')
})

test('a statement for another database, or for the connection itself, is not sent whole', async () => {
  expect(await ask('SELECT n + 1 FROM pg (SELECT 7 / 2 AS n)', 'pg')).toEqual([[4]])
  expect(await ask('SELECT n + 1 FROM PG ($$SELECT 7 / 2 AS n$$)', 'pg')).toEqual([[4]])
  expect(await ask('SELECT * FROM mindsdb (SELECT 7 / 2 AS n)', 'pg')).toEqual([[3.5]])
  await ask(`CREATE DATABASE twin WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(postgres.connection().parameters)}`)
  await ask("CREATE DATABASE talk WITH ENGINE = 'slack', PARAMETERS = {}")
  for (const native of ['$$SHOW server_encoding$$', 'SHOW server_encoding', '/* one */ $$SHOW server_encoding$$ -- two\n'])
    for (const db of ['pg', 'talk', 'twin']) expect(await ask(`SELECT * FROM twin (${native})`, db)).toEqual([['UTF8']])
  const asked = () => ask("SELECT DISTINCT database FROM log.database_queries WHERE statement LIKE '%server_encoding%'")
  await until(async () => (await asked()).length > 0)
  expect(await asked()).toEqual([['twin']])
  await ask('DROP DATABASE twin')
  await ask('DROP DATABASE talk')
})

test('native_query for what is no connection is a query there, or names what is nearest', async () => {
  const asked = async (query: string, db: string) =>
    (await send(service.url, 'POST', '/api/sql/query', { query, context: { db, native_query: true } })).body
  expect(await asked('SELECT count(*) AS n FROM copy -- all\n;', 'files')).toMatchObject({ type: 'table', data: [[10]] })
  expect(await asked('SELECT 1', 'filess')).toMatchObject({ type: 'error', error_message: expect.stringContaining('files') })
})

test('a list in IN is bound one by one where the database has no arrays', async () => {
  const { parameters } = postgres.connection()
  await ask(`CREATE DATABASE red WITH ENGINE = 'redshift', PARAMETERS = ${JSON.stringify(parameters)}`)
  expect(await ask('SELECT id FROM red.homes WHERE id IN (2, 3, 5000) ORDER BY id')).toEqual([[2], [3]])
  const sent = () => ask("SELECT statement FROM log.database_queries WHERE database = 'red'")
  await until(async () => (await sent()).length > 0)
  expect(await sent()).toEqual([['SELECT "id" FROM "homes" WHERE ("id" = $1::int8 OR "id" = $2::int8 OR "id" = $3::int8)']])
  await ask('DROP DATABASE red')
})

describe('a text with a backslash as a parameter', () => {
  const sent = async (query: string, params: object, db = 'mindsdb') =>
    (await send(service.url, 'POST', '/api/sql/query', { query, params, context: { db } })).body as { type: string; error_message?: string }

  test.each([
    'CREATE MODEL spelled FROM pg (SELECT size, rent FROM homes WHERE place <> :path) PREDICT rent',
    'RETRAIN learned FROM pg (SELECT size, rent FROM homes WHERE place <> :path)',
    'CREATE VIEW spelled FROM pg (SELECT size FROM homes WHERE place <> :path)',
    'CREATE JOB spelled (SELECT 1; INSERT INTO files.copy SELECT id, rent FROM pg (SELECT id, rent FROM homes WHERE place = :path))',
    'EVALUATE accuracy_score FROM (SELECT * FROM pg (SELECT rent AS actual, rent AS prediction FROM homes WHERE place <> :path))',
  ])('is refused in %s', async (query) =>
    expect(await sent(query, { path: 'C:\\new' })).toMatchObject({
      type: 'error',
      error_message: expect.stringMatching(/^:path is a text with a backslash, and cannot stand in a query for pg\nWrite the text/),
    }),
  )

  test('is bound elsewhere, and other texts are bound there', async () => {
    const score = `EVALUATE mean_absolute_error FROM (SELECT length(:path) AS actual, 0 AS prediction FROM pg (SELECT id FROM homes WHERE place <> :other) LIMIT 1)`
    const answer = await sent(score, { path: 'C:\\new', other: "it's" })
    expect(answer).toMatchObject({ type: 'table', data: [[6]] })
    const ours = await sent(
      'EVALUATE mean_absolute_error FROM (SELECT * FROM files (SELECT length(:path) AS actual, 0 AS prediction FROM copy LIMIT 1))',
      {
        path: 'C:\\new',
      },
    )
    expect(ours).toMatchObject({ type: 'table', data: [[6]] })
  })
})

test('beside a model it is asked for the rows and columns that the query and the model use', async () => {
  const needed = 'SELECT "id", "size", "place", "rent" FROM "homes"'
  for (const [query, text] of [
    ['SELECT h.id, m.rent FROM pg.homes AS h JOIN learned AS m WHERE h.id = 7', `${needed} WHERE "id" =`],
    ['SELECT id, m.rent FROM pg.homes JOIN learned AS m WHERE id = 7', `${needed} WHERE "id" =`],
    ['SELECT h.id, m.rent FROM pg.homes AS h JOIN learned AS m LIMIT 3', `${needed} LIMIT 3`],
    ['SELECT h.id, m.rent FROM learned AS m JOIN pg.homes AS h WHERE h.id > 7 LIMIT 3', 'LIMIT 3'],
    ['SELECT h.id, m.rent FROM pg.homes AS h JOIN learned AS m ON h.rent = m.size WHERE h.id = 7', `${needed} WHERE "id" =`],
  ] as const)
    expect(await planned(query)).toContain(text)
  for (const query of [
    'SELECT h.id, m.rent FROM pg.homes AS h JOIN learned AS m WHERE m.rent > 600 LIMIT 3',
    'SELECT h.id, m.rent FROM pg.homes AS h JOIN learned AS m ON h.size = m.size AND h.id > h.size LIMIT 3',
    'SELECT h.id, m.rent FROM pg.homes AS h JOIN pg.shop.orders AS o ON o.home = h.id JOIN learned AS m LIMIT 3',
  ])
    expect(await planned(query)).not.toContain('LIMIT 3"')
  const sampled = 'SELECT h.id, m.rent FROM pg.homes AS h JOIN learned AS m WHERE h.id > 100 USING SAMPLE 5 ROWS'
  expect(await planned(sampled)).not.toContain('WHERE "id"')
  expect(await ask('SELECT m.rent FROM pg.homes AS h JOIN learned AS m LIMIT 3')).toHaveLength(3)
  const all = (await ask('SELECT h.id, h.place, m.rent FROM pg.homes AS h JOIN learned AS m ORDER BY h.id')).slice(0, 2)
  expect(await ask('SELECT h.id, h.place, m.rent FROM pg.homes AS h JOIN learned AS m WHERE h.id <= 2 ORDER BY h.id')).toEqual(all)
})

test('the page about connected databases does what it says', async () => {
  const blocks = [...readPage('use/connections.md').matchAll(/^```sql\n(.*?)^```/gms)]
  const statements = blocks.flatMap(([, block = '']) => block.split(/;\n/)).filter((statement) => statement.trim() !== '')
  expect(statements.length).toBeGreaterThan(5)
  for (const statement of statements) {
    const parameters = JSON.stringify(postgres.connection().parameters)
    await ask(statement.replace(/PARAMETERS = \{.*\}/, `PARAMETERS = ${parameters}`))
    if (statement.startsWith('CREATE MODEL')) await trained('rents')
  }
})

const notes = async (note: string): Promise<unknown> =>
  (await postgres.run(`SELECT count(*)::int AS n FROM notes WHERE note = '${note}'`)).rows

describe('a statement that writes there', () => {
  beforeAll(async () => {
    await postgres.run('CREATE TABLE notes (id serial, note text)')
    const parameters = { ...postgres.connection().parameters, writable: true }
    await ask(`CREATE DATABASE writer WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(parameters)}`)
  })

  test('is sent once for all requests with one Idempotency-Key, which get its answer; what only reads is sent for each', async () => {
    const sent = async (query: string) =>
      (await send(service.url, 'POST', '/api/sql/query', { query }, { 'idempotency-key': `k ${query}`.replace(/\W+/g, '-') })).body
    const writing = "SELECT note FROM writer (INSERT INTO notes (note) VALUES ('keyed') RETURNING note)"
    const first = await sent(writing)
    expect(first).toMatchObject({ type: 'table', data: [['keyed']] })
    expect(await sent(writing)).toEqual(first)
    const reading = "SELECT n FROM pg (SELECT count(*)::int AS n FROM notes WHERE note = 'keyed')"
    expect(await sent(reading)).toMatchObject({ data: [[1]] })
    await postgres.run("INSERT INTO notes (note) VALUES ('keyed')")
    expect(await sent(reading)).toMatchObject({ data: [[2]] })
  })

  test.each([
    [
      'a query that answers',
      "SELECT note FROM writer (INSERT INTO notes (note) VALUES ('answered') RETURNING note)",
      'answered',
      [['answered']],
    ],
    [
      'a query with an error',
      "SELECT nothing FROM writer (INSERT INTO notes (note) VALUES ('failed') RETURNING id)",
      'failed',
      expect.stringMatching(/"nothing"/),
    ],
    [
      'a query that is tried in another way',
      `SELECT note FROM writer (INSERT INTO notes (note) VALUES ('tried') RETURNING note) WHERE note = "tried"`,
      'tried',
      [['tried']],
    ],
    [
      'a table made of what it returns',
      "CREATE TABLE files.written (SELECT id FROM writer (INSERT INTO notes (note) VALUES ('kept') RETURNING id))",
      'kept',
      undefined,
    ],
  ])('runs once: %s', async (_, query, note, answer) => {
    expect(await ask(query).catch(String)).toEqual(answer)
    expect(await notes(note)).toEqual([{ n: 1 }])
  })

  test.each([
    [
      'SELECT * FROM pg (CALL tidy())',
      /begins with CALL, whose procedure may write and commit.*"writable": true.*SELECT \* FROM a_function\(\)/s,
    ],
    ['SELECT * FROM writer (CALL tidy())', /invalid transaction termination.*sent in a transaction of its own.*Run it in a client/s],
    ['SELECT * FROM writer (VACUUM notes)', /VACUUM cannot run inside a transaction block.*Run it in a client of the database/s],
    [
      'SELECT * FROM writer (CREATE INDEX CONCURRENTLY by_note ON notes (note))',
      /CONCURRENTLY cannot run.*also works without CONCURRENTLY/s,
    ],
  ])('is refused with what to do where its database takes it in no transaction: %s', async (query, says) => {
    await postgres.run('CREATE OR REPLACE PROCEDURE tidy() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$')
    await expect(ask(query)).rejects.toThrow(says)
  })

  describe('beside an agent or a knowledge base, whose answers need further runs of the query', () => {
    beforeAll(async () => {
      await ask('CREATE KNOWLEDGE_BASE told')
      await ask("INSERT INTO told (id, content) VALUES ('a', 'Return a parcel within thirty days')")
      await ask("CREATE AGENT helper USING model = {'provider': 'openai', 'model_name': 'gpt-4o', 'api_key': 'sk-1234567890'}")
      await ask("CREATE VIEW seen_there AS (SELECT id FROM told WHERE content = 'parcel')")
    })

    test.each([
      ['an agent', 'SELECT a.answer FROM (it) AS i JOIN helper AS a ON a.question = i.note'],
      ['a knowledge base', "SELECT k.id FROM (it) AS i JOIN told AS k WHERE k.content = 'parcel'"],
      ['an agent outside', 'WITH i AS (SELECT * FROM (it)) SELECT a.answer FROM i JOIN helper AS a ON a.question = i.note'],
      ['a knowledge base in a condition', "SELECT note FROM (it) AS i WHERE 'a' IN (SELECT id FROM mindsdb.told WHERE content = 'parcel')"],
      ['a view of a knowledge base', "SELECT note FROM (it) AS i WHERE 'a' IN (SELECT id FROM mindsdb (SELECT id FROM seen_there))"],
    ])('only reads: %s', async (of, query) => {
      const insert = query.replace('(it)', `writer (INSERT INTO notes (note) VALUES ('${of}') RETURNING note)`)
      await expect(ask(insert)).rejects.toThrow(/queries of agents and knowledge bases.* only read/)
      expect(await notes(of)).toEqual([{ n: 0 }])
    })

    test('reads', async () => {
      const query = "SELECT i.note, k.id FROM writer (SELECT 'x' AS note) AS i JOIN told AS k WHERE k.content = 'parcel'"
      expect(await ask(query)).toEqual([['x', 'a']])
    })

    test('writes if only a CTE has the name of an agent', async () => {
      const query =
        "WITH helper AS (SELECT 1 AS n) SELECT n, note FROM helper JOIN writer (INSERT INTO notes (note) VALUES ('cte') RETURNING note) ON TRUE"
      expect(await ask(query)).toEqual([[1, 'cte']])
    })
  })

  test('is not sent again when another change of the file comes between', async () => {
    await ask('CREATE TABLE files.changed (id INTEGER)')
    await postgres.run('SELECT pg_advisory_lock(7)')
    const insert = "INSERT INTO notes (note) SELECT 'between' FROM pg_advisory_xact_lock(7) RETURNING id"
    const inserted = ask(`INSERT INTO files.changed (SELECT id FROM writer (${insert}))`).catch(String)
    const active = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'INSERT%between%'"
    await until(async () => (await postgres.rows(active)).length > 0)
    await ask('CREATE OR REPLACE TABLE files.changed (SELECT 7 AS id)')
    await postgres.run('SELECT pg_advisory_unlock(7)')
    expect(await inserted).toMatch(/runs only once/)
    expect(await notes('between')).toEqual([{ n: 1 }])
    expect(await ask('SELECT id FROM files.changed')).toEqual([[7]])
  })
})

test('a statement is read no further than a LIMIT behind it needs, unless it may write', async () => {
  await ask('SELECT n FROM pg (SELECT generate_series(1, 300000) AS n) LIMIT 3')
  expect(await asked('rows < 10000, outcome', '%300000%')).toEqual([true, 'complete'])
  expect(await ask('SELECT count(*) FROM (SELECT n FROM pg (SELECT generate_series(1, 200000) AS n) LIMIT 150000)')).toEqual([[150_000]])
  await ask('SELECT n FROM pg (SELECT generate_series(1, 40000) AS n) WHERE n > 39000 LIMIT 3')
  expect(await asked('rows', '%40000%')).toEqual([40_000])
  const insert = "INSERT INTO notes (note) SELECT 'many' FROM generate_series(1, 9000) RETURNING id"
  expect(await ask(`SELECT id > 0 FROM writer (${insert}) LIMIT 1`)).toEqual([[true]])
  expect(await ask(`SELECT count(*) > 0 FROM (SELECT * FROM writer (${insert}) LIMIT 1)`)).toEqual([[true]])
  expect(await notes('many')).toEqual([{ n: 18_000 }])
})

test.each([
  [
    'one that is written first, and read beside it',
    "SELECT n.note FROM writer (INSERT INTO notes (note) VALUES ('seen') RETURNING id) AS i JOIN writer.notes AS n ON n.id = i.id",
    [['seen']],
  ],
  [
    'groups of all rows',
    'SELECT count(*) FROM (SELECT k FROM pg (SELECT n / 2000 AS k FROM generate_series(1, 5000) AS n) GROUP BY ALL LIMIT 3)',
    [[3]],
  ],
  ['groups of all rows of a table', 'SELECT count(*) FROM (SELECT k FROM pg.thirds GROUP BY ALL LIMIT 3)', [[3]]],
  ['a count beside each row', 'SELECT * REPLACE (count(*) OVER () AS id) FROM pg (SELECT id FROM homes) LIMIT 1', [['200']]],
  [
    'a count beside each row of a table',
    'SELECT n FROM (SELECT * REPLACE (count(*) OVER () AS id) FROM pg.homes LIMIT 1) AS t(n)',
    [['200']],
  ],
  [
    'the same statement twice',
    `SELECT count(*) FROM (SELECT r FROM pg (SELECT random() AS r FROM homes) LIMIT 5) AS a ANTI JOIN pg (SELECT random() AS r FROM homes) AS b USING (r)`,
    [[0]],
  ],
  [
    'a PIVOT behind a text in double quotes',
    'SELECT count(*) FROM (PIVOT (SELECT place, rent FROM pg.homes WHERE place <> "nowhere") ON place USING sum(rent))',
    [[1]],
  ],
])('a LIMIT, and names that are bound first, change no answer: %s', async (_, query, rows) => {
  await postgres.run('CREATE TABLE IF NOT EXISTS thirds AS SELECT n / 2000 AS k FROM generate_series(1, 5000) AS n')
  const data = await ask(query)
  expect(data.map((row) => row.map((value) => (typeof rows[0]?.[0] === 'string' ? String(value) : value)))).toEqual(rows)
})

test('the first rows of an order are the same ones also where NOT NULL is not checked for every row', async () => {
  await postgres.run(`
    CREATE TABLE scores (score int); CREATE TABLE late_scores () INHERITS (scores);
    ALTER TABLE ONLY scores ALTER score SET NOT NULL; INSERT INTO scores VALUES (1), (2); INSERT INTO late_scores VALUES (NULL);
    CREATE TABLE old_scores (score int); INSERT INTO old_scores VALUES (NULL), (1), (2);
    ALTER TABLE old_scores ADD CONSTRAINT filled NOT NULL score NOT VALID;
    CREATE TABLE all_scores (score int NOT NULL) PARTITION BY RANGE (score); CREATE TABLE some_scores PARTITION OF all_scores DEFAULT`)
  const best = (table: string) => `SELECT score FROM pg.${table} ORDER BY score DESC LIMIT 1`
  for (const table of ['scores', 'old_scores']) {
    expect(await planned(best(table))).toContain('ORDER BY "score" DESC NULLS LAST LIMIT 1')
    expect(await ask(best(table))).toEqual([[2]])
    expect((await ask(`DESCRIBE pg.${table}`)).map((row) => row[2])).toEqual(['NO'])
  }
  expect(await planned(best('all_scores'))).toContain('ORDER BY "score" DESC LIMIT 1')
})

test('a name that is no column is found before a row is fetched, and a text in double quotes is sent as a filter', async () => {
  await postgres.run("CREATE TABLE misnamed AS SELECT n AS id, 'note ' || n AS note FROM generate_series(1, 5000) AS n")
  for (const query of [
    'SELECT nota FROM pg.misnamed',
    'SELECT m.id FROM pg.misnamed AS m JOIN range(3) AS s(size) ON s.size = m.ident',
    'SELECT id FROM pg.misnamed WHERE upper(nota) = 1',
  ])
    await expect(ask(query)).rejects.toThrow(/Did you mean|no column/)
  expect(await ask('SELECT id FROM pg.misnamed WHERE note = "note 7"')).toEqual([[7]])
  expect(await ask('SELECT list_transform([id], x -> x + 1) FROM pg.misnamed WHERE id = 1')).toEqual([[[2]]])
  await asked('rows', '%misnamed%int8%')
  const sent = await ask(`SELECT statement FROM log.database_queries WHERE statement LIKE '%misnamed%' ORDER BY position`)
  expect(sent.map(([statement]) => String(statement).replace(/.*WHERE/, ''))).toEqual([' "note" = $1::text', ' "id" = $1::int8'])
})

test('a row of fields is not NULL because its fields are', async () => {
  await postgres.run('CREATE TYPE street AS (name text, number int); CREATE TABLE addressed (id int, addr street)')
  await postgres.run("INSERT INTO addressed VALUES (1, ROW('Main St', NULL)), (2, NULL), (3, ROW(NULL, NULL))")
  expect(await ask('SELECT id FROM pg.addressed WHERE addr IS NOT NULL ORDER BY id')).toEqual([[1], [3]])
  expect(await ask('SELECT count(*) FROM pg.addressed WHERE addr IS NULL')).toEqual([[1]])
})

test('a long list in IN is sent as one value, if its constants have one type', async () => {
  const numbers = Array.from({ length: 40_000 }, (_, n) => n + 150)
  const query = `SELECT count(*) FROM pg.homes WHERE id IN (${numbers.join(', ')}) AND place = 'good'`
  expect(await planned(query)).toMatch(/WHERE "id" = ANY\(\$1::int8\[\]\) AND "place" = \$2::text/)
  const answer = await ask("SELECT count(*) FROM pg.homes WHERE id >= 150 AND place = 'good'")
  expect(await ask(query)).toEqual(answer)
  const halves = (each: (n: number) => string) =>
    `SELECT id FROM pg.homes WHERE rent IN (${numbers.map(each).join()}) AND id < 6 ORDER BY id`
  const odd = [[1], [3], [5]]
  expect(await planned(halves((n) => `${n}.5`))).toMatch(/"rent" = ANY\(\$1::numeric\(38,1\)\[\]\)/)
  expect(await ask(halves((n) => `${n}.5`))).toEqual(odd)
  const mixed = halves((n) => (n % 2 ? String(n) : `${n}.50`))
  expect(await planned(mixed)).toMatch(/"rent" = ANY\(\$1::numeric\(38,2\)\[\]\)/)
  expect(await ask(mixed)).toEqual([[1], [2], [5]])
  const large = Array.from({ length: 600 }, (_, n) => String(10n ** 18n - 300n + BigInt(n)))
  expect(await planned(`SELECT id FROM pg.homes WHERE id IN (${large.join()})`)).toMatch(/"id" = ANY\(\$1::int8\[\]\)/)
})

test.each([
  ["place IN ('good', 'a\"b', 'back\\\\slash', '{x}', '', 'NULL', 'it''s')", 66],
  ["place NOT IN ('good', 'great')", 67],
  ["listed IN (DATE '2026-01-02', DATE '2026-01-03')", 2],
  ['id IN (1, 2, 12345678901234567890)', 2],
  ['NOT (id IN (1, 2) OR size IN (330))', 197],
])('homes with %s are those that DuckDB finds', async (condition, count) => {
  expect(await planned(`SELECT count(*) FROM pg.homes WHERE ${condition}`)).toMatch(/WHERE/)
  expect(await ask(`SELECT count(*) FROM pg.homes WHERE ${condition}`)).toEqual([[count]])
  expect(await ask(`SELECT count(*) FROM (SELECT * FROM pg.homes OFFSET 0) WHERE ${condition}`)).toEqual([[count]])
})

describe('what only asks does not write there', () => {
  const insert = "SELECT id FROM writer (INSERT INTO notes (note) VALUES ('asked') RETURNING id)"

  test('a client of MCP may only read', async () => {
    const client = await oldClient(service.url)
    expect((await client.call('query', { sql: insert })).isError).toBe(true)
    expect(
      (await client.call('query', { sql: "INSERT INTO notes (note) VALUES ('asked') RETURNING id", database: 'writer' })).isError,
    ).toBe(true)
    expect(await client.call('query', { sql: 'SELECT n FROM writer (SELECT count(*)::int AS n FROM homes)' })).toMatchObject({
      data: { rows: [[200]] },
    })
    await client.close()
    expect(await notes('asked')).toEqual([{ n: 0 }])
  })
  test('a question about the past may not, also if nothing was recorded since', async () => {
    const { data } = await sql(service.url, 'SELECT max(position) FROM log.events')
    const context = { db: 'mindsdb', as_of: Number(data[0]?.[0]) }
    const { body } = await send(service.url, 'POST', '/api/sql/query', { query: insert, context })
    expect(body).toMatchObject({ type: 'error', error_message: expect.stringMatching(/questions about the past .* only read/) })
    expect(await notes('asked')).toEqual([{ n: 0 }])
  })
  test('EXPLAIN does not run the statement, also if it begins as one that reads', async () => {
    const last = () => postgres.rows('SELECT last_value, is_called FROM notes_id_seq')
    const before = await last()
    expect(await planned("SELECT * FROM writer (SELECT nextval('notes_id_seq') AS n)")).toContain("sends SELECT nextval('notes_id_seq')")
    expect(await last()).toEqual(before)
  })
  test.each([
    `EXPLAIN ${insert}`,
    `CREATE VIEW written AS (${insert})`,
    `CREATE MODEL written FROM writer (INSERT INTO notes (note) VALUES ('asked') RETURNING id, note) PREDICT note`,
  ])('%s', async (statement) => {
    expect(await ask(statement).then(() => 'answered', String)).toMatch(
      /plans, views, trainings, questions about the past and requests that may not write only read/,
    )
    expect(await notes('asked')).toEqual([{ n: 0 }])
  })
})

test('statements that wait for their database keep no other query waiting', async () => {
  const active = async () =>
    Number(
      (await postgres.rows("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(100)%' AND pid <> pg_backend_pid()"))[0]?.[0],
    )
  const heavy = (n: number, rows: number) => ask(`SELECT count(*) + ${n} FROM range(${rows}) WHERE md5(range::VARCHAR) > ''`)
  const from = performance.now()
  await heavy(0, 1_000_000)
  const rows = Math.min(8_000_000, Math.ceil((2_000 * 1_000_000) / (performance.now() - from)))
  const asked = Array.from({ length: 3 }, (_, i) => sql(service.url, `SELECT * FROM pg (SELECT pg_sleep(100), ${i} AS n)`))
  await until(async () => (await active()) === 3)
  // Each of them needs more than the time of a quick query, and one place for such queries would be left. A slow machine gets fewer rows.
  expect(await Promise.all([heavy(1, rows), heavy(2, rows)])).toEqual([[[rows + 1]], [[rows + 2]]])
  expect(await active()).toBe(3)
  await postgres.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(100)%' AND pid <> pg_backend_pid()")
  for (const answer of asked) expect(await answer).toMatchObject({ type: 'error' })
})

test('a statement that wrote is not sent again when the process that answers SQL is lost', async () => {
  for (let n = 1; ; n++) {
    const note = `lost ${n}`
    const query = `SELECT count(*) FROM writer (INSERT INTO notes (note) VALUES ('${note}') RETURNING id), range(3000000) a, range(3000000) b`
    let isOver = false
    const said = ask(query)
      .then(() => 'answered', String)
      .finally(() => (isOver = true))
    await until(async () => isOver || ((await notes(note)) as { n: number }[])[0]?.n === 1)
    signalTo(service.service.sqlProcessPid(), 'SIGKILL')
    const text = await said
    // On a busy machine its time may be over before the process is lost.
    if (text.includes('sqlTimeoutMs')) continue
    expect(text).toMatch(/Not sent again|sent a statement that writes/)
    expect(await notes(note)).toEqual([{ n: 1 }])
    return
  }
})

/** The newest question to a database; its record is written a little after its answer. */
const asked = async (columns: string, like: string): Promise<unknown[]> => {
  const newest = () => ask(`SELECT ${columns} FROM log.database_queries WHERE statement LIKE '${like}' ORDER BY position DESC LIMIT 1`)
  await until(async () => (await newest()).length > 0)
  return (await newest())[0] ?? []
}

describe('what the database was asked', () => {
  test('is on record, without constants', async () => {
    await ask("SELECT id FROM pg.homes WHERE place = 'good' LIMIT 1")
    const statement = 'SELECT "id", "place" FROM "homes" WHERE "place" = $1::text LIMIT 1'
    const recorded = await asked(
      'database, version, statement, rows, bytes > 0, duration_ms > 0, purpose, outcome, asked_by, source',
      statement,
    )
    expect(recorded).toEqual(['pg', 1, statement, 1, true, true, 'query', 'complete', 'anonymous', 'sql'])
    const trainings = await ask("SELECT DISTINCT statement FROM log.database_queries WHERE purpose = 'training' ORDER BY 1")
    expect(trainings).toEqual([
      ['SELECT size, place, rent FROM homes'],
      ['SELECT size, place, rent FROM homes WHERE id > 0'],
      [String.raw`SELECT size, rent FROM homes WHERE '{"a":1}'::jsonb ? 'a' AND place <> '\'`],
    ])
    const of = "SELECT model, model_version FROM log.database_queries WHERE purpose = 'training' AND statement LIKE '%id > 0' ORDER BY 1"
    // The check before a training is requested runs nothing. The training asks once.
    expect(await ask(of)).toEqual([['learned', 1]])
  })

  test('is on record whatever came of it: refused, left before the first row, broken off in mid-answer, in a training', async () => {
    const outcome = 'outcome, rows, purpose, asked_by'
    await expect(ask('SELECT * FROM pg (SELECT 1/0 AS refused)')).rejects.toThrow(/division by zero/)
    expect(await asked(outcome, '%AS refused%')).toEqual(['failed', 0, 'query', 'anonymous'])
    await expect(
      ask("SELECT * FROM writer (INSERT INTO notes (note) VALUES (repeat('no', -1)::int::text || 'refused too'))"),
    ).rejects.toThrow()
    expect(await asked(outcome, '%refused too%')).toEqual(['failed', 0, 'query', 'anonymous'])
    const leaving = new AbortController()
    const body = JSON.stringify({ query: 'SELECT * FROM pg (SELECT pg_sleep(50) AS left)' })
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: leaving.signal }
    const left = fetch(`${service.url}/api/sql/query`, post).catch(() => undefined)
    await until(async () => (await postgres.run("SELECT FROM pg_stat_activity WHERE query LIKE '%(50) AS left'")).rowCount === 1)
    leaving.abort()
    await left
    expect(await asked(outcome, '%AS left%')).toEqual(['cut', 0, 'query', 'anonymous'])
    const broken = '(SELECT n, 1/(4000 - n) AS y FROM generate_series(1, 9000) AS n)'
    await expect(ask(`CREATE MODEL broken FROM pg ${broken} PREDICT y`).then(() => trained('broken'))).rejects.toThrow(/division by zero/)
    const recorded = await asked(`${outcome}, model, model_version`, '%(4000 - n)%')
    expect(recorded).toEqual(['failed', expect.any(Number), 'training', 'anonymous', 'broken', 1])
  })

  test('a model says which connections its rows came from, also through a view', async () => {
    await ask('CREATE VIEW seen_homes AS (SELECT size, rent FROM pg.homes WHERE id < 150)')
    await ask("CREATE MODEL through FROM mindsdb (SELECT s.size, s.rent FROM seen_homes AS s) PREDICT rent USING engine = 'constant'")
    await trained('through')
    const told = (await ask('DESCRIBE through.data')).find(([fact]) => fact === 'connection')
    expect(told).toEqual(['connection', 'pg', expect.stringMatching(/^Version 1 of [-0-9a-f]{36}\. Its rows cannot be read again/)])
    const { body } = await send(service.url, 'GET', '/api/projects/mindsdb/models/through.1/data_check')
    expect(body).toMatchObject({
      data: 'unavailable',
      detail: expect.stringMatching(/pg is a connected database.*as they were/) as unknown,
    })
  })

  test('is read as of a position, under the name that the connection had', async () => {
    await ask(`CREATE DATABASE other WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(postgres.connection().parameters)}`)
    await ask('SELECT * FROM other (SELECT 41 AS as_of_then)')
    const [position] = await asked('position', '%as_of_then%')
    await ask('DROP DATABASE other')
    const then = (at: number) =>
      ask(`SELECT database, rows FROM log.database_queries AT (VERSION => ${at}) WHERE statement LIKE '%as_of_then%'`)
    expect(await then(Number(position))).toEqual([['other', 1]])
    expect(await then(Number(position) - 1)).toEqual([])
    expect(await asked('database', '%as_of_then%')).toEqual(['other'])
  })

  test('for a skill or a training is told as such, and may not write; it is always recorded, as is what may write', async () => {
    const quiet = await startTestService({ RECORD_QUERIES: 'trainings' })
    try {
      const parameters = { ...postgres.connection().parameters, writable: true }
      await send(quiet.url, 'POST', '/api/databases', { database: { name: 'pg', engine: 'postgres', parameters } })
      const origin = { actor: 'helper', source: 'rest' as const, request: null, correlation: null, causation: null }
      const run = (query: string, purpose?: 'skill') => quiet.service.sql.execute({ query, origin, purpose })
      for (const purpose of [undefined, 'skill'] as const) {
        const answer = await run('SELECT count(*) FROM pg.homes', purpose)
        expect(answer.type === 'table' && (await allRows(answer.rows))).toEqual([[200]])
      }
      const refused = await run('SELECT * FROM pg (DELETE FROM homes)', 'skill')
      expect(refused).toMatchObject({ type: 'error', error_message: expect.stringMatching(/read/) as unknown })
      const recorded = async () => (await sql(quiet.url, 'SELECT purpose, asked_by, outcome FROM log.database_queries')).data
      await until(async () => (await recorded()).length > 0)
      expect(await recorded()).toEqual([['skill', 'helper', 'complete']])
      await sql(quiet.url, "CREATE MODEL told FROM pg (SELECT size, rent FROM homes) PREDICT rent USING engine = 'constant'")
      expect(await settled(quiet.url, 'told')).toBe('complete')
      const ofModel = 'SELECT purpose, model, outcome FROM log.database_queries WHERE model_version = 1'
      await until(async () => (await sql(quiet.url, ofModel)).data.length > 0)
      expect((await sql(quiet.url, ofModel)).data).toEqual([['training', 'told', 'complete']])
      const ofQueries = "SELECT statement, outcome FROM log.database_queries WHERE purpose = 'query'"
      expect((await sql(quiet.url, ofQueries)).data).toEqual([])
      const written = 'DELETE FROM homes WHERE id = -1 RETURNING id'
      const failed = 'DELETE FROM homes WHERE id = 1 / 0'
      await send(quiet.url, 'POST', '/api/databases', { database: { name: 'reader', ...postgres.connection() } })
      await sql(quiet.url, 'SELECT * FROM reader (SELECT count(*) FROM homes)')
      for (const statement of [written, failed]) await sql(quiet.url, `SELECT * FROM pg (${statement})`)
      await until(async () => (await sql(quiet.url, ofQueries)).data.length > 1)
      expect((await sql(quiet.url, ofQueries)).data).toEqual([
        [written, 'complete'],
        [failed, 'failed'],
      ])
    } finally {
      await quiet.stop()
    }
  })
})

test('CREATE OR REPLACE makes a table and a model anew from it', async () => {
  await ask('CREATE OR REPLACE TABLE files.anew (SELECT id, rent FROM pg.homes WHERE id <= 3)')
  await ask('CREATE OR REPLACE TABLE files.anew (SELECT id FROM pg (SELECT id FROM homes WHERE id <= 5))')
  const rows = [[1], [2], [3], [4], [5]]
  expect(await ask('SELECT * FROM files.anew ORDER BY id')).toEqual(rows)
  const failing = 'CREATE OR REPLACE TABLE files.anew (SELECT * FROM pg (SELECT 1 / (id - 3) AS id FROM homes))'
  await expect(ask(failing)).rejects.toThrow(/division by zero/)
  expect(await ask('SELECT * FROM files.anew ORDER BY id')).toEqual(rows)
  const newest = "SELECT data->>'$.rows' FROM log.events WHERE type = 'ModelTrained' ORDER BY position DESC LIMIT 1"
  const predicted = async (most: number) => {
    const learned = `SELECT size, rent FROM homes WHERE id <= ${most}`
    await ask(`CREATE OR REPLACE MODEL anew FROM pg (${learned}) PREDICT rent USING engine = 'constant'`)
    await trained('anew')
    await until(async () => (await ask(newest))[0]?.[0] === String(most))
    return Number((await ask('SELECT m.rent FROM pg.homes AS h JOIN anew AS m WHERE h.id = 1'))[0]?.[0])
  }
  const first = await predicted(50)
  expect(await predicted(150)).toBeGreaterThan(first)
})

test('Aurora speaks the protocol that its parameter names', async () => {
  const aurora = (name: string, more: object) => {
    const parameters = { ...postgres.connection().parameters, ...more }
    return ask(`CREATE DATABASE ${name} WITH ENGINE = 'aurora', PARAMETERS = ${JSON.stringify(parameters)}`)
  }
  await aurora('aurora_pg', { db_engine: 'postgres', schema: 'public' })
  expect(await ask('SELECT count(*) FROM aurora_pg.homes WHERE id > 190')).toEqual([[10]])
  // MySQL takes no "schema".
  const mysql = { ...postgres.connection().parameters, db_engine: 'mysql', schema: 'public' }
  await expect(aurora('aurora_my', mysql)).rejects.toThrow(/no parameter "schema".*connection_string/s)
  const database = { name: 'aurora_my', engine: 'aurora', parameters: mysql }
  expect(await send(service.url, 'POST', '/api/databases', { database })).toMatchObject({
    status: 400,
    body: {
      detail: expect.stringMatching(/no parameter "schema"/) as unknown,
      hint: expect.stringContaining('connection_string') as unknown,
    },
  })
})

describe('a connection whose parameters no database could be opened with', () => {
  const path = '/api/databases/spelled'
  const refused = { status: 400, body: { detail: 'A connection has no parameter "hots"' } }
  const wrong = () => ({ ...postgres.connection().parameters, hots: 'db.example.com' })

  test('is neither made nor changed over REST, and over SQL not either', async () => {
    const database = (parameters: object) => ({ database: { name: 'spelled', engine: 'postgres', parameters } })
    expect(await send(service.url, 'POST', '/api/databases', database(wrong()))).toMatchObject(refused)
    expect(await send(service.url, 'PUT', path, database(wrong()))).toMatchObject(refused)
    expect((await send(service.url, 'GET', path)).status).toBe(404)
    expect((await send(service.url, 'POST', '/api/databases', database(postgres.connection().parameters))).status).toBe(201)
    expect(await send(service.url, 'PUT', path, { database: { parameters: { hots: 'x' } } })).toMatchObject(refused)
    await expect(ask('ALTER DATABASE spelled PARAMETERS = {"hots": "x"}')).rejects.toThrow(/no parameter "hots"/)
    // Another engine does not take what this one takes.
    await ask('ALTER DATABASE spelled PARAMETERS = {"schema": "shop"}')
    expect(await send(service.url, 'PUT', path, { database: { engine: 'mysql' } })).toMatchObject({
      status: 400,
      body: { detail: 'A connection has no parameter "schema"' },
    })
    await expect(ask("ALTER DATABASE spelled ENGINE = 'mysql'")).rejects.toThrow(/no parameter "schema"/)
    // The secret of another connection is not opened, and not sent anywhere.
    const referring = { database: { parameters: { password: { $secret: 'a'.repeat(64) } } }, check_connection: true }
    expect(await send(service.url, 'PUT', path, referring)).toMatchObject({
      status: 400,
      body: { detail: 'the key "$secret" is reserved' },
    })
    await ask("ALTER DATABASE spelled NAME = 'spelt'")
    expect(await ask('SELECT count(*) FROM spelt.orders')).toEqual([[3]])
    await ask('DROP DATABASE spelt')
  })

  test('may get its parameters later, and has its password where a request marks it', async () => {
    expect((await send(service.url, 'PUT', path, { database: { engine: 'postgres' } })).status).toBe(201)
    const { password: secret, ...others } = postgres.connection().parameters
    const parameters = { ...others, password: { $seal: secret } }
    expect((await send(service.url, 'PUT', path, { database: { parameters } })).status).toBe(200)
    expect(await ask('SELECT count(*) FROM spelled.homes')).toEqual([[200]])
    await ask('DROP DATABASE spelled')
  })
})

test('the schema of a connection comes before public in native statements alone', async () => {
  await postgres.run(`
    CREATE FUNCTION public.doubled(n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 2 * n';
    CREATE TYPE public.mark AS ENUM ('x', 'y');
    CREATE TABLE shop.homes (id int); INSERT INTO shop.homes VALUES (7)`)
  const parameters = { ...postgres.connection().parameters, schema: 'shop', writable: true, autocommit: true }
  await ask(`CREATE DATABASE branch WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(parameters)}`)
  const native = "SELECT doubled(o.id) AS n, 'x'::mark AS m, s.id AS seen FROM orders AS o JOIN seen AS s USING (id) WHERE o.id = 2"
  expect(await ask(`SELECT n, m, seen FROM branch (${native})`)).toEqual([[4, 'x', 2]])
  // What is in both is found in the schema.
  expect(await ask('SELECT * FROM branch (SELECT id FROM homes)')).toEqual([[7]])
  expect(await ask('SELECT * FROM branch (INSERT INTO homes SELECT doubled(4) RETURNING id)')).toEqual([[8]])
  // The columns of a view are asked for without running its statement.
  await ask(`CREATE VIEW doubles FROM branch (${native})`)
  expect((await ask('DESCRIBE doubles')).map(([name]) => name)).toEqual(['n', 'm', 'seen'])
  await ask('DROP VIEW doubles')
  expect((await ask('SHOW TABLES FROM branch')).flat()).not.toContain('seen')
  expect(await ask('SELECT count(*) FROM branch.orders')).toEqual([[3]])
  await expect(ask('SELECT * FROM branch.seen')).rejects.toThrow(/no table "seen"/)
  expect(await ask('SELECT count(*) FROM branch.public.seen')).toEqual([[3]])
  await ask('DROP DATABASE branch')
  await postgres.run('DROP TABLE shop.homes; DROP FUNCTION public.doubled; DROP TYPE public.mark')
})

test('a table that changed is read as it is now, once a statement has failed', async () => {
  await postgres.run('CREATE TABLE moved (a int, b int); INSERT INTO moved VALUES (1, 2)')
  expect(await ask('SELECT a FROM pg.moved')).toEqual([[1]])
  await postgres.run('ALTER TABLE moved RENAME COLUMN a TO c')
  await expect(ask('SELECT a FROM pg.moved')).rejects.toThrow(/column/)
  // The end of the statement is heard of a little later than its error.
  let read: unknown
  const isRead = async () => (read = await ask('SELECT c, b FROM pg.moved').catch(() => undefined)) !== undefined
  await until(isRead)
  expect(read).toEqual([[1, 2]])
})

test.each([
  ['a misspelled parameter', 'postgres', { hots: 'db.example.com' }, /no parameter "hots".*Did you mean "host"/s],
  ['a path of a certificate', 'postgres', { host: 'db.example.com', sslrootcert: '/etc/passwd' }, /"sslrootcert" is not a certificate/],
  ['no host', 'mysql', { user: 'ada' }, /no parameter "host"/],
  ['a path outside of its folder', 'sqlite', { path: '../shop.db' }, /"path" leads out of the folder/],
])('CREATE DATABASE refuses %s, and calls nothing', async (_, engine, parameters, said) => {
  for (const create of ['CREATE', 'CREATE OR REPLACE'])
    await expect(ask(`${create} DATABASE unread WITH ENGINE = '${engine}', PARAMETERS = ${JSON.stringify(parameters)}`)).rejects.toThrow(
      said,
    )
  expect((await ask('SHOW DATABASES')).flat()).not.toContain('unread')
})

test('a table that a statement of this service changed is read as it is now', async () => {
  await postgres.run('CREATE TABLE altered (a int); INSERT INTO altered VALUES (1)')
  expect(await ask('SELECT * FROM writer.altered')).toEqual([[1]])
  expect((await ask('SHOW TABLES FROM writer')).flat()).not.toContain('made_there')
  await ask('SELECT * FROM writer (ALTER TABLE altered ADD COLUMN garden int DEFAULT 7)')
  await ask('SELECT * FROM writer (CREATE TABLE made_there (a int))')
  // The end of the statement is heard of a little later than its answer.
  await until(async () => (await ask('SHOW TABLES FROM writer')).flat().includes('made_there'))
  expect(await ask('SELECT * FROM writer.altered')).toEqual([[1, 7]])
})

test('names of tables are compared without case, and an exact match comes first', async () => {
  await postgres.run(
    `CREATE TABLE "Twins" (a int); CREATE TABLE twins (a int); INSERT INTO "Twins" VALUES (1); INSERT INTO twins VALUES (2)`,
  )
  expect(await ask('SELECT count(*) FROM pg.HOMES')).toEqual([[200]])
  expect(await ask('SELECT Homes.id FROM Homes WHERE id = 3', 'pg')).toEqual([[3]])
  expect(await ask('SELECT count(*) FROM pg.Shop."ORDERS"')).toEqual([[3]])
  expect(await ask('SELECT count(*) FROM pg.HOMES AS h JOIN pg.SHOP.Orders AS o ON o.home = h.id')).toEqual([[3]])
  expect(await ask('SELECT * FROM pg."Twins"')).toEqual([[1]])
  expect(await ask('SELECT * FROM pg.twins')).toEqual([[2]])
  await expect(ask('SELECT * FROM pg.TWINS')).rejects.toThrow(/no table "TWINS".*Did you mean/s)
  await expect(ask('SELECT * FROM pg.ORDERS')).rejects.toThrow(/Did you mean pg\.shop\.orders/)
})

describe('a database that does not answer', () => {
  const called: number[] = []
  const swallow: Fault = { afterBytes: 0, then: 'swallow' }
  let isAway = false
  let proxy: Awaited<ReturnType<typeof proxyTo>>

  beforeAll(async () => {
    proxy = await proxyTo(postgres.port, (connection) => {
      if (isAway) called.push(connection)
      return isAway ? swallow : undefined
    })
    const parameters = JSON.stringify({ ...postgres.connection().parameters, port: proxy.port })
    await ask(`CREATE DATABASE dead WITH ENGINE = 'postgres', PARAMETERS = ${parameters}`)
    for (const view of ['dead_one', 'dead_two'])
      await ask(`CREATE VIEW ${view} AS (SELECT id, place FROM dead.homes WHERE place <> '${view}')`)
    await ask('CREATE TABLE files.near (SELECT 1 AS a)')
    await ask('CREATE VIEW near AS (SELECT id, place FROM pg.homes)')
    // A change lets the service forget what it knows of the tables, and needs another login.
    await ask('ALTER DATABASE dead PARAMETERS = {"writable": true}')
    isAway = true
  })
  afterAll(async () => {
    for (const view of ['dead_one', 'dead_two', 'near']) await ask(`DROP VIEW ${view}`)
    await ask('DROP DATABASE dead')
    await proxy.stop()
  })

  test('is not called for the columns of others', async () => {
    expect((await ask('DESCRIBE files.near')).map(([name]) => name)).toEqual(['a'])
    expect((await ask('DESCRIBE pg.homes')).map(([name]) => name)).toEqual(['id', 'size', 'place', 'rent', 'listed'])
    expect((await ask('SHOW COLUMNS FROM near')).map(([name]) => name)).toEqual(['id', 'place'])
    expect(called).toEqual([])
  })

  test('is left out of the columns of all views, which do not wait for its login', async () => {
    let columns: unknown[] = []
    // A busy machine may take too long for the others, too, or to call this one.
    await until(async () => {
      columns = (await ask("SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = 'mindsdb'")).flat()
      return columns.includes('near') && proxy.open() > 0
    })
    expect(columns).not.toContain('dead_one')
    expect(proxy.open()).toBe(1)
  })
})

test('a statement of a view does not run when columns are listed', async () => {
  await ask("CREATE VIEW native_view FROM pg (SELECT id, 'listed only' AS said, rent FROM homes WHERE id = 1)")
  const listed = () =>
    ask("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'native_view' ORDER BY ordinal_position")
  const columns = [
    ['id', 'integer'],
    ['said', 'varchar'],
    ['rent', 'decimal(10,2)'],
  ]
  // A list over all databases waits a short time for each, and remembers what came later.
  await until(async () => (await listed()).length > 0)
  for (let n = 0; n < 2; n++) expect(await listed()).toEqual(columns)
  expect((await ask('DESCRIBE native_view')).map(([name]) => name)).toEqual(['id', 'said', 'rent'])
  expect(await planned('SELECT * FROM native_view')).toContain("sends SELECT id, 'listed only'")
  await ask('SELECT * FROM native_view')
  const ran = () => ask("SELECT rows FROM log.database_queries WHERE statement LIKE '%listed only%'")
  await until(async () => (await ran()).length > 0)
  expect(await ran()).toEqual([[1]])
})

test('a view that its database refuses does not hide the tables of this database', async () => {
  await postgres.run('CREATE TABLE vanishing (a int)')
  await ask('CREATE VIEW vanished FROM pg (SELECT a FROM vanishing)')
  await postgres.run('DROP TABLE vanishing')
  // A statement that failed lets the service forget what it knows of the tables.
  await expect(ask('SELECT * FROM vanished')).rejects.toThrow(/vanishing/)
  const listed = async () => (await ask("SELECT table_name FROM information_schema.columns WHERE table_schema = 'mindsdb'")).flat()
  await until(async () => !(await listed()).includes('vanished'))
  const tables = async () => (await ask("SELECT table_name FROM information_schema.tables WHERE table_schema <> 'log'")).flat()
  await until(async () => (await tables()).includes('shop.orders'))
  await ask('DROP VIEW vanished')
})

test('a statement whose types only its rows tell is planned by its first rows', async () => {
  await ask('CREATE VIEW open_types FROM pg (SELECT sum(rent) AS total, ARRAY[[1, 2]] AS pairs FROM homes)')
  expect(await ask('SELECT total + 1, pairs FROM open_types')).toEqual([[351251, [[1, 2]]]])
  expect((await ask('DESCRIBE open_types')).map(([name]) => name)).toEqual(['total', 'pairs'])
})

test('a user who may read some columns of a table reads these', async () => {
  await postgres.run(`CREATE ROLE partial LOGIN PASSWORD '${password}'; GRANT SELECT (id, size) ON homes TO partial`)
  const parameters = JSON.stringify({ ...postgres.connection().parameters, user: 'partial' })
  await ask(`CREATE DATABASE partial WITH ENGINE = 'postgres', PARAMETERS = ${parameters}`)
  expect(await ask('SELECT * FROM partial.homes WHERE id = 3')).toEqual([[3, 330]])
  expect(await ask('SELECT count(*), sum(size) FROM partial.homes')).toEqual([[200, 261000]])
  expect((await ask('DESCRIBE partial.homes')).map(([name]) => name)).toEqual(['id', 'size'])
  await expect(ask('SELECT rent FROM partial.homes')).rejects.toThrow(/rent/)
  await expect(ask('SELECT * FROM partial.seen')).rejects.toThrow(/permission denied/)
})

test('the columns of a view are listed again, once its database is there again', async () => {
  let isAway = false
  const cut: Fault = { afterBytes: 0, then: 'cut' }
  const proxy = await proxyTo(postgres.port, () => (isAway ? cut : undefined))
  try {
    const parameters = JSON.stringify({ ...postgres.connection().parameters, port: proxy.port })
    await ask(`CREATE DATABASE away WITH ENGINE = 'postgres', PARAMETERS = ${parameters}`)
    await ask('CREATE VIEW of_homes AS (SELECT id, place FROM away.homes)')
    const columns = () => ask("SELECT column_name FROM information_schema.columns WHERE table_name = 'of_homes' ORDER BY ordinal_position")
    // A statement that failed lets the service forget what it knows of the tables.
    await expect(ask('SELECT * FROM away (SELECT 1 / 0)')).rejects.toThrow(/zero/)
    await until(async () => (await asked('outcome', '%1 / 0%'))[0] === 'failed')
    isAway = true
    expect(await columns()).toEqual([])
    isAway = false
    // A list over all databases waits a short time for each.
    let listed: unknown[][] = []
    await until(async () => (listed = await columns()).length > 0)
    expect(listed).toEqual([['id'], ['place']])
  } finally {
    await ask('DROP DATABASE away')
    await proxy.stop()
  }
})

test('a model of series forecasts also through a view, whatever conditions stand beside LATEST', async () => {
  await postgres.run("CREATE TABLE sales AS SELECT date '2024-01-01' + i AS day, 50 + i % 7 * 10 AS sold FROM generate_series(0, 89) AS i")
  await ask('CREATE MODEL next_sales FROM pg (SELECT day, sold FROM sales) PREDICT sold ORDER BY day HORIZON 7')
  await trained('next_sales')
  await ask('CREATE VIEW sold_there AS (SELECT * FROM pg.sales)')
  for (const from of ['pg.sales', 'sold_there', '(SELECT day, sold FROM pg.sales)'])
    expect(
      await ask(`SELECT t.day FROM ${from} AS t JOIN next_sales AS m WHERE t.day > LATEST AND t.day >= DATE '2024-04-05' ORDER BY 1`),
    ).toEqual([['2024-04-05'], ['2024-04-06']])
})

test('what is wrong is said with a hint, and without the password', async () => {
  const said = async (query: string) => ask(query).then(() => 'answered', String)
  expect(await said('SELECT * FROM pg.hoems')).toMatch(/homes/)
  expect(await said('SELECT sise FROM pg.homes')).toMatch(/size/)
  expect(await said('SELECT * FROM pg.homes AT (VERSION => 3)')).toMatch(/no past|no history/)
  expect(await said('SELECT * FROM pg (DELETE FROM homes)')).toMatch(/read/)
  expect(await said('SELECT * FROM pg (SELECT 1/0)')).toMatch(/division by zero/)
  const wrong = { ...postgres.connection().parameters, password: `${password}-wrong` }
  await ask(`CREATE DATABASE locked WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(wrong)}`)
  const locked = await said('SELECT * FROM locked.homes')
  expect(locked).toMatch(/password|user/)
  expect(locked).not.toContain(password)
  const nowhere = { ...wrong, host: 'nowhere.invalid' }
  await ask(`CREATE DATABASE nowhere WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(nowhere)}`)
  // A machine without a resolver may wait for one until the time is over.
  const unknown = await said('SELECT * FROM nowhere.homes')
  expect(unknown).toMatch(/nowhere\.invalid(?: is not known|:\d+ cannot be reached)[^]*\nCheck /)
  expect(unknown).not.toContain(password)
  expect((await ask('SHOW TABLES')).length).toBeGreaterThan(0)
  expect(await send(service.url, 'GET', '/api/databases/locked?check_connection=true')).toMatchObject({
    status: 200,
    body: { connection_status: { success: false } },
  })
})
