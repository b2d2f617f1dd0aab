import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection, Filter, TableColumn } from '../../../src/connections/contract/requests.js'
import { canAggregate, canPush } from '../../../src/connections/pushdown/can-push.js'
import { postgresDialect } from '../../../src/connections/pushdown/postgres.js'
import { compare, duck, problemOf, readAll } from '../../support/connections/answers.js'
import { startPostgres, type Postgres } from '../../support/connections/postgres.js'

let postgres: Postgres
let connections: Connections
let connection: Connection
let db: DuckDBConnection
let columns: readonly TableColumn[]
let whole: string

const names = ['id', 'small', 'exact', 'open', 'ratio', 'word', 'padded', 'folded', 'day', 'at', 'moment', 'flag', 'key', 'doc']

beforeAll(async () => {
  postgres = await startPostgres()
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  connection = postgres.connection()
  db = await duck()
  await db.run("SET TimeZone = 'UTC'")
  await postgres.run(`
    CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TABLE odd AS SELECT i::bigint AS id,
      CASE WHEN i % 7 <> 0 THEN (i % 13 - 6)::smallint END AS small,
      CASE WHEN i % 11 <> 0 THEN (i % 29 - 14) / 4.0 END::numeric(9,2) AS exact,
      ((i % 17) / 8.0)::numeric AS open,
      CASE i % 9 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN 'Infinity' ELSE (i % 5)::text END::float8 AS ratio,
      (ARRAY['a', 'A', 'ä', 'b%', 'a_b', 'a ', '', 'Z', NULL, 'back\\slash'])[1 + i % 10] AS word,
      (ARRAY['a', 'a ', 'b', NULL])[1 + i % 4]::char(4) AS padded,
      (ARRAY['a', 'A', 'b', NULL])[1 + i % 4] COLLATE folding AS folded,
      CASE i % 8 WHEN 0 THEN 'infinity' WHEN 1 THEN NULL ELSE (date '2024-01-01' + i % 40)::text END::date AS day,
      timestamp '2024-01-01' + (i % 50) * interval '1 hour' AS at,
      timestamptz '2024-01-01 00:00+00' + (i % 50) * interval '1 hour' AS moment,
      (ARRAY[true, false, NULL])[1 + i % 3] AS flag,
      md5((i % 20)::text)::uuid AS key,
      json_build_object('a', i) AS doc
    FROM generate_series(1, 1000) i`)
  columns = await connections.columns(connection, 'odd')
  whole = (await readAll(db, connections, connection, { scan: { table: 'odd', columns: names } })).table
})

afterAll(async () => {
  connections.stop()
  await postgres.stop()
})

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The filter as DuckDB has it. */
const inDuckDb = (filter: Filter): string => {
  if ('and' in filter) return `(${filter.and.map(inDuckDb).join(' AND ')})`
  if ('or' in filter) return `(${filter.or.map(inDuckDb).join(' OR ')})`
  if ('not' in filter) return `NOT (${inDuckDb(filter.not)})`
  if ('isNull' in filter) return `"${filter.isNull}" IS NULL`
  if ('isNotNull' in filter) return `"${filter.isNotNull}" IS NOT NULL`
  if ('like' in filter) return `"${filter.column}" LIKE ${quoted(filter.like)}`
  const constant = ({ type, value }: { type: string; value: string }) =>
    type === 'DECIMAL' || type === 'INTEGER' ? value : `${quoted(value)}::${type}`
  if ('in' in filter) return `"${filter.column}" IN (${filter.in.map(constant).join(', ')})`
  return `"${filter.column}" ${filter.compare} ${constant(filter.with)}`
}

const constants: Readonly<
  Record<
    string,
    readonly {
      type: 'INTEGER' | 'DECIMAL' | 'DOUBLE' | 'VARCHAR' | 'DATE' | 'TIMESTAMP' | 'TIMESTAMP WITH TIME ZONE' | 'BOOLEAN' | 'UUID'
      value: string
    }[]
  >
> = {
  id: [
    { type: 'INTEGER', value: '500' },
    { type: 'DECIMAL', value: '500.5' },
  ],
  small: [
    { type: 'INTEGER', value: '0' },
    { type: 'INTEGER', value: '-3' },
  ],
  exact: [
    { type: 'DECIMAL', value: '0.25' },
    { type: 'INTEGER', value: '1' },
  ],
  open: [
    { type: 'DECIMAL', value: '0.125' },
    { type: 'INTEGER', value: '1' },
  ],
  ratio: [
    { type: 'DOUBLE', value: '0' },
    { type: 'DOUBLE', value: '3' },
  ],
  word: ['a', 'ä', '', 'a_b', 'back\\slash'].map((value) => ({ type: 'VARCHAR', value })),
  padded: [{ type: 'VARCHAR', value: 'a' }],
  folded: [{ type: 'VARCHAR', value: 'A' }],
  day: [{ type: 'DATE', value: '2024-01-20' }],
  at: [{ type: 'TIMESTAMP', value: '2024-01-02 03:00:00' }],
  moment: [{ type: 'TIMESTAMP WITH TIME ZONE', value: '2024-01-02 05:45:00+05:45' }],
  flag: [{ type: 'BOOLEAN', value: 'true' }],
  key: [{ type: 'UUID', value: 'cfcd2084-95d5-65ef-66e7-dff9f98764da' }],
}

// A sequence that is the same in each run.
let seed = 7
const random = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return Math.floor((seed / 2_147_483_648) * below)
}
const pick = <T>(of: readonly T[]): T => of[random(of.length)]!

const randomFilter = (depth: number): Filter => {
  const kind = random(depth > 0 ? 8 : 5)
  const column = pick(Object.keys(constants))
  if (kind === 0) return { isNull: pick(names) }
  if (kind === 1) return { isNotNull: pick(names) }
  if (kind === 2) return { in: [pick(constants[column]!), pick(constants[column]!)], column }
  if (kind === 5) return { and: [randomFilter(depth - 1), randomFilter(depth - 1)] }
  if (kind === 6) return { or: [randomFilter(depth - 1), randomFilter(depth - 1)] }
  if (kind === 7) return { not: randomFilter(depth - 1) }
  if (kind === 3 && random(3) === 0)
    return { like: pick(['a%', '%a', '%', 'a', '%\\%', '%_b']), column: pick(['word', 'padded', 'folded']) }
  return { compare: pick(['=', '<>', '<', '<=', '>', '>=']), column, with: pick(constants[column]!) }
}

const ids = async (table: string, condition: string): Promise<unknown[]> =>
  (await db.runAndReadAll(`SELECT id FROM ${table} WHERE ${condition} ORDER BY id`)).getRowsJson().map(([id]) => id)

describe('what is pushed down', () => {
  test('200 random filters have the rows that DuckDB finds in the whole table', async () => {
    let pushed = 0
    for (let round = 0; round < 200; round++) {
      const filter = randomFilter(2)
      const { table, sent } = await readAll(db, connections, connection, { scan: { table: 'odd', columns: names, filters: [filter] } })
      const expected = await ids(whole, inDuckDb(filter))
      const isPushed = canPush(filter, columns, postgresDialect)
      expect(sent.includes('WHERE')).toBe(isPushed)
      expect([inDuckDb(filter), await ids(table, isPushed ? 'true' : inDuckDb(filter))]).toEqual([inDuckDb(filter), expected])
      if (isPushed) pushed += 1
      await db.run(`DROP TABLE ${table}`)
    }
    expect(pushed).toBeGreaterThan(80)
  })

  test.each<[string, Filter, boolean]>([
    ['a number by its value', compare('id', '<', '5'), true],
    ['a text by its bytes', compare('word', '=', 'a', 'VARCHAR'), true],
    ['a text in an order', compare('word', '<', 'a', 'VARCHAR'), false],
    ['a text whose collation folds', compare('folded', '=', 'a', 'VARCHAR'), false],
    ['a text that is filled with blanks', compare('padded', '=', 'a', 'VARCHAR'), false],
    ['a text like another', { like: 'a%', column: 'word' }, true],
    ['a text with any sign', { like: 'a_', column: 'word' }, false],
    ['a number with a text', compare('id', '=', '5', 'VARCHAR'), false],
    ['a day with a number', compare('day', '>', '5'), false],
    ['what is unknown', compare('nothing', '=', '5'), false],
    ['an injection', compare('id', '=', '1; DROP TABLE odd; --'), false],
  ])('%s', (_, filter, isPushed) => {
    expect(canPush(filter, columns, postgresDialect)).toBe(isPushed)
  })

  test('a limit is sent only with all filters', async () => {
    const scan = { table: 'odd', columns: ['id'], limit: 3 }
    const pushed = await readAll(db, connections, connection, { scan: { ...scan, filters: [compare('id', '>', '10')] } })
    expect(pushed.sent).toBe('SELECT "id" FROM "odd" WHERE "id" > $1::int8 LIMIT 3')
    expect(pushed.rows).toHaveLength(3)
    const left = await readAll(db, connections, connection, { scan: { ...scan, filters: [compare('word', '<', 'b', 'VARCHAR')] } })
    expect(left.sent).toBe('SELECT "id" FROM "odd"')
  })

  test('aggregates are those of DuckDB, with its types', async () => {
    const scan = {
      table: 'odd',
      columns: ['small', 'word'],
      filters: [compare('id', '<=', '900')],
      aggregates: [
        { function: 'count', as: 'n' },
        { function: 'count', column: 'flag', as: 'flags' },
        { function: 'sum', column: 'id', as: 'ids' },
        { function: 'sum', column: 'exact', as: 'total' },
        { function: 'min', column: 'day', as: 'first' },
        { function: 'max', column: 'at', as: 'last' },
        { function: 'count', column: 'key', isDistinct: true, as: 'keys' },
      ],
    } as const
    expect(canAggregate(scan, columns, postgresDialect)).toBe(true)
    const { table } = await readAll(db, connections, connection, { scan })
    const order = 'ORDER BY ALL'
    const sql = `SELECT small, word, count(*) AS n, count(flag) AS flags, sum(id) AS ids, sum(exact) AS total, min(day) AS "first", max("at") AS "last", count(DISTINCT key) AS keys
                 FROM ${whole} WHERE id <= 900 GROUP BY ALL ${order}`
    const here = await db.runAndReadAll(sql)
    const there = await db.runAndReadAll(`FROM ${table} ${order}`)
    expect(there.getRowsJson()).toEqual(here.getRowsJson())
    expect(there.columnTypes().map(String)).toEqual(here.columnTypes().map(String))
  })

  test.each([
    ['a sum of floats', { columns: [], aggregates: [{ function: 'sum', column: 'ratio', as: 's' }] }],
    ['a number of different floats', { columns: [], aggregates: [{ function: 'count', column: 'ratio', isDistinct: true, as: 's' }] }],
    [
      'a number of different texts whose collation folds',
      { columns: [], aggregates: [{ function: 'count', column: 'folded', isDistinct: true, as: 's' }] },
    ],
    ['the largest text', { columns: [], aggregates: [{ function: 'max', column: 'word', as: 's' }] }],
    ['groups of floats', { columns: ['ratio'], aggregates: [{ function: 'count', as: 's' }] }],
    [
      'a filter that stays here',
      { columns: [], filters: [compare('word', '<', 'a', 'VARCHAR')], aggregates: [{ function: 'count', as: 's' }] },
    ],
  ] as const)('%s is not asked', async (_, scan) => {
    expect(canAggregate({ table: 'odd', ...scan }, columns, postgresDialect)).toBe(false)
    expect((await problemOf(readAll(db, connections, connection, { scan: { table: 'odd', ...scan } }))).code).toBe('wrong_arguments')
  })

  test('a join by texts of two collations is not asked, because the database would refuse it', () => {
    const scan = (left: string, right: string) => ({
      ...{ table: 'odd', columns: [], aggregates: [{ function: 'count' as const, as: 'n' }] },
      join: { tables: [{ table: 'odd', isLeft: false, on: [[left, right] as const] }], columns: [] },
    })
    const own = columns.map((column) => ({ ...column, name: `own_${column.name}` }))
    const other = columns.map((column) => ({
      ...column,
      name: `other_${column.name}`,
      ...(column.collation !== undefined && { collation: 'other' }),
    }))
    const asked = (name: string) => canAggregate(scan(`own_${name}`, `other_${name}`), [...own, ...other], postgresDialect)
    const same = (name: string) => canAggregate(scan(name, name), columns, postgresDialect)
    expect(['word', 'folded', 'padded', 'ratio', 'open', 'doc'].map((name) => [asked(name), same(name)])).toEqual([
      [false, true],
      ...Array.from({ length: 5 }, () => [false, false]),
    ])
    expect(['id', 'exact', 'day', 'moment', 'flag', 'key'].every((name) => asked(name) && same(name))).toBe(true)
  })

  test('names with quotes and dots are names', async () => {
    await postgres.run(
      'CREATE SCHEMA "s.p""a"; CREATE TABLE "s.p""a"."t""; --" ("c""d" int, "E.f" text); INSERT INTO "s.p""a"."t""; --" VALUES (1, $$x$$)',
    )
    const scan = { schema: 's.p"a', table: 't"; --', columns: ['c"d', 'E.f'], filters: [compare('c"d', '=', '1')] }
    expect((await readAll(db, connections, connection, { scan })).rows).toEqual([[1, 'x']])
    expect((await connections.tables(connection)).tables).toContainEqual({ schema: 's.p"a', name: 't"; --', isUsual: false, type: 'table' })
  })

  test('ten thousand tables are listed, and one of them is read at once', async () => {
    await postgres.run(
      "DO $$ BEGIN FOR i IN 1..10000 LOOP EXECUTE format('CREATE TABLE many_%s (a int)', i); IF i % 500 = 0 THEN COMMIT; END IF; END LOOP; END $$",
    )
    const fresh = postgres.connection()
    const { tables, isCut } = await connections.tables(fresh)
    expect([tables.length >= 10_000, isCut]).toEqual([true, false])
    const { listed } = await connections.everyColumn(fresh)
    expect(listed.filter(({ table }) => table.startsWith('many_'))).toHaveLength(10_000)
    expect((await readAll(db, connections, fresh, { scan: { table: 'many_9999', columns: ['a'] } })).rows).toEqual([])
    const missing = await problemOf(readAll(db, connections, fresh, { scan: { table: 'meny_9999', columns: ['a'] } }))
    expect(missing).toMatchObject({ code: 'not_found', extras: { hint: 'Did you mean "many_9999"?' } })
  })
})
