import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { freePort } from '../../support/cli.js'
import { keepsTalking, refusesLogin } from '../../support/connections/flood.js'
import { password, startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { listen, type Listening } from '../../support/connections/proxy.js'
import { until } from '../../support/until.js'

let connections: Connections
let postgres: Postgres

beforeAll(async () => {
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  postgres = await startPostgres()
})
afterAll(async () => {
  connections.stop()
  await postgres.stop()
})

/** Checks a connection that cannot be opened: the answer says why, has a hint behind that, and no secret. */
const expectRefused = async (connection: Connection, says: RegExp): Promise<void> => {
  const checked = await connections.check(connection)
  expect(checked).toMatchObject({ status: 'connection_error', detail: expect.stringMatching(says) as unknown })
  // The hint is a sentence of its own.
  expect('detail' in checked && checked.detail).toMatch(/\. [A-Z]/)
  expect(JSON.stringify(checked)).not.toContain(password)
}

test.each<[what: string, parameters: Connection['parameters'], says: RegExp]>([
  ['a wrong password', { password: `${password}-wrong` }, /refuses the login: .*Check the parameters "user" and "password"/],
  ['no password', { password: '' }, /(?:refuses the login|asks for a password).*Check the parameter/],
  ['an unknown user', { user: 'nobody-here' }, /refuses the login: .*Check the parameters "user" and "password"/],
  ['an unknown database', { database: 'nothing-here' }, /no such database: .*Check the parameter "database"/],
  ['TLS, which it does not speak', { sslmode: 'require' }, /does not speak TLS\. Set the parameter "sslmode": "disable"/],
])('PostgreSQL is not opened with %s', async (_, parameters, says) => {
  await expectRefused(postgres.connection(parameters), says)
})

describe.each(['postgres', 'mysql'])('%s', (engine) => {
  const at = (host: string, port: number): Connection => ({
    ...{ id: `${engine} ${host} ${port}`, version: 1, engine },
    parameters: { host, port, user: 'reader', password, database: 'shop' },
  })

  test('a port where nothing listens is named, with what to check', async () => {
    const port = await freePort()
    await expectRefused(at('127.0.0.1', port), new RegExp(`Nothing listens at 127\\.0\\.0\\.1:${port}\\. Check the port`))
  })

  test('an address that may not be called is named with the entry that opens it', async () => {
    await expectRefused(
      at('10.0.0.7', 4_000),
      /"private", and this service may not call it\. The setting EGRESS_ALLOW=10\.0\.0\.7:4000 allows it/,
    )
  })
})

test.each([
  ['53300', 'sorry, too many clients already', /takes no more connections\. Try again later/],
  ['57P03', 'the database system is starting up', /is not available: the database system is starting up\. Try again later/],
  ['28000', 'no pg_hba.conf entry for host', /refuses the login: no pg_hba\.conf entry.*Check the parameters/],
  ['3D000', 'database "shop" does not exist', /no such database.*Check the parameter "database"/],
  ['28P01', `the password ${password} is wrong`, /refuses the login: the password … is wrong/],
])('a server of PostgreSQL that refuses a login by %s is told with a hint: %s', async (code, message, says) => {
  const server = await refusesLogin(code, message)
  await expectRefused(postgres.connection({ port: server.port, sslmode: 'disable' }), says)
  await server.stop()
})

test('a login at PostgreSQL that never ends is told in time, whatever the server says meanwhile', async () => {
  const inTime = /within 10000 ms \(connectionConnectTimeoutMs\)/
  const secure = (then: string) => listen((socket) => void socket.once('data', () => socket.write(then)))
  const servers: readonly [server: Promise<Listening>, sslmode: string][] = [
    [keepsTalking(), 'disable'],
    [listen((socket) => void socket.resume()), 'disable'],
    [listen((socket) => void socket.resume()), 'prefer'],
    // It says that it speaks TLS, and then nothing.
    [secure('S'), 'require'],
  ]
  await Promise.all(
    servers.map(async ([starting, sslmode]) => {
      const server = await starting
      await expectRefused(postgres.connection({ port: server.port, sslmode }), inTime)
      await until(() => server.open() === 0)
      await server.stop()
    }),
  )
})
