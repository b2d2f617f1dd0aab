import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import { inTime } from '../../../src/basics/concurrency/bounded-waits.js'
import { Connections } from '../../../src/connections/connections.js'
import { AnswerReader } from '../../../src/connections/reader/read-answer.js'
import { duck, problemOf, readAll } from '../../support/connections/answers.js'
import { until } from '../../support/until.js'
import { makeCertificate } from '../../support/connections/certificate.js'
import { password, startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { proxyTo, type Fault } from '../../support/connections/proxy.js'
import { temporaryDirectory } from '../../support/service.js'

const place = temporaryDirectory()
let postgres: Postgres
let plain: Postgres
let connections: Connections
let db: DuckDBConnection
let certificate: string

beforeAll(async () => {
  const { key, cert, pem } = makeCertificate(place.path, 'DNS:localhost')
  certificate = pem
  plain = await startPostgres()
  postgres = await startPostgres(['-c', 'ssl=on', '-c', `ssl_cert_file=${cert}`, '-c', `ssl_key_file=${key}`])
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  db = await duck()
})

afterAll(async () => {
  connections.stop()
  await postgres.stop()
  await plain.stop()
  place.remove()
})

const encrypted = async (parameters: Record<string, string | number | boolean>) =>
  (await readAll(db, connections, postgres.connection(parameters), 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')).rows[0]?.[0]

describe('TLS of PostgreSQL', () => {
  test.each<[Record<string, string | boolean>, boolean]>([
    [{}, true],
    [{ sslmode: 'prefer' }, true],
    [{ sslmode: 'require' }, true],
    [{ ssl: true }, true],
    [{ sslmode: 'disable' }, false],
    [{ ssl: false }, false],
  ])('%j', async (parameters, isEncrypted) => {
    expect(await encrypted(parameters)).toBe(isEncrypted)
  })

  test('a certificate is checked against the authority that is given as text, and against the host', async () => {
    expect(await encrypted({ host: 'localhost', ssl_ca: certificate })).toBe(true)
    expect(await encrypted({ host: '127.0.0.1', ssl_ca: certificate, sslmode: 'verify-ca' })).toBe(true)
    const other = await connections.check(postgres.connection({ host: '127.0.0.1', ssl_ca: certificate }))
    expect(other).toMatchObject({ status: 'connection_error', detail: expect.stringContaining('for another host') as unknown })
    // The certificate of an authority is there to be checked, whatever the mode says.
    const elsewhere = temporaryDirectory()
    const foreign = makeCertificate(elsewhere.path, 'DNS:localhost').pem
    elsewhere.remove()
    for (const sslmode of ['prefer', 'require'])
      expect(await connections.check(postgres.connection({ host: '127.0.0.1', ssl_ca: foreign, sslmode }))).toMatchObject({
        detail: expect.stringContaining('cannot be trusted'),
      })
    expect(await encrypted({ host: '127.0.0.1', ssl_ca: certificate, sslmode: 'require' })).toBe(true)
    const unknown = await connections.check(postgres.connection({ host: 'localhost', sslmode: 'verify-full' }))
    expect(unknown).toMatchObject({ status: 'connection_error', detail: expect.stringContaining('signed by itself') as unknown })
  })

  test('a server without TLS is used without it only where nothing else is asked for', async () => {
    expect(await connections.check(plain.connection())).toEqual({ status: 'success' })
    expect(await connections.check(plain.connection({ sslmode: 'require' }))).toMatchObject({
      detail: expect.stringContaining('does not speak TLS') as unknown,
    })
  })

  test('a statement is cancelled over TLS', async () => {
    const opened = await connections.open(postgres.connection({ sslmode: 'require' }), { native: 'SELECT pg_sleep(60)' })
    const stop = new AbortController()
    const reading = problemOf(AnswerReader.open(opened, stop.signal))
    const active = async () =>
      (await postgres.run("SELECT 1 FROM pg_stat_activity WHERE application_name = 'mindledger' AND state = 'active'")).rows.length
    await until(async () => (await active()) === 1)
    stop.abort(new Error('enough'))
    await until(async () => (await active()) === 0)
    await reading
  })

  test.each<[number, Fault['then']]>([
    [0, 'cut'],
    [0, 'swallow'],
    [1, 'cut'],
    [1, 'swallow'],
  ])('a cancellation whose own connection is broken after %i bytes (%s) ends in time', async (afterBytes, then) => {
    const proxy = await proxyTo(postgres.port, (connection) => (connection === 2 ? { afterBytes, then } : undefined))
    const slow = 'SELECT i, CASE WHEN i > 2000 THEN pg_sleep(60) END FROM generate_series(1, 3000) AS i'
    const opened = await connections.open(postgres.connection({ port: proxy.port, sslmode: 'require' }), { native: slow })
    const answer = await AnswerReader.open(opened)
    for await (const chunk of answer.chunks()) {
      expect(chunk.rowCount).toBeGreaterThan(0)
      break
    }
    answer.close()
    expect(await inTime(opened.ended, 25_000, undefined)).toMatchObject({ ending: 'cut' })
    await until(() => proxy.open() === 0)
    await proxy.stop()
  })

  test.each(['cut', 'garbage', 'swallow'] as const)(
    'a TLS connection that is broken (%s) fails in time, and says no secret',
    async (then) => {
      for (const afterBytes of [0, 1, 500, 100_000]) {
        const proxy = await proxyTo(postgres.port, () => ({ afterBytes, then }))
        const connection = postgres.connection({ port: proxy.port, sslmode: 'require' })
        const problem = await problemOf(
          readAll(db, connections, connection, "SELECT generate_series(1, 1000000), repeat('x', 100)", { timeMs: 1_500 }),
        )
        expect(['connection_failed', 'query_limit']).toContain(problem.code)
        expect(JSON.stringify(problem)).not.toContain(password)
        // To connect, to tell and to wait for a cancellation have a second each.
        await until(() => proxy.open() === 0)
        await proxy.stop()
      }
    },
  )
})
