import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { bytesOf, filesUnder } from '../../support/observe/traces.js'
import { send, sql, startTestService } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
})
afterAll(() => at.stop())

const put = (body: unknown, headers = {}) => send(at.url, 'PUT', '/api/config', body, headers)
const read = async () => (await send(at.url, 'GET', '/api/config/')).body as Record<string, unknown>
const head = async () => (await at.service.head()).position

test('an untouched configuration has the shape that clients read', async () => {
  const port = new URL(at.url).port
  expect(await read()).toEqual({
    auth: { http_auth_enabled: false },
    default_llm: {},
    default_embedding_model: {},
    default_reranking_model: {},
    llm_prices: {},
    api: { http: { host: '127.0.0.1', port, running: true }, mysql: { running: false } },
  })
})

test('a default is kept as a whole, its key sealed in the log and masked in every answer', async () => {
  const llm = { provider: 'openai', model_name: 'gpt-4o', api_key: 'sk-most-secret', temperature: 0.2, base_url: null }
  expect(await put({ default_llm: llm, default_embedding_model: { provider: 'openai' } })).toMatchObject({ status: 200, body: '' })
  const shown = { provider: 'openai', model_name: 'gpt-4o', api_key: '******', temperature: 0.2 }
  expect(await read()).toMatchObject({ default_llm: shown, default_embedding_model: { provider: 'openai' } })
  const now = await sql(at.url, "SELECT VALUE->>'$.api_key' AS k FROM information_schema.config WHERE name = 'DEFAULT_LLM'")
  expect(now.data).toEqual([['******']])
  const events = await sql(at.url, "SELECT type, data FROM log.events WHERE type LIKE 'Config%' ORDER BY position")
  expect(events.data).toEqual([
    ['ConfigCreated', expect.stringContaining('"api_key":"******"')],
    ['ConfigCreated', expect.stringContaining('default_embedding_model')],
  ])
  for (const file of filesUnder(at.directory)) expect(bytesOf(file).includes('sk-most-secret')).toBe(false)
})

test('a mask that is sent back keeps the key; what is the same leaves no event; null takes a default back', async () => {
  const { default_llm } = await read()
  const before = await head()
  expect((await put({ default_llm })).status).toBe(200)
  expect(await head()).toBe(before)
  expect((await put({ default_llm: { ...(default_llm as object), model_name: 'gpt-5' } })).status).toBe(200)
  expect(await read()).toMatchObject({ default_llm: { api_key: '******', model_name: 'gpt-5' } })
  expect((await put({ default_llm: null, default_embedding_model: {} })).status).toBe(200)
  expect(await read()).toMatchObject({ default_llm: {}, default_embedding_model: {} })
  const history = await sql(
    at.url,
    "SELECT change, VALUE->>'$.model_name', VALID_TO IS NULL FROM information_schema.config_history WHERE name = 'default_llm'",
  )
  expect(history.data).toEqual([
    ['ConfigCreated', 'gpt-4o', false],
    ['ConfigUpdated', 'gpt-5', false],
  ])
  const past = await sql(at.url, `SELECT NAME FROM information_schema.config AT (VERSION => ${before}) ORDER BY NAME`)
  expect(past.data).toEqual([['default_embedding_model'], ['default_llm']])
  expect((await sql(at.url, 'SELECT count(*) FROM information_schema.config')).data).toEqual([[0]])
})

test('a key makes a repeated change one', async () => {
  const body = { default_reranking_model: { provider: 'cohere', api_key: 'k' } }
  await put(body, { 'idempotency-key': 'once' })
  const before = await head()
  expect(await put(body, { 'idempotency-key': 'once' })).toMatchObject({ status: 200, body: '' })
  expect(await head()).toBe(before)
  expect((await put({ default_reranking_model: {} }, { 'idempotency-key': 'once' })).status).toBe(422)
})

test('what cannot be set this way is refused, with what sets it', async () => {
  const before = await head()
  for (const [body, detail, hint] of [
    [{ nonsense: 1 }, /nonsense/, /default_llm/],
    [{ default_llm: { provider: 'x' }, nonsense: 1 }, /nonsense/, /default_llm/],
    [{ auth: { http_auth_enabled: true } }, /auth/, /AUTH_PASSWORD/],
    [{ knowledge_bases: {} }, /knowledge_bases/, /ALTER KNOWLEDGE_BASE/],
    [{}, /nothing to set/, /default_llm/],
  ] as const)
    expect(await put(body)).toMatchObject({
      status: 400,
      body: { title: 'Wrong arguments', detail: expect.stringMatching(detail), hint: expect.stringMatching(hint) },
    })
  for (const body of ['[]', 'null', '5', '{"default_llm":"gpt"}', '{"default_llm":[]}', '{"default_llm":{"a":"\\ud800"}}'])
    expect(await put(body)).toMatchObject({ status: 400, type: expect.stringContaining('problem+json') })
  expect(await put('x', { 'content-type': 'text/plain' })).toMatchObject({ status: 415 })
  expect(await head()).toBe(before)
})
