import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
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
import { startMysql, typedValues, type MysqlServer } from '../../support/connections/mysql-half.js'
import { password } from '../../support/connections/postgres.js'
import { jobOver } from '../../support/jobs/job-over.js'
import { settled } from '../../support/models/rentals.js'
import { send, sql, startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'

let connections: Connections
let db: DuckDBConnection
let server: MysqlServer

const connection = (more: Connection['parameters'] = {}): Connection => ({
  id: `mysql-${Math.random()}`,
  version: 1,
  engine: 'mysql',
  parameters: { host: '127.0.0.1', port: server.port, user: 'me', password, database: 'shop', ssl: false, ...more },
})

beforeAll(async () => {
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  db = await duck()
  server = await startMysql()
})

afterAll(() => {
  connections.stop()
  server.stop()
})

describe('a server that speaks as MySQL', () => {
  test('is read in a transaction that only reads, by the types that it names', async () => {
    server.asked.length = 0
    const { types, rows } = await readAll(db, connections, connection(), 'SELECT * FROM t')
    expect(types).toEqual({ id: 'BIGINT', word: 'VARCHAR', day: 'DATE', exact: 'DECIMAL(6,2)' })
    expect(rows).toEqual([
      ['1', 'Größe', '2024-01-01', '0.50'],
      ['-5', null, null, null],
    ])
    expect(server.asked.slice(-2)).toEqual(['START TRANSACTION READ ONLY', 'SELECT * FROM t'])
  })

  test('keeps a shorter time limit that it has for its user', async () => {
    server.asked.length = 0
    await connections.check(connection())
    expect(server.asked).toEqual(
      expect.arrayContaining([
        'SET SESSION max_statement_time = least(coalesce(nullif(@@max_statement_time, 0), 1800), 1800)',
        'SET SESSION max_execution_time = CAST(least(coalesce(nullif(@@max_execution_time, 0), 1800000), 1800000) AS UNSIGNED)',
      ]),
    )
  })

  test('has each of its types here, and texts that are not UTF-8 with the sign � in place of such bytes', async () => {
    await db.run("SET TimeZone = 'UTC'")
    const { types, table } = await readAll(db, connections, connection(), 'SELECT typed')
    expect(types).toEqual(Object.fromEntries(typedValues.map(([name, , , , ours]) => [name, ours])))
    const [texts] = (await db.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM ${table}`)).getRowsJson()
    expect(texts?.map((text, index) => [typedValues[index]?.[0], text])).toEqual(typedValues.map(([name, , , , , text]) => [name, text]))
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
    server.isUtc = false
    try {
      const { types, rows } = await read()
      expect(types).toEqual({ at: 'TIMESTAMP' })
      expect(rows).toEqual([['2026-01-01 08:00:00']])
    } finally {
      server.isUtc = true
    }
  })

  test('is read by a user who may read some columns of a table', async () => {
    const columns = await connections.columns(connection(), 'granted')
    expect(columns.map(({ name, type, remote }) => [name, type.type, remote])).toEqual([['id', 'BIGINT', 'bigint']])
    expect((await readAll(db, connections, connection(), { scan: { table: 'granted', columns: ['id'] } })).rows).toEqual([['7']])
  })

  test('gets no file of this machine', async () => {
    const problem = await problemOf(readAll(db, connections, connection(), 'SELECT infile'))
    expect(['query_failed', 'connection_failed']).toContain(problem.code)
    // The end of a file, without any of it.
    await until(() => server.received.length > 0)
    expect([...server.received]).toEqual([0, 0, 0, 2])
  })

  test('has its errors of statements told as they are, without the password of a URL', async () => {
    const problem = await problemOf(readAll(db, connections, connection(), 'SELECT refuse'))
    expect(problem).toMatchObject({ code: 'query_failed', detail: "The database says: You have an error near 'refuse' in …@db/shop" })
  })

  test('is told to stop when the reader leaves', async () => {
    const opened = await connections.open(connection(), { native: 'SELECT hang' })
    const leave = new AbortController()
    const reading = AnswerReader.open(opened, leave.signal)
    await until(() => server.asked.includes('SELECT hang'))
    leave.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    await until(() => server.killed === 1)
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

test('ten thousand tables are listed, and the nearest of them is named', async () => {
  const large = await startMysql()
  large.tables.run(`WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO information_schema.tables SELECT 'shop', 'table_' || i, 'BASE TABLE' FROM n`)
  const own = connection({ port: large.port })
  const { tables, isCut } = await connections.tables(own)
  expect([tables.length, isCut]).toEqual([10_001, false])
  expect(await problemOf(readAll(db, connections, own, { scan: { table: 'hoems', columns: ['id'] } }))).toMatchObject({
    code: 'not_found',
    extras: { hint: 'Did you mean "homes"?' },
  })
  large.stop()
})

test('what was written down about a table and its columns is told, without what is empty', async () => {
  const comments = await connections.comments(connection(), "sal'es", 'shop')
  expect(comments).toEqual({ table: 'What was sold', columns: [{ name: 'word', comment: 'in German' }] })
  expect(server.asked.at(-1)).not.toContain("sal'es")
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
    ['SELECT id FROM my.homes ORDER BY id DESC LIMIT 2', 'SELECT `id` FROM `homes` ORDER BY `id` DESC LIMIT 2'],
    ['SELECT id FROM my.homes ORDER BY rent, id LIMIT 2', 'ORDER BY `rent` IS NULL, `rent`, `id` LIMIT 2'],
    ["SELECT id FROM my.homes WHERE place = 'gut'", 'CAST(CONVERT(`place` USING utf8mb4) AS BINARY) = CAST(CONVERT(0x677574'],
    ["SELECT id FROM my.homes WHERE place LIKE 'g%'", 'AS BINARY) LIKE CAST('],
    ['SELECT size, sum(id) FROM my.homes GROUP BY size', 'GROUP BY `size`'],
  ])('%s sends what the database can do', async (query, text) => {
    expect((await ask(`EXPLAIN ${query}`)).flat().join('\n')).toContain(text)
  })

  test.each(["place = '…'", "place <> '…'", "NOT (place = '…')", "place IN ('gut', '…')", "place LIKE '…%'"])(
    'has a secret on record as a mask: %s',
    async (condition) => {
      const secret = 'postgres://reader:hunter2@db/shop'
      const hex = Buffer.from(secret).toString('hex')
      const above = 1_000 + server.asked.length
      await ask(`SELECT id FROM my.homes WHERE id > ${above} AND ${condition.replace('…', secret)}`)
      expect(server.asked.some((text) => text.includes(hex))).toBe(true)
      const recorded = async () => (await ask(`SELECT statement FROM log.database_queries WHERE statement LIKE '%> ${above}%'`)).flat()
      await until(async () => (await recorded()).length > 0)
      const [statement] = await recorded()
      expect(statement).toContain("'******'")
      expect(statement).not.toContain(hex)
    },
  )

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
    server.tables.run("INSERT INTO homes VALUES (201, 300, 'neu', 1), (202, 310, NULL, 2)")
    expect(await copying.run()).toMatchObject({ outcome: 'complete', error: null })
    expect(copying.seen()).toMatchObject([{ value: '202' }])
    expect(server.asked).toContain('SELECT `id` FROM `homes` WHERE `id` > 200')
  })
})
