import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { calls, contentOf, resultsOf, ScriptedModel, type Asked } from '../../support/agents/scripted-model.js'
import { chunk, RawServer, stream } from '../../support/llm/raw-server.js'
import { filesUnder, tracesInFiles } from '../../support/observe/traces.js'
import { send, sql, startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'

/** A language model that agents ask, and that also reranks; and a reranking model that does what a test wants. */
const model = new ScriptedModel()
const bad = new RawServer()
let at: Awaited<ReturnType<typeof startTestService>>
const bases = '/api/projects/mindsdb/knowledge_bases'
const agents = '/api/projects/mindsdb/agents'
const rows = ['a lamp with a battery', 'a radio', 'a battery for lamps'].map((content, i) => ({ id: `d${i}`, content }))
const isReranked = (asked: Asked): boolean => !asked.tools?.length

type Exchange = { new: { role: string; content: string }[]; response: { text: string; error?: string; usage?: object } }
type Answer = { tools: { output: string; failed: boolean; aborted?: boolean; exchanges?: Exchange[] }[] }

beforeAll(async () => {
  await Promise.all([model.start(), bad.start()])
  at = await startTestService()
  for (const [name, reranking_model] of [
    ['attic', model.model],
    ['cellar', { ...model.model, base_url: `${bad.url}/v1` }],
  ] as const) {
    await send(at.url, 'POST', bases, { knowledge_base: { name, reranking_model } })
    expect((await send(at.url, 'PUT', `${bases}/${name}`, { knowledge_base: { rows } })).status).toBe(200)
    const agent = { name: `of_${name}`, model: model.model, data: { knowledge_bases: [name] } }
    expect((await send(at.url, 'POST', agents, { agent })).status).toBe(201)
  }
})
beforeEach(() => {
  bad.reset()
  model.asked.length = 0
  model.script = (asked) => {
    if (isReranked(asked)) return '[1, 2] I find the first one dull.'
    return resultsOf(asked).length === 0 ? calls(['search_knowledge', { query: 'battery lamp' }]) : 'It is good.'
  }
})
afterAll(async () => {
  await at.stop()
  bad.stop()
  await model.stop()
})

const ask = (agent: string, signal?: AbortSignal) =>
  fetch(`${at.url}${agents}/${agent}/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Which lamp?' }] }),
    ...(signal && { signal }),
  })
const read = async (agent: string, ref: string) => (await send(at.url, 'GET', `${agents}/${agent}/answers/${ref}`)).body as Answer
const newest = async (agent: string): Promise<unknown[]> =>
  (await sql(at.url, `SELECT position, outcome FROM log.answers WHERE agent = '${agent}' ORDER BY position DESC LIMIT 1`)).data[0] ?? []
const stepsOf = async (ref: string) =>
  (await sql(at.url, `SELECT kind, exchanges, readable FROM log.answer_steps WHERE answer_id = '${ref}' ORDER BY step`)).data

test('what an answer’s search said to its reranking model, and what this said, is part of the record, and is replayed and erased with it', async () => {
  const reply = '[1, 2] planted-4fd1c0de'
  const { script } = model
  model.script = (asked) => (isReranked(asked) ? reply : script(asked))
  const { message } = (await (await ask('of_attic')).json()) as { message: { trace_id: string } }
  const ref = message.trace_id
  const asked = model.asked.find(isReranked)
  expect(contentOf(asked!.messages[1]!)).toContain('a battery for lamps')
  const exchanges = [
    {
      new: asked!.messages.map((message) => ({ role: message.role, content: contentOf(message) })),
      response: { text: reply, toolCalls: [], finish: 'stop', usage: expect.any(Object), model: expect.any(String) },
    },
  ]
  expect((await read('of_attic', ref)).tools).toMatchObject([{ failed: false, exchanges }])
  const steps = await stepsOf(ref)
  expect(steps.map(([kind, said]) => [kind, said === null ? null : (JSON.parse(said as string) as unknown)])).toEqual([
    ['model', null],
    ['search', exchanges],
    ['model', null],
  ])
  const before = model.asked.length
  const again = await send(at.url, 'POST', `${agents}/of_attic/answers/${ref}/rerun`, {})
  expect(again.body).toMatchObject({ cases: [{ result: 'same' }] })
  expect(model.asked).toHaveLength(before)
  expect((await send(at.url, 'POST', '/api/log/erasures', { answer: ref })).status).toBe(200)
  expect(tracesInFiles(filesUnder(at.directory), [Buffer.from('planted-4fd1c0de')])).toEqual([])
  expect(await stepsOf(ref)).toEqual(steps.map(([kind]) => [kind, null, false]))
})

test('scores of no use are on the record of the answer whose search failed', async () => {
  const { script } = model
  model.script = (asked) => (isReranked(asked) ? 'I would rather not say.' : script(asked))
  const { message } = (await (await ask('of_attic')).json()) as { message: { trace_id: string } }
  const { tools } = await read('of_attic', message.trace_id)
  expect(tools).toMatchObject([{ failed: true, exchanges: [{ response: { text: 'I would rather not say.', finish: 'stop' } }] }])
  const again = await send(at.url, 'POST', `${agents}/of_attic/answers/${message.trace_id}/rerun`, {})
  expect(again.body).toMatchObject({ cases: [{ result: 'same' }] })
})

test('what a reranking model said before it broke off is on the record', async () => {
  bad.answer = (response) => void stream(response).write(chunk({ content: 'I think ' }), () => response.destroy())
  const { message } = (await (await ask('of_cellar')).json()) as { message: { trace_id: string } }
  const { tools } = await read('of_cellar', message.trace_id)
  expect(tools).toMatchObject([{ failed: true, exchanges: [{ response: { text: 'I think ', error: 'Connection lost' } }] }])
})

test('what was asked of a reranking model is on the record of an answer whose client left before it answered', async () => {
  const left = new AbortController()
  bad.answer = (response) => {
    stream(response).write(': still here\n\n')
    left.abort()
  }
  await ask('of_cellar', left.signal).catch(() => undefined)
  await until(async () => (await newest('of_cellar'))[1] === 'aborted')
  const [position] = await newest('of_cellar')
  const { tools } = await read('of_cellar', String(position))
  const [{ aborted, exchanges = [] } = {}] = tools
  expect([aborted, exchanges.length]).toEqual([true, 1])
  expect(exchanges[0]?.response).toEqual({ text: '', toolCalls: [], error: 'It was cut off' })
  expect(exchanges[0]?.new.map(({ content }) => content)).toEqual((bad.asked[0]?.body['messages'] as Exchange['new']).map(contentOf))
  const again = await send(at.url, 'POST', `${agents}/of_cellar/answers/${String(position)}/rerun`, {})
  expect(again.body).toMatchObject({ cases: [{ result: 'same' }] })
})
