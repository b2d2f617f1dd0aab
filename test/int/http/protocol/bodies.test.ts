import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { limits } from '../../../../src/basics/limits.js'
import { until } from '../../../support/until.js'
import { send, startTestService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService({ AUTH: 'session', AUTH_USERNAME: 'ada', AUTH_PASSWORD: 'correct horse' })
  const { body } = await send(at.url, 'POST', '/api/login', { username: 'ada', password: 'correct horse' })
  authorization = `Bearer ${(body as { token: string }).token}`
  // A busy machine may take its time until SQL is answered.
  await until(async () => ((await post('/api/sql/query', { query: 'SELECT 1' })).body as { type: string }).type === 'table')
})
afterAll(() => at.stop())

let authorization = ''
const skills = '/api/projects/mindsdb/skills'
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(at.url, 'POST', path, body, { authorization, ...headers })

const keys = (count: number, value = '1') => `{${Array.from({ length: count }, (_, i) => `"k${i}":${value}`).join(',')}}`
const skill = (params: string) => `{"skill":{"name":"wide","type":"sql","params":${params}}}`
const longText = (chars: number) => JSON.stringify('x'.repeat(chars))

test('a login is a few fields, and nothing more of it is read', async () => {
  const login = (rest: string) => send(at.url, 'POST', '/api/login', `{"username":"ada","password":"x","z":${rest}}`)
  expect(await login('1')).toMatchObject({ status: 401 })
  expect(await login(longText(limits.smallBodyMaxBytes))).toMatchObject({ status: 413, body: { code: 'too_large' } })
  expect(await login(`[${'1,'.repeat(limits.smallBodyMaxValues)}1]`)).toMatchObject({ status: 413, body: { code: 'too_large' } })
})

test('whoever has not logged in has no body read at all', async () => {
  const body = skill(longText(limits.resourceBodyMaxBytes))
  expect(await send(at.url, 'POST', skills, body)).toMatchObject({ status: 401 })
})

test.each([
  ['keys of one object', () => skill(keys(limits.objectMaxKeys + 1)), 413, /has 10001 keys; at most 10000/],
  ['values', () => skill(`{"a":[${'1,'.repeat(limits.resourceBodyMaxValues)}1]}`), 413, /values; here at most 20000/],
  ['bytes', () => skill(`{"a":${longText(limits.resourceBodyMaxBytes)}}`), 413, /more than 2097152 bytes/],
  ['levels', () => skill(`{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`), 400, /nested deeper than 128 levels/],
  ['secrets', () => skill(`{"a":[${'{"token":"x"},'.repeat(limits.secretsMaxPerCommand)}{"token":"x"}]}`), 400, /more than 1000 secrets/],
] as const)('too many %s are refused, and nothing is recorded', async (_, body, status, detail) => {
  const { position } = await at.service.head()
  expect(await post(skills, body())).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } })
  expect((await at.service.head()).position).toBe(position)
})

test('a body that unpacks to too much is refused, too', async () => {
  const body = gzipSync(skill(`{"a":${longText(limits.resourceBodyMaxBytes)}}`))
  expect(body.length).toBeLessThan(100_000)
  expect(await post(skills, body, { 'content-encoding': 'gzip' })).toMatchObject({ status: 413, body: { code: 'too_large' } })
})

test('what is within the limits is kept as it was sent', async () => {
  const params = `{"keys":${keys(limits.objectMaxKeys)},"list":[${'1,'.repeat(9_000)}1]}`
  expect(await post(skills, skill(params))).toMatchObject({ status: 201 })
  const { body } = await send(at.url, 'GET', `${skills}/wide`, undefined, { authorization })
  expect((body as { params: unknown }).params).toEqual(JSON.parse(params))
})

test('a number that JavaScript would round is refused, and the same number as a text is taken', async () => {
  const { position } = await at.service.head()
  const refused = {
    status: 400,
    body: { detail: expect.stringMatching(/^the number .* cannot be kept exactly/), hint: expect.stringMatching(/in quotes/) },
  }
  expect(await post(skills, skill('{"id":12345678901234567891}'))).toMatchObject(refused)
  const query = (params: string) =>
    post('/api/sql/query', `{"query":"SELECT ? = 12345678901234567891::UHUGEINT AS same","params":${params}}`)
  for (const list of ['[12345678901234567891]', '[90071992547409.93]', '[1e400]', '{"a": 1e-400}'])
    expect(await query(list)).toMatchObject(refused)
  expect((await at.service.head()).position).toBe(position)
  expect((await query('["12345678901234567891"]')).body).toMatchObject({ type: 'table', data: [[true]] })
})

test('a statement takes so many parameters', async () => {
  const query = (count: number) => post('/api/sql/query', { query: 'SELECT ? + 1 AS x', params: Array.from({ length: count }, () => 1) })
  expect((await query(limits.statementMaxParams)).body).toMatchObject({ type: 'table', data: [[2]] })
  expect(await query(limits.statementMaxParams + 1)).toMatchObject({ status: 400 })
  const large = { query: `CREATE SKILL s USING type = 'x', ${Array.from({ length: 12 }, (_, i) => `a${i} = :a`).join(', ')}` }
  expect((await post('/api/sql/query', { ...large, params: { a: 'x'.repeat(1_000_000) } })).body).toMatchObject({
    type: 'error',
    error_message: expect.stringContaining('statementParamsMaxChars'),
  })
})

test.each([
  ['UTF-8 that is none', Buffer.from([0x22, 0xff, 0x22]), 'application/json', 400],
  ['UTF-16', Buffer.from('{"project":{"name":"wide"}}', 'utf16le'), 'application/json; charset=utf-16le', 201],
  ['a mark before it', Buffer.from('\ufeff{"project":{"name":"marked"}}'), 'application/json', 201],
  ['a charset that there is not', Buffer.from('{}'), 'application/json; charset=utf-7', 415],
  ['another charset', Buffer.from('{}'), 'application/json; charset=latin1', 415],
] as const)('a body in %s', async (_, body, type, status) =>
  expect(await post('/api/projects', body, { 'content-type': type })).toMatchObject({ status }),
)

const statement = JSON.stringify({ query: 'SELECT 1' })
const large = statement.padEnd(limits.bodyMaxBytes)
/** More bodies than a client may have in memory. */
const tooMany = Math.floor(limits.heldBodiesPerClientMaxBytes / large.length) + 1

/** The bytes of a request, without its body. */
const headOf = (method: string, path: string, headers: Record<string, string | number> = {}) =>
  [
    `${method} ${path} HTTP/1.1`,
    ...Object.entries({ host: new URL(at.url).host, authorization, ...headers }).map((one) => one.join(': ')),
  ].join('\r\n') + '\r\n\r\n'
const connection = async () => {
  const { hostname, port } = new URL(at.url)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

test('a packed body of a client that has left is unpacked, and takes no memory after it', async () => {
  const body = gzipSync(large)
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': body.length }
  for (let n = 0; n < tooMany; n++) {
    const socket = await connection()
    socket.write(headOf('POST', '/api/sql/query', headers))
    socket.write(body)
    // It leaves when all of its body has arrived.
    await sleep(10)
    await once(socket.resetAndDestroy(), 'close')
  }
  // Bodies are unpacked side by side, so this one is ready after those before it.
  expect((await post('/api/sql/query', body, { 'content-encoding': 'gzip' })).status).toBe(200)
  expect((await post('/api/sql/query', large)).status).toBe(200)
})

test('a request that waits behind another one has no body read, so that nothing is left of it when its client leaves', async () => {
  const headers = { 'content-type': 'application/json', 'content-length': large.length }
  for (let n = 0; n < tooMany; n++) {
    const socket = await connection()
    socket.write(headOf('GET', '/api/events/stream'))
    await once(socket, 'data')
    socket.write(headOf('POST', '/api/sql/query', headers))
    await sleep(10)
    await once(socket.resetAndDestroy(), 'close')
  }
  expect((await post('/api/sql/query', large)).status).toBe(200)
})

test('requests that come at once over one connection are all answered, in their order', async () => {
  const socket = await connection()
  const ask = (query: string) =>
    `${headOf('POST', '/api/sql/query', { 'content-type': 'application/json', 'content-length': query.length })}${query}`
  const queries = ['SELECT sum(i) FROM range(1000000) t(i)', 'SELECT 2', 'SELECT 3'].map((query) => JSON.stringify({ query }))
  let answers = ''
  socket.on('data', (data) => (answers += String(data))).write(queries.map(ask).join(''))
  await until(() => answers.split('"data"').length === 4)
  expect([...answers.matchAll(/"data":\[\[(\d+|"\d+")\]\]/g)].map(([, value]) => value)).toEqual([expect.anything(), '2', '3'])
  socket.destroy()
})

test('large bodies of one client that come slowly have their share of the memory, and keep out neither small ones nor those of others', async () => {
  const { hostname, port } = new URL(at.url)
  let token = authorization
  const ask = (localAddress: string, length: number) => {
    const headers = { authorization: token, 'content-type': 'application/json', 'content-length': length }
    const asked = request({ hostname, port, localAddress, agent: false, method: 'POST', path: '/api/sql/query', headers })
    asked.on('error', () => undefined).flushHeaders()
    return asked
  }
  const slow = Array.from({ length: tooMany - 1 }, () => ask('127.0.0.2', large.length))
  const answer = async (asked: ClientRequest, body: string) => {
    asked.end(body)
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    return { status: response.statusCode, retryAfter: response.headers['retry-after'], body: await json(response) }
  }
  const detail = expect.stringContaining('heldBodiesPerClientMaxBytes')
  await until(async () => (await answer(ask('127.0.0.2', large.length), large)).status === 503)
  expect(await answer(ask('127.0.0.2', large.length), large)).toMatchObject({
    status: 503,
    retryAfter: '1',
    body: { code: 'busy', detail },
  })
  expect(await answer(ask('127.0.0.2', statement.length), statement)).toMatchObject({ status: 200 })
  const { body } = await send(at.url, 'POST', '/api/login', { username: 'ada', password: 'correct horse' })
  token = `Bearer ${(body as { token: string }).token}`
  expect(await answer(ask('127.0.0.3', large.length), large)).toMatchObject({ status: 200 })
  token = authorization
  for (const asked of slow) asked.destroy()
  await until(async () => (await answer(ask('127.0.0.2', large.length), large)).status === 200)
})
