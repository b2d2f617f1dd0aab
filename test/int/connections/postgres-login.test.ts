import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { login } from '../../../src/connections/engines/postgres/connect.js'
import { readParameters } from '../../../src/connections/engines/postgres/parameters.js'
import { duck, problemOf, readAll } from '../../support/connections/answers.js'
import { asksForLogin, brokenRow, floodsWith, repeatsPassword } from '../../support/connections/flood.js'
import { password } from '../../support/connections/postgres.js'
import { send, spawnService, temporaryDirectory } from '../../support/service.js'

const connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
afterAll(() => connections.stop())

const plain = { host: '127.0.0.1', user: 'reader', password, database: 'shop', sslmode: 'disable' }
const connectionTo = (port: number): Connection => ({ id: `login-${port}`, version: 1, engine: 'postgres', parameters: { ...plain, port } })

test('nothing of the operator logs a user in: an empty password stays empty', async () => {
  const heard: string[] = []
  const server = await repeatsPassword((said) => heard.push(said))
  const [data, home] = [temporaryDirectory(), temporaryDirectory()]
  writeFileSync(join(home.path, '.pgpass'), `*:*:*:*:${password}\n`, { mode: 0o600 })
  const variables = { HOME: home.path, PGPASSFILE: join(home.path, '.pgpass'), PGPASSWORD: password, PGUSER: 'operator' }
  const own = await spawnService(data.path, variables, { cwd: home.path })
  try {
    const parameters = { host: '127.0.0.1', port: server.port, user: 'reader', password: '', database: 'shop', sslmode: 'disable' }
    const database = { name: 'pg', engine: 'postgres', parameters }
    const { body } = await send(own.url, 'POST', '/api/databases', { database, check_connection: true })
    expect(body).toMatchObject({ status: 'connection_error' })
    expect(heard).toEqual([''])
  } finally {
    own.child.kill()
    await own.ended
    await server.stop()
    for (const place of [data, home]) place.remove()
  }
})

test.each([
  [7, 'GSSAPI'],
  [9, 'SSPI'],
  [13, 'the method 13 of its protocol'],
])('a login that the driver does not know is told at once: %i', async (method, name) => {
  const server = await asksForLogin(method)
  expect(await connections.check(connectionTo(server.port))).toEqual({
    status: 'connection_error',
    detail: expect.stringMatching(
      `asks for a login by ${name}, which this service does not know\\. Give the user another method`,
    ) as unknown,
  })
  await server.stop()
})

test('bytes that the driver cannot read end their statement at once', async () => {
  const server = await floodsWith((socket) => socket.write(brokenRow))
  const problem = await problemOf(readAll(await duck(), connections, connectionTo(server.port), 'SELECT 1', { timeMs: 15_000 }))
  expect(problem).toMatchObject({ code: 'connection_failed', detail: 'The database answered something that is not its protocol' })
  await server.stop()
})

test.each<[address: string, parameters: Connection['parameters'], isGiven: boolean]>([
  ['192.0.2.7', {}, false],
  ['192.0.2.7', { sslmode: 'require' }, false],
  ['192.0.2.7', { sslmode: 'verify-ca' }, false],
  ['192.0.2.7', { sslmode: 'verify-full' }, true],
  ['127.0.0.1', {}, true],
  ['::1', {}, true],
])('a server at %s gets the password itself with %j only if it is known: %s', async (address, parameters, isGiven) => {
  const heard: Buffer[] = []
  let hear: () => void = () => undefined
  const hasHeard = new Promise<void>((resolve) => (hear = resolve))
  const server = await asksForLogin(3, (answer) => {
    heard.push(answer)
    hear()
  })
  const socket = connect(server.port, '127.0.0.1')
  await once(socket, 'connect')
  const read = readParameters({ engine: 'postgres', parameters: { ...plain, ...parameters } })
  const to = { name: 'db.example.com', address, port: 5432 }
  const ends = new AbortController()
  const problem = problemOf(login(read, { socket, to }, undefined, ends.signal))
  await Promise.race([problem, hasHeard])
  ends.abort()
  expect(Buffer.concat(heard).includes(password)).toBe(isGiven)
  if (!isGiven)
    expect(await problem).toMatchObject({
      code: 'connection_failed',
      detail: expect.stringContaining('asks for the password itself') as unknown,
      extras: { hint: expect.stringContaining('"sslmode": "verify-full"') as unknown },
    })
  await problem
  await server.stop()
})
