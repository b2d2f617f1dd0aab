import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { calls, questionOf, resultsOf, ScriptedModel } from '../../support/agents/scripted-model.js'
import { RawServer } from '../../support/llm/raw-server.js'
import { inOneDay } from '../../support/one-day.js'
import { send, sql, startTestService } from '../../support/service.js'

/** A language model and a reranker with different names, and an embedder. */
const model = new ScriptedModel()
const embedder = new RawServer()
let at: Awaited<ReturnType<typeof startTestService>>
const path = '/api/projects/mindsdb/knowledge_bases'
const rows = ['a lamp with a battery', 'a radio', 'a battery for lamps'].map((content, i) => ({ id: `d${i}`, content }))
/** The same score for each passage. */
const scoresFor = (question: string): string => JSON.stringify((JSON.parse(question) as { passages: string[] }).passages.map(() => 5))
const chat = (content: string) => ({ content, usage: { prompt_tokens: 20, completion_tokens: 3 } })
const used = async (columns: string) => (await sql(at.url, `SELECT ${columns} FROM log.usage WHERE agent = 'speaker' ORDER BY model`)).data
const agents = '/api/projects/mindsdb/agents'

beforeAll(async () => {
  await inOneDay()
  await Promise.all([model.start(), embedder.start()])
  at = await startTestService()
  embedder.answer = (response, { body }) => {
    const data = (body['input'] as string[]).map((_, index) => ({ index, embedding: [1, 1] }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, usage: { prompt_tokens: 7 } }))
  }
  const embedding_model = { provider: 'openai', model_name: 'vectors', base_url: `${embedder.url}/v1`, api_key: 'sk-embedder-2' }
  await send(at.url, 'POST', path, { knowledge_base: { name: 'attic', embedding_model, reranking_model: model.model } })
  expect((await send(at.url, 'PUT', `${path}/attic`, { knowledge_base: { rows } })).status).toBe(200)
  await send(at.url, 'PUT', '/api/config', { llm_prices: { 'openai/vectors': { input: 1_000_000, output: 0 } } })
  const agent = { name: 'speaker', model: { ...model.model, model_name: 'spoken' }, data: { knowledge_bases: ['attic'] } }
  expect((await send(at.url, 'POST', agents, { agent })).status).toBe(201)
})
beforeEach(() => {
  model.script = (asked) => {
    if (!asked.tools?.length) return { content: scoresFor(questionOf(asked)), usage: { prompt_tokens: 500, completion_tokens: 50 } }
    const call = calls(['search_knowledge', { query: 'battery lamp' }])
    return resultsOf(asked).length === 0 ? Object.assign(call, { usage: chat('').usage }) : chat('It is good.')
  }
})
afterAll(async () => {
  await at.stop()
  embedder.stop()
  await model.stop()
})

test('the models that a search asked stand in its step by name and host, with tokens and costs apart from those of the language model', async () => {
  const { body } = await send(at.url, 'POST', `${agents}/speaker/completions`, { messages: [{ role: 'user', content: 'Which lamp?' }] })
  expect(body).toMatchObject({ outcome: 'answered', usage: { input_tokens: 547, output_tokens: 56 } })
  const { data } = await sql(
    at.url,
    "SELECT kind, input_tokens, output_tokens, models FROM log.answer_steps WHERE agent = 'speaker' ORDER BY step",
  )
  expect(data.map((step) => step.slice(0, 3))).toEqual([
    ['model', 20, 3],
    ['search', 507, 50],
    ['model', 20, 3],
  ])
  expect([data[0]?.[3], data[2]?.[3]]).toEqual([null, null])
  expect(JSON.parse(String(data[1]?.[3]))).toEqual([
    { role: 'embedding', provider: 'openai', model: 'vectors', host: `127.0.0.1:${embedder.port}`, input_tokens: 7, output_tokens: null },
    {
      ...{ role: 'reranking', provider: 'openai_compatible', model: 'scripted', host: new URL(model.model.base_url).host },
      ...{ input_tokens: 500, output_tokens: 50 },
    },
  ])
  const answers = await sql(at.url, "SELECT model, input_tokens, output_tokens, cost FROM log.answers WHERE agent = 'speaker'")
  expect(answers.data).toEqual([['spoken', 40, 6, null]])
  expect(await used('provider, model, answers, searches, input_tokens, output_tokens, cost')).toEqual([
    ['openai_compatible', 'scripted', 0, 1, 500, 50, null],
    ['openai_compatible', 'spoken', 1, 0, 40, 6, null],
    ['openai', 'vectors', 0, 1, 7, null, 7],
  ])
})

test('the models of a search are asked once: a rerun that replays it uses no tokens for them', async () => {
  const { body } = await send(at.url, 'POST', `${agents}/speaker/completions`, { messages: [{ role: 'user', content: 'Which lamp?' }] })
  const before = await used('model, searches')
  const { message } = body as { message: { trace_id: string } }
  const again = await send(at.url, 'POST', `${agents}/speaker/answers/${message.trace_id}/rerun`, { replay: 'tools' })
  expect(again.status).toBe(200)
  expect((again.body as { metrics: unknown[] }).metrics).toContainEqual({ name: 'tokens_change', value: 0 })
  expect(await used('model, searches')).toEqual(before)
  const newest = "SELECT purpose, input_tokens FROM log.answers WHERE agent = 'speaker' ORDER BY position DESC LIMIT 1"
  expect((await sql(at.url, newest)).data).toEqual([['rerun', 40]])
  const asked = model.asked.length
  const same = await send(at.url, 'POST', `${agents}/speaker/answers/${message.trace_id}/rerun`, {})
  expect(JSON.stringify(same.body)).toMatch(/"result":"same"/)
  expect(model.asked).toHaveLength(asked)
})
