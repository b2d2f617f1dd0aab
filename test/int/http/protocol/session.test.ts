import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { bytesOf, filesUnder } from '../../../support/observe/traces.js'
import { send, startTestService, temporaryDirectory } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const elsewhere = temporaryDirectory()
const written = { HEAD_FILE: join(elsewhere.path, 'heads.txt'), EXPORT_DIR: join(elsewhere.path, 'history') }
let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService({ AUTH: 'session', AUTH_USERNAME: 'ada', AUTH_PASSWORD: 'correct horse', ...written })
  // A busy machine may take its time until SQL is answered.
  await until(async () => (await send(at.url, 'GET', '/api/ready')).status === 200)
})
afterAll(async () => {
  await at.stop()
  elsewhere.remove()
})

const login = (body: object) => send(at.url, 'POST', '/api/login', body)
const tokenOf = async () => ((await login({ username: 'ada', password: 'correct horse' })).body as { token: string }).token
type Document = { paths: Record<string, Record<string, unknown>> }

const open = [
  '/',
  '/api/',
  '/api/login',
  '/api/logout',
  '/api/status',
  '/api/status/',
  '/api/health',
  '/api/ready',
  '/api/util/ping',
  '/api/util/readiness',
  '/api/openapi.json',
]
/** Each of its requests is signed instead. */
const signed = '/api/webhooks/chatbots/{token}'

test('every served address but the open ones answers 401 without a session', async () => {
  const document = (await send(at.url, 'GET', '/api/openapi.json')).body as Document
  const served = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
  )
  expect(served.length).toBeGreaterThan(30)
  const { position } = await at.service.head()
  for (const [method, path] of served) {
    if (open.includes(path) || path === signed) continue
    for (const address of [
      path,
      path.replace('/api', ''),
      path.replace('/api', '/api/v1/api'),
      `${path}/`,
      path.toUpperCase().replace('/API', '/api'),
    ]) {
      const reply = await send(at.url, method, address.replaceAll(/\{\w+\}/gi, 'x'), method === 'GET' ? undefined : {})
      // Clients of a stream read nothing but events.
      const isStream = /\/completions\/stream\/?$/i.test(address)
      expect({ method, address, status: reply.status, type: reply.type, body: reply.body }).toMatchObject({
        status: 401,
        type: expect.stringContaining(isStream ? 'text/event-stream' : 'application/problem+json'),
        body: isStream ? expect.stringContaining('"code":"unauthorized"') : { title: 'Unauthorized', code: 'unauthorized' },
      })
    }
  }
  for (const path of ['/api/tree', '/api/config', '/api/nope', '/api/login/x', '/api/status/x', '/api//projects', '/api/cloud/../projects'])
    expect({ path, status: (await send(at.url, 'GET', path)).status }).toEqual({ path, status: 401 })
  expect((await at.service.head()).position).toBe(position)
})

test('the open addresses answer without a session', async () => {
  for (const path of open.filter((path) => !/log(in|out)$/.test(path)))
    expect({ path, status: (await send(at.url, 'GET', path)).status }).toEqual({ path, status: 200 })
  expect(await send(at.url, 'POST', signed, {})).toMatchObject({ status: 404, body: { title: 'Webhook not found' } })
  expect(await send(at.url, 'GET', '/api/status')).toMatchObject({
    body: { auth: { confirmed: false, http_auth_enabled: true, provider: 'local' } },
  })
})

test('the status tells nothing of files and their errors before a login', async () => {
  const status = async (headers: Record<string, string> = {}) => (await send(at.url, 'GET', '/api/status', undefined, headers)).body
  const before = await status()
  for (const name of ['heads', 'export']) expect(before).not.toHaveProperty(name)
  expect(JSON.stringify(before)).not.toContain(elsewhere.path)
  const confirmed = await status({ authorization: `Bearer ${await tokenOf()}` })
  expect(confirmed).toMatchObject({ heads: { file: written.HEAD_FILE }, export: { directory: written.EXPORT_DIR } })
})

test('a client that tries the hosted login first is sent on by its status', async () => {
  for (const path of ['/cloud/login', '/api/cloud/login', '/cloud/logout'])
    expect([404, 405]).toContain((await send(at.url, 'POST', path, { email: 'ada', password: 'correct horse' })).status)
})

test('a login gives a cookie that scripts cannot read and a bearer token; both open the service, and logout ends them', async () => {
  for (const body of [
    { username: 'ada', password: 'correct horse' },
    { email: 'ada', password: 'correct horse' },
    { username: 'ada', email: 'someone@else', password: 'correct horse' },
    { username: 'ada', password: 'correct horse', extra: [1] },
  ]) {
    const reply = await login(body)
    expect(reply).toMatchObject({ status: 200, body: { token: expect.stringMatching(/^pat_[\w-]{43}$/) } })
    const cookie = reply.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^session=pat_[\w-]+;/)
    expect(cookie).toMatch(/; HttpOnly/)
    expect(cookie).toMatch(/; SameSite=Lax/)
    const session = cookie.split(';', 1)[0] ?? ''
    const ways: Record<string, string>[] = [
      { cookie: session },
      { cookie: `other=1; ${session}; more=2` },
      { authorization: `Bearer ${(reply.body as { token: string }).token}` },
      { authorization: `bearer ${(reply.body as { token: string }).token}` },
      { authorization: 'Bearer of-a-proxy', cookie: session },
      { authorization: `Bearer pat_${'x'.repeat(43)}`, cookie: session },
    ]
    for (const headers of ways) {
      expect((await send(at.url, 'GET', '/api/projects', undefined, headers)).status).toBe(200)
      expect(await send(at.url, 'GET', '/api/status', undefined, headers)).toMatchObject({ body: { auth: { confirmed: true } } })
    }
    expect((await send(at.url, 'POST', '/api/logout', undefined, { cookie: session })).status).toBe(200)
    for (const headers of ways) expect((await send(at.url, 'GET', '/api/projects', undefined, headers)).status).toBe(401)
  }
})

test('another token, an empty one and a cookie of another name open nothing', async () => {
  for (const headers of [
    { cookie: 'session=' },
    { cookie: 'session=pat_x' },
    { cookie: 'xsession=y' },
    { authorization: 'Bearer ' },
    { authorization: 'Bearer pat_' },
    { authorization: 'Basic YWRhOmNvcnJlY3QgaG9yc2U=' },
    { 'x-api-key': 'k' },
  ] as Record<string, string>[])
    expect((await send(at.url, 'GET', '/api/projects', undefined, headers)).status).toBe(401)
  const token = await tokenOf()
  expect((await send(at.url, 'GET', '/api/projects', undefined, { cookie: `xsession=${token}` })).status).toBe(401)
})

test('the user stands in the events as the actor, over REST and over SQL', async () => {
  const headers = { authorization: `Bearer ${await tokenOf()}` }
  expect(
    (await send(at.url, 'POST', '/api/projects/mindsdb/skills', { skill: { name: 'r', type: 't', params: {} } }, headers)).status,
  ).toBe(201)
  expect(await send(at.url, 'POST', '/api/sql/query', { query: `CREATE SKILL q USING type = 't'` }, headers)).toMatchObject({
    body: { type: 'ok' },
  })
  const query = `SELECT actor, source FROM log.events WHERE type = 'SkillCreated' ORDER BY position`
  expect(await send(at.url, 'POST', '/api/sql/query', { query }, headers)).toMatchObject({
    body: {
      data: [
        ['ada', 'rest'],
        ['ada', 'sql'],
      ],
    },
  })
})

test('neither the password nor a token is on the disk', async () => {
  const token = await tokenOf()
  const files = filesUnder(at.directory)
  expect(files.length).toBeGreaterThan(2)
  for (const file of files) {
    const bytes = bytesOf(file)
    expect(bytes.includes(token) || bytes.includes('correct horse')).toBe(false)
  }
})

// Last: it closes the door for this address.
test('a login of the wrong shape is a 400, a wrong one a 401, and after ten of them the address waits', async () => {
  for (const body of [
    {},
    { password: 5 },
    { username: 'ada' },
    [],
    null,
    'x',
    { username: {}, password: 'x' },
    { username: 'ada', password: null },
  ])
    expect({ body, reply: await send(at.url, 'POST', '/api/login', JSON.stringify(body)) }).toMatchObject({
      reply: { status: 400, body: { code: expect.any(String), title: 'Error in username or password' } },
    })
  const wrong = [
    { username: 'ada', password: 'x' },
    { username: '', password: '' },
    { password: 'correct horse' },
    { username: 'Ada', password: 'correct horse' },
    { username: 'ada', password: 'correct horse ' },
  ]
  for (const body of [...wrong, ...wrong])
    expect({ body, reply: await login(body) }).toMatchObject({ reply: { status: 401, body: { code: 'unauthorized', title: 'Forbidden' } } })
  const reply = await login({ username: 'ada', password: 'correct horse' })
  expect(reply).toMatchObject({ status: 429, body: { code: 'too_many_attempts' } })
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
})
