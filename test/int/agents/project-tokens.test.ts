import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { ScriptedModel } from '../../support/agents/scripted-model.js'
import { chunk, last, RawServer, stream } from '../../support/llm/raw-server.js'
import { inOneDay } from '../../support/one-day.js'
import { send, spawnService, sql, temporaryDirectory, type Reply } from '../../support/service.js'

const directory = temporaryDirectory()
const model = new ScriptedModel()
const embedder = new RawServer()
let running: Awaited<ReturnType<typeof spawnService>>

/** What each of these uses, with the little that is reserved before, of a day of 10,000 tokens. */
const usage = { prompt_tokens: 3_900, completion_tokens: 100 }
let used = 0

const start = async () => {
  running = await spawnService(directory.path, { PROJECT_TOKENS_PER_DAY: '10000' })
}
const restart = async (): Promise<void> => {
  running.child.kill('SIGKILL')
  await running.ended
  await start()
}

beforeAll(async () => {
  await inOneDay()
  await Promise.all([model.start(), embedder.start()])
  embedder.answer = (response, { body }) => {
    const data = (body['input'] as string[]).map((_, index) => ({ index, embedding: [1, index] }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, usage: { prompt_tokens: used } }))
  }
  model.script = () => ({ content: 'Yes.', usage })
  await start()
})
afterAll(async () => {
  running.child.kill('SIGKILL')
  await running.ended
  embedder.stop()
  await model.stop()
  directory.remove()
})

const project = (name: string) => `/api/projects/${name}`
const post = (path: string, body: object): Promise<Reply> => send(running.url, 'POST', path, body)
const agent = (of: string, name: string) =>
  post(`${project(of)}/agents`, { agent: { name, model: model.model, params: { max_tokens: 100 } } })
const ask = (of: string, name: string) => post(`${project(of)}/agents/${name}/completions`, { messages: [{ role: 'user', content: 'Hi' }] })
const base = (of: string) => `${project(of)}/knowledge_bases`
const makeBase = (of: string) =>
  post(base(of), {
    knowledge_base: {
      name: 'docs',
      embedding_model: { provider: 'openai', model_name: 'small', base_url: `${embedder.url}/v1`, api_key: 'sk-1' },
    },
  })
const insert = (of: string, id: string) =>
  send(running.url, 'PUT', `${base(of)}/docs`, { knowledge_base: { rows: [{ id, content: 'a lamp' }] } })
const search = (of: string) => post(`${base(of)}/docs/completions`, { query: 'a lamp', type: 'context' })
const spent = { status: 429, body: { code: 'tokens_spent', detail: expect.stringContaining('the project has used') } }

test('the agents of a project share its day, also those that are gone, and other projects have their own', async () => {
  for (const name of ['shop', 'other']) await post('/api/projects', { project: { name } })
  for (const name of ['one', 'two', 'three']) await agent('shop', name)
  await agent('other', 'one')
  expect([(await ask('shop', 'one')).status, (await ask('shop', 'two')).status]).toEqual([200, 200])
  expect((await ask('shop', 'one')).status).toBe(200)
  expect((await send(running.url, 'DELETE', `${project('shop')}/agents/one`)).status).toBe(204)
  for (const wait of [() => Promise.resolve(), restart]) {
    await wait()
    expect(await ask('shop', 'three')).toMatchObject(spent)
    expect((await ask('other', 'one')).status).toBe(200)
  }
})

test('vectors of inserts and of searches count in the day of their project, and are refused before they are paid for', async () => {
  for (const name of ['books', 'films']) {
    await post('/api/projects', { project: { name } })
    await makeBase(name)
    await agent(name, 'one')
  }
  used = 5_000
  expect((await insert('books', 'a')).status).toBe(200)
  expect((await search('books')).status).toBe(200)
  for (const wait of [() => Promise.resolve(), restart]) {
    await wait()
    const before = embedder.asked.length
    expect(await insert('books', 'b')).toMatchObject(spent)
    expect(await search('books')).toMatchObject(spent)
    expect(await sql(running.url, "SELECT id FROM docs WHERE content = 'a lamp'", 'books')).toMatchObject({
      type: 'error',
      error_message: expect.stringContaining('the project has used') as unknown,
    })
    expect(embedder.asked.length).toBe(before)
    expect(await ask('books', 'one')).toMatchObject(spent)
  }
  // Words are found without a model.
  const words = await sql(running.url, "SELECT id FROM docs WHERE content = 'a lamp' AND hybrid_search_alpha = 0", 'books')
  expect(words.data).toEqual([['a']])
  expect((await insert('films', 'a')).status).toBe(200)
})

test('what a search will read is reserved before, and counts by its estimate where the provider says 0', async () => {
  await post('/api/projects', { project: { name: 'silent' } })
  await makeBase('silent')
  used = 0
  expect((await insert('silent', 'a')).status).toBe(200)
  // A quarter of the day.
  const searchLong = () => post(`${base('silent')}/docs/completions`, { query: 'x'.repeat(10_000), type: 'context' })
  for (let search = 1; search <= 3; search++) expect((await searchLong()).status).toBe(200)
  const before = embedder.asked.length
  expect(await searchLong()).toMatchObject(spent)
  expect(embedder.asked.length).toBe(before)
  expect((await search('silent')).status).toBe(200)
})

test('what a failed insert has paid for counts as long as the service runs', async () => {
  await post('/api/projects', { project: { name: 'broken' } })
  await makeBase('broken')
  used = 10_000
  const answer = embedder.answer
  // Vectors of different lengths are of no use.
  embedder.answer = (response) => {
    const data = [[1], [1, 2]].map((embedding, index) => ({ index, embedding }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, usage: { prompt_tokens: used } }))
  }
  const rows = ['a', 'b'].map((id) => ({ id, content: 'a lamp' }))
  expect((await send(running.url, 'PUT', `${base('broken')}/docs`, { knowledge_base: { rows } })).status).toBe(502)
  embedder.answer = answer
  expect(await insert('broken', 'a')).toMatchObject(spent)
})

test('what a reranking model wrote counts where its provider reports nothing, also after another start, and what is left is its limit', async () => {
  const silent = new RawServer()
  silent.answer = (response) => stream(response).end(chunk({ content: `[5] ${'x'.repeat(12_000)}` }) + last())
  await silent.start()
  try {
    await post('/api/projects', { project: { name: 'ranked' } })
    const reranking_model = { ...model.model, base_url: `${silent.url}/v1` }
    await post(base('ranked'), { knowledge_base: { name: 'docs', reranking_model } })
    expect((await insert('ranked', 'a')).status).toBe(200)
    const found: number[] = []
    do found.push((await search('ranked')).status)
    while (found.at(-1) === 200 && found.length < 9)
    // Each writes 3,000 tokens of the 10,000 of the day, and the last one begins with the few that are left.
    expect(found).toEqual([200, 200, 200, 200, 429])
    const most = silent.asked.map(({ body }) => Number(body['max_tokens'] ?? body['max_completion_tokens']))
    expect(most[0]).toBe(limits.knowledgeRerankOutputMaxTokens)
    expect(most[3]).toBeLessThan(1_000)
    await restart()
    expect(await search('ranked')).toMatchObject(spent)
    expect(silent.asked).toHaveLength(4)
  } finally {
    silent.stop()
  }
})
