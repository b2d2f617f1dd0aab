import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { connect as connectSocket } from 'node:net'
import { once } from 'node:events'
import { until } from '../../../support/until.js'
import { connect } from '../../../support/log/event-stream-client.js'
import { send, sql, startTestService } from '../../../support/service.js'

type Running = Awaited<ReturnType<typeof startTestService>>
let at: Running
let loggedIn: Running
beforeAll(async () => {
  at = await startTestService()
  loggedIn = await startTestService({ AUTH: 'session', AUTH_USERNAME: 'ada', AUTH_PASSWORD: 'correct horse' })
})
afterAll(() => Promise.all([at, loggedIn].map(({ stop }) => stop())))

type Document = { paths: Record<string, Record<string, { parameters?: { name: string; in: string; required: boolean }[] }>> }
const document = async () => (await send(at.url, 'GET', '/api/openapi.json')).body as Document

describe('a method that an address does not have', () => {
  test('is refused with 405 at every address, and Allow says which it has', async () => {
    const { paths } = await document()
    expect(Object.keys(paths).length).toBeGreaterThan(60)
    for (const [path, operations] of Object.entries(paths)) {
      const address = path.replaceAll(/\{\w+\}/g, '1')
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const others = Object.entries(paths).filter(([other]) => new RegExp(`^${other.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(address))
        if (others.some(([, has]) => method.toLowerCase() in has)) continue
        const { status, headers, body } = await send(at.url, method, address)
        expect({ method, address, status, body }).toMatchObject({ method, status: 405, body: { code: 'method_not_allowed' } })
        const allowed = (headers.get('allow') ?? '').split(', ')
        expect(allowed).toEqual(expect.arrayContaining(Object.keys(operations).map((name) => name.toUpperCase())))
        expect(allowed).not.toContain(method)
      }
    }
  })

  test('is refused at no address, too, where GET is 404', async () => {
    expect((await send(at.url, 'POST', '/api/nope', {})).status).toBe(405)
    expect((await send(at.url, 'GET', '/api/nope')).status).toBe(404)
  })
})

test('no answer is to be taken for another type than it says', async () => {
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/api/nope'],
    ['GET', '/api/events'],
    ['GET', '/api/log/verifier'],
    ['POST', '/api/sql/query'],
    ['DELETE', '/api/projects/none'],
  ] as const)
    expect((await send(at.url, method, path, method === 'GET' ? undefined : {})).headers.get('x-content-type-options')).toBe('nosniff')
})

test('nobody keeps an answer with a token', async () => {
  const login = await send(loggedIn.url, 'POST', '/api/login', { username: 'ada', password: 'correct horse' })
  const { token } = login.body as { token: string }
  const logout = await send(loggedIn.url, 'POST', '/api/logout', undefined, { authorization: `Bearer ${token}` })
  await send(at.url, 'POST', '/api/projects/mindsdb/agents', { agent: { name: 'helper', model_name: 'm', skills: [] } })
  const chatbot = { name: 'bot', agent_name: 'helper', db_engine: 'webhook', db_params: {} }
  const created = await send(at.url, 'POST', '/api/projects/mindsdb/chatbots', { chatbot })
  expect(created.body).toHaveProperty('webhook_token')
  for (const { headers } of [login, logout, created]) expect(headers.get('cache-control')).toBe('no-store')
})

test('a logout ends the streams of its session at once, and no other', async () => {
  const tokenOf = async () => {
    const { body } = await send(loggedIn.url, 'POST', '/api/login', { username: 'ada', password: 'correct horse' })
    return { authorization: `Bearer ${(body as { token: string }).token}` }
  }
  const [mine, other] = [await tokenOf(), await tokenOf()]
  const address = `${loggedIn.url}/api/events/stream?after=0`
  const [ending, staying] = [await connect(address, { headers: mine }), await connect(address, { headers: other })]
  await until(() => ending.parser.messages.length > 0 && staying.parser.messages.length > 0)
  expect((await send(loggedIn.url, 'POST', '/api/logout', undefined, mine)).status).toBe(200)
  await ending.ended
  const seen = ending.parser.messages.length
  await send(loggedIn.url, 'POST', '/api/projects', { project: { name: 'later' } }, other)
  await until(() => staying.parser.messages.some(({ event }) => event === 'ProjectCreated' && staying.parser.messages.length > seen))
  expect(ending.parser.messages).toHaveLength(seen)
  staying.cut()
})

test.each(['utf-8', ''])('a body that is not UTF-8 is refused, with the charset "%s"', async (charset) => {
  const body = Buffer.concat([
    Buffer.from('{"skill": {"name": "a'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('", "type": "sql", "params": {}}}'),
  ])
  const type = `application/json${charset === '' ? '' : `; charset=${charset}`}`
  const reply = await send(at.url, 'POST', '/api/projects/mindsdb/skills', body, { 'content-type': type })
  expect(reply).toMatchObject({ status: 400, body: { code: 'bad_json', detail: 'the body is not UTF-8' } })
})

test('two Host headers are refused', async () => {
  const { host, hostname, port } = new URL(at.url)
  for (const hosts of [`Host: ${host}\r\nHost: evil.example`, `Host: ${host}\r\nhost: ${host}`]) {
    const socket = connectSocket(Number(port), hostname).setEncoding('utf8')
    let heard = ''
    socket.on('data', (chunk: string) => (heard += chunk))
    socket.write(`GET /api/projects HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`)
    await once(socket, 'close')
    expect(heard).toMatch(/^HTTP\/1\.1 400 /)
  }
})

test('an error repeats little of what was sent', async () => {
  const long = 'x'.repeat(5_000)
  const replies = [
    await send(at.url, 'GET', `/api/events?after=${long}`),
    await send(at.url, 'GET', `/api/projects/mindsdb/skills/${long}`),
  ]
  for (const { status, body } of replies) {
    expect(status).toBeGreaterThanOrEqual(400)
    expect((body as { detail: string }).detail.length).toBeLessThanOrEqual(510)
  }
  for (const query of [`SELECT ${long}`, `CREATE ${'nonsense '.repeat(5_000)}`, `SELECT '${'x\n'.repeat(50_000)}`]) {
    const { error_message } = await sql(at.url, query)
    expect(error_message?.length).toBeLessThanOrEqual(4_010)
  }
})

test('an error repeats as little of a name or value of many lines', async () => {
  const lines = 'x\n'.repeat(1_000)
  const repeated = (text = '') => text.split('x').length
  const { body } = await send(at.url, 'GET', `/api/projects/mindsdb/skills/${encodeURIComponent(lines)}`)
  expect((body as { detail: string }).detail.length).toBeLessThanOrEqual(510)
  const name = `\`${lines}\``
  for (const query of [`SELECT CAST('${lines}' AS INTEGER)`, `SELECT ${name}`, `SELECT * FROM ${name}`, `DROP SKILL ${name}`]) {
    const { type, error_message } = await sql(at.url, query)
    expect(type).toBe('error')
    expect(repeated(error_message)).toBeLessThanOrEqual(300)
  }
})

test('a statement that explains itself is refused, however often', async () => {
  for (const query of [
    'EXPLAIN EXPLAIN SELECT 1',
    'EXPLAIN ANALYZE EXPLAIN SELECT 1',
    'EXPLAIN '.repeat(5_000),
    `${'EXPLAIN '.repeat(5_000)}SELECT 1`,
  ]) {
    const { status, body } = await send(at.url, 'POST', '/api/sql/query', { query })
    expect({ status, body }).toMatchObject({ status: 200, body: { type: 'error' } })
  }
})

test('the document says which parameters a request needs, and what other media types are', async () => {
  const { paths } = await document()
  const query = (path: string) => Object.fromEntries((paths[path]?.['get']?.parameters ?? []).map(({ name, required }) => [name, required]))
  expect(query('/api/log/proofs/consistency')).toMatchObject({ from: true, to: false })
  expect(query('/api/log/proofs/inclusion')).toMatchObject({ position: true, size: false })
})

test('a request that leaves out its query is refused exactly where the document requires a parameter', async () => {
  const { paths } = await document()
  for (const [path, operations] of Object.entries(paths))
    for (const [method, { parameters = [] }] of Object.entries(operations)) {
      // A stream ends only where it is told to.
      const address = path.replaceAll(/\{\w+\}/g, 'none') + (path.endsWith('/stream') ? '?until=1' : '')
      const { body } = await send(at.url, method.toUpperCase(), address)
      const missing = /^the query parameter (\w+) is missing/.exec((body as { detail?: string } | null)?.detail ?? '')?.[1]
      const required = parameters.find((parameter) => parameter.in === 'query' && parameter.required)?.name
      expect({ method, path, missing }).toEqual({ method, path, missing: required })
    }
})
