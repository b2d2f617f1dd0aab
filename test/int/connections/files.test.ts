import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { duckdbDialect } from '../../../src/connections/pushdown/duckdb.js'
import { canPush } from '../../../src/connections/pushdown/can-push.js'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import Database from 'better-sqlite3'
import { limits } from '../../../src/basics/limits.js'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { AnswerReader } from '../../../src/connections/reader/read-answer.js'
import { compare, duck, listedAndAlone, problemOf, readAll } from '../../support/connections/answers.js'
import { until } from '../../support/until.js'
import { childrenRunning, hasOpen, isRunning } from '../../support/processes.js'
import { send, spawnService, sql, startTestService, temporaryDirectory } from '../../support/service.js'

const place = temporaryDirectory()
const folder = join(place.path, 'files')
let connections: Connections
let db: DuckDBConnection

const connection = (engine: string, path: string, more: Connection['parameters'] = {}): Connection => ({
  id: `${engine}-${path}`,
  version: 1,
  engine,
  parameters: { path, ...more },
})

beforeAll(async () => {
  mkdirSync(join(folder, 'lake'), { recursive: true })
  const lite = new Database(join(folder, 'shop.db'))
  lite.exec(`
    CREATE TABLE items (id INTEGER PRIMARY KEY, price REAL, name TEXT, data BLOB, big INTEGER, mixed NUMERIC);
    INSERT INTO items VALUES (1, 1.5, 'a', x'00ff', 9223372036854775807, 1), (2, 2, NULL, NULL, -1, 2.5), (3, NULL, 'Größe', x'', NULL, NULL);
    CREATE TABLE wide (${Array.from({ length: 250 }, (_, i) => `"${i}${'c'.repeat(5_000)}" INTEGER`).join()});
    CREATE VIEW cheap AS SELECT id FROM items WHERE price < 2;
    CREATE TABLE odd (a INTEGER); WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO odd SELECT CASE WHEN i < 2000 THEN i ELSE 'text' END FROM n;
    CREATE TABLE paid (id INTEGER PRIMARY KEY, price DECIMAL(10,2), tax NUMERIC, code DECIMAL(20,0)); WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO paid SELECT i, 10, 2, 9223372036854775000 + i % 7 FROM n;
    UPDATE paid SET price = 19.99, tax = 0.5 WHERE id > 1400;
    CREATE TABLE photos (id INTEGER, photo); INSERT INTO photos VALUES (1, 'none'), (2, x'ffd8ff'), (3, 3);`)
  lite.close()
  const instance = await DuckDBInstance.create(join(folder, 'lake.duckdb'))
  const other = await instance.connect()
  await other.run(`CREATE TABLE facts AS SELECT i AS id, (i * 0.25)::DECIMAL(9,2) AS price, 'n' || i AS name, [i, NULL] AS list,
    'NaN'::DOUBLE AS ratio, DATE '2024-01-01' + i::INT AS day, '\\xAA'::BLOB AS bytes, TIMESTAMP '0044-03-15 (BC) 01:02:03' AS past FROM range(3000) r(i)`)
  await other.run(`COPY (FROM facts) TO '${join(folder, 'lake', 'facts.parquet')}'`)
  await other.run('CHECKPOINT')
  other.disconnectSync()
  instance.closeSync()
  const collated = await DuckDBInstance.create(join(folder, 'collated.duckdb'))
  const folding = await collated.connect()
  await folding.run("CREATE TABLE folded AS SELECT unnest(['abc', 'ABC', 'b']) AS name, TIMESTAMP_S '2026-01-01' AS second")
  await folding.run('CREATE TABLE words (name VARCHAR COLLATE NOCASE)')
  await folding.run('INSERT INTO words SELECT name FROM folded')
  await folding.run(`COMMENT ON TABLE words IS 'It''s all words'; COMMENT ON COLUMN words.name IS '${'a'.repeat(3_000)}'`)
  await folding.run('CHECKPOINT')
  folding.disconnectSync()
  collated.closeSync()
  const pandas = await DuckDBInstance.create(':memory:')
  const writing = await pandas.connect()
  await writing.run(`COPY (SELECT '2024-01-02 03:04:05.123456789'::TIMESTAMP_NS AS ns, TIMESTAMP_MS '2024-01-02 03:04:05.678' AS ms
    UNION ALL SELECT NULL, NULL UNION ALL SELECT '1969-12-31 23:59:59.5'::TIMESTAMP_NS, TIMESTAMP_MS '1969-12-31 23:59:59.5')
    TO '${join(folder, 'times.parquet')}'`)
  writing.disconnectSync()
  pandas.closeSync()
  const hidden = new Database(join(folder, 'hidden.db'))
  hidden.exec(`
    CREATE VIRTUAL TABLE docs USING fts5(title, body); INSERT INTO docs VALUES ('a', 'b');
    CREATE TABLE sqlitelog (a INTEGER, double AS (a * 2)); INSERT INTO sqlitelog VALUES (4);`)
  hidden.close()
  writeFileSync(join(place.path, 'outside.db'), 'secret')
  symlinkSync(join(place.path, 'outside.db'), join(folder, 'link.db'))
  symlinkSync(place.path, join(folder, 'up'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  connections = new Connections({ egressAllow: '', loopback: true, files: folder })
  db = await duck()
})

afterAll(() => {
  connections.stop()
  place.remove()
})

test('a file of DuckDB with a collation is not asked to compare texts, nor columns that are texts here alone', async () => {
  const columns = await connections.columns(connection('duckdb', 'collated.duckdb'), 'words')
  const filter = { compare: '<>', column: 'name', with: { type: 'VARCHAR', value: 'abc' } } as const
  expect(canPush(filter, columns, duckdbDialect)).toBe(false)
  const plain = await connections.columns(connection('duckdb', 'lake.duckdb'), 'facts')
  expect(canPush(filter, plain, duckdbDialect)).toBe(true)
  const seconds = [{ name: 'name', type: { type: 'VARCHAR' }, remote: 'TIMESTAMP_S', nullable: true, exactText: false }] as const
  expect(canPush(filter, seconds, duckdbDialect)).toBe(false)
})

test('the comments on a table come from a file of DuckDB, and from no other file', async () => {
  const said = await connections.comments(connection('duckdb', 'collated.duckdb'), 'Words', 'main')
  expect(said).toEqual({ table: `It's all words`, columns: [{ name: 'name', comment: 'a'.repeat(limits.connectionCommentMaxChars) }] })
  const none = { table: null, columns: [] }
  expect(await connections.comments(connection('duckdb', 'collated.duckdb'), 'folded')).toEqual(none)
  expect(await connections.comments(connection('sqlite', 'shop.db'), 'items')).toEqual(none)
  expect(await connections.comments(connection('parquet', 'lake'), 'facts')).toEqual(none)
})

test('times of other precision in a file of Parquet are times', async () => {
  const { types, rows, table } = await readAll(db, connections, connection('parquet', 'times.parquet'), {
    scan: { table: 'times', columns: ['ns', 'ms'] },
  })
  expect(types).toMatchObject({ ns: 'TIMESTAMP_NS' })
  expect(rows).toEqual([
    ['2024-01-02 03:04:05.123456789', '2024-01-02 03:04:05.678'],
    [null, null],
    ['1969-12-31 23:59:59.5', '1969-12-31 23:59:59.5'],
  ])
  expect(
    (await db.runAndReadAll(`SELECT count(*) FROM ${table} WHERE ns > '2024-01-02 03:04:05.123456788'::TIMESTAMP_NS`)).getRowsJson(),
  ).toEqual([['1']])
})

test.each([
  ['[1.5, NULL]::DECIMAL(9,2)[]', 'DECIMAL(9,2)[]', '[1.50, NULL]'],
  [`['a text that is long', 'b"', '', NULL]`, 'VARCHAR[]', `[a text that is long, 'b"', '', NULL]`],
  ['[[1, 2], NULL, [], [NULL]]', 'INTEGER[][]', '[[1, 2], NULL, [], [NULL]]'],
  ['[[[1]]]', 'INTEGER[][][]', '[[[1]]]'],
  ['[1, 2, 3]::INTEGER[3]', 'INTEGER[]', '[1, 2, 3]'],
  ['[9007199254740993, -9223372036854775808]', 'BIGINT[]', '[9007199254740993, -9223372036854775808]'],
  ["['NaN'::DOUBLE, 1e300, 0.1]", 'DOUBLE[]', '[nan, 1e+300, 0.1]'],
  ["['\\xAA'::BLOB]", 'BLOB[]', '[\\xAA]'],
  ["['b']::ENUM('a','b')[]", 'VARCHAR[]', '[b]'],
  ["[DATE '2024-01-01', DATE '0044-03-15 (BC)']", 'DATE[]', "[2024-01-01, '0044-03-15 (BC)']"],
  ['[]::BOOLEAN[]', 'BOOLEAN[]', '[]'],
  ['NULL::TIMESTAMP[]', 'TIMESTAMP[]', null],
  ["[{'a': 1}, NULL]", 'JSON', '[{"a":1},null]'],
  ["{'a': [1]}", 'JSON', '{"a":[1]}'],
])('a list of a file of DuckDB is a list, unless its items have fields: %s', async (sql, type, text) => {
  const { types, table } = await readAll(db, connections, connection('duckdb', 'lake.duckdb'), `SELECT ${sql} AS v`)
  expect(types).toEqual({ v: type })
  expect((await db.runAndReadAll(`SELECT v::VARCHAR FROM ${table}`)).getRowsJson()).toEqual([[text]])
  if (type.endsWith(']') && text !== null)
    expect((await db.runAndReadAll(`SELECT len(v) = len(${sql}) FROM ${table}`)).getRowsJson()).toEqual([[true]])
})

test('numbers of DuckDB with more digits than an exact type has are told as such, also in lists', async () => {
  const native = 'SELECT 1::UHUGEINT AS a, 1::BIGNUM AS b, [1::BIGNUM] AS c, 1::HUGEINT AS d'
  const answer = await AnswerReader.open(await connections.open(connection('duckdb', 'lake.duckdb'), { native }))
  answer.close()
  expect(answer.columns.map(({ numbers }) => numbers)).toEqual(['fixed', 'fixed', 'fixed', undefined])
})

test('many files list their tables and columns at once, though few are read at a time', async () => {
  const many = Array.from({ length: 9 }, (_, n) => ({ ...connection('parquet', 'times.parquet'), id: `many-${n}` }))
  const tables = await Promise.all(many.map((each) => connections.tables(each)))
  expect(tables.map((each) => each.tables.length)).toEqual(many.map(() => 1))
  expect(await Promise.all(many.map((each) => connections.columns(each, 'times')))).toHaveLength(9)
})

test('statements over files wait for each other, though few are read at a time', async () => {
  const file = connection('sqlite', 'shop.db')
  const counted = 'WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT count(*) AS n FROM n'
  // A connection to DuckDB takes one thing at a time.
  const answers = await Promise.all(Array.from({ length: 9 }, async () => readAll(await duck(), connections, file, counted)))
  expect(answers.map(({ rows }) => rows)).toEqual(answers.map(() => [['300000']]))
})

test('one query over more files than are read at a time is answered', async () => {
  const service = await startTestService({ CONNECTION_FILES: folder })
  try {
    const names = Array.from({ length: 5 }, (_, n) => `file_${n}`)
    for (const name of names) {
      const made = { name, engine: 'sqlite', parameters: { path: 'shop.db' } }
      expect((await send(service.url, 'POST', '/api/databases', { database: made })).status).toBe(201)
    }
    const query = `SELECT count(*) FROM ${names.map((name) => `${name}.items AS of_${name}`).join(', ')}`
    expect((await sql(service.url, query)).data).toEqual([[3 ** 5]])
  } finally {
    await service.stop()
  }
})

describe('files of SQLite', () => {
  test('have no hidden columns, and tables of any name', async () => {
    const file = connection('sqlite', 'hidden.db')
    expect((await connections.tables(file)).tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['docs', 'sqlitelog']))
    expect((await connections.columns(file, 'docs')).map(({ name }) => name)).toEqual(['title', 'body'])
    expect((await connections.columns(file, 'sqlitelog')).map(({ name }) => name)).toEqual(['a', 'double'])
    const listed = (await connections.everyColumn(file)).listed.filter(({ table }) => table === 'docs' || table === 'sqlitelog')
    expect(listed.map(({ name }) => name)).toEqual(['title', 'body', 'a', 'double'])
  })

  test('are read by what their values are', async () => {
    const columns = ['id', 'price', 'name', 'data', 'big', 'mixed']
    const { types, rows } = await readAll(db, connections, connection('sqlite', 'shop.db'), { scan: { table: 'items', columns } })
    expect(types).toEqual({ id: 'BIGINT', price: 'DOUBLE', name: 'VARCHAR', data: 'BLOB', big: 'BIGINT', mixed: 'DOUBLE' })
    expect(rows).toEqual([
      ['1', 1.5, 'a', '\\x00\\xFF', '9223372036854775807', 1],
      ['2', 2, null, null, '-1', 2.5],
      ['3', null, 'Größe', '', null, null],
    ])
    // Bytes of a text that are not UTF-8 become the sign �.
    const invalid = "SELECT CAST(x'61ff62' AS TEXT) AS word, x'61ff62' AS bytes"
    expect((await readAll(db, connections, connection('sqlite', 'shop.db'), invalid)).rows).toEqual([['a�b', 'a\\xFFb']])
    expect((await connections.tables(connection('sqlite', 'shop.db'))).tables.map(({ name }) => name)).toEqual([
      'cheap',
      'items',
      'odd',
      'paid',
      'photos',
      'wide',
    ])
  })

  test('a price in a DECIMAL is read, also if the first thousand prices are whole', async () => {
    const file = connection('sqlite', 'shop.db')
    const columns = ['price', 'tax', 'code']
    const { types, table } = await readAll(db, connections, file, { scan: { table: 'paid', columns } })
    expect(types).toEqual({ price: 'DOUBLE', tax: 'DOUBLE', code: 'BIGINT' })
    const sums = await db.runAndReadAll(`SELECT count(*), round(sum(price), 2), sum(tax), max(code) FROM ${table}`)
    expect(sums.getRowsJson()).toEqual([['1500', 15_999, 2_850, '9223372036854775006']])
    expect((await connections.columns(file, 'paid')).slice(1, 3).map(({ type }) => type)).toEqual([{ type: 'DOUBLE' }, { type: 'DOUBLE' }])
  })

  test('a value of another kind names its column', async () => {
    const problem = await problemOf(readAll(db, connections, connection('sqlite', 'shop.db'), 'SELECT a FROM odd'))
    expect(problem).toMatchObject({ code: 'query_failed', detail: expect.stringContaining('"a"') as unknown })
  })

  test.each([
    ['texts', '1, 2'],
    ['numbers', '2, 3'],
  ])('bytes beside %s are refused: as a text they would be others', async (_, ids) => {
    const read = (photo: string) =>
      readAll(db, connections, connection('sqlite', 'shop.db'), `SELECT ${photo} AS photo FROM photos WHERE id IN (${ids}) ORDER BY id`)
    const problem = await problemOf(read('photo'))
    expect(problem).toMatchObject({ code: 'query_failed', detail: 'In the column "photo" some values are bytes, and others are not' })
    expect(problem.extras.hint).toMatch(/hex\(…\)/)
    expect((await read('hex(photo)')).rows).toContainEqual(['FFD8FF'])
  })

  test('have their columns listed together as they are told alone', async () => {
    const { listed, alone } = await listedAndAlone(connections, connection('sqlite', 'shop.db'), ['items', 'odd', 'cheap'])
    expect(listed.map((columns) => columns.length)).toEqual([6, 1, 1])
    expect(listed).toEqual(alone)
    for (const [engine, path] of [
      ['duckdb', 'lake.duckdb'],
      ['parquet', 'lake'],
    ] as const) {
      const facts = await listedAndAlone(connections, connection(engine, path), ['facts'])
      expect(facts.listed[0]).toHaveLength(8)
      expect(facts.listed).toEqual(facts.alone)
    }
  })

  test.each(['DELETE FROM items', "ATTACH 'x.db' AS y", 'SELECT 1; SELECT 2', "SELECT load_extension('x')", 'SELECT * FROM itms'])(
    '%s is refused',
    async (sql) => {
      expect((await problemOf(readAll(db, connections, connection('sqlite', 'shop.db'), sql))).code).toMatch(
        /^(refused_statement|query_failed)$/,
      )
    },
  )

  test.each(['VACUUM', 'REINDEX items', 'DELETE FROM items'])(
    '%s is refused without the hint to make the connection writable',
    async (sql) => {
      const problem = await problemOf(readAll(db, connections, connection('sqlite', 'shop.db'), { native: sql, writes: true }))
      expect(problem).toMatchObject({ code: 'refused_statement', detail: expect.stringContaining('files are only read') as unknown })
      expect(problem.extras.hint).not.toContain('"writable"')
    },
  )

  test('a statement that never ends is ended with its process, and others do not notice', async () => {
    const endless = 'WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
    const opened = await connections.open(connection('sqlite', 'shop.db'), { native: endless }, { timeMs: 6_000 })
    const reading = problemOf(AnswerReader.open(opened))
    expect((await readAll(db, connections, connection('sqlite', 'shop.db'), 'SELECT 1 AS a')).rows).toEqual([['1']])
    expect((await reading).code).toBe('connection_failed')
    await until(() => connections.pids.length === 0)
  })

  test('a statement that is longer than its event may be is recorded in part', async () => {
    const service = await startTestService({ CONNECTION_FILES: folder })
    try {
      const parameters = { path: 'shop.db' }
      await send(service.url, 'POST', '/api/databases', { database: { name: 'lite', engine: 'sqlite', parameters } })
      expect(await sql(service.url, 'SELECT * FROM lite.wide')).toMatchObject({ type: 'table', data: [] })
      const record = 'SELECT length(statement), statement FROM log.database_queries'
      const recorded = async () => ((await sql(service.url, record)) as { data: unknown[][] }).data
      await until(async () => (await recorded()).length > 0)
      expect(await recorded()).toEqual([
        [1_000_000, expect.stringMatching(/^SELECT "0c+".* … \(\d{7} characters, SHA-256 [0-9a-f]{64}\)$/)],
      ])
    } finally {
      await service.stop()
    }
  })

  test('a statement ends soon after its client has left, and its place is free', async () => {
    const service = await startTestService({ CONNECTION_FILES: folder })
    try {
      const parameters = { path: 'shop.db' }
      await send(service.url, 'POST', '/api/databases', { database: { name: 'lite', engine: 'sqlite', parameters } })
      const query = `SELECT * FROM lite (WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n)`
      const body = JSON.stringify({ query })
      const leaving = new AbortController()
      const headers = { 'content-type': 'application/json' }
      const asked = fetch(`${service.url}/api/sql/query`, { method: 'POST', headers, body, signal: leaving.signal }).catch(() => undefined)
      const running = () => childrenRunning(process.pid, 'connections-process').length
      await until(() => running() === 1)
      leaving.abort()
      await asked
      // Without that it would end at the limit of a query, after a minute.
      await until(() => running() === 0, 45_000)
    } finally {
      await service.stop()
    }
  })

  test('a statement that never ends does not outlive a service that is killed', async () => {
    const own = temporaryDirectory()
    const { child, url, ended } = await spawnService(own.path, { CONNECTION_FILES: folder })
    const parameters = { path: 'shop.db' }
    await send(url, 'POST', '/api/databases', { database: { name: 'lite', engine: 'sqlite', parameters } })
    const query = `SELECT * FROM lite (WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n)`
    const asked = sql(url, query).catch(() => undefined)
    let reading: number | undefined
    // From the opening of the file on, the statement keeps the process busy. One that is seen twice answers no short question.
    await until(() => {
      const before = reading
      reading = childrenRunning(Number(child.pid), 'connections-process').find((pid) => hasOpen(pid, 'shop.db'))
      return reading !== undefined && reading === before
    })
    child.kill('SIGKILL')
    await ended
    await asked
    await until(() => !isRunning(reading ?? 0))
    own.remove()
  })
})

describe.each([
  ['duckdb', 'lake.duckdb'],
  ['parquet', 'lake/facts.parquet'],
  ['parquet', 'lake'],
])('files of %s (%s)', (engine, path) => {
  test('are read as they are', async () => {
    const columns = ['id', 'price', 'name', 'list', 'ratio', 'day', 'bytes', 'past']
    const scan = { table: 'facts', columns, filters: [compare('id', '>', '2997')] }
    const { types, rows, table, sent } = await readAll(db, connections, connection(engine, path), { scan })
    expect(sent).toContain('WHERE "id" > 2997')
    expect(types).toMatchObject({
      id: 'BIGINT',
      price: 'DECIMAL(9,2)',
      list: 'BIGINT[]',
      ratio: 'DOUBLE',
      day: 'DATE',
      bytes: 'BLOB',
      past: 'TIMESTAMP',
    })
    expect(rows[0]?.slice(0, 4)).toEqual(['2998', '749.50', 'n2998', ['2998', null]])
    expect((await db.runAndReadAll(`SELECT past::VARCHAR FROM ${table} LIMIT 1`)).getRowsJson()).toEqual([['0044-03-15 (BC) 01:02:03']])
    expect((await connections.tables(connection(engine, path))).tables.map(({ name }) => name)).toEqual(['facts'])
    expect((await readAll(db, connections, connection(engine, path), 'SELECT count(*) AS n FROM facts')).rows).toEqual([['3000']])
    // NaN may have a sign bit.
    const negative = await readAll(db, connections, connection(engine, path), 'SELECT -ratio AS a, -ratio::FLOAT AS b FROM facts LIMIT 1')
    expect(negative.rows).toEqual([['NaN', 'NaN']])
  })

  test.each([
    "SELECT * FROM read_text('/etc/passwd')",
    "FROM '/etc/passwd'",
    "SELECT * FROM read_csv('../outside.db')",
    "WITH x AS (FROM glob('/etc/*')) FROM x",
    "COPY facts TO 'copied.csv'",
    "ATTACH 'other.duckdb'",
    'INSTALL httpfs',
    'SET enable_external_access = true',
    'SELECT 1; SELECT 2',
  ])('%s is refused', async (sql) => {
    const problem = await problemOf(readAll(db, connections, connection(engine, path), sql))
    expect(problem.code).toMatch(/^(refused_statement|query_failed)$/)
    expect(problem.detail).not.toContain(place.path)
  })
})

test('a statement over a file that takes too much memory is ended with its process, long before its time is over', async () => {
  const from = performance.now()
  const native = "SELECT repeat('x', 20000000) AS z FROM range(2000)"
  const problem = await problemOf(readAll(db, connections, connection('duckdb', 'lake.duckdb'), { native }, { timeMs: 1_200_000 }))
  expect(problem).toMatchObject({ code: 'connection_failed', extras: { hint: expect.stringContaining('memory') as unknown } })
  expect(performance.now() - from).toBeLessThan(600_000)
  expect((await readAll(db, connections, connection('duckdb', 'lake.duckdb'), 'SELECT 1 AS a')).rows).toEqual([[1]])
})

test.each([
  ['sqlite', 'shop.db', 'PRAGMA database_list'],
  ['sqlite', 'shop.db', 'PRAGMA main . "database_list"'],
  ['sqlite', 'shop.db', 'SELECT substr(file, 2) FROM Pragma_Database_List'],
  ['sqlite', 'shop.db', 'PRAGMA temp_store_directory'],
  ['duckdb', 'lake.duckdb', 'SELECT substr(path, 2) FROM duckdb_databases()'],
  ['duckdb', 'lake.duckdb', 'SELECT value FROM "duckdb_settings"()'],
  ['duckdb', 'lake.duckdb', `SELECT reverse(current_setting('temp_directory'))`],
  ['duckdb', 'lake.duckdb', 'FROM pragma_database_size()'],
  ['parquet', 'lake', 'SELECT * FROM duckdb_databases()'],
  ['parquet', 'lake', `SELECT * FROM query('SELECT value FROM duckdb_' || 'settings()')`],
  ['duckdb', 'lake.duckdb', `SELECT * FROM "QUERY" /**/ ('SELECT current_set' || 'ting(''temp_directory'')')`],
])('%s: %s: the place of a file on this disk is not told by %s', async (engine, path, native) => {
  const problem = await problemOf(readAll(db, connections, connection(engine, path), { native }))
  expect(problem).toMatchObject({ code: 'refused_statement', detail: expect.stringContaining('disk') as unknown })
})

test.each([
  ['duckdb', 'lake.duckdb', 'EXPLAIN SELECT * FROM facts'],
  ['parquet', 'lake', 'EXPLAIN SELECT * FROM facts'],
  ['parquet', 'lake', 'SELECT sql FROM duckdb_views()'],
  ['parquet', 'lake', "SELECT * FROM read_parquet('nothing.parquet')"],
])('%s: %s: %s shows no folder of this disk', async (engine, path, native) => {
  const answer = await readAll(db, connections, connection(engine, path), { native }).catch((error: unknown) => error)
  expect(JSON.stringify([answer, String(answer)])).not.toContain(place.path)
})

test.each([
  ['sqlite', 'shop.db', 'SELECT * FROM malformed_orders'],
  ['sqlite', 'shop.db', `SELECT json('{"a": ')`],
  ['duckdb', 'lake.duckdb', 'SELECT * FROM serialization'],
])('%s: %s: the error of %s is that of the statement, not of the file', async (engine, path, native) => {
  expect((await problemOf(readAll(db, connections, connection(engine, path), native))).code).toBe('query_failed')
})

describe('the folder of CONNECTION_FILES', () => {
  test.each([
    '/etc/passwd',
    '../outside.db',
    'lake/../../outside.db',
    'link.db',
    'pipe',
    'up/outside.db',
    'up',
    '..',
    'file:///etc/passwd',
    'C:\\x.db',
    'a\0b',
    '..\\outside.db',
  ])('%j is not read', async (path) => {
    for (const engine of ['sqlite', 'duckdb', 'parquet'])
      expect(await connections.check(connection(engine, path))).toMatchObject({ status: 'connection_error' })
  })

  test('a file that is no Parquet is named by the refusal of its folder', async () => {
    mkdirSync(join(folder, 'mixed'))
    writeFileSync(join(folder, 'mixed', 'broken.parquet'), 'x')
    const checked = await connections.check(connection('parquet', 'mixed'))
    expect(checked).toMatchObject({ status: 'connection_error', detail: expect.stringContaining('"broken.parquet"') as unknown })
    expect(JSON.stringify(checked)).not.toContain(place.path)
  })

  test('a Parquet file whose path is a pattern is refused, because DuckDB would read the files that match it', async () => {
    mkdirSync(join(folder, 'odd'))
    copyFileSync(join(folder, 'times.parquet'), join(folder, 'odd', 'facts[1].parquet'))
    copyFileSync(join(folder, 'lake', 'facts.parquet'), join(folder, 'odd', 'facts1.parquet'))
    for (const path of ['odd', 'odd/facts[1].parquet'])
      expect(await connections.check(connection('parquet', path))).toMatchObject({
        status: 'connection_error',
        detail: expect.stringMatching(/"odd\/facts\[1\]\.parquet" has a "\["/) as unknown,
      })
    expect(await connections.check(connection('parquet', 'odd/facts1.parquet'))).toEqual({ status: 'success' })
  })

  test('a name that begins with "~" is that of the file', async () => {
    copyFileSync(join(folder, 'collated.duckdb'), join(folder, '~lake.duckdb'))
    copyFileSync(join(folder, 'times.parquet'), join(folder, '~facts.parquet'))
    copyFileSync(join(folder, 'lake', 'facts.parquet'), join(folder, 'facts.parquet'))
    const names = async (engine: string, path: string) => {
      const { tables } = await connections.tables(connection(engine, path))
      return tables.map(({ name }) => name)
    }
    expect(await names('duckdb', '~lake.duckdb')).toEqual(['folded', 'words'])
    expect(await names('parquet', '~facts.parquet')).toEqual(['~facts'])
    expect((await connections.columns(connection('parquet', '~facts.parquet'), '~facts')).map(({ name }) => name)).toEqual(['ns', 'ms'])
  })

  test('a file that is not there has no tables that could be listed', async () => {
    const problem = await problemOf(connections.tables(connection('sqlite', 'none.db')))
    expect(problem).toMatchObject({ code: 'connection_failed', detail: expect.stringContaining('"none.db"') as unknown })
  })

  test('is named by a refusal where the setting is missing', async () => {
    const without = new Connections({ egressAllow: '', loopback: true, files: undefined })
    const checked = await without.check(connection('sqlite', 'shop.db'))
    expect(checked).toMatchObject({ detail: expect.stringContaining('CONNECTION_FILES') as unknown })
    without.stop()
  })
})
