import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection, Filter, TableColumn } from '../../../src/connections/contract/requests.js'
import { mysqlDialect } from '../../../src/connections/pushdown/mysql.js'
import { canPush, keepsSame } from '../../../src/connections/pushdown/can-push.js'
import { AnswerReader } from '../../../src/connections/reader/read-answer.js'
import { compare, duck, listedAndAlone, problemOf, readAll } from '../../support/connections/answers.js'
import { jobOver } from '../../support/jobs/job-over.js'
import { settled } from '../../support/models/rentals.js'
import { sql, startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { password } from '../../support/connections/postgres.js'

/**
 * A real server, which these tests do not start: MARIADB_PORT says where on this machine it listens, with a database `shop` and a user
 * `me` who may do everything. They were last run with 10.11.19 of Debian 12. Without it they are left out; `mysql.test.ts` speaks the protocol with a server in the test.
 */
const port = Number(process.env['MARIADB_PORT'] ?? 0)
const where = port > 0 ? describe : describe.skip

let connections: Connections
let db: DuckDBConnection

const connectionOf = (id: string, parameters: Connection['parameters'] = {}): Connection => ({
  id,
  version: 1,
  engine: 'mariadb',
  parameters: { host: '127.0.0.1', port, user: 'me', password, database: 'shop', ...parameters },
})
const connection = connectionOf('mariadb')
const writer = connectionOf('writer', { writable: true })

const write = async (sql: string): Promise<void> => {
  await readAll(db, connections, writer, { native: sql, writes: true })
}

/** Each value as MySQL takes it, its column type, the type that it has here, and how DuckDB writes it. */
const values: readonly (readonly [type: string, sql: string, ours: string, text: string | null])[] = [
  ['tinyint', '-128', 'TINYINT', '-128'],
  ['tinyint unsigned', '255', 'UTINYINT', '255'],
  ['smallint unsigned', '65535', 'USMALLINT', '65535'],
  ['mediumint', '-8388608', 'INTEGER', '-8388608'],
  ['int unsigned', '4294967295', 'UINTEGER', '4294967295'],
  ['bigint', '-9223372036854775808', 'BIGINT', '-9223372036854775808'],
  ['bigint unsigned', '18446744073709551615', 'UBIGINT', '18446744073709551615'],
  ['bit(9)', "b'100000001'", 'UBIGINT', '257'],
  ['decimal(10,2)', '-0.05', 'DECIMAL(10,2)', '-0.05'],
  ['decimal(38,10)', '1234567890123456789012345678.0123456789', 'DECIMAL(38,10)', '1234567890123456789012345678.0123456789'],
  ['decimal(65,30)', '12345.5', 'DECIMAL(38,16)', '12345.5000000000000000'],
  ['float', '16777215', 'FLOAT', '16777215.0'],
  ['double', '0.30000000000000004', 'DOUBLE', '0.30000000000000004'],
  ['year', '2024', 'SMALLINT', '2024'],
  ['date', "'2024-02-29'", 'DATE', '2024-02-29'],
  ['date', "'0000-00-00'", 'DATE', null],
  ['date', "'2024-00-10'", 'DATE', null],
  ['datetime(6)', "'9999-12-31 23:59:59.999999'", 'TIMESTAMP', '9999-12-31 23:59:59.999999'],
  ['datetime', "'0000-00-00 00:00:00'", 'TIMESTAMP', null],
  ['timestamp', "'2024-05-17 01:02:03'", 'TIMESTAMP WITH TIME ZONE', '2024-05-17 01:02:03+00'],
  ['time(3)', "'-838:59:58.999'", 'INTERVAL', '-838:59:58.999'],
  ['char(5)', "'ab'", 'VARCHAR', 'ab'],
  ['varchar(100)', "'ü € 😀, more than twelve bytes'", 'VARCHAR', 'ü € 😀, more than twelve bytes'],
  ['varchar(20) character set latin1', "'Größe'", 'VARCHAR', 'Größe'],
  ['longtext', "''", 'VARCHAR', ''],
  ['varbinary(20)', "x'00ff'", 'BLOB', '\\x00\\xFF'],
  ['blob', "x'41'", 'BLOB', 'A'],
  ["enum('a','b')", "'b'", 'VARCHAR', 'b'],
  ["set('a','b')", "'a,b'", 'VARCHAR', 'a,b'],
  ['json', '\'{"a": [1, null]}\'', 'JSON', '{"a": [1, null]}'],
  ['int', 'NULL', 'INTEGER', null],
  ['longtext', 'NULL', 'VARCHAR', null],
]

where('MariaDB', () => {
  let columns: readonly TableColumn[]
  let whole: string

  beforeAll(async () => {
    connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
    db = await duck()
    await db.run("SET TimeZone = 'UTC'")
    await write('DROP TABLE IF EXISTS odd')
    await write('DROP TABLE IF EXISTS typed')
    await write(
      'CREATE TABLE odd (id bigint, word varchar(20), exact decimal(9,2), day date, padded char(4), `na``me` int) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci',
    )
    await write(
      `INSERT INTO odd SELECT seq, ELT(1 + seq % 9, 'a', 'A', 'ä', 'a ', '', NULL, 'b%', 'a_b', 'back\\\\slash'), (CAST(seq AS SIGNED) % 29 - 14) / 4,
       IF(seq % 5 = 0, '0000-00-00', '2024-01-01' + INTERVAL seq % 40 DAY), ELT(1 + seq % 3, 'a', 'B', NULL), seq % 7 FROM seq_1_to_1000`,
    )
    columns = await connections.columns(connection, 'odd')
    whole = (await readAll(db, connections, connection, { scan: { table: 'odd', columns: columns.map(({ name }) => name) } })).table
  })

  afterAll(() => connections.stop())

  test('each value arrives as it is', async () => {
    await write(`CREATE TABLE typed (${values.map(([type], index) => `c${index} ${type} NULL`).join(', ')}) CHARACTER SET utf8mb4`)
    await write(`INSERT INTO typed VALUES (${values.map(([, sql]) => sql).join(', ')})`)
    const names = values.map((_, index) => `c${index}`)
    const { types, table } = await readAll(db, connections, connection, { scan: { table: 'typed', columns: names } })
    expect(Object.values(types)).toEqual(values.map(([, , ours]) => ours))
    const [texts] = (await db.runAndReadAll(`SELECT ${names.map((name) => `${name}::VARCHAR`).join(', ')} FROM ${table}`)).getRowsJson()
    expect(texts?.map((text, index) => [values[index]?.[0], text])).toEqual(values.map(([type, , , text]) => [type, text]))
  })

  test('the list of all columns has the same types', async () => {
    const { listed, alone } = await listedAndAlone(connections, connection, ['typed', 'odd'])
    expect(listed[0]).toHaveLength(values.length)
    expect(listed).toEqual(alone)
  })

  test('days that no calendar has are NULL, and not the next day', async () => {
    await write('DROP TABLE IF EXISTS invalid')
    await write('CREATE TABLE invalid (id int, day date, at datetime)')
    await write(
      "SET STATEMENT sql_mode = 'ALLOW_INVALID_DATES' FOR INSERT INTO invalid VALUES (1, '2024-02-31', '2023-02-29 10:00:00'), (2, '2024-02-29', '2023-12-31 10:00:00')",
    )
    expect((await readAll(db, connections, connection, { scan: { table: 'invalid', columns: ['id', 'day', 'at'] } })).rows).toEqual([
      [1, null, null],
      [2, '2024-02-29', '2023-12-31 10:00:00'],
    ])
  })

  test('a time limit that the server has for its sessions stays, unless ours is shorter', async () => {
    const timeOf = async (id: string) =>
      Number((await readAll(db, connections, connectionOf(id), 'SELECT @@max_statement_time AS time')).rows[0]?.[0])
    try {
      await write('SET GLOBAL max_statement_time = 5')
      expect(await timeOf('hasty')).toBe(5)
      await write('SET GLOBAL max_statement_time = 100000')
      expect(await timeOf('patient')).toBe(1_800)
    } finally {
      await write('SET GLOBAL max_statement_time = 0')
    }
    expect(await timeOf('usual')).toBe(1_800)
  })

  test('a sum of large numbers stays a number', async () => {
    expect((await readAll(db, connections, connection, 'SELECT sum(id) AS s, count(*) AS n FROM odd')).types).toEqual({
      s: 'DECIMAL(38,0)',
      n: 'BIGINT',
    })
  })

  test('numbers of many declared digits are compared by those in use, or refused before the rest of them comes', async () => {
    const make = (name: string, value: string) =>
      write(`CREATE OR REPLACE TABLE ${name} AS SELECT CAST(${value} AS decimal(65,30)) AS amount FROM seq_1_to_300000`)
    await make('amounts', 'IF(seq % 2 = 0, 0.3, 123456789.5)')
    await make('wide', '12345678901234567890.1234567890123456789')
    const filters = [compare('amount', '<', '1')]
    const { types, rows } = await readAll(db, connections, connection, { scan: { table: 'amounts', columns: ['amount'], filters } })
    expect([types, rows.length, rows[0]]).toEqual([{ amount: 'DECIMAL(38,16)' }, 150_000, ['0.3000000000000000']])
    const from = performance.now()
    const more = { table: 'wide', columns: ['amount'], filters: [compare('amount', '>', '1')] }
    expect((await problemOf(readAll(db, connections, connection, { scan: more }))).detail).toMatch(/more digits than can be compared/)
    expect(performance.now() - from).toBeLessThan(20_000)
    expect((await readAll(db, connections, connection, 'SELECT 1 AS one')).rows).toEqual([[1]])
  })

  test.each<[Filter, boolean]>([
    [compare('id', '<=', '17'), true],
    [compare('word', '=', 'a', 'VARCHAR'), true],
    [compare('word', '<>', 'a', 'VARCHAR'), true],
    [{ not: compare('word', '=', 'a', 'VARCHAR') }, true],
    [compare('word', '=', "b%' OR 1 = 1 -- ", 'VARCHAR'), true],
    [compare('word', '=', 'back\\slash', 'VARCHAR'), true],
    [compare('padded', '=', 'a', 'VARCHAR'), true],
    [compare('exact', '>', '0.25', 'DECIMAL'), true],
    [{ or: [{ isNull: 'word' }, compare('na`me', '=', '3')] }, true],
    [compare('word', '<', 'b', 'VARCHAR'), false],
    [{ like: 'a%', column: 'word' }, true],
    [{ not: { like: '%\\slash', column: 'word' } }, true],
    [{ like: 'a_b', column: 'word' }, false],
    [{ isNull: 'day' }, false],
    [compare('day', '>', '2024-01-20', 'DATE'), true],
    [compare('day', '<', '2024-01-20', 'DATE'), true],
    [{ not: compare('day', '=', '2024-01-20', 'DATE') }, true],
  ])('%j has the rows that DuckDB finds', async (filter, isPushed) => {
    expect(canPush(filter, columns, mysqlDialect)).toBe(isPushed)
    const { table, sent } = await readAll(db, connections, connection, {
      scan: { table: 'odd', columns: columns.map(({ name }) => name), filters: [filter] },
    })
    expect(sent.includes('WHERE')).toBe(isPushed)
    const here = JSON.stringify(filter)
    const conditions: Record<string, string> = {
      [JSON.stringify({ not: compare('word', '=', 'a', 'VARCHAR') })]: "NOT (word = 'a')",
      [JSON.stringify({ or: [{ isNull: 'word' }, compare('na`me', '=', '3')] })]: 'word IS NULL OR "na`me" = 3',
      [JSON.stringify({ like: 'a%', column: 'word' })]: "word LIKE 'a%'",
      [JSON.stringify({ not: { like: '%\\slash', column: 'word' } })]: "word NOT LIKE '%\\slash'",
      [JSON.stringify({ not: compare('day', '=', '2024-01-20', 'DATE') })]: "NOT (day = DATE '2024-01-20')",
    }
    const simple =
      'compare' in filter
        ? `"${filter.column}" ${filter.compare} ${filter.with.type === 'VARCHAR' || filter.with.type === 'DATE' ? `'${filter.with.value.replaceAll("'", "''")}'` : filter.with.value}`
        : undefined
    const condition = conditions[here] ?? simple
    if (!isPushed || condition === undefined) return
    const ids = async (from: string, holds: string) =>
      (await db.runAndReadAll(`SELECT id FROM ${from} WHERE ${holds} ORDER BY id`)).getRowsJson()
    // Days that do not exist come along; DuckDB has NULL in their place, and filters again.
    const isSame = keepsSame(filter, columns, mysqlDialect)
    expect(isSame).toBe(!here.includes('"day"'))
    expect(await ids(table, isSame ? 'true' : condition)).toEqual(await ids(whole, condition))
  })

  test('aggregates are those of DuckDB', async () => {
    const scan = {
      table: 'odd',
      columns: ['na`me'],
      aggregates: [
        { function: 'sum', column: 'id', as: 's' },
        { function: 'count', as: 'n' },
      ],
    } as const
    const { table, types } = await readAll(db, connections, connection, { scan })
    expect(types).toEqual({ 'na`me': 'INTEGER', s: 'HUGEINT', n: 'BIGINT' })
    const there = (await db.runAndReadAll(`FROM ${table} ORDER BY ALL`)).getRowsJson()
    expect(there).toEqual(
      (await db.runAndReadAll(`SELECT "na\`me", sum(id), count(*) FROM ${whole} GROUP BY ALL ORDER BY ALL`)).getRowsJson(),
    )
  })

  test.each([
    ['DELETE FROM odd', 'refused_statement'],
    ['SELECT 1; DELETE FROM odd', 'query_failed'],
    ["SELECT * FROM odd INTO OUTFILE 'rows.txt'", 'refused_statement'],
    ["SELECT 1 INTO/**/DUMPFILE 'rows.txt'", 'refused_statement'],
    ["SELECT 1.5INTO # x\nOUTFILE 'rows.txt'", 'refused_statement'],
    ["LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE odd", 'refused_statement'],
    ['/*!50000 DELETE FROM odd */', 'refused_statement'],
    ['WITH x AS (SELECT 1) DELETE FROM odd', 'refused_statement'],
    ['SELECT * FROM od', 'query_failed'],
  ])('%s is refused', async (sql, code) => {
    expect((await problemOf(readAll(db, connections, connection, sql))).code).toMatch(new RegExp(`^(?:${code}|query_failed)$`))
    expect((await readAll(db, connections, connection, 'SELECT count(*) AS n FROM odd')).rows).toEqual([['1000']])
  })

  test('a file of this machine is not sent to a server that asks for it', async () => {
    const problem = await problemOf(
      readAll(db, connections, writer, { native: "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE odd (word)", writes: true }),
    )
    expect(problem.code).toBe('query_failed')
  })

  test('unknown names have the nearest beside them', async () => {
    expect(await problemOf(readAll(db, connections, connection, { scan: { table: 'ood', columns: ['id'] } }))).toMatchObject({
      code: 'not_found',
      extras: { hint: 'Did you mean "odd"?' },
    })
    expect(await problemOf(readAll(db, connections, connection, { scan: { table: 'odd', columns: ['wrod'] } }))).toMatchObject({
      extras: { hint: 'Did you mean "word"?' },
    })
  })

  test('a connection without a database lists tables under names that find them', async () => {
    await write('CREATE OR REPLACE TABLE filled (id bigint NOT NULL, note text)')
    const named = await connections.tables(connection)
    expect(named.tables).toContainEqual({ schema: 'shop', name: 'filled', isUsual: true, type: 'table' })
    const open = { ...connectionOf('open', { database: null }), name: 'my' }
    expect((await connections.tables(open)).tables).toContainEqual({ schema: 'shop', name: 'filled', isUsual: false, type: 'table' })
    const nullable = (columns: readonly { name: string; nullable: boolean }[]) => columns.map(({ name, nullable }) => [name, nullable])
    const { listed } = await connections.everyColumn(open)
    const declared = [
      ['id', false],
      ['note', true],
    ]
    expect(nullable(listed.filter(({ table, isUsual }) => table === 'filled' && !isUsual))).toEqual(declared)
    expect(nullable(await connections.columns(open, 'filled', 'shop'))).toEqual(declared)
    for (const place of [{ table: 'filled' }, { schema: 'shp', table: 'filled' }])
      expect(await problemOf(readAll(db, connections, open, { scan: { ...place, columns: ['id'] } }))).toMatchObject({
        code: 'not_found',
        extras: { hint: 'Did you mean my.shop.filled?' },
      })
  })

  test('wrong passwords and databases are told, and no secret is', async () => {
    for (const [id, parameters] of Object.entries({ a: { password: 'wrong' }, b: { database: 'nothing' } })) {
      const checked = await connections.check(connectionOf(id, parameters))
      expect(checked.status).toBe('connection_error')
      expect(JSON.stringify(checked)).not.toContain(password)
    }
    expect(await connections.check(connection)).toEqual({ status: 'success' })
  })

  const active = async (): Promise<unknown> => {
    const running = "SELECT count(*) AS n FROM information_schema.processlist WHERE info LIKE '%endless%' AND info NOT LIKE '%processlist%'"
    return (await readAll(db, connections, writer, running)).rows[0]?.[0]
  }

  test.each(['SELECT sleep(60) AS endless', "SELECT seq, repeat('endless', 50) AS t FROM seq_1_to_1000000000"])(
    '%s ends when its reader leaves',
    async (sql) => {
      const opened = await connections.open(connection, { native: sql })
      const stop = new AbortController()
      const reading = AnswerReader.open(opened, stop.signal).then((answer) => answer.chunks().next())
      reading.catch(() => undefined)
      await until(async () => (await active()) === '1')
      stop.abort(new Error('enough'))
      await until(async () => (await active()) === '0')
      expect((await opened.ended).ending).toBe('cut')
    },
  )

  test.each([
    ['before the first row', 'SELECT sleep(60) AS endless', 0],
    ['in mid-answer', "SELECT seq, repeat('endless', 50) AS t FROM seq_1_to_1000000000", 300],
  ])('a session that is ended there %s is told at once', async (_, sql, afterMs) => {
    const broken = problemOf(readAll(await duck(), connections, connectionOf(`broken ${afterMs}`), sql))
    await until(async () => (await active()) === '1')
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    const ids = "SELECT id FROM information_schema.processlist WHERE info LIKE '%endless%' AND info NOT LIKE '%processlist%'"
    for (const [id] of (await readAll(db, connections, writer, ids)).rows) await write(`KILL CONNECTION ${Number(id)}`)
    expect((await broken).code).toBe('connection_failed')
  })

  test('a reader that does not read holds the database back', async () => {
    const opened = await connections.open(
      connection,
      { native: "SELECT seq, repeat('endless', 50) AS t FROM seq_1_to_1000000000" },
      { timeMs: 2_000 },
    )
    const answer = await AnswerReader.open(opened)
    expect((await opened.ended).bytes).toBeLessThan(30 * 1024 * 1024)
    answer.close()
  })

  test('the service lists it, learns from it, joins it with the model, and reads what is new for a job with LAST', async () => {
    await write('CREATE OR REPLACE TABLE homes (id int PRIMARY KEY, size int, place varchar(20), rent decimal(10,2)) CHARACTER SET utf8mb4')
    await write(
      "INSERT INTO homes SELECT seq, 300 + seq % 4 * 10, ELT(1 + seq % 3, 'gut', 'größer', NULL), 500 + seq * 12.5 FROM seq_1_to_200",
    )
    const service = await startTestService()
    const ask = async (query: string): Promise<unknown[][]> => {
      const answer = await sql(service.url, query)
      if (answer.type === 'error') throw new Error(answer.error_message)
      return answer.data
    }
    try {
      await ask(`CREATE DATABASE my WITH ENGINE = 'mariadb', PARAMETERS = ${JSON.stringify(connection.parameters)}`)
      expect((await ask('SHOW TABLES FROM my')).flat()).toContain('homes')
      const described = ['id integer NO', 'size integer YES', 'place varchar YES', 'rent decimal(10,2) YES']
      expect((await ask('DESCRIBE my.homes')).map((row) => row.slice(0, 3).join(' '))).toEqual(described)
      const listed = "FROM information_schema.columns WHERE table_schema = 'my' AND table_name LIKE 'hom%' ORDER BY ordinal_position"
      expect((await ask(`SELECT column_name, data_type, is_nullable ${listed}`)).map((row) => row.join(' '))).toEqual(described)
      expect(await ask("SELECT count(*) FROM my.homes WHERE place = 'größer' AND id IN (1, 2, 4)")).toEqual([[2]])
      await ask('CREATE VIEW large AS (SELECT * FROM my.homes WHERE size > 310)')
      expect(await ask('SELECT count(*) FROM large')).toEqual([[100]])
      await ask("CREATE MODEL rents FROM my (SELECT size, place, rent FROM homes) PREDICT rent USING engine = 'constant'")
      expect(await settled(service.url, 'rents')).toBe('complete')
      expect(await ask('SELECT h.id, m.rent FROM my.homes AS h JOIN rents AS m WHERE h.id IN (1, 2)')).toHaveLength(2)
      const copying = jobOver(service.service.sql, 'SELECT h.id FROM my.homes AS h WHERE h.id > LAST')
      expect(await copying.run()).toMatchObject({ outcome: 'complete', error: null })
      expect(copying.seen()).toMatchObject([{ value: '200' }])
      await write("INSERT INTO homes VALUES (201, 300, 'neu', 1)")
      expect(await copying.run()).toMatchObject({ outcome: 'complete', error: null })
      expect(copying.seen()).toMatchObject([{ value: '201' }])
    } finally {
      await service.stop()
    }
  })
})
