import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { duck, listedAndAlone, problemOf, readAll, type Read } from '../../support/connections/answers.js'
import { startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { send, sql, startTestService } from '../../support/service.js'

let postgres: Postgres
let connections: Connections
let connection: Connection
let db: DuckDBConnection

beforeAll(async () => {
  postgres = await startPostgres()
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  connection = postgres.connection()
  db = await duck()
  await db.run("SET TimeZone = 'UTC'")
  await postgres.run(`
    CREATE TYPE mood AS ENUM ('sad', 'glad');
    CREATE DOMAIN positive AS int CHECK (value > 0);
    CREATE DOMAIN price AS numeric(8, 2);
    CREATE TYPE pair AS (a int, b text);
  `)
})

afterAll(async () => {
  connections.stop()
  await postgres.stop()
})

const read = (sql: string): Promise<Read> => readAll(db, connections, connection, sql)

/** Each value as PostgreSQL takes it, the type that it has here, and how DuckDB writes it. */
const values: readonly (readonly [sql: string, type: string, text: string | null])[] = [
  ['(-32768)::int2', 'SMALLINT', '-32768'],
  ['2147483647::int4', 'INTEGER', '2147483647'],
  ['(-9223372036854775808)::int8', 'BIGINT', '-9223372036854775808'],
  ['9007199254740993::int8', 'BIGINT', '9007199254740993'],
  ['4294967295::oid', 'UINTEGER', '4294967295'],
  ['(-1.5)::numeric(4,1)', 'DECIMAL(4,1)', '-1.5'],
  ['(-0.05)::numeric(9,2)', 'DECIMAL(9,2)', '-0.05'],
  ['123456789012345.678::numeric(18,3)', 'DECIMAL(18,3)', '123456789012345.678'],
  ['99999999999999999999999999999999999999::numeric(38,0)', 'DECIMAL(38,0)', '99999999999999999999999999999999999999'],
  ['1234::numeric(2,-2)', 'DECIMAL(4,0)', '1200'],
  ['0.00012::numeric(3,5)', 'DECIMAL(5,5)', '.00012'],
  ['1::numeric(39,1)', 'VARCHAR', '1.0'],
  ['1.5::numeric', 'DECIMAL(38,16)', '1.5000000000000000'],
  ['12345678901234567890123456789.5::numeric', 'DECIMAL(38,5)', '12345678901234567890123456789.50000'],
  ['12345678901234567890123456789.0123456789::numeric', 'VARCHAR', '12345678901234567890123456789.0123456789'],
  ['123456789012345678901234567890::numeric', 'DECIMAL(38,0)', '123456789012345678901234567890'],
  ['1.5::float4', 'FLOAT', '1.5'],
  ["'NaN'::float8", 'DOUBLE', 'nan'],
  ["'-Infinity'::float8", 'DOUBLE', '-inf'],
  ['0.1::float8 + 0.2::float8', 'DOUBLE', '0.30000000000000004'],
  ['true', 'BOOLEAN', 'true'],
  ["''::text", 'VARCHAR', ''],
  ["'exactly 12 b'::text", 'VARCHAR', 'exactly 12 b'],
  ["'thirteen byte'::varchar(20)", 'VARCHAR', 'thirteen byte'],
  ["'ü € 😀'::text", 'VARCHAR', 'ü € 😀'],
  ["repeat('é', 40)", 'VARCHAR', 'é'.repeat(40)],
  ["'ab'::char(5)", 'VARCHAR', 'ab'],
  ["'abc'::name", 'VARCHAR', 'abc'],
  ["'\\x00ff'::bytea", 'BLOB', '\\x00\\xFF'],
  ["''::bytea", 'BLOB', ''],
  ["date '2024-02-29'", 'DATE', '2024-02-29'],
  ["date '0044-03-15 BC'", 'DATE', '0044-03-15 (BC)'],
  ["date '12024-01-01'", 'DATE', '12024-01-01'],
  ["date 'infinity'", 'DATE', 'infinity'],
  ["time '23:59:59.999999'", 'TIME', '23:59:59.999999'],
  ["time '24:00'", 'TIME', '24:00:00'],
  ["timetz '12:34:56.5-03:30'", 'TIME WITH TIME ZONE', '12:34:56.5-03:30'],
  ["timestamp '2024-05-17 01:02:03.000004'", 'TIMESTAMP', '2024-05-17 01:02:03.000004'],
  ["timestamp '0001-01-01 BC'", 'TIMESTAMP', '0001-01-01 (BC) 00:00:00'],
  ["timestamp '-infinity'", 'TIMESTAMP', '-infinity'],
  ["timestamp '9999-12-31 23:59:59.999999'", 'TIMESTAMP', '9999-12-31 23:59:59.999999'],
  ["timestamptz '2024-05-17 01:02:03+05:45'", 'TIMESTAMP WITH TIME ZONE', '2024-05-16 19:17:03+00'],
  ["timestamptz 'infinity'", 'TIMESTAMP WITH TIME ZONE', 'infinity'],
  ["interval '1 year 2 mons -3 days 04:05:06.789'", 'INTERVAL', '1 year 2 months -3 days 04:05:06.789'],
  ["interval '-00:00:01.5'", 'INTERVAL', '-00:00:01.5'],
  ["'a97a11a2-e76c-475e-b198-6b16bc15e06b'::uuid", 'UUID', 'a97a11a2-e76c-475e-b198-6b16bc15e06b'],
  ['\'{"a": [1, null]}\'::json', 'JSON', '{"a": [1, null]}'],
  ['\'{"b":2}\'::jsonb', 'JSON', '{"b": 2}'],
  ["'glad'::mood", 'VARCHAR', 'glad'],
  ['5::positive', 'INTEGER', '5'],
  ['1.005::price', 'DECIMAL(8,2)', '1.01'],
  ["'10.1.2.3/8'::inet", 'VARCHAR', '10.1.2.3/8'],
  ["'$1,234.50'::money", 'VARCHAR', '$1,234.50'],
  ["B'101'", 'VARCHAR', '101'],
  ['int4range(1, 5)', 'VARCHAR', '[1,5)'],
  ["point '(1,2)'", 'VARCHAR', '(1,2)'],
  ["row(1, 'x')::pair", 'VARCHAR', '(1,x)'],
  ['ARRAY[1, NULL, 3]', 'INTEGER[]', '[1, NULL, 3]'],
  ["'{}'::int[]", 'INTEGER[]', '[]'],
  ['ARRAY[[1, 2], [3, NULL]]', 'INTEGER[][]', '[[1, 2], [3, NULL]]'],
  ["'[0:1]={7,8}'::int8[]", 'BIGINT[]', '[7, 8]'],
  [`ARRAY['a,b', 'c"d', 'NULL', NULL, '', 'a text that is long']`, 'VARCHAR[]', `['a,b', 'c"d', 'NULL', NULL, '', a text that is long]`],
  ["ARRAY['\\', '{}']", 'VARCHAR[]', "[\\, '{}']"],
  ["ARRAY['glad', NULL]::mood[]", 'VARCHAR[]', '[glad, NULL]'],
  ['ARRAY[1.5, 2]::numeric(5,2)[]', 'DECIMAL(5,2)[]', '[1.50, 2.00]'],
  ['ARRAY[1.25]::numeric[]', 'DECIMAL(38,16)[]', '[1.2500000000000000]'],
  ["ARRAY[date '2024-01-01', 'infinity']", 'DATE[]', '[2024-01-01, infinity]'],
  ['NULL::int[]', 'INTEGER[]', null],
  ['NULL::numeric(5,1)', 'DECIMAL(5,1)', null],
  ['NULL::jsonb', 'JSON', null],
]

/** Whether a value can be written as a constant of its type, and compared: numbers of too many digits are not. */
const isCompared = (sql: string, type: string, text: string | null): text is string => {
  if (text === null || /['\\]/.test(text) || (type === 'VARCHAR' && sql.includes('numeric'))) return false
  if (/^(?:DATE|TIMESTAMP(?: WITH TIME ZONE)?)$/.test(type)) return /^\d{4}-[^B]*$/.test(text)
  return /^(?:SMALLINT|U?INTEGER|BIGINT|DECIMAL\(\d+,\d+\)|FLOAT|DOUBLE|BOOLEAN|VARCHAR|BLOB|UUID|JSON)$/.test(type)
}

describe('types of PostgreSQL', () => {
  test('each value arrives as it is', async () => {
    const list = values.map(([sql], index) => `${sql} AS c${index}`).join(', ')
    const { types, rows, table } = await read(`SELECT ${list}`)
    expect(Object.values(types)).toEqual(values.map(([, type]) => type))
    expect(rows).toHaveLength(1)
    // DuckDB says what it holds.
    const casts = values.map((_, index) => `c${index}::VARCHAR`).join(', ')
    const [texts] = (await db.runAndReadAll(`SELECT ${casts} FROM ${table}`)).getRowsJson()
    expect(texts?.map((text, index) => [values[index]?.[0], text])).toEqual(values.map(([sql, , text]) => [sql, text]))
  })

  test('the list of all columns has the same types', async () => {
    const list = values.map(([sql], index) => `${sql} AS c${index}`).join(', ')
    await postgres.run(`
      CREATE SCHEMA "Other ""one""";
      CREATE DOMAIN dear AS price CHECK (value > 100);
      CREATE TABLE "Other ""one""".declared (a numeric(7,3), b dear, c int[][], d varchar(3)[], e char(3), f mood, g positive[], "H h" bit(3));
      CREATE VIEW every AS SELECT ${list}`)
    const { listed, alone } = await listedAndAlone(connections, postgres.connection(), ['every', 'declared'])
    expect(listed.map((columns) => columns.length)).toEqual([values.length, 8])
    expect(listed).toEqual(alone)
  })

  test('the service reads each from a table, as it is there, and finds it by conditions', async () => {
    const list = values.map(([sql], index) => `${sql} AS c${index}`).join(', ')
    await postgres.run(`CREATE TABLE scanned AS SELECT 1 AS id, ${list}; INSERT INTO scanned (id) VALUES (2)`)
    const service = await startTestService()
    try {
      const { parameters } = connection
      await send(service.url, 'POST', '/api/databases', { database: { name: 'pg', engine: 'postgres', parameters } })
      const ask = async (query: string) => {
        const { data, error_message } = await sql(service.url, query)
        expect(error_message).toBeUndefined()
        return data
      }
      const columns = values.map((_, index) => `c${index}`)
      const plan = (await ask(`EXPLAIN SELECT ${columns.join(', ')} FROM pg.scanned WHERE id = 1`)).flat().join(' ')
      expect(plan).toContain('FROM "scanned" WHERE "id" =')
      const [texts] = await ask(`SELECT ${columns.map((name) => `${name}::VARCHAR`).join(', ')} FROM pg.scanned WHERE id = 1`)
      expect(texts?.map((text, index) => [values[index]?.[0], text])).toEqual(values.map(([of, , text]) => [of, text]))
      const [types] = await ask(`SELECT ${columns.map((name) => `typeof(${name})`).join(', ')} FROM pg.scanned WHERE id = 1`)
      expect(types).toEqual(values.map(([, type]) => type))
      const [empty] = await ask(`SELECT ${columns.join(', ')} FROM pg.scanned WHERE id = 2`)
      expect(empty).toEqual(values.map(() => null))
      for (const [index, [of, type, text]] of values.entries()) {
        const found = (condition: string) => ask(`SELECT id FROM pg.scanned WHERE c${index} ${condition} ORDER BY id`)
        expect([of, await found('IS NULL')]).toEqual([of, text === null ? [[1], [2]] : [[2]]])
        if (isCompared(of, type, text)) expect([of, await found(`= CAST('${text}' AS ${type})`)]).toEqual([of, [[1]]])
      }
    } finally {
      await service.stop()
    }
  })

  test('numbers of many digits are compared as numbers, or refused', async () => {
    await postgres.run(`CREATE TABLE shares AS SELECT i AS id, CASE WHEN i < 3 THEN 0.3 ELSE 1::numeric / 30000000000 END AS ratio,
      (0.3 + CASE WHEN i < 3 THEN 0 ELSE 1e30 + 1e-20 END)::numeric AS wide FROM generate_series(1, 4) i;
      CREATE TABLE many AS SELECT 1e30 + i * 1e-20 AS wide FROM generate_series(1, 3000) i`)
    const service = await startTestService()
    try {
      const parameters = connection.parameters
      await send(service.url, 'POST', '/api/databases', { database: { name: 'pg', engine: 'postgres', parameters } })
      expect((await sql(service.url, 'SELECT count(ratio) FROM (SELECT * FROM pg.shares WHERE ratio <> 0)')).data).toEqual([[4]])
      expect((await sql(service.url, 'SELECT id, ratio FROM pg.shares WHERE ratio <> 0 ORDER BY id')).data).toHaveLength(4)
      const wide = await sql(service.url, 'SELECT id, wide FROM pg.shares WHERE wide <> 0 ORDER BY id')
      expect(wide.error_message).toMatch(/"wide" numbers have more digits than can be compared/)
      const many = await sql(service.url, 'SELECT wide FROM pg.many WHERE wide <> 0')
      expect(many.error_message).toMatch(/"wide" numbers have more digits than can be compared/)
      expect((await sql(service.url, 'SELECT wide FROM pg.shares WHERE wide IS NOT NULL')).data).toHaveLength(4)
    } finally {
      await service.stop()
    }
  })

  describe('numbers that come as texts', () => {
    let service: Awaited<ReturnType<typeof startTestService>>

    beforeAll(async () => {
      await postgres.run(`
        CREATE TABLE wide AS SELECT i AS id, a::numeric(40,2) AS a, a::numeric(40,2) AS b, 1e30 + i * 1e-20 AS c
        FROM (VALUES (1, 5.40), (2, 12), (3, 100)) AS v(i, a)`)
      service = await startTestService()
      await send(service.url, 'POST', '/api/databases', { database: { name: 'pg', engine: 'postgres', parameters: connection.parameters } })
      await sql(service.url, 'CREATE VIEW wides AS (SELECT *, id AS again FROM pg.wide)')
    })
    afterAll(() => service.stop())

    test.each([
      'SELECT count(*) FROM pg.wide WHERE a > 5',
      'SELECT count(*) FROM pg.wide WHERE NOT (a BETWEEN 1 AND 6)',
      'SELECT count(*) FROM pg.wide WHERE a IN (5.4, 12)',
      "SELECT count(*) FROM pg.wide WHERE a LIKE '5%'",
      'SELECT count(*) FROM pg.wide AS t WHERE t.a = t.b',
      'SELECT id, a > 5 FROM pg.wide',
      'SELECT a AS x FROM pg.wide WHERE x > 5',
      'SELECT max(a) FROM pg.wide',
      'SELECT id FROM pg.wide GROUP BY id HAVING min(a) > 5',
      'SELECT id FROM pg.wide ORDER BY a',
      'SELECT id, a FROM pg.wide ORDER BY 2 DESC LIMIT 1',
      'SELECT id, a FROM pg.wide ORDER BY ALL',
      'SELECT arg_max(id, a) FROM pg.wide',
      'SELECT list(id ORDER BY a) FROM pg.wide',
      'SELECT row_number() OVER (ORDER BY a) FROM pg.wide',
      'SELECT coalesce(a, b) FROM pg.wide',
      'SELECT max(COLUMNS(*)) FROM pg.wide',
      'SELECT id FROM pg.wide AS t ORDER BY t',
      'SELECT * FROM (SELECT a AS x FROM pg.wide) WHERE x > 5',
      'SELECT * FROM (SELECT * RENAME (a AS x) FROM pg.wide) WHERE x > 5',
      'SELECT * FROM (SELECT any_value(a) AS x FROM pg.wide GROUP BY id) WHERE x > 5',
      'SELECT * FROM (SELECT a FROM pg.wide UNION ALL SELECT b FROM pg.wide) AS u(x) WHERE x > 5',
      'SELECT * FROM pg.wide AS t(i, x, y, z) WHERE x > 5',
      'WITH v AS (SELECT * FROM pg.wide) SELECT min(a) FROM v',
      'SELECT count(*) FROM wides WHERE a > 5',
      'SELECT a > 5 FROM pg (SELECT a FROM wide)',
      'SELECT count(*) FROM pg.wide AS t JOIN pg.wide AS u ON t.a = u.b',
      'SELECT count(*) FROM pg.wide AS t JOIN pg.wide AS u USING (a)',
      'SELECT count(*) FROM (SELECT a FROM pg.wide) NATURAL JOIN (SELECT a FROM pg.wide)',
      'SELECT 1 WHERE 5 IN (SELECT a FROM pg.wide)',
      'SELECT 1 WHERE (SELECT a FROM pg.wide WHERE id = 1) > 5',
      'SELECT count(*) FROM pg.wide AS t WHERE EXISTS (SELECT 1 FROM pg.wide AS u WHERE u.id = t.id AND 5 < t.a)',
      'SELECT a FROM pg.wide UNION SELECT b FROM pg.wide',
      'SELECT a FROM pg.wide EXCEPT ALL SELECT b FROM pg.wide',
      'SELECT c, count(*) FROM pg.wide GROUP BY c',
      'SELECT c, count(*) FROM pg.wide GROUP BY ALL',
      'SELECT DISTINCT c FROM pg.wide',
      'SELECT count(DISTINCT c) FROM pg.wide',
      'SUMMARIZE pg.wide',
      'EXPLAIN SELECT max(a) FROM pg.wide',
    ])('are refused: %s', async (query) => {
      const { error_message } = await sql(service.url, query)
      expect(error_message).toMatch(/In the column "[acx]" numbers have more digits than can be compared.*CAST\(.* AS DOUBLE\)/s)
    })

    test.each<[string, unknown[][]]>([
      ['SELECT a FROM pg.wide WHERE id = 1', [['5.40']]],
      ['SELECT typeof(a), any_value(a) FROM pg.wide WHERE id = 1 GROUP BY 1', [['VARCHAR', '5.40']]],
      ['SELECT count(*) FROM pg.wide WHERE CAST(a AS DOUBLE) > 5', [[3]]],
      ['SELECT id FROM pg.wide ORDER BY CAST(a AS DECIMAL(38, 2)) DESC LIMIT 2', [[3], [2]]],
      ['SELECT max(a::DOUBLE) FROM pg.wide', [[100]]],
      ['SELECT a::DOUBLE AS a FROM pg.wide ORDER BY a', [[5.4], [12], [100]]],
      ['SELECT x FROM (SELECT a::DOUBLE AS x, a FROM pg.wide) WHERE x > 50', [[100]]],
      ['SELECT x FROM (SELECT * REPLACE (a::DOUBLE AS a) FROM pg.wide) AS t(i, x) WHERE x > 50', [[100]]],
      ['SELECT count(a), count(DISTINCT a) FROM pg.wide WHERE a IS NOT NULL', [[3, 3]]],
      ['SELECT count(*) FROM (SELECT a, count(*) FROM pg.wide GROUP BY a)', [[3]]],
      ['SELECT count(*) FROM (SELECT DISTINCT a FROM pg.wide)', [[3]]],
      ['SELECT count(*) FROM (SELECT a FROM pg.wide UNION ALL SELECT b FROM pg.wide)', [[6]]],
      ['SELECT * EXCLUDE (a, b, c) FROM pg.wide ORDER BY ALL', [[1], [2], [3]]],
      ['SELECT t.a FROM pg.wide AS t JOIN pg.wide AS u ON t.id = u.id WHERE u.id = 2', [['12.00']]],
      ['SELECT a FROM wides WHERE again = 3', [['100.00']]],
    ])('are read, counted and cast: %s', async (query, rows) => {
      expect(await sql(service.url, query)).toMatchObject({ data: rows })
    })
  })

  test('a NULL stands wherever one stood', async () => {
    const { rows } = await read(
      `SELECT i, CASE WHEN i % 3 = 0 THEN i END AS a, CASE WHEN i % 5 <> 0 THEN 'text number ' || i END AS b,
       CASE WHEN i % 7 = 0 THEN ARRAY[i, NULL] END AS c FROM generate_series(1, 5000) i`,
    )
    expect(rows).toHaveLength(5000)
    for (const [i, a, b, c] of rows) {
      const n = Number(i)
      expect(a).toBe(n % 3 === 0 ? n : null)
      expect(b).toBe(n % 5 !== 0 ? `text number ${n}` : null)
      expect(c).toEqual(n % 7 === 0 ? [n, null] : null)
    }
  })

  test('what PostgreSQL computes stays a number', async () => {
    const { types, rows } = await read(
      'SELECT avg(i), sum(i::bigint), 1::numeric / 3, 0.000001::numeric / 3 AS small FROM generate_series(1, 4) i',
    )
    expect(types).toEqual({ avg: 'DECIMAL(38,16)', sum: 'DECIMAL(38,16)', '?column?': 'DECIMAL(38,24)', small: 'DECIMAL(38,24)' })
    expect(rows[0]?.[0]).toBe('2.5000000000000000')
  })

  test.each([
    ["SELECT 'NaN'::numeric(5,2) AS n", 'n'],
    ['SELECT CASE WHEN i < 3000 THEN 1::numeric ELSE 1e30 END AS wide FROM generate_series(1, 4000) i', 'wide'],
    ['SELECT CASE WHEN i < 3000 THEN ARRAY[1] ELSE ARRAY[[1]] END AS deep FROM generate_series(1, 4000) i', 'deep'],
    ["SELECT interval 'infinity' AS endless", 'endless'],
  ])('a value that its type cannot hold names its column: %s', async (sql, column) => {
    const problem = await problemOf(read(sql))
    expect(problem.code).toBe('query_failed')
    expect(problem.detail).toContain(`"${column}"`)
    expect(problem.extras.hint).toContain('Convert')
  })

  test('texts of a database without an encoding have the sign � in place of bytes that are not UTF-8', async () => {
    await postgres.run("CREATE DATABASE unencoded TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'")
    const own = postgres.connection({ database: 'unencoded', writable: true })
    const bytes = (hex: string) => `convert_from('\\x${hex}'::bytea, 'SQL_ASCII')`
    const made = `CREATE TABLE heard AS SELECT ${bytes('636166e920')} AS word, 'Größe' AS good, ARRAY[${bytes('ff')}, 'ß'] AS list`
    await readAll(db, connections, own, { native: made, writes: true })
    const columns = ['word', 'good', 'list']
    expect((await readAll(db, connections, own, { scan: { table: 'heard', columns } })).rows).toEqual([['caf� ', 'Größe', ['�', 'ß']]])
    // As bytes they keep all of them.
    const whole = await readAll(db, connections, own, "SELECT convert_to(word, 'SQL_ASCII') AS bytes FROM heard")
    expect(whole.rows).toEqual([['caf\\xE9 ']])
    // There the bytes would be compared, and here the text.
    expect((await connections.columns(own, 'heard')).map(({ exactText }) => exactText)).toEqual([false, false, false])
  })

  test('columns that share a name are told apart', async () => {
    expect(Object.keys((await read('SELECT 1 AS a, 2 AS a, 3 AS "A", 4 AS a_1')).types)).toEqual(['a', 'a_1', 'A_2', 'a_1_1'])
  })

  test('texts that fill many batches arrive in order', async () => {
    const { rows } = await read('SELECT i, repeat(chr(65 + i % 26), i % 4000) FROM generate_series(1, 6000) i')
    expect(rows).toHaveLength(6_000)
    for (const [i, text] of rows) expect(text).toBe(String.fromCharCode(65 + (Number(i) % 26)).repeat(Number(i) % 4000))
  })
})
