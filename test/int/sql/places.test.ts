import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { tmpdir } from 'node:os'
import type { Parameters } from '../../../src/sql/statements/statement.js'
import { parseStatement } from '../../../src/sql/statements/parse.js'
import { sql as sqlOf, startTestService } from '../../support/service.js'
import type { TestLedger } from '../../support/log/ledger.js'
import { shopLedger } from '../../support/sql/shop.js'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.file('other', "SELECT 1 AS sqft, 'x' AS note", 9)
  const broken = { project: 'p-shop', database: 'shop' }
  await ledger.history('views', { ...broken, stream: 'v-c', name: 'broken', query: 'SELECT sqft,\n  gone FROM files.rentals', from: 15 })
  await ledger.history('views', { ...broken, stream: 'v-d', name: 'outer_view', query: 'SELECT * FROM broken', from: 16 })
  await ledger.history('views', { ...broken, stream: 'v-e', name: 'lost', query: 'SELECT * FROM files.nowhere', from: 17 })
  await ledger.history('views', {
    ...broken,
    stream: 'v-f',
    name: 'typed',
    query: 'SELECT CAST(location AS INT) AS n FROM files.rentals',
    from: 18,
  })
  ledger.head = 40
  await ledger.lock()
})
afterAll(() => ledger.close())

const mark = '▲'

/** The place of the mark as a reader counts it: lines and characters from 1. */
const placeOf = (marked: string) => {
  const lines = marked.slice(0, marked.indexOf(mark)).split('\n')
  return { line: lines.length, column: Array.from(lines.at(-1) ?? '').length + 1 }
}

const failure = async (sql: string, params?: Parameters) => {
  const error: unknown = await ledger.select(sql, { ...(params && { params }) }).then(
    () => new Error(`was answered: ${sql}`),
    (e: unknown) => e,
  )
  const { detail, extras, message } = error as {
    detail?: string
    extras?: { line?: number; column?: number; hint?: string; view?: string }
    message: string
  }
  return { detail: detail ?? message, ...extras }
}

/** The mark stands before what is wrong. */
const wrongs: Record<string, string[]> = {
  'a column that is not there': [
    'SELECT ▲nope FROM files.rentals',
    'SELECT sqft, ▲nope FROM files.rentals WHERE sqft > 1',
    'SELECT sqft FROM files.rentals WHERE ▲nope > 1',
    'SELECT sqft FROM files.rentals WHERE sqft > ▲last',
    'SELECT sqft FROM files.rentals ORDER BY ▲nope',
    'SELECT count(*) FROM files.rentals GROUP BY ▲nope',
    'SELECT r.sqft, ▲r.nope FROM files.rentals AS r',
    'SELECT ▲x.sqft FROM files.rentals AS r',
    'SELECT upper(▲nope) FROM files.rentals',
    'SELECT sum(sqft) FILTER (WHERE ▲nope) FROM files.rentals',
    'SELECT sum(sqft) OVER (PARTITION BY ▲nope) FROM files.rentals',
    'SELECT CASE WHEN ▲nope THEN 1 END FROM files.rentals',
    'SELECT * REPLACE (▲nope AS sqft) FROM files.rentals',
    'SELECT a.sqft FROM files.rentals AS a JOIN files.other AS b ON ▲a.nope = b.sqft',
    'SELECT list_transform([1], x -> x + ▲nope)',
    'SELECT "sqft" + ▲nope FROM files.rentals',
    'SELECT `sqft`, ▲`nope` FROM files.rentals',
    'SELECT nope AS a, ▲missing FROM (SELECT 1 AS nope)',
    "SELECT 'nope' AS a, ▲nope FROM files.rentals",
    'SELECT 1 AS nope_, ▲nope FROM agents',
    'SELECT ▲nope FROM skills',
    'SELECT name, ▲mdel FROM agents',
    'SELECT name FROM agents WHERE ▲nope = 1',
    'SELECT ▲nope FROM log.events',
  ],
  'a column that two tables have': [
    'SELECT ▲sqft FROM files.rentals AS a, files.other AS b',
    'SELECT a.sqft FROM files.rentals AS a JOIN files.other AS b ON ▲sqft = 1',
  ],
  'inside another query': [
    'SELECT * FROM (SELECT ▲nope FROM files.rentals) AS t',
    'SELECT sqft FROM files.rentals WHERE sqft IN (SELECT ▲nope FROM files.other)',
    'SELECT (SELECT max(▲nope) FROM files.other) FROM files.rentals',
    'WITH t AS (SELECT ▲nope FROM files.rentals) SELECT * FROM t',
    'WITH t AS (SELECT sqft FROM files.rentals) SELECT ▲nope FROM t',
    'WITH t AS (SELECT 1 AS a), u AS (SELECT ▲b FROM t) SELECT a FROM t, u',
    'SELECT sqft FROM files.rentals UNION ALL SELECT ▲nope FROM files.other',
    'SELECT EXISTS (SELECT 1 FROM files.other AS o WHERE ▲o.nope = 1)',
    'SELECT t.a FROM (SELECT sqft AS a FROM files.rentals) AS t WHERE ▲t.sqft > 1',
    'SELECT ▲nope FROM good_ones',
    'SELECT g.sqft, ▲g.nope FROM good_ones AS g',
  ],
  'what is not known': [
    'SELECT * FROM ▲files.nowhere',
    'SELECT * FROM ▲nowhere',
    'SELECT * FROM ▲nowhere.t',
    'SELECT * FROM files.rentals AS nowhere JOIN ▲files.nowhere USING (sqft)',
    'SELECT nowhere FROM (SELECT 1 AS nowhere) AS t, ▲files.nowhere',
    'SELECT * FROM ▲shop.rent.9',
    'SELECT ▲nofunction(sqft) FROM files.rentals',
    'SELECT upper(location), ▲uper(location) FROM files.rentals',
    "SELECT 'getenv', ▲getenv('HOME')",
    "SELECT * FROM ▲read_csv('x')",
    'SELECT CAST(sqft AS ▲NOSUCH) FROM files.rentals',
    'SELECT sqft FROM files.rentals WHERE sqft IN (SELECT sqft FROM ▲files.nowhere)',
    'SELECT r.sqft, ▲m.nope FROM files.rentals AS r JOIN rent AS m',
    'SELECT r.sqft, ▲r.nope FROM files.rentals AS r JOIN rent AS m',
    'SELECT rental_price FROM rent WHERE sqft = 1 AND ▲nope = 2',
    'SELECT * FROM ▲bad WHERE x = 1',
  ],
  'types and rules': [
    'SELECT location ▲+ 1 FROM files.rentals',
    'SELECT sqft FROM files.rentals WHERE ▲sum(sqft) > 1',
    'SELECT sum(▲sum(sqft)) FROM files.rentals',
    'SELECT ▲sqft FROM files.rentals GROUP BY location',
    'SELECT ▲upper(sqft, location) FROM files.rentals',
    'SELECT ▲sum(location) FROM files.rentals',
    'SELECT sqft FROM files.rentals ORDER BY ▲9',
    'SELECT ▲(SELECT sqft, rooms FROM files.rentals)',
    'SELECT sqft FROM files.rentals ▲UNION SELECT 1, 2',
    'SELECT t.name FROM skills AS t JOIN ▲agents AS t ON TRUE',
    'SELECT sqft FROM files.rentals WHERE ▲row_number() OVER () > 1',
  ],
  'values that do not convert': [
    'SELECT sqft, ▲CAST(location AS INTEGER) FROM files.rentals',
    'SELECT location▲::INT FROM files.rentals',
    "SELECT name FROM agents AT (VERSION => 30) WHERE CAST(▲'abc' AS INT) = 1",
    "SELECT sqft FROM files.rentals WHERE sqft = ▲'abc'",
  ],
  'what cannot be parsed': [
    'SELECT sqft files▲.rentals WHERE sqft = 1',
    'SELECT sqft FROM files.rentals WHERE (sqft > 1▲',
    'SELECT sqft,\n\trooms\nFROM files.rentals\n  GROUP ▲sqft',
    "SELECT 'é🎉', sqft FROM files.rentals WHERE ▲WHERE",
    'SELECT 1 ▲)',
    'SELECT ▲`a',
    "SELECT 1, ▲'never ends",
    'SELECT 1 ▲/* never ends',
    'SELECT 1; ▲SELECT 2',
    'SELECT ▲:missing',
    'SELECT ▲@@missing',
  ],
  'behind lines, tabs and characters of several bytes': [
    'SELECT sqft,\n  rooms,\n  ▲nope\nFROM files.rentals',
    'SELECT\tsqft,\t▲nope FROM files.rentals',
    "SELECT '🎉🎉' AS größe, ▲nope FROM files.rentals",
    "SELECT 'ﷺ', -- 🎉 comment\n /* é */ ▲nope FROM files.rentals",
    "SELECT 'it\\'s', \"it''s\", ▲nope FROM files.rentals",
    'SELECT `größe`.▲'.replace('`größe`.▲', '▲`größe` FROM files.rentals'),
    `SELECT ${'sqft, '.repeat(300)}▲nope FROM files.rentals`,
  ],
}

describe.each(Object.entries(wrongs))('%s', (_, cases) => {
  test.each(cases)('%s', async (marked) => {
    const sql = marked.replace(mark, '')
    const { detail, line, column } = await failure(sql)
    expect({ detail, line, column }).toEqual({ detail, ...placeOf(marked) })
    expect(detail).toContain(`(line ${line}, column ${column})\n>`)
    expect(detail).not.toMatch(/ledger|LINE \d|read_parquet|[0-9a-f]{64}/)
    expect(detail).not.toContain(tmpdir())
  })
})

test('there are at least 60 of them', () => expect(Object.values(wrongs).flat().length).toBeGreaterThanOrEqual(60))

test('a parameter before the place does not move it', async () => {
  const marked = 'SELECT :a, ▲nope FROM files.rentals'
  expect(await failure(marked.replace(mark, ''), { a: 'a value that is much longer' })).toMatchObject(placeOf(marked))
})

test('a statement that was run before fails at the same place', async () => {
  const marked = 'SELECT sqft, ▲CAST(location AS INTEGER) FROM files.rentals'
  const sql = marked.replace(mark, '')
  for (let i = 0; i < 3; i++) expect(await failure(sql)).toMatchObject(placeOf(marked))
})

describe('in a view, the view’s text is shown', () => {
  test.each([
    ['SELECT * FROM broken', 'shop.broken', 'SELECT sqft,\n  ▲gone FROM files.rentals'],
    ['SELECT * FROM outer_view', 'shop.broken', 'SELECT sqft,\n  ▲gone FROM files.rentals'],
    ['SELECT 1 AS gone, * FROM broken', 'shop.broken', 'SELECT sqft,\n  ▲gone FROM files.rentals'],
    ['SELECT * FROM lost', 'shop.lost', 'SELECT * FROM ▲files.nowhere'],
    ['SELECT n FROM typed', 'shop.typed', 'SELECT ▲CAST(location AS INT) AS n FROM files.rentals'],
  ])('%s', async (sql, view, marked) => {
    const { detail, line, column, view: named } = await failure(sql)
    expect({ detail, line, column, view: named }).toEqual({ detail, ...placeOf(marked), view })
    expect(detail).toMatch(new RegExp(`^In view ${view}: `))
    expect(detail).toContain(`\n>${marked.replace(mark, '').split('\n')[placeOf(marked).line - 1]}`)
  })
})

describe('the nearest name that the caller may see is the hint', () => {
  test.each([
    ['SELECT sqf FROM files.rentals', 'Did you mean "sqft"?'],
    ['SELECT r.sqf FROM files.rentals AS r', 'Did you mean "sqft"?'],
    ['WITH t AS (SELECT sqft FROM files.rentals) SELECT t.sqf FROM t', 'Did you mean "sqft"?'],
    ['SELECT mdel_name FROM agents', 'Did you mean "MODEL_NAME"?'],
    ['SELECT wholly_other FROM files.other', 'Nearest: "note".'],
    ['SELECT * FROM files.rental', 'Did you mean files.rentals?'],
    ['SELECT uper(location) FROM files.rentals', 'Did you mean upper?'],
    ['SELECT m.rental_prise FROM files.rentals AS r JOIN rent AS m', 'Did you mean m.rental_price?'],
    ['SELECT rental_prise FROM files.rentals AS r JOIN rent AS m', 'Did you mean "rental_price"?'],
    ['SELECT rental_price_mim FROM rent WHERE sqft = 1', 'Did you mean "rental_price_min"?'],
    [
      'SELECT date_sub(now(), INTERVAL 1 DAY)',
      /^It takes date_sub\(VARCHAR, DATE, DATE\) -> BIGINT, date_sub\(VARCHAR, TIME, TIME\) -> BIGINT/,
    ],
    ['SELECT sum(location) FROM files.rentals', /^It takes sum\(DECIMAL\) -> DECIMAL, .*, ….$/],
    ["SELECT * FROM read_csv('x')", 'Upload the file, PUT /api/files/name, and read it: FROM files.name.'],
    ['SELECT * FROM duckdb_tables()', 'information_schema has the tables and columns that there are.'],
    ['SELECT * FROM shop.rent.nine', /^DESCRIBE shop\.rent\.nine shows/],
  ])('%s', async (sql, hint) => {
    const said = (await failure(sql)).hint
    if (typeof hint === 'string') expect(said).toBe(hint)
    else expect(said).toMatch(hint)
    expect(said).not.toMatch(/ledger/)
  })
})

test('what DuckDB only says to its authors is not repeated', async () => {
  expect((await failure('SELECT * FROM a.b.c.d')).detail).toMatch(/a name has too many parts: at most project\.model\.version/)
  expect((await failure('SELECT 1 LIMIT 1 + 1, 2')).detail).not.toMatch(/NOT IMPLEMENTED/)
})

/** What the grammar of our own statements refuses, at the place where it no longer understands. */
const statements = [
  "CREATE AGENT a ▲WITH model = 'm'",
  "CREATE AGENT a USING ▲= 'm'",
  "CREATE AGENT a USING model ▲'m'",
  "CREATE AGENT a USING\n\tmodel = 'é🎉',\n  skills = ['a' ▲'b']",
  "CREATE SKILL ▲USING type = 'x'",
  'CREATE VIEW v AS (SELECT 1▲',
  'CREATE VIEW v AS ▲()',
  'CREATE VIEW v AS (SELECT 1; ▲SELECT 2)'.replace('; ▲', '▲; '),
  'CREATE TABLE files.t (a ▲)',
  'CREATE TABLE files.t (a INT ▲PRIMARY KEY)',
  'INSERT INTO files.t ▲SET a = 1',
  'INSERT INTO files.t (a, ▲) VALUES (1)',
  'DROP VIEW v,▲',
  'CREATE MODEL m FROM files (SELECT 1) ▲PREDCIT x',
  'RETRAIN m.▲',
  'EXPLAIN CREATE AGENT a ▲WITH x = 1',
  '▲SELEC 1',
]
test.each(statements)('our own statement: %s', (marked) => {
  let refused: unknown
  try {
    parseStatement(marked.replace(mark, ''))
  } catch (error) {
    refused = error
  }
  expect(refused).toMatchObject({ code: 'bad_statement', extras: placeOf(marked) })
})

describe('a statement that holds a query shows its own text', () => {
  let service: Awaited<ReturnType<typeof startTestService>>
  beforeAll(async () => (service = await startTestService()))
  afterAll(() => service.stop())

  test.each([
    'SHOW AGENTS WHERE ▲nope = 1',
    'SHOW TABLES WHERE upper(▲nope) = 1',
    'EVALUATE accuracy_score FROM (SELECT 1 AS actual, ▲nope AS prediction)',
    'EVALUATE accuracy_score FROM (\n  SELECT 1 AS actual, 2 AS prediction FROM ▲agnts)',
    'CREATE VIEW v AS (\n  SELECT ▲nope FROM agents\n)',
    "CREATE VIEW v AS (SELECT 'é🎉' AS x, ▲nope FROM agents)",
    'ALTER VIEW v AS (SELECT * FROM ▲agnts)',
    'CREATE TABLE files.t AS SELECT ▲nope FROM agents',
    'CREATE OR REPLACE TABLE files.t\n(SELECT *\nFROM ▲agnts)',
    'EXPLAIN SELECT ▲nope FROM agents',
    'EXPLAIN ANALYZE\nSELECT 1 +\n  ▲nope FROM agents',
    'SELECT name FROM agents WHERE name = ▲nope',
    '\n\n  SELECT ▲nope FROM agents',
    '-- é🎉; a comment\n/* another\n one */\nSELECT name,\n  ▲nope FROM agents',
  ])('%s', async (marked) => {
    const { error_message: message } = await sqlOf(service.url, marked.replace(mark, ''))
    const { line, column } = placeOf(marked)
    expect(message).toContain(`(line ${line}, column ${column})\n>${marked.replace(mark, '').split('\n')[line - 1]}`)
  })
})

test('LAST and LATEST are named, unless they are columns', async () => {
  expect(await failure('SELECT sqft FROM files.rentals WHERE sqft > last')).toMatchObject({
    detail: expect.stringMatching(/^LAST is not available: it stands for the highest value that a job has seen/),
    hint: expect.stringContaining('SELECT max(x)'),
  })
  expect(await failure('SELECT r.sqft FROM files.rentals AS r JOIN rent AS m WHERE r.sqft > LATEST')).toMatchObject({
    detail: expect.stringMatching(/^LATEST is the last date that a model of series knows, and there is no column LATEST/),
    hint: expect.stringContaining('WHERE t.date > LATEST'),
  })
  expect((await ledger.select('SELECT x FROM (SELECT 2 AS x, 1 AS last) WHERE x > last')).data).toEqual([[2]])
  expect((await ledger.select(`SELECT 1 AS x WHERE 'last' = "last"`)).data).toEqual([[1]])
})
