import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import pg from 'pg'
import { limits } from '../../../src/basics/limits.js'
import { Reader } from '../../../src/connections/engines/postgres/cursor.js'
import { Connections } from '../../../src/connections/connections.js'
import { AnswerReader } from '../../../src/connections/reader/read-answer.js'
import { duck, problemOf, readAll } from '../../support/connections/answers.js'
import { until } from '../../support/until.js'
import { password, startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { floodsWith, repeatedly, row } from '../../support/connections/flood.js'
import { listen, proxyTo, type Fault } from '../../support/connections/proxy.js'
import { send, spawnService, sql, temporaryDirectory } from '../../support/service.js'
import { isRunning, signalTo } from '../../support/processes.js'

let postgres: Postgres
let connections: Connections
let db: DuckDBConnection

beforeAll(async () => {
  postgres = await startPostgres()
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  db = await duck()
})

afterAll(async () => {
  connections.stop()
  await postgres.stop()
})

const active = async (): Promise<number> => {
  const { rows } = await postgres.run(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'mindledger' AND state <> 'idle'",
  )
  return (rows[0] as { n: number }).n
}

const running = async (text: string): Promise<number> => {
  const { rows } = await postgres.run(
    `SELECT 1 FROM pg_stat_activity WHERE query LIKE '%${text}%' AND state = 'active' AND pid <> pg_backend_pid()`,
  )
  return rows.length
}

/** A session beside those of the service. */
const newClient = async (): Promise<pg.Client> => {
  const { host, port, user, database } = postgres.connection().parameters as Record<string, string>
  const client = new pg.Client({ host, port: Number(port), user, password, database })
  await client.connect()
  return client
}

/** Locks a new table until the session ends that is returned. */
const locked = async (table: string): Promise<pg.Client> => {
  const client = await newClient()
  await client.query(`CREATE TABLE ${table} (a int)`)
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  return client
}

/** Waits until the statement itself runs: a session that has just been opened is active as well. */
const sleeps = () => until(async () => (await running('pg_sleep(60)')) === 1)

/** The whole service, in a process of its own. */
const spawnOwn = async () => {
  const { path, remove } = temporaryDirectory()
  return { ...(await spawnService(path)), remove }
}

const endless = "SELECT generate_series(1, 1000000000) AS i, repeat('endless ', 40) AS text"

describe('a reader that leaves', () => {
  test('before the first row: the statement ends', async () => {
    const opened = await connections.open(postgres.connection(), { native: 'SELECT pg_sleep(60)' })
    const stop = new AbortController()
    const reading = AnswerReader.open(opened, stop.signal)
    await sleeps()
    stop.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    await until(async () => (await active()) === 0)
    expect((await opened.ended).ending).toBe('cut')
  })

  test('in mid-answer: the statement ends, and its connection serves the next one', async () => {
    const connection = postgres.connection()
    const opened = await connections.open(connection, { native: endless })
    const answer = await AnswerReader.open(opened)
    for await (const chunk of answer.chunks()) {
      expect(chunk.rowCount).toBeGreaterThan(0)
      break
    }
    answer.close()
    await until(async () => (await active()) === 0)
    expect((await readAll(db, connections, connection, 'SELECT 1 AS a')).rows).toEqual([[1]])
  })

  test('never reads: the database is not asked for more than a few steps', async () => {
    const opened = await connections.open(postgres.connection(), { native: endless }, { timeMs: 15_000 })
    const answer = await AnswerReader.open(opened)
    const outcome = await opened.ended
    expect(outcome.ending).toBe('cut')
    expect(outcome.bytes).toBeLessThan(20 * 1024 * 1024)
    answer.close()
    await until(async () => (await active()) === 0)
  })
})

describe('limits of one statement', () => {
  test.each([
    ['5000 rows from the connected database (connectionMaxRows)', { rows: 5_000 }],
    ['bytes from the connected database (connectionMaxBytes)', { bytes: 1_000_000 }],
    ['longer than 700 ms (connectionStatementTimeoutMs)', { timeMs: 700 }],
  ] as const)('%s', async (word, most) => {
    const problem = await problemOf(readAll(db, connections, postgres.connection(), endless, most))
    expect(problem).toMatchObject({ code: 'query_limit', detail: expect.stringContaining(word) as unknown })
    expect(problem.extras.hint).toMatch(/^Ask for/)
    await until(async () => (await active()) === 0)
  })

  test('a time limit that the database has for its user stays, unless ours is shorter', async () => {
    const user = (name: string, time: string) =>
      `CREATE ROLE ${name} LOGIN PASSWORD '${password}'; ALTER ROLE ${name} SET statement_timeout = '${time}'`
    await postgres.run(`${user('hasty', '5s')}; ${user('patient', '1d')}`)
    const native = "SELECT current_setting('statement_timeout') AS time"
    const timeOf = async (name: string) => (await readAll(db, connections, postgres.connection({ user: name }), native)).rows
    expect(await timeOf('hasty')).toEqual([['5s']])
    expect(await timeOf('patient')).toEqual([['30min']])
    expect(await timeOf('postgres')).toEqual([['30min']])
  })

  test('a ticket serves one reader, once', async () => {
    const opened = await connections.open(postgres.connection(), { native: 'SELECT 1' })
    ;(await AnswerReader.open(opened)).close()
    await expect(AnswerReader.open(opened)).rejects.toMatchObject({ title: 'No such answer' })
    await expect(AnswerReader.open({ ...opened, ticket: '0'.repeat(64) })).rejects.toMatchObject({ title: 'No such answer' })
  })
})

describe('a database that fails', () => {
  test('ends the session: the statement is cut off, and the next one has a new session', async () => {
    const connection = postgres.connection()
    const reading = problemOf(readAll(db, connections, connection, 'SELECT pg_sleep(60)'))
    await sleeps()
    await postgres.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mindledger' AND state <> 'idle'")
    expect((await reading).code).toBe('connection_failed')
    expect((await readAll(db, connections, connection, 'SELECT 2 AS a')).rows).toEqual([[2]])
  })

  test('loses idle sessions: the next statement has a new one', async () => {
    const connection = postgres.connection()
    await readAll(db, connections, connection, 'SELECT 1')
    const { rows } = await postgres.run("SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mindledger'")
    await until(() => !(rows as { pid: number }[]).some(({ pid }) => isRunning(pid)))
    // The process of the drivers hears of that no later than of this answer.
    await readAll(db, connections, postgres.connection(), 'SELECT 2')
    expect((await readAll(db, connections, connection, 'SELECT 3 AS a')).rows).toEqual([[3]])
  })

  test.each<[string, Fault]>([
    ['cuts in mid-answer', { afterBytes: 200_000, then: 'cut' }],
    ['sends garbage in mid-answer', { afterBytes: 200_000, then: 'garbage' }],
    ['cuts the login', { afterBytes: 10, then: 'cut' }],
    ['goes silent in mid-answer', { afterBytes: 200_000, then: 'swallow' }],
  ])('%s: its statement fails, and others do not notice', async (_, fault) => {
    const proxy = await proxyTo(postgres.port, () => fault)
    try {
      // A connection to DuckDB takes one thing at a time.
      const bad = problemOf(readAll(await duck(), connections, postgres.connection({ port: proxy.port }), endless, { timeMs: 2_000 }))
      const good = await readAll(db, connections, postgres.connection(), 'SELECT count(*) AS n FROM generate_series(1, 100000)')
      expect(good.rows).toEqual([['100000']])
      const { code, detail } = await bad
      expect(['connection_failed', 'query_limit', 'query_failed']).toContain(code)
      expect(detail).not.toContain(password)
      await until(() => proxy.open() === 0)
    } finally {
      await proxy.stop()
    }
    await until(async () => (await active()) === 0)
  })

  test('stops (SIGSTOP): its statement ends in time, and others do not notice', async () => {
    const other = await startPostgres()
    try {
      const connection = other.connection()
      await readAll(db, connections, connection, 'SELECT 1')
      const goOn = await other.freeze()
      const problem = await problemOf(readAll(db, connections, connection, 'SELECT 1', { timeMs: 1_000 }))
      expect(problem.code).toBe('query_limit')
      expect((await readAll(db, connections, postgres.connection(), 'SELECT 4 AS a')).rows).toEqual([[4]])
      goOn()
      expect((await readAll(db, connections, connection, 'SELECT 5 AS a')).rows).toEqual([[5]])
      await other.kill()
      expect((await problemOf(readAll(db, connections, connection, 'SELECT 6 AS a'))).code).toBe('connection_failed')
    } finally {
      await other.stop()
    }
  })

  test('floods: one step of an answer is bounded', async () => {
    // A message that claims to be long never ends.
    const header = Buffer.from([0x52, 0x7f, 0xff, 0xff, 0xff])
    const flood = await listen((socket) => {
      socket.once('data', () => {
        const block = Buffer.alloc(1024 * 1024, 0x20)
        const more = () => {
          while (!socket.destroyed && socket.write(block));
        }
        socket.write(header)
        socket.on('drain', more)
        more()
      })
    })
    const problem = await problemOf(readAll(db, connections, postgres.connection({ port: flood.port, sslmode: 'disable' }), 'SELECT 1'))
    expect(problem.code).toBe('connection_failed')
    expect((await readAll(db, connections, postgres.connection(), 'SELECT 7 AS a')).rows).toEqual([[7]])
    await flood.stop()
  })

  test('a server that does not know the most digits of floats is asked for one fewer', async () => {
    const kept: string[] = []
    const server = await floodsWith(
      () => undefined,
      (statement) => {
        const isRefused = statement.includes('extra_float_digits = 3')
        if (!isRefused) kept.push(statement)
        return isRefused
      },
    )
    expect(await connections.check(postgres.connection({ port: server.port, sslmode: 'disable' }))).toEqual({ status: 'success' })
    expect(kept.filter((statement) => statement.includes('extra_float_digits'))).toEqual(['SET extra_float_digits = 2'])
    await server.stop()
  })

  test('floods: a server that sends rows that nobody asked for is not listened to', async () => {
    const flood = await floodsWith(repeatedly(Buffer.concat(Array.from({ length: 1_000 }, () => row('x')))))
    const connection = postgres.connection({ port: flood.port, sslmode: 'disable' })
    expect(await problemOf(readAll(db, connections, connection, 'SELECT 1'))).toMatchObject({
      code: 'query_limit',
      detail: expect.stringMatching(/rows more than it was asked for/) as unknown,
    })
    await until(() => flood.open() === 0)
    await flood.stop()
  })

  test('floods: rows that answer a question of our own are bounded by their number', async () => {
    const flood = await floodsWith(repeatedly(Buffer.concat(Array.from({ length: 1_000 }, () => row('x')))))
    const problem = await problemOf(connections.tables(postgres.connection({ port: flood.port, sslmode: 'disable' })))
    expect(problem).toMatchObject({ code: 'query_limit', detail: expect.stringMatching(/more than \d+ rows/) as unknown })
    await until(() => flood.open() === 0)
    await flood.stop()
  })

  test('floods: what many databases send at once is bounded together', async () => {
    const value = Buffer.alloc(1024 * 1024, 'x')
    const whole = 40
    const head = row('').fill(0)
    head.write('D')
    head.writeInt32BE(head.length - 1 + whole * value.length, 1)
    head.writeInt16BE(1, 5)
    head.writeInt32BE(whole * value.length, 7)
    // Each holds its value back from the reader: the answer does not go on.
    const flood = await floodsWith((socket) => {
      socket.write(head)
      repeatedly(value, whole)(socket)
    })
    let refused = 0
    const isTold = () => refused >= 3
    // Each has some seconds for its answer. A busy machine may take longer to send what is too much for all, so they ask again.
    const asked = Array.from({ length: 6 }, async () => {
      while (!isTold()) {
        const { code, detail } = await problemOf(connections.tables(postgres.connection({ port: flood.port, sslmode: 'disable' })))
        if (code === 'query_limit' && /at once/.test(detail)) {
          refused += 1
          return
        }
      }
    })
    await until(isTold)
    expect((await readAll(db, connections, postgres.connection(), 'SELECT 8 AS a')).rows).toEqual([[8]])
    await flood.stop()
    await Promise.all(asked)
  })

  test.each([
    ['never answers', () => undefined],
    ['answers nonsense', (socket: { write: (text: string) => void }) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['closes', (socket: { destroy: () => void }) => socket.destroy()],
  ])('a server that %s: the connection is not opened, in time', async (_, welcome) => {
    const server = await listen((socket) => {
      welcome(socket)
    })
    const checked = await connections.check(postgres.connection({ port: server.port }))
    expect(checked).toMatchObject({ status: 'connection_error' })
    expect(JSON.stringify(checked)).not.toContain(password)
    await server.stop()
  })

  test('stays silent: a list over all connections goes on without it, and does not ask it again', async () => {
    let calls = 0
    let come: () => void = () => undefined
    const hasCome = new Promise<void>((resolve) => (come = resolve))
    const silent = await listen(() => {
      calls += 1
      come()
    })
    const connection = postgres.connection({ port: silent.port, sslmode: 'disable' })
    const left = { code: 'connection_failed', detail: 'The database did not list its tables soon enough' }
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask', 'performance', 'hrtime'] })
    try {
      const listed = problemOf(connections.tables(connection, true))
      await hasCome
      jest.advanceTimersByTime(limits.connectionListedWaitMs)
      expect(await listed).toMatchObject(left)
      // Its login is still under way, and nobody waits for it.
      expect(silent.open()).toBe(1)
    } finally {
      jest.useRealTimers()
    }
    const named = problemOf(connections.tables(connection))
    await silent.stop()
    expect((await named).code).toBe('connection_failed')
    expect(await problemOf(connections.tables(connection, true))).toMatchObject(left)
    expect(calls).toBe(1)
  })
})

describe('the process', () => {
  test('is started again after its end, and its statements fail with a sentence', async () => {
    const reading = problemOf(readAll(db, connections, postgres.connection(), 'SELECT pg_sleep(60)'))
    await sleeps()
    const write = { native: 'SELECT pg_sleep(60), 1', writes: true } as const
    const writing = await connections.open(postgres.connection({ writable: true }), write)
    const written = AnswerReader.open(writing).catch(() => undefined)
    await until(async () => (await running('pg_sleep(60), 1')) === 1)
    for (const pid of connections.pids) signalTo(pid, 'SIGKILL')
    // What was sent is known, and that nobody knows what it did.
    expect(await writing.ended).toMatchObject({ ending: 'lost', sent: write.native, changed: true, rows: 0 })
    await written
    expect(await reading).toMatchObject({ code: 'connection_failed', detail: expect.stringContaining('cut off') as unknown })
    expect((await readAll(db, connections, postgres.connection(), 'SELECT 8 AS a')).rows).toEqual([[8]])
  })
})

test.each(['stops', 'is killed'])('a service that %s leaves no statement behind in a database', async (how) => {
  const own = await spawnOwn()
  const { parameters } = postgres.connection()
  await send(own.url, 'POST', '/api/databases', { database: { name: 'pg', engine: 'postgres', parameters } })
  const asked = sql(own.url, 'SELECT * FROM pg (SELECT pg_sleep(1500))').catch(() => undefined)
  await until(async () => (await running('pg_sleep(1500)')) === 1)
  own.child.kill(how === 'stops' ? 'SIGTERM' : 'SIGKILL')
  await own.ended
  await asked
  await until(async () => (await running('pg_sleep(1500)')) === 0)
  own.remove()
})

describe('a question about a table that waits for a lock', () => {
  test('is cancelled in the database when its time is over', async () => {
    const holder = await locked('held')
    const problem = await problemOf(connections.columns(postgres.connection(), 'held'))
    expect(problem).toMatchObject({ code: 'query_limit', detail: expect.stringContaining('connectionMetadataTimeoutMs') as unknown })
    await until(async () => (await running('FROM "held"')) === 0)
    await holder.end()
  })

  test('is cancelled in the database when the service is killed', async () => {
    const holder = await locked('held_on')
    const own = await spawnOwn()
    const { parameters } = postgres.connection()
    await send(own.url, 'POST', '/api/databases', { database: { name: 'pg', engine: 'postgres', parameters } })
    const asked = sql(own.url, 'DESCRIBE pg.held_on').catch(() => undefined)
    await until(async () => (await running('FROM "held_on"')) > 0)
    own.child.kill('SIGKILL')
    await own.ended
    await asked
    await until(async () => (await running('FROM "held_on"')) === 0)
    own.remove()
    await holder.end()
  })
})

describe('long values', () => {
  test('rows of a megabyte are read one by one', async () => {
    const { rows, outcome } = await readAll(
      db,
      connections,
      postgres.connection(),
      "SELECT i, length(t) FROM (SELECT i, repeat('x', 1000000) AS t FROM generate_series(1, 3) i) x",
    )
    expect([rows.length, outcome.ending]).toEqual([3, 'complete'])
    const opened = await connections.open(postgres.connection(), {
      native: "SELECT repeat('y', 1000000) AS t FROM generate_series(1, 200)",
    })
    const answer = await AnswerReader.open(opened)
    let count = 0
    for await (const chunk of answer.chunks()) count += chunk.rowCount
    expect(count).toBe(200)
  })

  test.each([
    ['long from the first on', "SELECT i, repeat('x', 2400000) AS t FROM generate_series(1, 40) i", 40],
    [
      'long after some short ones',
      "SELECT i, repeat('x', CASE WHEN i < 33 THEN 3 ELSE 90000 END) AS t FROM generate_series(1, 1024) i",
      1024,
    ],
    [
      'long after many short ones',
      "SELECT i, repeat('x', CASE WHEN i < 5000 THEN 3 ELSE 10000 END) AS t FROM generate_series(1, 25000) i",
      25000,
    ],
  ])('rows that are %s are read', async (_, native, expected) => {
    const answer = await AnswerReader.open(await connections.open(postgres.connection(), { native }))
    let count = 0
    for await (const chunk of answer.chunks()) count += chunk.rowCount
    expect(count).toBe(expected)
    // The session is as good as new.
    expect((await readAll(db, connections, postgres.connection(), 'SELECT 9 AS a')).rows).toEqual([[9]])
  })

  test('a reader that leaves in the middle of long rows ends the statement', async () => {
    const native = "SELECT repeat('x', 1000000) AS t, 'left alone' AS a FROM generate_series(1, 2000)"
    const answer = await AnswerReader.open(await connections.open(postgres.connection(), { native }))
    for await (const chunk of answer.chunks()) if (chunk.rowCount > 0) break
    await until(async () => (await running('left alone')) === 0)
  })

  test('a caller that still waits for rows does not take the end of its statement for that of the answer', async () => {
    const client = await newClient()
    const reader = new Reader(client, 'SELECT i, pg_sleep(0.02) FROM generate_series(1, 10) AS i', [], () => undefined)
    const waiting = reader.read(100)
    const refused = expect(waiting).rejects.toThrow('the statement was closed')
    await reader.close()
    await refused
    expect((await client.query('SELECT 1 AS a')).rows).toEqual([{ a: 1 }])
    await client.end()
  })

  test('a value beyond the bytes of a step ends the statement', async () => {
    const problem = await problemOf(readAll(db, connections, postgres.connection(), "SELECT repeat('z', 100000000)"))
    expect(problem).toMatchObject({ code: 'query_limit', detail: expect.stringContaining('more than') as unknown })
    expect((await readAll(db, connections, postgres.connection(), 'SELECT 9 AS a')).rows).toEqual([[9]])
  })
})
