import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import mysql from 'mysql2'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection, Filter } from '../../../src/connections/contract/requests.js'
import { secretsIn } from '../../../src/connections/engines/contract/parameters.js'
import { openClient } from '../../../src/connections/engines/mysql/connect.js'
import { explainMysql } from '../../../src/connections/engines/mysql/explain.js'
import { readParameters } from '../../../src/connections/engines/mysql/parameters.js'
import { reasonToRead } from '../../../src/connections/pushdown/native.js'
import { AnswerReader } from '../../../src/connections/reader/read-answer.js'
import { parseEgress } from '../../../src/egress/policy.js'
import { compare, duck, problemOf, readAll } from '../../support/connections/answers.js'
import { packet } from '../../support/connections/mysql-server.js'
import { openMysqlTables } from '../../support/connections/mysql-tables.js'
import { jobOver } from '../../support/jobs.js'
import { settled } from '../../support/models/rentals.js'
import { send, sql, startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { password } from '../../support/connections/postgres.js'

/** The half of the driver that speaks as a server; its types leave out what is used here. */
type ServerSide = {
  serverHandshake: (options: object) => void
  writeTextResult: (rows: readonly Record<string, string | null>[], columns: readonly object[]) => void
  writeOk: (values?: object) => void
  writeError: (values: { code: number; message: string }) => void
  writeEof: () => void
  writeColumns: (columns: readonly object[]) => void
  writeTextRow: (row: readonly (string | null)[]) => void
  stream: { destroy: () => void; write: (bytes: Buffer) => void; once: (event: string, hear: (bytes: Buffer) => void) => void }
  sequenceId: number
  on: (event: string, hear: (sql: string) => void) => void
  close: () => void
}

let connections: Connections
let db: DuckDBConnection
let port: number
let stop: () => void
/** What the server was asked, in order. */
const asked: string[] = []
let killed = 0
let received: Uint8Array = new Uint8Array()
/** Whether its sessions obey the zone that is set. */
let isUtc = true

const column = (name: string, columnType: number, more: object = {}) => ({
  ...{ catalog: 'def', schema: 'shop', table: 't', orgTable: 't', name, orgName: name, characterSet: 45, columnLength: 255, columnType },
  ...{ flags: 0, decimals: 0, ...more },
})

/** Numbers as a DECIMAL(65,30) sends them, by the tables that have them. */
const amounts: Readonly<Record<string, readonly string[]>> = {
  amounts: ['123456789.500000000000000000000000000000', '0.300000000000000000000000000000'],
  wide: Array.from({ length: 3_000 }, () => '12345678901234567890.123456789012345678900000000000'),
}

/** Answers the statements of a scan of a table of amounts. */
const answerAmounts = (side: ServerSide, sql: string, table: string): void => {
  if (sql.includes('information_schema.columns')) {
    const names = ['name', 'remote', 'nullable', 'charset', 'collation']
    const row = { name: 'amount', remote: 'decimal(65,30)', nullable: 'YES', charset: '', collation: null }
    side.writeTextResult(
      [row],
      names.map((name) => column(name, 253)),
    )
    return
  }
  const rows = sql.endsWith('LIMIT 0') ? [] : (amounts[table] ?? [])
  side.writeTextResult(
    rows.map((amount) => ({ amount })),
    [column('amount', 246, { characterSet: 63, columnLength: 67, decimals: 30 })],
  )
}

const binary = { characterSet: 63 }
const numeric = { ...binary, columnLength: 20 }
const unsigned = { ...numeric, flags: 32 }
const decimal = (digits: number, decimals: number) => ({ ...binary, columnLength: digits + 2, decimals })

/** Each type as MySQL describes it, a value as it sends it (one character for each byte), our type, and how DuckDB writes the value. */
const values: readonly (readonly [name: string, code: number, more: object, sent: string | null, ours: string, text: string | null])[] = [
  ['tinyint', 1, numeric, '-128', 'TINYINT', '-128'],
  ['tinyint unsigned', 1, unsigned, '255', 'UTINYINT', '255'],
  ['smallint', 2, numeric, '-32768', 'SMALLINT', '-32768'],
  ['smallint unsigned', 2, unsigned, '65535', 'USMALLINT', '65535'],
  ['mediumint', 9, numeric, '-8388608', 'INTEGER', '-8388608'],
  ['mediumint unsigned', 9, unsigned, '16777215', 'UINTEGER', '16777215'],
  ['int', 3, numeric, '-2147483648', 'INTEGER', '-2147483648'],
  ['int unsigned', 3, unsigned, '4294967295', 'UINTEGER', '4294967295'],
  ['bigint', 8, numeric, '-9223372036854775808', 'BIGINT', '-9223372036854775808'],
  ['bigint unsigned', 8, unsigned, '18446744073709551615', 'UBIGINT', '18446744073709551615'],
  ['bit(9)', 16, unsigned, '\x01\x01', 'UBIGINT', '257'],
  ['decimal(10,2)', 246, decimal(10, 2), '-0.05', 'DECIMAL(10,2)', '-0.05'],
  ['decimal(38,10)', 246, decimal(38, 10), '1234567890123456789012.0123456789', 'DECIMAL(38,10)', '1234567890123456789012.0123456789'],
  ['decimal(65,30)', 246, decimal(65, 30), `12345.5${'0'.repeat(29)}`, 'DECIMAL(38,16)', '12345.5000000000000000'],
  ['float', 4, numeric, '1.5', 'FLOAT', '1.5'],
  ['double', 5, numeric, '0.30000000000000004', 'DOUBLE', '0.30000000000000004'],
  ['year', 13, unsigned, '2024', 'SMALLINT', '2024'],
  ['date', 10, binary, '2024-02-29', 'DATE', '2024-02-29'],
  ['date that is zero', 10, binary, '0000-00-00', 'DATE', null],
  ['date without a month', 10, binary, '2024-00-10', 'DATE', null],
  ['date of no calendar', 10, binary, '2024-02-31', 'DATE', null],
  ['datetime(6)', 12, binary, '9999-12-31 23:59:59.999999', 'TIMESTAMP', '9999-12-31 23:59:59.999999'],
  ['datetime that is zero', 12, binary, '0000-00-00 00:00:00', 'TIMESTAMP', null],
  ['timestamp', 7, binary, '2024-05-17 01:02:03', 'TIMESTAMP WITH TIME ZONE', '2024-05-17 01:02:03+00'],
  ['time(3)', 11, binary, '-838:59:58.999', 'INTERVAL', '-838:59:58.999'],
  ['char(5)', 254, {}, 'ab', 'VARCHAR', 'ab'],
  ['varchar(100)', 253, {}, '\xc3\xbc \xe2\x82\xac, more than twelve bytes', 'VARCHAR', 'ü €, more than twelve bytes'],
  ['varchar(100) that is not UTF-8', 253, {}, 'a\xffb', 'VARCHAR', 'a�b'],
  ['longtext', 252, {}, '', 'VARCHAR', ''],
  ['varbinary(20)', 253, binary, '\x00\xff', 'BLOB', '\\x00\\xFF'],
  ['blob', 252, binary, 'A', 'BLOB', 'A'],
  ["enum('a','b')", 254, { flags: 256 }, 'b', 'VARCHAR', 'b'],
  ["set('a','b')", 254, { flags: 2_048 }, 'a,b', 'VARCHAR', 'a,b'],
  ['json', 245, binary, '{"a": [1, null]}', 'JSON', '{"a": [1, null]}'],
  ['geometry', 255, binary, '\x00\x01', 'BLOB', '\\x00\\x01'],
  ['int that is NULL', 3, numeric, null, 'INTEGER', null],
  ['longtext that is NULL', 252, {}, null, 'VARCHAR', null],
]

/** Answers with a row of all values. The server half would write its texts in UTF-8. */
const answerTyped = (side: ServerSide): void => {
  side.writeColumns(values.map(([name, code, more]) => column(name, code, more)))
  const sent = values.map(([, , , value]) => (value === null ? '\xfb' : String.fromCharCode(value.length) + value))
  side.stream.write(packet(side.sequenceId, ...sent))
  side.sequenceId += 1
  side.writeEof()
}

const tables = openMysqlTables()

/** Answers a statement over the table homes, and what the service asks of the tables. */
const answerFromTables = (side: ServerSide, sql: string): void => {
  const answered = tables.answer(sql)
  if ('refused' in answered) {
    side.writeError(answered.refused)
    return
  }
  side.writeColumns(answered.columns.map(({ name, code, more }) => column(name, code, more)))
  for (const row of answered.rows) side.writeTextRow(row)
  side.writeEof()
}

const answer = (side: ServerSide, sql: string): void => {
  asked.push(sql)
  if (/^(?:SET|START|ROLLBACK|COMMIT)/.test(sql)) {
    side.writeOk({ affectedRows: 0 })
    return
  }
  if (sql.includes('unix_timestamp')) {
    side.writeTextResult([{ zone: isUtc ? '1' : '0' }], [column('zone', 8)])
    return
  }
  if (sql.includes('moments')) {
    side.writeTextResult([{ at: '2026-01-01 08:00:00' }], [column('at', 7, { characterSet: 63 })])
    return
  }
  if (sql.startsWith('KILL QUERY')) {
    killed += 1
    side.writeOk({ affectedRows: 0 })
    return
  }
  if (sql.includes('infile')) {
    // A server may answer any statement by asking for a file.
    const name = Buffer.from('\xfb/etc/passwd', 'latin1')
    side.stream.write(Buffer.concat([Buffer.from([name.length, 0, 0, 1]), name]))
    side.stream.once('data', (bytes) => {
      received = bytes
      side.stream.write(Buffer.from([7, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0]))
    })
    return
  }
  if (sql.includes('hang')) return
  if (sql.includes('break off')) {
    side.stream.destroy()
    return
  }
  if (sql.includes('refuse')) {
    side.writeError({ code: 1064, message: "You have an error near 'refuse' in mysql://me:secret@db/shop" })
    return
  }
  const table = Object.keys(amounts).find((name) => sql.includes(`\`${name}\``) || sql.includes(Buffer.from(name).toString('hex')))
  if (table !== undefined) {
    answerAmounts(side, sql, table)
    return
  }
  if (sql.includes('table_comment')) {
    side.writeTextResult(
      [
        { name: '', comment: 'What was sold' },
        { name: 'id', comment: '' },
        { name: 'word', comment: 'in German' },
      ],
      [column('name', 253), column('comment', 253)],
    )
    return
  }
  if (sql.includes('information_schema') || /\bho(?:mes|ems)\b/.test(sql)) {
    answerFromTables(side, sql)
    return
  }
  if (sql === 'SELECT typed') {
    answerTyped(side)
    return
  }
  side.writeTextResult(
    [
      { id: '1', word: 'Größe', day: '2024-01-01', exact: '0.50' },
      { id: '-5', word: null, day: '0000-00-00', exact: null },
    ],
    [
      column('id', 8),
      column('word', 253),
      column('day', 10, { characterSet: 63 }),
      column('exact', 246, { characterSet: 63, columnLength: 8, decimals: 2 }),
    ],
  )
}

const connection = (more: Connection['parameters'] = {}): Connection => ({
  id: `mysql-${Math.random()}`,
  version: 1,
  engine: 'mysql',
  parameters: { host: '127.0.0.1', port, user: 'me', password, database: 'shop', ssl: false, ...more },
})

beforeAll(async () => {
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  db = await duck()
  const createServer = Reflect.get(mysql, 'createServer') as unknown as (welcome: (side: ServerSide) => void) => {
    listen: (port: number, host: string) => void
    close: () => void
    _server: { address: () => AddressInfo; on: (event: string, hear: () => void) => void }
  }
  let id = 0
  const server = createServer((side) => {
    side.on('error', () => undefined)
    const hear = (sql: string) => {
      // The server half leaves it to its user to count the packets of each statement anew.
      side.sequenceId = 1
      answer(side, sql)
      side.sequenceId = 0
    }
    side.on('query', hear)
    // The server half calls SET the preparation of a statement.
    side.on('stmt_prepare', hear)
    side.on('quit', () => side.close())
    side.serverHandshake({
      ...{
        protocolVersion: 10,
        serverVersion: '8.0.36',
        connectionId: ++id,
        statusFlags: 2,
        characterSet: 45,
        capabilityFlags: 0x00fff7ff & ~0x800,
      },
      authCallback: (given: { user: string }, done: (error: unknown, refusal?: object) => void) =>
        done(
          null,
          given.user === 'me' ? undefined : { code: 1045, message: `Access denied for user '${given.user}' (password ${password})` },
        ),
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server._server as never, 'listening')
  port = server._server.address().port
  stop = () => server.close()
})

afterAll(() => {
  connections.stop()
  stop()
})

describe('a server that speaks as MySQL', () => {
  test('is read in a transaction that only reads, by the types that it names', async () => {
    asked.length = 0
    const { types, rows } = await readAll(db, connections, connection(), 'SELECT * FROM t')
    expect(types).toEqual({ id: 'BIGINT', word: 'VARCHAR', day: 'DATE', exact: 'DECIMAL(6,2)' })
    expect(rows).toEqual([
      ['1', 'Größe', '2024-01-01', '0.50'],
      ['-5', null, null, null],
    ])
    expect(asked.slice(-2)).toEqual(['START TRANSACTION READ ONLY', 'SELECT * FROM t'])
  })

  test('has each of its types here, and texts that are not UTF-8 with the sign � in place of such bytes', async () => {
    await db.run("SET TimeZone = 'UTC'")
    const { types, table } = await readAll(db, connections, connection(), 'SELECT typed')
    expect(types).toEqual(Object.fromEntries(values.map(([name, , , , ours]) => [name, ours])))
    const [texts] = (await db.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM ${table}`)).getRowsJson()
    expect(texts?.map((text, index) => [values[index]?.[0], text])).toEqual(values.map(([name, , , , , text]) => [name, text]))
  })

  test('has numbers of many declared digits by those in use, or refuses to compare them', async () => {
    const scan = (table: string, filters: readonly Filter[] = []) =>
      readAll(db, connections, connection(), { scan: { table, columns: ['amount'], filters } })
    const { types, rows, sent } = await scan('amounts', [compare('amount', '>', '0')])
    expect(sent).toBe('SELECT `amount` FROM `amounts` WHERE `amount` > 0')
    expect(types).toEqual({ amount: 'DECIMAL(38,16)' })
    expect(rows).toEqual([['123456789.5000000000000000'], ['0.3000000000000000']])
    expect(await problemOf(scan('wide', [compare('amount', '>', '0')]))).toMatchObject({
      code: 'query_failed',
      detail: 'In the column "amount" numbers have more digits than can be compared',
    })
    expect((await scan('wide', [{ isNotNull: 'amount' }])).types).toEqual({ amount: 'VARCHAR' })
  })

  test('has times of its own zone without a zone, if it does not obey the setting', async () => {
    const read = () => readAll(db, connections, connection(), 'SELECT at FROM moments')
    expect((await read()).types).toEqual({ at: 'TIMESTAMP WITH TIME ZONE' })
    isUtc = false
    try {
      const { types, rows } = await read()
      expect(types).toEqual({ at: 'TIMESTAMP' })
      expect(rows).toEqual([['2026-01-01 08:00:00']])
    } finally {
      isUtc = true
    }
  })

  test('gets no file of this machine', async () => {
    const problem = await problemOf(readAll(db, connections, connection(), 'SELECT infile'))
    expect(['query_failed', 'connection_failed']).toContain(problem.code)
    // The end of a file, without any of it.
    expect([...received]).toEqual([0, 0, 0, 2])
  })

  test('has its errors of statements told as they are, without the password of a URL', async () => {
    const problem = await problemOf(readAll(db, connections, connection(), 'SELECT refuse'))
    expect(problem).toMatchObject({ code: 'query_failed', detail: "The database says: You have an error near 'refuse' in …@db/shop" })
  })

  test('is told to stop when the reader leaves', async () => {
    const opened = await connections.open(connection(), { native: 'SELECT hang' })
    const leave = new AbortController()
    const reading = AnswerReader.open(opened, leave.signal)
    await until(() => asked.includes('SELECT hang'))
    leave.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    await until(() => killed === 1)
  })

  test('breaks off the connection: its statement is told at once, and the next one has another', async () => {
    const own = connection()
    const broken = await problemOf(readAll(db, connections, own, 'SELECT break off'))
    expect(broken).toMatchObject({ code: 'connection_failed', detail: 'The database broke off the connection' })
    expect((await readAll(db, connections, own, 'SELECT id FROM t')).rows).toHaveLength(2)
  })

  test('refuses a login: the answer says so, without the password', async () => {
    expect(await connections.check(connection({ user: 'nobody' }))).toMatchObject({
      status: 'connection_error',
      detail: expect.stringContaining("refuses the login: Access denied for user 'nobody' (password …)") as unknown,
    })
    expect(await connections.check(connection())).toEqual({ status: 'success' })
  })
})

test.each<[Connection['parameters'], RegExp]>([
  [{ host: '/var/run/mysqld/mysqld.sock' }, /sockets in the file system/],
  [{ host: '10.0.0.1' }, /EGRESS_ALLOW=10\.0\.0\.1/],
  [{ ssl_ca: '/etc/passwd' }, /Files of the server are not read/],
  [{ ssl_key: '/etc/ssl/private/key.pem' }, /not a certificate or key in PEM/],
  [{ socketPath: 'mysql.sock' }, /no parameter "socketPath"/],
  [{ flags: 'LOCAL_FILES' }, /no parameter "flags"/],
  [{ url: 'mysql://u:p@127.0.0.1/db?allowLocalInfile=true' }, /"allowLocalInfile", which is not allowed/],
  [{ url: 'http://127.0.0.1/' }, /begins with http:/],
])('the parameters %j are refused', async (parameters, says) => {
  const checked = await connections.check(connection(parameters))
  expect(checked).toMatchObject({ status: 'connection_error', detail: expect.stringMatching(says) as unknown })
})

test('a host that nobody knows is named by the refusal, with a hint', async () => {
  const { engine, parameters } = connection({ host: 'db.example.com' })
  const read = readParameters({ engine, parameters })
  const around = { policy: parseEgress('', { loopback: true }), files: undefined, scratch: '' }
  const explain = explainMysql(secretsIn(parameters, read), reasonToRead(false))
  const lookup = () => Promise.reject(new Error(`no such name, ${password}`))
  expect(await problemOf(openClient(read, around, explain, undefined, lookup))).toMatchObject({
    code: 'connection_failed',
    detail: 'The host db.example.com is not known',
    extras: { hint: 'Check its spelling, and that this machine can resolve it.' },
  })
})

test('what was written down about a table and its columns is told, without what is empty', async () => {
  const comments = await connections.comments(connection(), "sal'es", 'shop')
  expect(comments).toEqual({ table: 'What was sold', columns: [{ name: 'word', comment: 'in German' }] })
  expect(asked.at(-1)).not.toContain("sal'es")
})

describe('the service, connected to a server that speaks as MySQL', () => {
  let service: Awaited<ReturnType<typeof startTestService>>

  const ask = async (query: string): Promise<unknown[][]> => {
    const answer = await sql(service.url, query)
    if (answer.type === 'error') throw new Error(answer.error_message)
    return answer.data
  }

  beforeAll(async () => {
    service = await startTestService()
    await ask(`CREATE DATABASE my WITH ENGINE = 'mysql', PARAMETERS = ${JSON.stringify(connection().parameters)}`)
  })
  afterAll(() => service.stop())

  test.each<[string, unknown[][]]>([
    [
      'SELECT id, place, rent FROM my.homes WHERE id IN (2, 3) ORDER BY id',
      [
        [2, null, 525],
        [3, 'gut', 537.5],
      ],
    ],
    ["SELECT count(*) FROM `my`.`homes` WHERE place = 'größer'", [[67]]],
    ['SELECT count(*) FROM my.homes WHERE rent > 2999 AND place IS NULL', [[1]]],
    [
      'SELECT size, count(*), sum(id) FROM my.homes WHERE id <= 8 GROUP BY size ORDER BY size LIMIT 2',
      [
        [300, 2, 12],
        [310, 2, 6],
      ],
    ],
    ['SELECT max(id), min(size) FROM my.homes', [[200, 300]]],
    ['SELECT count(*) FROM (SELECT id FROM my.homes LIMIT 5)', [[5]]],
    ['SELECT * FROM my (SELECT id, size FROM homes WHERE id = 7)', [[7, 330]]],
  ])('%s', async (query, rows) => {
    const answer = await ask(query)
    const asNumber = (cell: unknown) => (typeof cell === 'string' && /^\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell)
    expect(answer.map((row) => row.map(asNumber))).toEqual(rows)
  })

  test.each([
    ['SELECT id FROM my.homes WHERE size > 310 LIMIT 2', 'SELECT `id`, `size` FROM `homes` WHERE `size` > 310 LIMIT 2'],
    ["SELECT id FROM my.homes WHERE place = 'gut'", 'CAST(CONVERT(`place` USING utf8mb4) AS BINARY) = CAST(CONVERT(0x677574'],
    ["SELECT id FROM my.homes WHERE place LIKE 'g%'", 'AS BINARY) LIKE CAST('],
    ['SELECT size, sum(id) FROM my.homes GROUP BY size', 'GROUP BY `size`'],
  ])('%s sends what the database can do', async (query, text) => {
    expect((await ask(`EXPLAIN ${query}`)).flat().join('\n')).toContain(text)
  })

  test('lists and describes what is there, over SQL and REST', async () => {
    expect(await ask('SHOW TABLES FROM my')).toEqual([['homes']])
    expect(await ask('SHOW FULL TABLES FROM my')).toEqual([['homes', 'BASE TABLE']])
    const columns = [
      ['id', 'integer', 'NO'],
      ['size', 'integer', 'YES'],
      ['place', 'varchar', 'YES'],
      ['rent', 'decimal(10,2)', 'YES'],
    ]
    expect((await ask('DESCRIBE my.homes')).map((row) => row.slice(0, 3))).toEqual(columns)
    const listed = "FROM information_schema.columns WHERE table_schema = 'my' AND table_name LIKE 'hom%' ORDER BY ordinal_position"
    expect(await ask(`SELECT column_name, data_type, is_nullable ${listed}`)).toEqual(columns)
    expect((await send(service.url, 'GET', '/api/databases/my/tables')).body).toEqual([{ name: 'homes', type: 'data', schema: 'shop' }])
  })

  test('names the nearest table and column, and writes nothing', async () => {
    await expect(ask('SELECT * FROM my.hoems')).rejects.toThrow('Did you mean my.homes?')
    await expect(ask('SELECT sise FROM my.homes')).rejects.toThrow(/size/)
    await expect(ask('SELECT * FROM my (DELETE FROM homes)')).rejects.toThrow(/only reads/)
    expect(await ask('SELECT count(*) FROM my.homes')).toEqual([[200]])
  })

  test('reads it for a view, a file, a training and a join with the model', async () => {
    await ask('CREATE VIEW large AS (SELECT * FROM my.homes WHERE size > 310)')
    expect(await ask('SELECT count(*) FROM large')).toEqual([[100]])
    await ask('CREATE TABLE files.copy (SELECT id, rent FROM my.homes WHERE id <= 10)')
    expect(await ask('SELECT count(*) FROM files.copy AS c JOIN my.homes AS h ON h.id = c.id AND h.rent = c.rent')).toEqual([[10]])
    await ask("CREATE MODEL rents FROM my (SELECT size, place, rent FROM homes) PREDICT rent USING engine = 'constant'")
    expect(await settled(service.url, 'rents')).toBe('complete')
    const rows = await ask('SELECT h.id, m.rent FROM my.homes AS h JOIN rents AS m WHERE h.id IN (1, 2) ORDER BY h.id')
    expect(rows.map(([id, rent]) => [id, rent === null])).toEqual([
      [1, false],
      [2, false],
    ])
    const [[fact] = []] = await ask("SELECT data->'$.connections' FROM log.events WHERE type = 'ModelTrained'")
    expect(JSON.parse(String(fact))).toEqual([{ connection: expect.any(String), name: 'my', version: 1 }])
    const trained = "SELECT count(*) FROM log.database_queries WHERE purpose = 'training' AND model = 'rents' AND rows = 200"
    await until(async () => (await ask(trained))[0]?.[0] === 1)
  })

  test('reads what is new for a job with LAST', async () => {
    const copying = jobOver(service.service.sql, 'SELECT h.id FROM my.homes AS h WHERE h.id > LAST')
    expect(await copying.run()).toMatchObject({ outcome: 'complete', error: null })
    expect(copying.seen()).toMatchObject([{ value: '200' }])
    tables.run("INSERT INTO homes VALUES (201, 300, 'neu', 1), (202, 310, NULL, 2)")
    expect(await copying.run()).toMatchObject({ outcome: 'complete', error: null })
    expect(copying.seen()).toMatchObject([{ value: '202' }])
    expect(asked).toContain('SELECT `id` FROM `homes` WHERE `id` > 200')
  })
})
