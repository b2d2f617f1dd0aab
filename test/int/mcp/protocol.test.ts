import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import { request } from 'node:http'
import { generations } from '../../support/mcp.js'
import { send, startTestService, type Reply } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
})
afterAll(() => at.stop())

const accept = { accept: 'application/json, text/event-stream' }
const post = (body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  send(at.url, 'POST', '/mcp', body, { ...accept, ...headers })

/** The messages of an answer, which may be server-sent events. */
const messagesOf = ({ body }: Reply): Record<string, unknown>[] =>
  typeof body === 'string'
    ? [...body.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data) as Record<string, unknown>)
    : [body as Record<string, unknown>]

const call = (name: string, args: unknown, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

/** The status of a request with headers that fetch does not let one choose. */
const statusWith = (headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(at.url)
    const sent = request(
      { hostname, port, path: '/mcp', method: 'POST', headers: { ...accept, 'content-type': 'application/json', ...headers } },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    sent.once('error', reject)
    sent.end(JSON.stringify(call('list', { kind: 'projects' })))
  })

test('a name that was rebound to this machine is refused, and so is a web page of another host', async () => {
  expect(await statusWith({ host: 'localhost' })).toBe(200)
  expect(await statusWith({ host: 'attacker.example' })).toBe(421)
  expect(await statusWith({ origin: 'http://attacker.example' })).toBe(403)
  expect(await statusWith({ origin: at.url })).toBe(200)
})

test('the address is the same with the prefix of the API', async () => {
  const reply = await send(at.url, 'POST', '/api/mcp', call('list', { kind: 'projects' }), accept)
  expect(messagesOf(reply)[0]).toMatchObject({ id: 1, result: { structuredContent: { items: [{ name: 'mindsdb' }] } } })
})

test('each answer has the request id, which the log line and the events have', async () => {
  const reply = await post(call('query', {}), { 'x-request-id': 'mine' })
  expect(reply.headers.get('x-request-id')).toBe('mine')
  expect(messagesOf(reply)[0]).toMatchObject({ result: { isError: true, _meta: { 'mindledger/problem': { request: 'mine' } } } })
})

test('requests are counted under their route', async () => {
  await post(call('list', { kind: 'projects' }))
  expect((await send(at.url, 'GET', '/api/metrics')).body).toMatch(
    /^mindledger_http_requests_total\{.*route="\/mcp".*status="200".*\} \d+$/m,
  )
})

test.each([
  ['text that is not JSON', '{"jsonrpc":', 400, -32_700],
  ['an empty batch', [], 400, -32_600],
  ['a number', 7, 400, -32_600],
  ['null', 'null', 400, -32_600],
  ['no JSON-RPC', { method: 'tools/list', id: 1 }, 400, -32_600],
  ['another JSON-RPC', { jsonrpc: '1.0', method: 'tools/list', id: 1 }, 400, -32_600],
  ['a batch that is too long', Array.from({ length: 21 }, (_, i) => ({ jsonrpc: '2.0', id: i, method: 'ping' })), 413, -32_000],
  ['a body that is too large', JSON.stringify(call('query', { sql: 'x'.repeat(11 * 1024 * 1024) })), 413, -32_000],
  ['a body that is nested too deeply', `${'['.repeat(200)}${']'.repeat(200)}`, 400, -32_600],
])('%s is an error of JSON-RPC', async (_, body, status, code) => {
  const reply = await post(body)
  expect([reply.status, reply.type]).toEqual([status, expect.stringContaining('application/json')])
  expect(reply.body).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.any(String) } })
})

test('another media type, another method and a subscription are refused', async () => {
  expect((await post('a=1', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415)
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const reply = await send(at.url, method, '/mcp', undefined, accept)
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST'])
  }
  const listening = await post({ jsonrpc: '2.0', id: 4, method: 'subscriptions/listen', params: {} })
  expect([listening.status, listening.body]).toEqual([
    404,
    expect.objectContaining({ id: 4, error: expect.objectContaining({ code: -32601 }) }),
  ])
})

test('a method that is not there is an error of the protocol', async () => {
  expect(messagesOf(await post({ jsonrpc: '2.0', id: 'x', method: 'tools/burn' }))[0]).toMatchObject({ id: 'x', error: { code: -32601 } })
})

test('a session that nobody began is none: every message is answered by itself', async () => {
  const reply = await post(call('list', { kind: 'projects' }), { 'mcp-session-id': 'nobody-began-this' })
  expect([reply.status, messagesOf(reply)[0]]).toEqual([200, expect.objectContaining({ id: 1, result: expect.anything() })])
})

test('a batch is answered message by message', async () => {
  const reply = await post([
    call('list', { kind: 'projects' }, 1),
    call('nothing', {}, 2),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  ])
  const messages = messagesOf(reply).sort((a, b) => Number(a['id']) - Number(b['id']))
  expect(messages).toMatchObject([
    { id: 1, result: { structuredContent: { items: [{ name: 'mindsdb' }] } } },
    { id: 2, error: { code: -32602 } },
  ])
})

test('a dry run in a header is refused, which the tool does instead', async () => {
  expect((await post(call('query', { sql: 'SELECT 1' }), { prefer: 'dry-run' })).status).toBe(400)
})

test('with a login, every generation of clients needs one', async () => {
  const guarded = await startTestService({ AUTH: 'session', AUTH_PASSWORD: 'secret' })
  try {
    const { token } = (await send(guarded.url, 'POST', '/api/login', { username: 'mindledger', password: 'secret' })).body as {
      token: string
    }
    for (const { connect } of generations) {
      await expect(connect(guarded.url)).rejects.toThrow()
      const client = await connect(guarded.url, { authorization: `Bearer ${token}` })
      expect((await client.call('list', { kind: 'projects' })).isError).toBe(false)
      await client.close()
    }
    expect((await send(guarded.url, 'POST', '/mcp', call('list', { kind: 'projects' }), accept)).status).toBe(401)
  } finally {
    await guarded.stop()
  }
})

const methods = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'server/discover',
  'logging/setLevel',
  'notifications/cancelled',
  'completion/complete',
  'prompts/get',
]
const tools = ['query', 'list', 'describe', 'history', 'predict', 'dry_run', '__proto__', 'constructor']
const uris = ['mindledger://schemas/files', 'mindledger://schemas/%zz', 'mindledger://schemas/a/b/c', 'x:', 'file:///etc/passwd']
const odd = fc.oneof(
  fc.json().map((text) => JSON.parse(text) as unknown),
  fc.constantFrom(...tools, ...uris, 0, -1, 1e308, null, '\ud800'),
)
const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'f', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const args = fc.record(
  { sql: odd, kind: odd, name: odd, in: odd, model: odd, rows: odd, limit: odd, after: odd, as_of: odd, params: odd },
  { requiredKeys: [] },
)
const params = fc.record(
  {
    name: fc.oneof(fc.constantFrom(...tools), odd),
    arguments: fc.oneof(args, odd),
    uri: fc.oneof(fc.constantFrom(...uris), odd),
    _meta: fc.oneof(fc.constant(modern), odd),
    requestId: odd,
    protocolVersion: odd,
  },
  { requiredKeys: [] },
)
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: odd }),
    id: fc.oneof(fc.nat(), odd),
    method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...methods) }, { weight: 1, arbitrary: odd }),
    params: fc.oneof({ weight: 9, arbitrary: params }, { weight: 1, arbitrary: odd }),
  },
  { requiredKeys: [] },
)
const headers = fc.record(
  {
    'mcp-protocol-version': fc.constantFrom('2026-07-28', '2025-06-18', 'x'),
    'mcp-method': fc.constantFrom(...methods),
    'mcp-name': fc.constantFrom(...tools, ...uris, '=?base64?!?='),
    'mcp-session-id': fc.constantFrom('a', 'b'),
  },
  { requiredKeys: [] },
)

test('whatever is sent, the answer is below 500, and nothing is written', async () => {
  const body = fc.oneof(
    { weight: 6, arbitrary: message },
    { weight: 1, arbitrary: fc.array(message, { maxLength: 4 }) },
    { weight: 1, arbitrary: odd },
  )
  const { position } = await at.service.head()
  await fc.assert(
    fc.asyncProperty(body, headers, async (sent, more) => {
      const reply = await post(JSON.stringify(sent), more)
      expect(reply.status).toBeLessThan(500)
      for (const answer of reply.status === 202 ? [] : messagesOf(reply)) expect(answer).toMatchObject({ jsonrpc: '2.0' })
    }),
    { numRuns: 400 },
  )
  expect((await at.service.head()).position).toBe(position)
})
