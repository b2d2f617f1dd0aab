import { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import type pg from 'pg'
import { Connections } from '../../src/connections/connections.js'
import type { Connection } from '../../src/connections/contract/requests.js'
import { openClient as openMysql } from '../../src/connections/engines/mysql/connect.js'
import { explainMysql } from '../../src/connections/engines/mysql/explain.js'
import { readParameters as readMysql } from '../../src/connections/engines/mysql/parameters.js'
import { MysqlSession } from '../../src/connections/engines/mysql/session.js'
import { sendCancel } from '../../src/connections/engines/postgres/connect.js'
import { reasonToRead } from '../../src/connections/pushdown/native.js'
import { parseEgress } from '../../src/egress/policy.js'
import { duck, problemOf, readAll } from '../support/connections/answers.js'
import { startMysql } from '../support/connections/mysql-half.js'
import { password, startPostgres, type Postgres } from '../support/connections/postgres.js'
import { listen } from '../support/connections/proxy.js'
import { until } from '../support/until.js'

let postgres: Postgres
let connections: Connections
let db: DuckDBConnection

beforeAll(async () => {
  postgres = await startPostgres()
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  db = await duck()
  await postgres.run(`
    CREATE TABLE kept (a int);
    INSERT INTO kept VALUES (1), (2), (3);
    CREATE SEQUENCE counter;
    CREATE FUNCTION wipe() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM kept; RETURN 1; END $$;
    CREATE FUNCTION unlock() RETURNS int LANGUAGE plpgsql AS $$
      BEGIN PERFORM set_config('transaction_read_only', 'off', false); DELETE FROM kept; RETURN 1; END $$;
    CREATE PROCEDURE purge() LANGUAGE plpgsql AS $$ BEGIN COMMIT; DELETE FROM kept; COMMIT; END $$;`)
})

afterAll(async () => {
  connections.stop()
  await postgres.stop()
})

describe('a connection that is only read', () => {
  test.each([
    'DELETE FROM kept',
    'WITH gone AS (DELETE FROM kept RETURNING a) SELECT * FROM gone',
    'SELECT wipe()',
    'SELECT unlock()',
    "SELECT set_config('transaction_read_only', 'off', false), wipe()",
    'CALL purge()',
    'DO $$ BEGIN DELETE FROM kept; END $$',
    'DO $$ BEGIN COMMIT; DELETE FROM kept; END $$',
    'COMMIT; DELETE FROM kept',
    'COMMIT',
    'ROLLBACK',
    'BEGIN READ WRITE',
    'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE',
    'SET TRANSACTION READ WRITE',
    '/* SELECT */ DELETE FROM kept',
    '/* /* */ SELECT */ DELETE FROM kept',
    '-- SELECT\nDELETE FROM kept',
    'SELECT 1; DELETE FROM kept',
    'SELECT * INTO copied FROM kept',
    'EXPLAIN ANALYZE DELETE FROM kept',
    "SELECT nextval('counter')",
    "COPY kept TO PROGRAM 'id'",
    'COPY kept FROM STDIN',
    'COPY kept TO STDOUT',
    'LOCK TABLE kept',
    'LISTEN x',
    'PREPARE x AS DELETE FROM kept',
    'TRUNCATE kept',
    'SELECT * FROM kept FOR UPDATE',
  ])('is not written to by %s', async (native) => {
    const problem = await problemOf(readAll(db, connections, postgres.connection(), native))
    expect(['refused_statement', 'query_failed']).toContain(problem.code)
    expect((await postgres.run('SELECT count(*)::int AS n FROM kept')).rows).toEqual([{ n: 3 }])
  })

  test('what a statement leaves behind is not there for the next one', async () => {
    const connection = postgres.connection()
    await readAll(
      db,
      connections,
      connection,
      "SELECT set_config('datestyle', 'German', false), set_config('search_path', 'pg_catalog', false)",
    )
    await readAll(db, connections, connection, 'SELECT pg_advisory_lock(7)')
    for (let round = 0; round < 6; round++)
      expect((await readAll(db, connections, connection, "SELECT date '2024-05-17' AS d, a FROM kept LIMIT 1")).rows[0]).toEqual([
        '2024-05-17',
        1,
      ])
    const locks = () => postgres.rows("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'")
    // A session that is not clean in time is closed, and its server may notice that late. One that is kept is used again here, and stays.
    await until(async () => {
      await readAll(db, connections, connection, 'SELECT 1')
      return (await locks()).length === 0
    })
    expect(await locks()).toEqual([])
  })

  test('a connection that writes does so only where the statement says that it writes', async () => {
    const writer = postgres.connection({ writable: true })
    expect((await problemOf(readAll(db, connections, writer, 'DELETE FROM kept'))).code).toBe('refused_statement')
    const reader = postgres.connection()
    expect((await problemOf(readAll(db, connections, reader, { native: 'DELETE FROM kept', writes: true }))).code).toBe('refused_statement')
    await readAll(db, connections, writer, { native: 'INSERT INTO kept VALUES (4) RETURNING a', writes: true })
    expect((await problemOf(readAll(db, connections, writer, { native: 'COPY kept FROM STDIN', writes: true }))).code).toBe('query_failed')
    await readAll(db, connections, writer, { native: 'DELETE FROM kept WHERE a = 4', writes: true })
    expect((await postgres.run('SELECT count(*)::int AS n FROM kept')).rows).toEqual([{ n: 3 }])
  })
})

/** A URL instead of the other parameters; PORT stands for the port of the database, at which all but its fault would be accepted. */
const url = (rest: string) => ({
  host: null,
  port: null,
  user: null,
  password: null,
  database: null,
  url: `postgresql://postgres:${password}@${rest}`,
})

describe('parameters that lead elsewhere', () => {
  test.each<[Connection['parameters'], 'wrong_arguments' | 'egress_refused']>([
    [{ host: '/var/run/postgresql' }, 'egress_refused'],
    [{ host: '127.0.0.1,10.0.0.1' }, 'egress_refused'],
    [{ host: '2130706433' }, 'egress_refused'],
    [{ host: '169.254.169.254', port: 80 }, 'egress_refused'],
    [{ host: 'localhost', port: '80;5432' }, 'egress_refused'],
    [{ sslrootcert: '/etc/passwd' }, 'wrong_arguments'],
    [{ sslkey: '/etc/ssl/private/ssl-cert-snakeoil.key' }, 'wrong_arguments'],
    [{ ssl_ca: 'file:///etc/passwd' }, 'wrong_arguments'],
    [{ options: '-c log_statement=all' }, 'wrong_arguments'],
    [{ service: 'x' }, 'wrong_arguments'],
    [{ passfile: '/etc/passwd' }, 'wrong_arguments'],
    [{ stream: 'x' }, 'wrong_arguments'],
    [{ ssl: { ca: '/etc/passwd' } }, 'wrong_arguments'],
    [{ host: ['127.0.0.1'] }, 'wrong_arguments'],
    [url('127.0.0.1:PORT/postgres?sslrootcert=/etc/passwd'), 'wrong_arguments'],
    [url('127.0.0.1:PORT/postgres?host=/run/postgresql'), 'wrong_arguments'],
    [url('127.0.0.1:PORT/postgres?options=-c%20x'), 'wrong_arguments'],
    [url('%2Ftmp:PORT/postgres'), 'egress_refused'],
    [url('10.0.0.1:PORT/postgres'), 'egress_refused'],
    [url('127.0.0.1,10.0.0.1:PORT/postgres'), 'egress_refused'],
    [{ ...url(''), url: 'file:///etc/passwd' }, 'wrong_arguments'],
    [{ ...url(''), url: `socket:/run/postgresql?db=x&password=${password}` }, 'wrong_arguments'],
    [{ ...url(''), url: `not a url ${password}` }, 'wrong_arguments'],
    // A NUL ends a text of the protocol: these would be parameters of their own.
    [{ database: 'postgres\0options\0-c log_statement=all' }, 'wrong_arguments'],
    [{ user: 'postgres\0database\0postgres' }, 'wrong_arguments'],
    [url('127.0.0.1:PORT/postgres%00replication%00true'), 'wrong_arguments'],
    [url('127.0.0.1:PORT/postgres#x'), 'wrong_arguments'],
  ])('%j', async (given, code) => {
    const parameters = JSON.parse(JSON.stringify(given).replace('PORT', String(postgres.port))) as Connection['parameters']
    const connection = postgres.connection(parameters)
    const problem = await problemOf(readAll(db, connections, connection, 'SELECT 1'))
    expect(problem.code).toBe(code)
    const checked = await connections.check(connection)
    expect(checked.status).toBe('connection_error')
    expect(JSON.stringify([problem, checked])).not.toContain(password)
  })

  test('a URL with the same parameters is opened', async () => {
    const good = url(`127.0.0.1:${postgres.port}/postgres?sslmode=disable`).url
    expect(await connections.check(postgres.connection({ ...url(''), url: good }))).toEqual({ status: 'success' })
  })
})

/** A URL of MySQL instead of the other parameters. */
const mysqlUrl = (rest: string, scheme = 'mysql') => ({ ...url(''), url: `${scheme}://me:${password}@${rest}` })

describe('parameters of MySQL that lead elsewhere', () => {
  test.each<[Connection['parameters'], 'wrong_arguments' | 'egress_refused']>([
    [{ host: '/var/run/mysqld/mysqld.sock' }, 'egress_refused'],
    [{ host: '%2Frun%2Fmysqld.sock' }, 'egress_refused'],
    [{ host: '127.0.0.1,10.0.0.1' }, 'egress_refused'],
    [{ host: '2130706433' }, 'egress_refused'],
    [{ host: '0x7f.1' }, 'egress_refused'],
    [{ host: '0177.0.0.1' }, 'egress_refused'],
    [{ host: '::ffff:10.0.0.1' }, 'egress_refused'],
    [{ host: '169.254.169.254', port: 80 }, 'egress_refused'],
    [{ host: '168.63.129.16', port: 80 }, 'egress_refused'],
    [{ host: 'localhost', port: '80;3306' }, 'egress_refused'],
    [{ host: ['127.0.0.1'] }, 'wrong_arguments'],
    [{ socketPath: '/run/mysqld.sock' }, 'wrong_arguments'],
    [{ stream: 'x' }, 'wrong_arguments'],
    [{ flags: '+LOCAL_FILES' }, 'wrong_arguments'],
    [{ multipleStatements: true }, 'wrong_arguments'],
    [{ ssl_ca: '/etc/passwd' }, 'wrong_arguments'],
    [{ ssl_cert: 'file:///etc/passwd' }, 'wrong_arguments'],
    [{ ssl: { ca: '/etc/passwd' } }, 'wrong_arguments'],
    [{ ssl: 'Amazon RDS' }, 'wrong_arguments'],
    [mysqlUrl('127.0.0.1:3306/shop?socketPath=/run/mysqld.sock'), 'wrong_arguments'],
    [mysqlUrl('127.0.0.1:3306/shop?flags=LOCAL_FILES'), 'wrong_arguments'],
    [mysqlUrl('127.0.0.1:3306/shop?host=10.0.0.1'), 'wrong_arguments'],
    [mysqlUrl('127.0.0.1:3306/shop?ssl={"ca":"/etc/passwd"}'), 'wrong_arguments'],
    [mysqlUrl('127.0.0.1:3306/shop#x'), 'wrong_arguments'],
    [mysqlUrl('127.0.0.1:3306/shop%00x'), 'wrong_arguments'],
    [mysqlUrl('127.0.0.1:3306/shop', 'mysqlx'), 'wrong_arguments'],
    [mysqlUrl('127.0.0.1:3306/shop', 'http'), 'wrong_arguments'],
    [mysqlUrl('%2Frun%2Fmysqld.sock/shop'), 'egress_refused'],
    [mysqlUrl('10.0.0.1/shop'), 'egress_refused'],
    [mysqlUrl('127.0.0.1,10.0.0.1/shop'), 'egress_refused'],
    [mysqlUrl('2130706433/shop'), 'egress_refused'],
    [mysqlUrl('0x7f000001/shop'), 'egress_refused'],
    [mysqlUrl('[::ffff:10.0.0.1]/shop'), 'egress_refused'],
    [mysqlUrl('[fe80::1%25eth0]/shop'), 'wrong_arguments'],
    [{ user: 'me\0shop' }, 'wrong_arguments'],
    [{ database: 'shop\0mysql_clear_password' }, 'wrong_arguments'],
  ])('%j', async (given, code) => {
    const parameters = { host: '127.0.0.1', port: 3306, user: 'me', password, database: 'shop', ...given }
    const connection: Connection = { id: `mysql ${JSON.stringify(given)}`, version: 1, engine: 'mysql', parameters }
    const problem = await problemOf(readAll(db, connections, connection, 'SELECT 1'))
    expect(problem.code).toBe(code)
    const checked = await connections.check(connection)
    expect(checked.status).toBe('connection_error')
    expect(JSON.stringify([problem, checked])).not.toContain(password)
  })
})

describe('a name whose address changes', () => {
  const around = { policy: parseEgress('', { loopback: true }), files: undefined, scratch: '' }

  test('is not looked up again when a statement of PostgreSQL is cancelled', async () => {
    const heard: Buffer[] = []
    const server = await listen((socket) => void socket.on('data', (bytes: Buffer) => heard.push(bytes)))
    const client = { processID: 7, secretKey: 9 } as unknown as pg.Client
    const at = { name: 'moving.example', address: '127.0.0.1', port: server.port }
    await sendCancel({ client, socket: new Socket(), tls: undefined, at }, around)
    await until(() => Buffer.concat(heard).length === 16)
    expect(Buffer.concat(heard).toString('hex')).toBe('0000001004d2162e0000000700000009')
    await server.stop()
  })

  test('is not looked up again when a statement of MySQL is cancelled', async () => {
    const server = await startMysql()
    let asked = 0
    const parameters = readMysql({
      engine: 'mysql',
      parameters: { host: 'moving.example', port: server.port, user: 'me', password, database: 'shop', ssl: false },
    })
    const explain = explainMysql([], reasonToRead(false))
    const lookup = async () => (++asked === 1 ? ['127.0.0.1'] : ['169.254.169.254'])
    const opened = await openMysql(parameters, around, explain, undefined, lookup)
    const session = new MysqlSession(opened, parameters, around, explain)
    // On a busy machine the second login may take longer than it may.
    await until(async () => {
      await session.cancel().catch(() => undefined)
      return server.killed > 0
    })
    expect(asked).toBe(1)
    session.destroy()
    server.stop()
  })
})

test('a NUL reaches no database: what stands behind it would be read as parameters', async () => {
  for (const database of ['postgres\0options\0-c application_name=other', 'postgres\0application_name\0other'])
    expect(await connections.check(postgres.connection({ database }))).toMatchObject({
      status: 'connection_error',
      detail: expect.stringMatching(/NUL/) as unknown,
    })
  for (const native of ['SELECT 1\0', "SELECT '\0'", 'SELECT 1\0\0\0'])
    expect(await problemOf(readAll(db, connections, postgres.connection(), native))).toMatchObject({ code: 'wrong_arguments' })
})

test('a guess of the password in a statement gets the same error, whether it is right or not', async () => {
  const said = async (native: string, guess: string) =>
    JSON.stringify(await problemOf(readAll(db, connections, postgres.connection(), native))).replaceAll(guess, 'GUESS')
  const wrong = password.replace(/.$/, 'X')
  for (const of of [
    (guess: string) => `SELECT '${guess}'::int`,
    (guess: string) => `SELECT ('${guess.slice(0, 3)}' || '${guess.slice(3)}')::int`,
    (guess: string) => `SELECT "${guess}"`,
  ])
    expect(await said(of(password), password)).toBe(await said(of(wrong), wrong))
  // A URL with a password may be anybody's.
  const problem = await problemOf(readAll(db, connections, postgres.connection(), 'SELECT * FROM "postgres://u:secret@x/y"'))
  expect(JSON.stringify(problem)).not.toContain('secret')
})

test('a refused login repeats no secret, whatever it is', async () => {
  const checked = await connections.check(postgres.connection({ user: 'nobody-here', password: 'nobody' }))
  expect(checked).toMatchObject({ status: 'connection_error', detail: expect.stringContaining('user "…-here"') as unknown })
})
