import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { fc } from '../../../support/random/properties.js'
import { request } from 'node:http'
import { codePoint } from '../../../support/random/code-points.js'
import { countOf } from '../../../support/counts.js'
import { send, sql, startTestService, type Reply } from '../../../support/service.js'
import { trainRent, uploadRentals } from '../../../support/models/rentals.js'
import { problemCatalogue } from '../../../../src/basics/errors.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await trainRent(at.url)
  await send(at.url, 'POST', '/api/databases', { database: { name: 'slack', engine: 'slack' } })
  await send(at.url, 'POST', '/api/projects/mindsdb/skills', { skill: { name: 's', type: 'sql', params: {} } })
  await send(at.url, 'POST', '/api/projects/mindsdb/agents', { agent: { name: 'a', model_name: 'gpt-4o', skills: ['s'] } })
  await send(at.url, 'POST', '/api/projects/mindsdb/chatbots', { chatbot: { name: 'c', agent_name: 'a', database_name: 'slack' } })
  await send(at.url, 'POST', '/api/projects/mindsdb/views', { view: { name: 'v', query: 'SELECT 1 AS one' } })
})
afterAll(() => at.stop())

const head = async () => (await at.service.head()).position

const expectProblem = ({ status, type, body }: Reply, what: string) => {
  const problem = body as Record<string, unknown>
  expect({ what, type, status: problem['status'], code: problem['code'] }).toEqual({
    what,
    type: expect.stringMatching(/^application\/problem\+json/),
    status,
    code: expect.stringMatching(new RegExp(`^(${Object.keys(problemCatalogue).join('|')})$`)),
  })
  expect(problem).toMatchObject({ title: expect.any(String), detail: expect.any(String) })
  expect(problem['timestamp']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/)
  expect(status).toBeGreaterThanOrEqual(400)
  expect(status).toBeLessThan(500)
}

/** Refused in the one shape, nothing recorded, and the service goes on. */
const expectRefused = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const before = await head()
  const reply = await send(at.url, method, path, body, headers)
  const what = `${method} ${path.slice(0, 80)} ${typeof body === 'string' ? body.slice(0, 80) : JSON.stringify(body ?? null).slice(0, 80)}`
  expectProblem(reply, what)
  expect({ what, head: await head() }).toEqual({ what, head: before })
  return reply.body as { title: string; detail: string; code: string; hint?: string; status: number }
}

/** Every place that takes a body, and the key that wraps it. */
const writes: readonly (readonly [method: string, path: string, wrapper: string | null])[] = [
  ['POST', '/api/projects', 'project'],
  ['POST', '/api/projects/mindsdb/skills', 'skill'],
  ['PUT', '/api/projects/mindsdb/skills/s', 'skill'],
  ['PUT', '/api/projects/mindsdb/skills/absent', 'skill'],
  ['POST', '/api/projects/mindsdb/agents', 'agent'],
  ['PUT', '/api/projects/mindsdb/agents/a', 'agent'],
  ['POST', '/api/projects/mindsdb/chatbots', 'chatbot'],
  ['PUT', '/api/projects/mindsdb/chatbots/c', 'chatbot'],
  ['PUT', '/api/projects/mindsdb/chatbots/absent', 'chatbot'],
  ['POST', '/api/projects/mindsdb/views', 'view'],
  ['PUT', '/api/projects/mindsdb/views/v', 'view'],
  ['POST', '/api/databases', 'database'],
  ['PUT', '/api/databases/slack', 'database'],
  ['PUT', '/api/databases/absent', 'database'],
  ['POST', '/api/projects/mindsdb/models', null],
  ['POST', '/api/projects/mindsdb/models/rent/predict', null],
  ['POST', '/api/sql/query', null],
  ['POST', '/api/databases/files/tables', 'table'],
  ['POST', '/api/databases/status', null],
  ['PUT', '/api/config', null],
]

const broken = [
  '{"skill":',
  '{',
  ']',
  'nope',
  '{"a":1}}',
  "{'a':1}",
  '\u0000',
  '{"x":NaN}',
  '{"x":Infinity}',
  '[1,]',
  `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
]
const shapeless = ['null', '5', '"text"', 'true', '{}', '{"other":{}}', `${'['.repeat(5_000)}${']'.repeat(5_000)}`]

test('a body that is not JSON, or not of JSON type, is refused by every route that takes one', async () => {
  for (const [method, path] of writes) {
    for (const body of broken) await expectRefused(method, path, body)
    for (const body of shapeless) await expectRefused(method, path, body)
    await expectRefused(method, path)
    await expectRefused(method, path, '')
    for (const type of [
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=latin1',
    ])
      await expectRefused(method, path, '{"skill":{"name":"x","type":"t","params":{}}}', { 'content-type': type })
    await expectRefused(method, path, '{}', { 'content-encoding': 'br' })
    await expectRefused(method, path, '{}', { 'content-encoding': 'gzip' })
    await expectRefused(method, path, '{}', { 'content-encoding': 'rot13' })
  }
})

test('a wrapper that holds no object is refused', async () => {
  for (const [method, path, wrapper] of writes)
    if (wrapper !== null)
      for (const value of ['null', '[]', '5', '"text"', '[{}]', 'true', '[{"name":"x","type":"t","params":{}}]'])
        expect(await expectRefused(method, path, `{"${wrapper}":${value}}`)).toMatchObject({
          code: 'missing_parameter',
          title: wrapper === 'view' || wrapper === 'database' ? 'Wrong argument' : 'Missing parameter',
        })
})

test('a missing field, and an unknown engine, have the titles of MindsDB', async () => {
  const query = "CREATE MODEL mindsdb.m FROM files (SELECT 1 AS a) PREDICT a USING engine = 'none'"
  for (const [path, body, code, title] of [
    ['/api/databases', { database: { engine: 'slack' } }, 'missing_field', 'Wrong argument'],
    ['/api/projects/mindsdb/views', { view: { name: 'v' } }, 'missing_field', 'Wrong argument'],
    ['/api/projects/mindsdb/skills', { skill: { name: 's' } }, 'missing_field', 'Missing field'],
    ['/api/projects/mindsdb/models', { query }, 'not_found', 'ML handler not found'],
  ] as const)
    expect(await expectRefused('POST', path, body)).toMatchObject({ code, title })
})

test('a body beyond the limit is refused with 413', async () => {
  for (const [method, path, wrapper] of writes) {
    const body = `{"${wrapper ?? 'query'}":{"name":"${'x'.repeat(10 * 1024 * 1024)}"}}`
    expect(await expectRefused(method, path, body)).toMatchObject({ code: 'too_large', status: 413 })
  }
})

const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)

/** JSON texts that no place of a record may take. */
const poison: Record<string, string> = {
  'a lone surrogate': String.raw`"\ud800"`,
  'a lone surrogate inside': String.raw`"a\udc00b"`,
  NUL: String.raw`"a\u0000b"`,
  'a surrogate as key': String.raw`{"\ud800":1}`,
  'NUL as key': String.raw`{"\u0000":1}`,
  'a prototype': '{"__proto__":{"admin":true}}',
  'an infinite number': '1e400',
  'a nest': JSON.stringify(deep(80)),
}

test('surrogates, NUL, infinite numbers, __proto__ and deep nests are refused wherever they stand in params', async () => {
  const places: readonly (readonly [string, string, (poison: string) => string])[] = [
    ['POST', '/api/projects/mindsdb/skills', (x) => `{"skill":{"name":"n","type":"t","params":{"k":${x}}}}`],
    ['PUT', '/api/projects/mindsdb/skills/s', (x) => `{"skill":{"params":{"k":[${x}]}}}`],
    ['POST', '/api/projects/mindsdb/agents', (x) => `{"agent":{"name":"n","model_name":"m","params":{"k":${x}}}}`],
    ['POST', '/api/projects/mindsdb/agents', (x) => `{"agent":{"name":"n","model":{"k":${x}}}}`],
    ['POST', '/api/projects/mindsdb/agents', (x) => `{"agent":{"name":"n","data":{"k":${x}}}}`],
    ['POST', '/api/projects/mindsdb/agents', (x) => `{"agent":{"name":"n","skills":[{"name":"s","k":${x}}]}}`],
    ['PUT', '/api/projects/mindsdb/agents/a', (x) => `{"agent":{"skills_to_add":[{"name":"s","k":${x}}]}}`],
    [
      'POST',
      '/api/projects/mindsdb/chatbots',
      (x) => `{"chatbot":{"name":"n","agent_name":"a","database_name":"slack","params":{"k":${x}}}}`,
    ],
    [
      'POST',
      '/api/projects/mindsdb/chatbots',
      (x) => `{"chatbot":{"name":"n","agent_name":"a","db_engine":"slack","db_params":{"k":${x}}}}`,
    ],
    ['POST', '/api/databases', (x) => `{"database":{"name":"n","engine":"slack","parameters":{"k":${x}}}}`],
    ['PUT', '/api/databases/slack', (x) => `{"database":{"parameters":{"k":${x}}}}`],
    ['POST', '/api/projects/mindsdb/models/rent/predict', (x) => `{"data":[{"location":${x}}]}`],
    ['POST', '/api/projects/mindsdb/models/rent/predict', (x) => `[{"location":${x}}]`],
  ]
  for (const [method, path, body] of places) for (const text of Object.values(poison)) await expectRefused(method, path, body(text))
})

test('a name that is no name is refused in every body', async () => {
  const names = [
    '',
    ' ',
    ' x',
    'x ',
    '.',
    '..',
    'a/b',
    'a\\b',
    '../x',
    'a\nb',
    'a\tb',
    '\u0000',
    'x'.repeat(256),
    '\ud800',
    '__proto__',
    5,
    null,
    {},
    ['x'],
    true,
  ]
  for (const name of names) {
    await expectRefused('POST', '/api/projects', { project: { name } })
    await expectRefused('POST', '/api/projects/mindsdb/skills', { skill: { name, type: 't', params: {} } })
    await expectRefused('POST', '/api/projects/mindsdb/agents', { agent: { name, model_name: 'm' } })
    await expectRefused('POST', '/api/projects/mindsdb/chatbots', { chatbot: { name, agent_name: 'a', database_name: 'slack' } })
    await expectRefused('POST', '/api/projects/mindsdb/chatbots', { chatbot: { name, agent_name: 'a', db_engine: 'slack', db_params: {} } })
    await expectRefused('POST', '/api/projects/mindsdb/views', { view: { name, query: 'SELECT 1' } })
    await expectRefused('POST', '/api/databases', { database: { name, engine: 'slack' } })
    if (name === null) continue
    await expectRefused('PUT', '/api/projects/mindsdb/skills/s', { skill: { name } })
    await expectRefused('PUT', '/api/projects/mindsdb/agents/a', { agent: { name } })
    await expectRefused('PUT', '/api/projects/mindsdb/chatbots/c', { chatbot: { name } })
  }
})

test('a field of the wrong type is refused by its name', async () => {
  const wrongs: readonly (readonly [string, string, unknown, RegExp])[] = [
    ['POST', '/api/projects/mindsdb/skills', { skill: { name: 'n', type: 5, params: {} } }, /type/],
    ['POST', '/api/projects/mindsdb/skills', { skill: { name: 'n', type: 't', params: [] } }, /params/],
    ['POST', '/api/projects/mindsdb/skills', { skill: { name: 'n', type: 't', params: 'x' } }, /params/],
    ['PUT', '/api/projects/mindsdb/skills/s', { skill: { params: [1] } }, /params/],
    ['POST', '/api/projects/mindsdb/agents', { agent: { name: 'n', model: 5 } }, /model/],
    ['POST', '/api/projects/mindsdb/agents', { agent: { name: 'n', skills: 's' } }, /skills/],
    ['POST', '/api/projects/mindsdb/agents', { agent: { name: 'n', skills: [5] } }, /skills\.0/],
    ['POST', '/api/projects/mindsdb/agents', { agent: { name: 'n', skills: [{}] } }, /skills\.0/],
    ['POST', '/api/projects/mindsdb/agents', { agent: { name: 'n', data: [] } }, /data/],
    ['PUT', '/api/projects/mindsdb/agents/a', { agent: { skills_to_remove: 's' } }, /skills_to_remove/],
    ['PUT', '/api/projects/mindsdb/agents/a', { agent: { prompt_template: {} } }, /prompt_template/],
    ['PUT', '/api/projects/mindsdb/chatbots/c', { chatbot: { is_running: 'yes' } }, /is_running/],
    ['PUT', '/api/projects/mindsdb/chatbots/c', { chatbot: { database_id: 1.5 } }, /database_id/],
    ['PUT', '/api/projects/mindsdb/chatbots/c', { chatbot: { params: 1 } }, /params/],
    ['PUT', '/api/databases/slack', { database: { parameters: [] } }, /parameters/],
    ['POST', '/api/databases', { database: { name: 'n', engine: {} } }, /engine/],
    ['POST', '/api/databases', { database: { name: 'n', engine: 'no_such' } }, /no_such/],
    ['POST', '/api/databases', { database: { name: 'n', engine: 'slack' }, check_connection: 'yes' }, /check_connection/],
    ['POST', '/api/databases/status', { engine: 'no_such' }, /no_such/],
    ['POST', '/api/databases/status', { engine: 5 }, /engine/],
    ['POST', '/api/databases/files/tables', { table: { name: 'n', select: 5 } }, /select/],
    ['POST', '/api/databases/files/tables', { table: { name: 'n', select: 'SELECT 1', replace: 'yes' } }, /replace/],
    ['POST', '/api/databases/files/tables', { table: { name: 'n', select: 'SELECT 1; DROP PROJECT mindsdb' } }, /one statement/],
    ['POST', '/api/databases/files/tables', { table: { name: 'a.b', select: 'SELECT 1' } }, /./],
    ['PUT', '/api/config', { default_llm: 'gpt-4o' }, /default_llm/],
    ['POST', '/api/projects/mindsdb/views', { view: { name: 'n', query: 5 } }, /query/],
    ['POST', '/api/projects/mindsdb/views', { view: { name: 'n', query: 'DROP PROJECT mindsdb' } }, /view/],
    ['POST', '/api/projects/mindsdb/views', { view: { name: 'n', query: 'SELECT nothing FROM files.rentals' } }, /nothing/],
    ['POST', '/api/projects/mindsdb/views', { view: { name: 'n', query: 'SELECT' } }, /SELECT/],
    ['POST', '/api/projects/mindsdb/models', { query: 5 }, /query/],
    ['POST', '/api/projects/mindsdb/models', { query: 'SELECT 1' }, /CREATE MODEL/],
    ['POST', '/api/projects/mindsdb/models', { query: 'CREATE MODEL' }, /./],
    ['POST', '/api/projects/mindsdb/models', { query: `CREATE MODEL nope.m FROM files (SELECT * FROM rentals) PREDICT rooms` }, /nope/],
    ['POST', '/api/sql/query', { query: 5 }, /query/],
    ['POST', '/api/sql/query', { query: 'SELECT 1', context: [] }, /context/],
    ['POST', '/api/sql/query', { query: 'SELECT 1', context: { db: 5 } }, /db/],
    ['POST', '/api/sql/query', { query: 'SELECT 1', params: 5 }, /params/],
    ['POST', '/api/sql/query', { query: 'SELECT 1', response_format: 'xml' }, /response_format/],
  ]
  for (const [method, path, body, detail] of wrongs) expect((await expectRefused(method, path, body)).detail).toMatch(detail)
})

test('predict names the row and the column that do not fit', async () => {
  const path = '/api/projects/mindsdb/models/rent/predict'
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [[{ sqft: 900 }, { sqft: 'abc' }], /row 1, column "sqft"/i],
    [{ data: [{ sqft: 900 }, { sqft: {} }] }, /row 1, column "sqft"/i],
    [{ data: [{ nonsense: 1 }] }, /row 0.*nonsense/i],
    [{ data: [5] }, /row 0/i],
    [{ data: [null] }, /row 0/i],
    [[[1]], /row 0/i],
    [{ data: 5 }, /data/],
    [{ data: null }, /data/],
    [{ data: 'nope' }, /data/],
    [{ data: { sqft: 900 } }, /data\.sqft/],
    [{ data: { sqft: [1, 2], rooms: [1] } }, /data\.rooms/],
    [{ data: [{ sqft: 1 }], params: { confidence: 5 } }, /confidence/],
    [{ data: [{ sqft: 1 }], params: 5 }, /params/],
    [Array.from({ length: 10_001 }, () => ({ sqft: 1 })), /10000/],
  ]
  for (const [body, detail] of rows) expect((await expectRefused('POST', path, body)).detail).toMatch(detail)
  await expectRefused('POST', path, '[{"sqft":1e400}]')
})

const oddSegments = [
  '%ff',
  '%',
  '%zz',
  '..%2f',
  '%2f',
  '%00',
  'a%00b',
  '%ed%a0%80',
  'x'.repeat(300),
  '__proto__',
  'constructor',
  '%20',
  '1e400',
  '-1',
  '0',
  '99999999999999999999',
  "'%20OR%201=1",
  '%5c',
  '%0a',
  '🤖',
  encodeURIComponent('e\u0301'),
]

test('every route answers an odd path with one shape, never 500', async () => {
  const paths = [
    '/api/projects/X',
    '/api/projects/X/skills',
    '/api/projects/mindsdb/skills/X',
    '/api/projects/X/agents',
    '/api/projects/mindsdb/agents/X',
    '/api/projects/X/chatbots',
    '/api/projects/mindsdb/chatbots/X',
    '/api/projects/X/models',
    '/api/projects/mindsdb/models/X',
    '/api/projects/mindsdb/models/X/describe',
    '/api/projects/X/views',
    '/api/projects/mindsdb/views/X',
    '/api/files/X',
    '/api/databases/X',
    '/api/databases/X/tables',
    '/api/databases/files/tables/X',
    '/api/tree/X',
    '/api/handlers/X',
    '/api/X',
    '/api/projects/mindsdb/skills?agent=X',
  ]
  for (const path of paths) for (const segment of oddSegments) await expectRefused('GET', path.replace('X', segment))
  const deletions = [
    '/api/projects/X',
    '/api/projects/mindsdb/skills/X',
    '/api/projects/mindsdb/agents/X',
    '/api/projects/mindsdb/agent/X',
    '/api/projects/mindsdb/chatbots/X',
    '/api/projects/mindsdb/models/X',
    '/api/projects/mindsdb/views/X',
    '/api/files/X',
    '/api/databases/X',
    '/api/databases/files/tables/X',
  ]
  for (const path of deletions) for (const segment of oddSegments) await expectRefused('DELETE', path.replace('X', segment))
})

test('PUT under an odd name is refused, or kept under exactly that name', async () => {
  const bodies = {
    skills: { skill: { type: 't', params: {} } },
    chatbots: { chatbot: { agent_name: 'a', database_name: 'slack' } },
    views: { view: { query: 'SELECT 1 AS one' } },
  }
  for (const [kind, body] of Object.entries(bodies))
    for (const segment of ['%ff', '%', '..%2f', '%2f', 'a%00b', '%ed%a0%80', 'x'.repeat(300), '__proto__', '%20', ' ', '%5c', '%0a'])
      await expectRefused('PUT', `/api/projects/mindsdb/${kind}/${segment}`, body)
  for (const name of ['naïve', '🤖', "o'clock", 'a.b', 'constructor', 'Ünï', 'x'.repeat(255), '%', 'select', '"q"', '`b`', '0']) {
    const path = `/api/projects/mindsdb/skills/${encodeURIComponent(name)}`
    expect(await send(at.url, 'PUT', path, bodies.skills)).toMatchObject({ status: 201, body: { name } })
    expect(await send(at.url, 'GET', path)).toMatchObject({ status: 200, body: { name } })
    expect((await send(at.url, 'DELETE', path)).status).toBe(204)
  }
})

test('dots in a path are what they are, not steps', async () => {
  const { hostname, port } = new URL(at.url)
  const status = (path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const raw = request({ hostname, port, path }, (res) => res.resume().on('end', () => resolve(res.statusCode)))
      raw.on('error', reject).end()
    })
  for (const path of [
    '/api/projects/%2e%2e',
    '/api/projects/..',
    '/api/projects/../../etc/passwd',
    '/api/files/%2e%2e%2flog.sqlite',
    '//api/projects',
    '/api//projects/mindsdb',
  ])
    expect({ path, status: await status(path) }).toEqual({ path, status: 404 })
})

test('the wrong method, an unknown path and odd headers are refused in the same shape', async () => {
  expect(await expectRefused('GET', '/api/nope')).toMatchObject({ status: 404, title: 'Not found' })
  expect(await expectRefused('POST', '/api/nope', {})).toMatchObject({ status: 405 })
  expect(await expectRefused('POST', '/cloud/login', { email: 'x', password: 'y' })).toMatchObject({ status: 405 })
  expect(await expectRefused('PATCH', '/api/projects', {})).toMatchObject({ status: 405 })
  expect(await expectRefused('DELETE', '/api/projects')).toMatchObject({ status: 405 })
  for (const header of ['idempotency-key', 'x-correlation-id', 'x-causation-id'])
    for (const value of ['a b', 'x'.repeat(201), 'é'])
      await expectRefused('POST', '/api/projects/mindsdb/skills', { skill: { name: 'h', type: 't', params: {} } }, { [header]: value })
})

test('with a key, a body that is nested too deeply is refused as a whole, also in members that nobody reads', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  for (const [path, body] of [
    ['/api/projects', `{"project":{"name":"deep"},"x":${deep}}`],
    ['/api/sql/query', `{"query":"CREATE PROJECT deep","x":${deep}}`],
  ] as const)
    expect(await expectRefused('POST', path, body, { 'idempotency-key': 'deep' })).toMatchObject({ status: 400 })
})

test('a body without a length that is not JSON is refused for its type', async () => {
  const { hostname, port } = new URL(at.url)
  const headers = { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' }
  const status = await new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method: 'POST', path: '/api/projects', headers }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode))
    })
    sent.on('error', reject)
    sent.end('{"project":{"name":"x"}}')
  })
  expect(status).toBe(415)
})

test('a query parameter that is given twice, or as an object, is refused', async () => {
  for (const query of ['agent=a&agent=b', 'agent=%ff%fe%00', 'agent=']) await expectRefused('GET', `/api/projects/mindsdb/skills?${query}`)
  for (const key of ['agent[]', 'agent%5B%5D', 'agent[name]'])
    expect(await expectRefused('GET', `/api/projects/mindsdb/skills?${key}=a`)).toMatchObject({
      status: 400,
      detail: expect.stringContaining('the query parameter agent must be given once'),
    })
  await expectRefused('PUT', '/api/files/z?on_bad_rows=maybe', 'a\n1\n', { 'content-type': 'text/csv' })
})

test('a request that breaks off leaves nothing behind', async () => {
  const before = await head()
  const { hostname, port } = new URL(at.url)
  await new Promise<void>((resolve) => {
    const cut = request({
      hostname,
      port,
      method: 'POST',
      path: '/api/projects/mindsdb/skills',
      headers: { 'content-type': 'application/json', 'content-length': 1000 },
    })
    cut.on('error', () => resolve())
    cut.write('{"skill":', () => cut.destroy(new Error('gone')))
  })
  expect(await head()).toBe(before)
  expect((await send(at.url, 'GET', '/api/projects')).status).toBe(200)
})

test('a predict that comes before the model is ready is told so, with 409', async () => {
  // It takes so long that it is still under way when all is said of it; then it is cancelled.
  const columns = 'a.sqft + b.rooms AS sqft, a.location, b.sqft AS rooms, a.rental_price + b.sqft AS rental_price'
  const rows = `SELECT ${columns} FROM rentals AS a, rentals AS b`
  const created = await send(at.url, 'POST', '/api/projects/mindsdb/models', {
    query: `CREATE MODEL mindsdb.slow FROM files (${rows}) PREDICT rental_price USING engine = 'auto', preset = 'best'`,
  })
  expect(created).toMatchObject({ status: 201, body: { name: 'slow', version: 1, status: 'generating' } })
  const early = await send(at.url, 'POST', '/api/projects/mindsdb/models/slow/predict', [{ sqft: 900 }])
  expectProblem(early, 'predict')
  expect(early).toMatchObject({ status: 409, body: { code: 'not_ready', model_status: expect.stringMatching(/^(generating|training)$/) } })
  for (;;) {
    const { status, body } = await send(at.url, 'POST', '/api/projects/mindsdb/models/slow/predict', [{ sqft: 900 }])
    const { error_message: said = '' } = await sql(at.url, 'SELECT rental_price FROM slow WHERE sqft = 900')
    if (status === 409 && 'progress' in (body as object) && said.includes('phase')) {
      expect(body).toMatchObject({ model_status: 'training', progress: { phase: expect.any(String), done: expect.any(Number) } })
      expect(said).toMatch(/its status is training[^]*It is at phase \w+, \d+ of \d+\./)
      break
    }
    // Without a word on how far it was the training must not have ended.
    expect({ status, said }).toEqual({ status: 409, said: expect.stringMatching(/is not ready: its status is (generating|training)/) })
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const cancelled = await send(at.url, 'POST', '/api/projects/mindsdb/models/slow/cancel')
  expect(cancelled).toMatchObject({ status: 200, body: { name: 'slow', status: 'error' } })
})

test('the service still works after all this', async () => {
  await uploadRentals(at.url, 'again')
  expect(await sql(at.url, 'SELECT count(*) AS n FROM files.again')).toMatchObject({ type: 'table', data: [[240]] })
})

const json = fc.jsonValue({ maxDepth: 4 })
const nasty = fc.oneof(
  json,
  fc.string({ unit: codePoint }),
  fc.constantFrom(null, '', '__proto__', '\ud800', 0, -1, 1e308, [], {}, '******', { $secret: 'x' }, 'x'.repeat(300)),
)

test('no body at all makes a route fail', async () => {
  const keys = [
    'name',
    'type',
    'params',
    'model',
    'model_name',
    'provider',
    'skills',
    'skills_to_add',
    'skills_to_remove',
    'data',
    'prompt_template',
    'agent_name',
    'database_id',
    'database_name',
    'db_engine',
    'db_params',
    'is_running',
    'engine',
    'parameters',
    'query',
    'context',
    'response_format',
  ]
  const inner = fc.dictionary(fc.constantFrom(...keys), nasty, { maxKeys: 6 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...writes), fc.oneof(inner, nasty), fc.boolean(), async ([method, path, wrapper], value, wrapped) => {
      const body = JSON.stringify(wrapped && wrapper !== null ? { [wrapper]: value } : value)
      const before = await head()
      const reply = await send(at.url, method, path, body)
      expect({ method, path, body, status: reply.status, reply: reply.body, fault: reply.status >= 500 }).toMatchObject({ fault: false })
      if (reply.status < 400) return
      expectProblem(reply, `${method} ${path} ${body}`)
      expect(await head()).toBe(before)
    }),
    { numRuns: countOf('FUZZ_RUNS') },
  )
})
