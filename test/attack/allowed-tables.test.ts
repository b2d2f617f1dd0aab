import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isProblem, type Problem } from '../../src/basics/errors.js'
import type { TablePath } from '../../src/sql/contract/select.js'
import type { TestLedger } from '../support/log/ledger.js'
import { temporaryDirectory } from '../support/service.js'
import { shopLedger } from '../support/sql/shop.js'
import { refusedIn } from './statements/all.js'

const target = temporaryDirectory()
const only: readonly TablePath[] = [
  ['files', 'rentals'],
  ['shop', 'good_ones'],
]
let ledger: TestLedger

beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.file('salaries', `SELECT 'ada' AS who, 4711 AS pay`, 9)
  await ledger.file('a.b', `SELECT 4711 AS pay`, 9)
  for (const [name, query, database] of [
    ['pays', 'SELECT * FROM files.salaries', 'files'],
    ['rentals', 'SELECT 4711 AS pay', 'shop'],
    ['sealed', 'SELECT who FROM salaries', 'files'],
  ] as const)
    await ledger.history('views', { stream: `v-${name}`, project: 'p-shop', name, query, database, from: 15 })
  await ledger.history('databases', { stream: 'd-crm', name: 'crm', engine: 'postgres', parameters: {}, from: 16 })
  await ledger.events(40)
  await ledger.lock()
})
afterAll(async () => {
  await ledger.close()
  target.remove()
})

const refusal = async (sql: string, db = 'shop'): Promise<Problem> => {
  const error: unknown = await ledger.select(sql, { only, db }).then(
    ({ data }) => new Error(`it was answered: ${JSON.stringify(data)}`),
    (reason: unknown) => reason,
  )
  if (isProblem(error)) return error
  throw error
}

/** Tables that are not named in `only`, in every way in which SQL names them. */
const others = [
  'files.salaries',
  '"files"."salaries"',
  'FILES.Salaries',
  '`files`.`salaries`',
  'files."a.b"',
  'files.nope',
  'shop.pays',
  'pays',
  'shop.rentals',
  'shop.sealed',
  'shop.v2',
  'v2',
  'shop.loop_a',
  'shop.rent',
  'rent',
  'shop.rent."1"',
  'shop.tier',
  'shop.bad',
  'shop.models',
  'models',
  'shop.skills',
  'shop.agents',
  'shop.views',
  'shop.jobs',
  'mindsdb.models',
  'mindsdb.skills',
  'skills_history',
  'log.events',
  'log.resources',
  'log.predictions',
  'log.nope',
  'information_schema.tables',
  'information_schema.columns',
  'information_schema.databases',
  'information_schema.files',
  'information_schema.views',
  'INFORMATION_SCHEMA.TABLES',
  'crm.orders',
  'crm.public.orders',
  'slack_db.messages',
  'slack_db.x',
  'nope.t',
  'nope',
  'nope.a.b',
  'ledger.events',
  'ledger.files_history',
  'main.events',
  'memory.ledger.events',
  'temp.x',
  'pg_catalog.pg_tables',
  'sqlite_master',
  'duckdb_tables',
  'ledger_cte_1',
  'ledger_native_1',
  'files.rentals.x',
  'shop.good_ones.rentals',
  '"files.rentals"',
  '"shop.good_ones"',
  '"files.rentals".rentals',
  'x."files.rentals"',
  '"files""rentals"',
]

/** The places in a statement in which a table can be named. */
const places: Readonly<Record<string, (table: string) => string>> = {
  alone: (table) => `SELECT * FROM ${table}`,
  joined: (table) => `SELECT * FROM files.rentals AS r JOIN ${table} AS x ON true`,
  listed: (table) => `SELECT * FROM files.rentals AS r, ${table} AS x`,
  inSubquery: (table) => `SELECT (SELECT count(*) FROM ${table}) FROM files.rentals`,
  inExists: (table) => `SELECT 1 FROM files.rentals WHERE EXISTS (FROM ${table})`,
  inCte: (table) => `WITH c AS (SELECT * FROM ${table}) SELECT * FROM c`,
  inUnion: (table) => `SELECT sqft FROM files.rentals UNION ALL SELECT 1 FROM ${table}`,
  inLateral: (table) => `SELECT * FROM files.rentals AS r, LATERAL (SELECT * FROM ${table}) AS x`,
  described: (table) => `SELECT * FROM (DESCRIBE SELECT * FROM ${table})`,
  inRecursion: (table) => `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c, ${table} WHERE n < 3) SELECT * FROM c`,
}

describe('a table that is not named in `only` is refused, and the refusal tells nothing of it', () => {
  test.each(Object.entries(places))('%s', async (_place, written) => {
    for (const table of others) {
      const { code, detail, extras } = await refusal(written(table))
      expect(['refused_statement', 'bad_statement']).toContain(code)
      const bare = table.replaceAll(/["`]/g, '')
      const said = `${detail} ${extras.hint ?? ''}`.replaceAll(table, '').replaceAll(bare, '')
      expect([table, said]).toEqual([table, expect.not.stringMatching(/salaries|pays|sealed|slack|postgres|engine|Did you mean|4711/i)])
    }
  })
})

const forms = [
  `SELECT * FROM files (SELECT * FROM salaries)`,
  `SELECT * FROM files (SELECT * FROM rentals)`,
  `SELECT * FROM crm (SELECT * FROM orders)`,
  `SELECT * FROM crm (DROP TABLE orders)`,
  `SELECT * FROM slack_db (SELECT 1)`,
  `SELECT * FROM files.rentals AS r JOIN crm (SELECT 1) AS x ON true`,
  `SELECT * FROM nope (SELECT 1)`,
  `SELECT * FROM log (SELECT * FROM events)`,
  `SELECT * FROM files.rentals AT (VERSION => 8)`,
  `SELECT * FROM files.rentals AT (VERSION => (SELECT max(position) FROM log.events))`,
  `SELECT * FROM files.rentals AT (TIMESTAMP => '2026-01-01 00:20:00')`,
  `SELECT * FROM good_ones AT (VERSION => 12)`,
  `SELECT * FROM log.events AT (VERSION => 3)`,
  `PIVOT files.rentals ON location IN (SELECT who FROM files.salaries) USING max(sqft)`,
  `PIVOT files.salaries ON who IN ('ada') USING max(pay)`,
  `SELECT * FROM (PIVOT files.rentals ON location IN (SELECT name FROM shop.models) USING max(sqft))`,
  `UNPIVOT files.salaries ON pay INTO NAME n VALUE v`,
  `SELECT files.salaries.pay FROM files.rentals`,
  `SELECT salaries FROM files.rentals`,
  `FROM files.salaries`,
  `TABLE files.salaries`,
  `SUMMARIZE files.salaries`,
  `DESCRIBE files.salaries`,
  `SHOW TABLES`,
  `SHOW ALL TABLES`,
  `SELECT * FROM (SHOW TABLES)`,
  `SELECT * FROM (SHOW ALL TABLES)`,
  `SELECT * FROM (SUMMARIZE SELECT * FROM files.salaries)`,
  `EXPLAIN SELECT * FROM files.salaries`,
  `EXPLAIN ANALYZE SELECT * FROM files.rentals`,
  `SELECT * FROM query('SELECT * FROM files.salaries')`,
  `SELECT * FROM query_table('salaries')`,
  `SELECT * FROM query_table(['salaries'])`,
  `SELECT * FROM read_parquet('${'x'.repeat(64)}')`,
  `SELECT * FROM '${'x'.repeat(64)}'`,
  `SELECT * FROM duckdb_tables()`,
  `SELECT * FROM pragma_table_info('files.salaries')`,
  `SELECT getvariable('x')`,
  `SELECT current_setting('threads')`,
  `SELECT * FROM shop.rent WHERE sqft = 1`,
  `SELECT * FROM files.rentals AS r JOIN shop.rent AS m`,
  `SELECT * FROM files.rentals; SELECT * FROM files.salaries`,
  `SELECT * FROM files.rentals /* */ ; DROP TABLE files.rentals`,
  `WITH salaries AS (SELECT * FROM files.rentals) SELECT * FROM files.salaries`,
  `WITH c AS MATERIALIZED (SELECT * FROM files.salaries) SELECT count(*) FROM files.rentals`,
  `WITH rentals AS (SELECT 1) SELECT * FROM shop.rentals`,
  `SELECT * FROM files.rentals WHERE sqft IN (SELECT pay FROM files.salaries)`,
  `SELECT * FROM files.rentals ORDER BY (SELECT max(pay) FROM files.salaries)`,
  `SELECT * FROM files.rentals LIMIT (SELECT max(pay) FROM files.salaries)`,
  `SELECT * FROM files.rentals GROUP BY ALL HAVING (SELECT true FROM files.salaries)`,
  `SELECT sum(sqft) OVER (ORDER BY (SELECT max(pay) FROM files.salaries)) FROM files.rentals`,
  `SELECT list_transform([1], x -> (SELECT max(pay) FROM files.salaries)) FROM files.rentals`,
  `SELECT * FROM files.rentals AS r POSITIONAL JOIN files.salaries AS s`,
  `SELECT * FROM files.rentals AS r ASOF JOIN files.salaries AS s ON r.sqft >= s.pay`,
  `SELECT * FROM files.rentals AS r SEMI JOIN files.salaries AS s ON true`,
  `SELECT * FROM files.rentals NATURAL JOIN files.salaries`,
  `SELECT unnest((SELECT list(pay) FROM files.salaries))`,
  `SELECT * FROM unnest((SELECT list(pay) FROM files.salaries))`,
  `SELECT * FROM range((SELECT max(pay) FROM files.salaries))`,
  `VALUES ((SELECT max(pay) FROM files.salaries))`,
  `SELECT COLUMNS('pay') FROM files.salaries`,
  `SELECT * FROM files.rentals AS salaries JOIN salaries AS s ON true`,
  `CREATE TABLE files.x AS (SELECT * FROM files.rentals)`,
  `INSERT INTO files.rentals SELECT * FROM files.salaries`,
  `DELETE FROM files.rentals`,
  `COPY files.rentals TO 'copied.csv'`,
  `ATTACH ':memory:' AS x`,
  `SET VARIABLE x = 1`,
  `PREPARE p AS SELECT * FROM files.salaries`,
  `EXECUTE p`,
  `CALL duckdb_tables()`,
  `USE files`,
]

describe('a form that reads past the names of tables is refused', () => {
  test.each(forms)('%s', async (sql) => {
    const { detail, extras } = await refusal(sql)
    expect(`${detail} ${extras.hint ?? ''}`.replaceAll(sql, '')).not.toMatch(/4711|slack_db is|crm is|Did you mean shop/)
  })
})

test('what is refused without `only` is refused with it', async () => {
  const statements = refusedIn(target.path).flatMap(({ statements: all }) => all)
  const answered: string[] = []
  for (const { sql } of statements) await refusal(sql).catch(() => answered.push(sql))
  expect(answered).toEqual([])
})

test('the tables that are named are read by any of their names, through views, CTEs, joins and subqueries', async () => {
  const count = async (sql: string, db = 'shop') => (await ledger.select(sql, { only, db })).data
  expect(await count('SELECT count(*) FROM files.rentals')).toEqual([[60]])
  expect(await count('SELECT count(*) FROM rentals', 'files')).toEqual([[60]])
  expect(await count('SELECT count(*) FROM "FILES".`Rentals`')).toEqual([[60]])
  // In shop there is a view of that name, which may not be read.
  expect(await count('SELECT count(*), max(sqft) FROM rentals')).toEqual([[60, 359]])
  expect(await count('SELECT count(*) FROM good_ones AS g JOIN files.rentals AS r ON r.sqft = g.sqft')).toEqual([[20]])
  expect(await count('WITH salaries AS (SELECT sqft FROM shop.good_ones) SELECT count(*) FROM salaries')).toEqual([[20]])
  expect(await count('SELECT count(*) FROM (SELECT * FROM files.rentals WHERE sqft IN (SELECT sqft FROM good_ones))')).toEqual([[20]])
  expect(
    await count(`PIVOT (SELECT location, sqft FROM files.rentals) ON location IN (SELECT location FROM good_ones) USING max(sqft)`),
  ).toEqual([[357]])
})

test('a view reads what it reads, and a model answers, once they are named', async () => {
  const named: readonly TablePath[] = [
    ['shop', 'pays'],
    ['shop', 'rent'],
    ['files', 'rentals'],
  ]
  expect((await ledger.select('SELECT pay FROM pays', { only: named })).data).toEqual([[4711]])
  expect(
    (await ledger.select('SELECT m.rental_price FROM files.rentals AS r JOIN shop.rent AS m LIMIT 1', { only: named })).data,
  ).toHaveLength(1)
  await expect(ledger.select('SELECT pay FROM files.salaries', { only: named })).rejects.toThrow('not one of those')
  await expect(ledger.select('SELECT 1 FROM files.rentals', { only: [] })).rejects.toThrow('not one of those')
  expect((await ledger.select('SELECT 1', { only: [] })).data).toEqual([[1]])
})

test('an answer has no more rows than are wanted, whatever LIMIT says, and keeps its order', async () => {
  const rows = async (sql: string) => (await ledger.select(sql, { only, maxRows: 5 })).data
  expect(await rows('SELECT sqft FROM files.rentals ORDER BY sqft DESC')).toEqual([[359], [358], [357], [356], [355]])
  expect(await rows('SELECT sqft FROM files.rentals ORDER BY sqft LIMIT 3')).toEqual([[300], [301], [302]])
  expect(await rows('SELECT sqft FROM files.rentals ORDER BY sqft LIMIT 1000000000000 OFFSET 2')).toHaveLength(5)
  expect(await rows('SELECT sqft FROM files.rentals UNION ALL SELECT sqft FROM good_ones ORDER BY 1 LIMIT 40')).toHaveLength(5)
  expect(await rows('WITH c AS MATERIALIZED (SELECT * FROM files.rentals) SELECT sqft FROM c')).toHaveLength(5)
  expect(await rows('SELECT DISTINCT location FROM files.rentals ORDER BY ALL')).toEqual([['good'], ['great'], ['poor']])
  expect(await rows('FROM range(100)')).toHaveLength(5)
})
