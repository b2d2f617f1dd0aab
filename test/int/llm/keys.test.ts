import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { JsonObject } from '../../../events/common.js'
import { sealSecrets } from '../../../src/vault/seal-secrets.js'
import { Vault, type SealedPayload } from '../../../src/vault/vault.js'
import { failure, hear, modelsHere, question } from '../../support/llm/models.js'
import { chunk, last, RawServer, stream } from '../../support/llm/raw-server.js'
import { send, sql, startTestService } from '../../support/service.js'

const server = new RawServer()
beforeAll(() => server.start())
afterAll(() => server.stop())
afterEach(() => server.reset())

const vault = new Vault(randomBytes(32))
const kept = new Map<string, SealedPayload>()
const sealed = (params: JsonObject): JsonObject => {
  const { value, payloads } = sealSecrets(vault, params)
  for (const payload of payloads) kept.set(payload.hash, payload)
  return value
}
const payload = async (hash: string) => {
  const found = kept.get(hash)
  return found && vault.open(found)
}
const answers = () => {
  server.answer = (response) => stream(response).end(chunk({ content: 'ok' }) + last())
}
const sentKey = () => server.asked.at(-1)?.headers.authorization

test('a key is opened when the model of an agent is called, with blanks around it or without', async () => {
  answers()
  const params = sealed({ base_url: `${server.url}/v1`, openai_api_key: ' sk-sealed-1\n' })
  expect(JSON.stringify(params)).not.toContain('sk-sealed-1')
  const model = await modelsHere({ payload }).forAgent({ model_name: 'gpt-4o', provider: 'openai', params })
  expect(model).toMatchObject({ provider: 'openai', model: 'gpt-4o', host: `127.0.0.1:${server.port}` })
  expect(JSON.stringify(model)).not.toContain('sk-sealed-1')
  await hear(model, question('hi'))
  expect(sentKey()).toBe('Bearer sk-sealed-1')
})

test('the key of a default is opened, and goes nowhere else', async () => {
  answers()
  const value = sealed({ provider: 'litellm', model_name: 'house', base_url: `${server.url}/v1`, api_key: 'sk-default-1' })
  const models = modelsHere({ payload, defaults: async (name) => (name === 'default_llm' ? value : undefined) })
  await hear(await models.forAgent({ model_name: null, provider: null, params: {} }), question('hi'))
  expect([server.asked[0]?.body['model'], sentKey()]).toEqual(['house', 'Bearer sk-default-1'])
  const other = new RawServer()
  await other.start()
  other.answer = (response) => stream(response).end(chunk({ content: 'ok' }) + last())
  const params = { base_url: `${other.url}/v1` }
  await hear(await models.forAgent({ model_name: 'house', provider: 'litellm', params }), question('hi'))
  expect(other.asked[0]?.headers.authorization).toBeUndefined()
  other.stop()
})

test('a key that was erased is told of, and nothing is called', async () => {
  const params = sealed({ base_url: `${server.url}/v1`, api_key: 'sk-erased-1' })
  kept.clear()
  const error = await failure(modelsHere({ payload }).forAgent({ model_name: 'm', provider: null, params }))
  expect(error).toMatchObject({ code: 'erased', detail: 'The secret api_key was erased', extras: { hint: 'Give it again.' } })
  expect(server.asked).toEqual([])
})

test('there is no embedder unless one is named, here or as the default', async () => {
  expect(await modelsHere().embedder()).toBeUndefined()
  const defaults = async () => ({ provider: 'ollama', model_name: 'nomic', base_url: server.url })
  expect(await modelsHere({ defaults }).embedder()).toMatchObject({ model: 'nomic', host: `127.0.0.1:${server.port}` })
  const error = await failure(
    modelsHere({ environment: { anthropic: { apiKey: 'k' } } }).embedder({ provider: 'anthropic', model_name: 'c', params: {} }),
  )
  expect(error).toMatchObject({ code: 'llm_failed', title: 'No embedder' })
})

test('over REST and in SQL, an agent keeps its key from another address', async () => {
  const at = await startTestService()
  const agents = '/api/projects/mindsdb/agents'
  const agent = { name: 'a', model_name: 'gpt-4o', params: { openai_api_key: 'sk-rest-1' } }
  expect((await send(at.url, 'POST', agents, { agent })).status).toBe(201)
  const moved = { base_url: 'https://evil.example/v1' }
  for (const params of [moved, { ...moved, openai_api_key: '******' }]) {
    const { status, body } = await send(at.url, 'PUT', `${agents}/a`, { agent: { params } })
    expect({ status, body }).toMatchObject({ status: 400, body: { hint: expect.stringContaining('Give the key again') as unknown } })
    expect(JSON.stringify(body)).not.toContain('sk-rest-1')
  }
  expect(await sql(at.url, "UPDATE AGENT a SET base_url = 'https://evil.example/v1'")).toMatchObject({ type: 'error' })
  expect((await send(at.url, 'PUT', `${agents}/a`, { agent: { params: { ...moved, openai_api_key: 'sk-rest-2' } } })).status).toBe(200)
  await at.stop()
})
