import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import mysql from 'mysql2'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection, Filter } from '../../../src/connections/contract/requests.js'
import { AnswerReader } from '../../../src/connections/reader/read-answer.js'
import { compare, duck, problemOf, readAll } from '../../support/connections/answers.js'
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

test('what was written down about a table and its columns is told, without what is empty', async () => {
  const comments = await connections.comments(connection(), "sal'es", 'shop')
  expect(comments).toEqual({ table: 'What was sold', columns: [{ name: 'word', comment: 'in German' }] })
  expect(asked.at(-1)).not.toContain("sal'es")
})
