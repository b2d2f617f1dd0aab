import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { calls, contentOf, queries, resultsOf } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { trainRent } from '../../support/models/rentals.js'
import { inOneDay } from '../../support/one-day.js'
import { send } from '../../support/service.js'

const shop = new AgentShop()

beforeAll(async () => {
  await shop.start()
  await trainRent(shop.url, 'shop')
  await shop.agent('broker', { data: { tables: ['files.rentals'], models: ['rent'] } })
})
afterAll(() => shop.stop())
beforeEach(() => {
  shop.model.asked.length = 0
})

test('a model of the project is a tool: its predictions are those of REST, recorded, and explained on request', async () => {
  const row = { sqft: 900, location: 'good', rooms: 2 }
  const { body } = await send(shop.url, 'POST', '/api/projects/shop/models/rent/predict', [row])
  const [{ rental_price: predicted } = { rental_price: 0 }] = body as { rental_price: number }[]
  const served = Number((await shop.run('SELECT count(*) FROM log.predictions'))[0]?.[0])
  shop.model.script = (asked) =>
    resultsOf(asked).length === 0 ? calls(['predict', { model: 'shop.rent', rows: [row], explain: true }]) : 'About that much.'
  expect((await shop.ask('broker', 'What does it cost?')).body).toMatchObject({
    outcome: 'answered',
    sql: [],
    note: 'No query was run for this answer: it rests on what predict gave.',
    message: { content: 'About that much.' },
  })
  const [result = ''] = resultsOf(shop.model.asked[1] as never)
  expect(result).toContain(`"rental_price":${predicted}`)
  expect(result).toMatch(/contributions.*sqft/)
  expect(Number((await shop.run('SELECT count(*) FROM log.predictions'))[0]?.[0])).toBe(served + 1)
  const [answer] = await shop.answers()
  expect(answer).toMatchObject({
    models: [{ version: 1 }],
    steps: [{ kind: 'model' }, { kind: 'predict', name: 'predict', outcome: 'complete', rows: 1 }, { kind: 'model' }],
  })
})

test('a model is joined in SQL where the agent has it, and nowhere else', async () => {
  const query = 'SELECT r.sqft, m.rental_price FROM files.rentals AS r JOIN shop.rent AS m ORDER BY r.sqft LIMIT 2'
  shop.model.script = (asked) => (resultsOf(asked).length === 0 ? calls(['sql', { query }]) : 'Two.')
  const { body } = await shop.ask('broker', 'What do the smallest cost?')
  expect((body as { data: { rows: unknown[] }[] }).data[0]?.rows).toEqual(await shop.run(query))
  await shop.agent('other', { data: { tables: ['files.rentals'] } })
  expect((await shop.ask('other', 'What do the smallest cost?')).body).toMatchObject({ outcome: 'unanswered', sql: [] })
  const { tools } = shop.model.asked.at(-1) ?? {}
  expect(JSON.stringify(tools)).not.toContain('predict')
})

test('the last request for an answer allows no use of a tool', async () => {
  shop.model.script = ({ tool_choice: choice }) => (choice === 'none' ? 'That is all.' : calls(['sql', { query: 'SELECT 1 AS n' }]))
  expect((await shop.ask('broker', 'And?')).body).toMatchObject({ outcome: 'answered', message: { content: 'That is all.' } })
  expect(shop.model.asked).toHaveLength(16)
})

test('an agent has fewer requests, queries and repairs by its own settings, and none has more than the service', async () => {
  const data = { tables: ['files.rentals'] }
  const rounds = () => shop.model.asked.length
  shop.model.script = ({ tool_choice: choice }) => (choice === 'none' ? 'That is all.' : calls(['sql', { query: 'SELECT 1 AS n' }]))
  await shop.agent('brief', { data, params: { max_steps: 3 } })
  expect((await shop.ask('brief', 'And?')).body).toMatchObject({ outcome: 'answered', message: { content: 'That is all.' } })
  expect(rounds()).toBe(3)

  const results = async (name: string, params: object, query: (round: number) => string) => {
    await shop.agent(name, { data, params })
    shop.model.script = (asked) => {
      const known = resultsOf(asked)
      return known.length === 6 ? 'Done.' : calls(['sql', { query: query(known.length) }])
    }
    await shop.ask(name, 'How many?')
    return resultsOf(shop.model.asked.at(-1) as never).map((result) => result.includes('is not run again'))
  }
  expect(await results('sparing', { max_queries: 2 }, (n) => `SELECT ${n} AS n`)).toEqual([false, false, true, true, true, true])
  expect(await results('strict', { max_repairs: 0 }, (n) => `SELECT nothing_${n}`)).toEqual([false, true, true, true, true, true])

  await shop.agent('lavish', { data, params: { max_steps: 99, max_queries: 99, max_repairs: 99, max_prompt_tokens: 10 ** 9 } })
  const { body } = await send(shop.url, 'POST', `${shop.path('lavish')}?dry_run=true`, { messages: [{ role: 'user', content: 'Hi' }] })
  expect(body).toMatchObject({ max_steps: 16, max_queries: 12, max_repairs: 3, max_prompt_tokens: 200_000 })
})

test('rows that a model cannot read are refused in words, and the language model may correct them', async () => {
  shop.model.script = (asked) =>
    [
      calls(
        ['predict', { rows: 'x' }],
        ['predict', { rows: [] }],
        ['predict', { rows: [{ nope: 1 }] }],
        ['predict', { model: 'rant', rows: [{}] }],
      ),
      'No answer: the model does not take this.',
    ][resultsOf(asked).length === 0 ? 0 : 1] ?? ''
  expect((await shop.ask('broker', 'And?')).body).toMatchObject({ outcome: 'unanswered' })
  const results = resultsOf(shop.model.asked[1] as never)
  expect(results).toHaveLength(4)
  expect(results[2]).toContain('nope')
  expect(results[3]).toContain('There are shop.rent.')
})

test('a second question follows on the first, and earlier turns that are too long are left out', async () => {
  shop.model.script = (asked) => `heard ${asked.messages.length}`
  const turns = [
    { role: 'user', content: 'x'.repeat(31_000) },
    { role: 'assistant', content: 'y'.repeat(32_000) },
    { question: 'How many?', answer: 'Forty.' },
    { role: 'user', content: 'And of these, how many are red?' },
  ]
  const { body } = await send(shop.url, 'POST', shop.path('broker'), { messages: turns })
  expect(body).toMatchObject({ message: { content: 'heard 4' } })
  expect(shop.model.asked[0]?.messages.slice(1).map((message) => contentOf(message))).toEqual([
    'How many?',
    'Forty.',
    'And of these, how many are red?',
  ])
})

test('earlier turns are not cut between a question and its answer, and a greeting stays', async () => {
  const say = async (...messages: object[]) => {
    shop.model.asked.length = 0
    await send(shop.url, 'POST', shop.path('broker'), { messages })
    return shop.model.asked[0]?.messages.slice(1).map((message) => contentOf(message))
  }
  const [long, pair, now] = [
    { role: 'user', content: 'x'.repeat(31_000) },
    { question: 'A?', answer: 'B.' },
    { role: 'user', content: 'Now?' },
  ]
  expect(await say(long, { role: 'assistant', content: 'y'.repeat(4_000) }, pair, now)).toEqual(['A?', 'B.', 'Now?'])
  expect(await say({ role: 'assistant', content: 'Hello!' }, now)).toEqual(['Hello!', 'Now?'])
})

test('templates, modes and limits of the agent are kept to', async () => {
  await shop.agent('poet', {
    data: { tables: ['files.rentals'] },
    prompt_template: 'Answer in {{tongue}}: {{question}}',
    params: { tongue: 'rhymes', mode: 'sql', max_tokens: 77, temperature: 0.25 },
  })
  shop.model.script = () => 'Yes.'
  await shop.ask('poet', 'Is it {{tongue}}?')
  const [asked] = shop.model.asked
  expect(asked?.messages.at(-1)?.content).toBe('Answer in rhymes: Is it {{tongue}}?')
  expect(contentOf(asked?.messages[0] ?? { content: '' })).toContain('The rows of your last query are the answer.')
  expect(asked).toMatchObject({ max_tokens: 77, temperature: 0.25 })
  await shop.agent('slow', { params: { timeout: 1 } })
  shop.model.script = async () => {
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    return 'Late.'
  }
  expect(await shop.ask('slow', 'Hi')).toMatchObject({ status: 504, body: { code: 'answer_timeout', title: 'The answer took too long' } })
  expect((await shop.answers())[0]).toMatchObject({ outcome: 'failed', error: 'The answer took too long' })
})

test('the tokens of a day are used up, also by answers of before a start, and nothing is asked or recorded then', async () => {
  await inOneDay()
  await shop.agent('thrifty', { params: { tokens_per_day: 3_000, max_tokens: 100 } })
  shop.model.script = () => ({ content: 'Yes.', usage: { prompt_tokens: 2_500, completion_tokens: 450 } })
  expect((await shop.ask('thrifty', 'Hi')).status).toBe(200)
  const before = shop.model.asked.length
  const refused = await shop.ask('thrifty', 'Hi')
  expect(refused).toMatchObject({ status: 429, body: { code: 'tokens_spent' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(shop.model.asked).toHaveLength(before)
  expect((await shop.answers())[0]).toMatchObject({ input_tokens: 2_500, output_tokens: 450, outcome: 'answered' })
})

test('an agent, and all agents of a project, have so many answers under way; other projects have their own', async () => {
  for (const name of ['busy', 'beside']) await shop.agent(name, {})
  await shop.run('CREATE PROJECT elsewhere')
  const free = '/api/projects/elsewhere/agents'
  await send(shop.url, 'POST', free, { agent: { name: 'free', model: shop.model.model } })
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  shop.model.script = async () => {
    await held
    return 'Hello.'
  }
  const messages = [{ role: 'user', content: 'Hi' }]
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ messages }) }
  const open = (agent: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => fetch(`${shop.url}${shop.path(agent)}/stream`, request)))
  const busy = (detail: string) => ({ status: 503, body: { code: 'busy', detail } })
  const answers = await open('busy', 256)
  expect(await shop.ask('busy', 'Hi')).toMatchObject(busy('256 answers of this agent are under way (agentAnswersPerAgentMax)'))
  answers.push(...(await open('beside', 128)))
  expect(await shop.ask('beside', 'Hi')).toMatchObject(busy('384 answers of this project are under way (agentAnswersPerProjectMax)'))
  const other = send(shop.url, 'POST', `${free}/free/completions`, { messages })
  release()
  expect((await other).status).toBe(200)
  const ends = await Promise.all(answers.map(async (answer) => (await answer.text()).includes('"outcome":"answered"')))
  expect(ends).toEqual(Array(384).fill(true))
  expect((await shop.ask('busy', 'Hi')).status).toBe(200)
})

test('the record of an answer names the versions of its agent and skills, the model with its host, and how long it took', async () => {
  const skills = '/api/projects/shop/skills'
  const params = { database: 'files', tables: ['rentals'], description: 'Homes to let.' }
  await send(shop.url, 'POST', skills, { skill: { name: 'homes', type: 'sql', params } })
  await send(shop.url, 'PUT', `${skills}/homes`, { skill: { params: { ...params, description: 'Homes.' } } })
  await shop.agent('recorded', { skills: ['homes'] })
  shop.model.script = queries(() => 'SELECT count(*) AS n FROM rentals', 'Some.')
  expect((await shop.ask('recorded', 'How many?')).body).toMatchObject({ outcome: 'answered' })
  const [[skill] = []] = await shop.run(`SELECT stream FROM log.resources WHERE kind = 'skill' AND name = 'homes'`)
  const [answer] = await shop.answers()
  expect(answer).toMatchObject({
    ...{ version: 1, purpose: 'completion', conversation: null, skills: [{ skill, version: 2 }], models: [], knowledge_bases: [] },
    ...{ provider: 'openai_compatible', model: 'scripted', host: new URL(shop.model.server.url).host, error: null },
    ...{ first_token_ms: expect.any(Number), duration_ms: expect.any(Number) },
  })
  expect(answer?.['duration_ms']).toBeGreaterThanOrEqual(Number(answer?.['first_token_ms']))
})

test('an agent without a model of its own is answered by default_llm, at its address', async () => {
  const agent = { name: 'modest', data: { tables: ['files.rentals'] } }
  expect((await send(shop.url, 'POST', '/api/projects/shop/agents', { agent })).status).toBe(201)
  expect(await shop.ask('modest', 'How many?')).toMatchObject({ status: 502, body: { code: 'llm_failed' } })
  const default_llm = { ...shop.model.model, model_name: 'house', temperature: 0.5 }
  expect((await send(shop.url, 'PUT', '/api/config', { default_llm })).status).toBe(200)
  shop.model.script = queries(() => 'SELECT count(*) AS n FROM rentals', 'Some.')
  expect((await shop.ask('modest', 'How many?')).body).toMatchObject({ outcome: 'answered', message: { content: 'Some.' } })
  expect(shop.model.asked[0]).toMatchObject({ model: 'house', temperature: 0.5 })
  expect((await shop.answers())[0]).toMatchObject({ provider: 'openai_compatible', model: 'house', outcome: 'answered' })
})

test('one use of a model predicts a hundred rows, and one search gives twenty chunks', async () => {
  const rows = Array.from({ length: 101 }, (_, i) => ({ sqft: 500 + i, location: 'good', rooms: 2 }))
  await shop.run('CREATE KNOWLEDGE_BASE shop.lamps_sold')
  await shop.run("INSERT INTO shop.lamps_sold SELECT 'n' || i AS id, 'lamp number ' || i AS content FROM range(30) AS t(i)")
  await shop.agent('greedy', { data: { models: ['rent'], knowledge_bases: ['lamps_sold'] } })
  shop.model.script = (asked) =>
    resultsOf(asked).length > 0
      ? 'That is all.'
      : calls(
          ['predict', { rows }],
          ['predict', { rows: rows.slice(1), explain: true }],
          ['search_knowledge', { query: 'lamp', limit: 100 }],
        )
  expect((await shop.ask('greedy', 'All?')).body).toMatchObject({ outcome: 'answered' })
  const [tooMany, explained = ''] = resultsOf(shop.model.asked[1] as never)
  expect(tooMany).toContain('at most 100 rows are predicted at once (agentPredictMaxRows)')
  const lines = explained.split('\n').filter((line) => line.startsWith('{"rental_price"'))
  expect(explained).toContain(`100 rows were predicted; the first ${lines.length} are shown, and the others are left out.`)
  expect(lines.map((line) => JSON.parse(line) as object)).not.toHaveLength(100)
  expect((await shop.answers())[0]).toMatchObject({
    steps: [{}, { kind: 'predict', outcome: 'failed' }, { kind: 'predict', rows: 100 }, { kind: 'search', rows: 20 }, {}],
  })
})

test('check=true creates an agent only if its language model answers', async () => {
  const create = (name: string, model: object) => send(shop.url, 'POST', '/api/projects/shop/agents?check=true', { agent: { name, model } })
  shop.model.script = () => 'OK'
  expect((await create('checked', shop.model.model)).status).toBe(201)
  shop.model.script = () => ({ error: { message: 'no such key', type: 'auth' }, status: 401 })
  expect(await create('unchecked', shop.model.model)).toMatchObject({ status: 502, body: { code: 'llm_failed' } })
  expect((await send(shop.url, 'GET', '/api/projects/shop/agents/unchecked')).status).toBe(404)
})

test('an answer reads the agent and its data as they were at a position of the log, or at a time', async () => {
  await shop.run('CREATE VIEW shop.sizes AS (SELECT 1 AS size)')
  await shop.agent('historian', { data: { tables: ['shop.sizes'] }, prompt_template: 'Then.' })
  const [[then]] = (await shop.run('SELECT max(position) FROM log.events')) as [[number]]
  await shop.run('ALTER VIEW shop.sizes AS (SELECT 2 AS size)')
  await send(shop.url, 'PUT', '/api/projects/shop/agents/historian', { agent: { prompt_template: 'Now.' } })
  shop.model.script = (asked) => (resultsOf(asked).length === 0 ? calls(['sql', { query: 'SELECT size FROM sizes' }]) : 'So.')
  const ask = async (query: string) =>
    (await send(shop.url, 'POST', shop.path('historian') + query, { messages: [{ question: 'How big?' }] })).body
  expect(await ask(`?as_of=${then}`)).toMatchObject({ data: [{ rows: [[1]] }] })
  const [[time]] = (await shop.run(`SELECT recorded_at FROM log.events WHERE position = ${then}`)) as [[string]]
  expect(contentOf(shop.model.asked[0]?.messages[0] ?? { content: '' })).toContain('Then.')
  expect(await ask(`?as_of=${encodeURIComponent(time)}`)).toMatchObject({ data: [{ rows: [[1]] }] })
  const past = { read_at: then, version: 1 }
  expect(await shop.answers(2)).toMatchObject([past, past])
  expect(await ask('')).toMatchObject({ data: [{ rows: [[2]] }] })
  expect((await shop.answers())[0]).toMatchObject({ version: 2 })
})

test('an answer searches the documents that were there at its position, also in a view', async () => {
  await shop.run('CREATE KNOWLEDGE_BASE shop.manuals')
  await shop.run("INSERT INTO shop.manuals (id, content) VALUES ('old', 'the lamp is on')")
  await shop.run("CREATE VIEW shop.lamps AS (SELECT id FROM shop.manuals WHERE content = 'lamp')")
  await shop.agent('librarian', { data: { tables: ['shop.lamps'] } })
  const head = async () => (await shop.run('SELECT max(position) FROM log.events'))[0]?.[0]
  const before = await head()
  shop.model.script = async (asked) => {
    if (resultsOf(asked).length > 0) return 'These.'
    await shop.run("INSERT INTO shop.manuals (id, content) VALUES ('new', 'the other lamp')")
    return calls(['sql', { query: 'SELECT id FROM lamps ORDER BY id' }])
  }
  expect((await shop.ask('librarian', 'Which?')).body).toMatchObject({ data: [{ rows: [['old']] }] })
  expect((await shop.answers())[0]).toMatchObject({ read_at: before })
  expect(await shop.run('SELECT id FROM shop.lamps ORDER BY id')).toEqual([['new'], ['old']])
})

test('an agent is asked at no position at which it was not there, and is found by its name of then', async () => {
  const head = async () => Number((await shop.run('SELECT max(position) FROM log.events'))[0]?.[0])
  const before = await head()
  await shop.agent('newcomer', {})
  const then = await head()
  await shop.run('DROP AGENT shop.newcomer')
  await shop.agent('newcomer', { prompt_template: 'The second.' })
  const now = await head()
  shop.model.asked.length = 0
  shop.model.script = () => 'Here.'
  const ask = (position: number, more = '', path = shop.path('newcomer')) =>
    send(shop.url, 'POST', `${path}?as_of=${position}${more}`, { messages: [{ question: 'Who?' }] })
  const absent = { code: 'not_found', detail: `Agent with name newcomer did not exist at position ${before} of the log` }
  expect(await ask(before)).toMatchObject({ status: 404, body: absent })
  expect(await ask(before, '&dry_run=true')).toMatchObject({ status: 404, body: absent })
  expect(await ask(before, '', `${shop.path('newcomer')}/stream`)).toMatchObject({
    status: 404,
    body: expect.stringContaining(absent.detail),
  })
  expect(await ask(1)).toMatchObject({
    status: 404,
    body: { code: 'not_found', detail: expect.stringContaining('at position 1 of the log') },
  })
  expect(await head()).toBe(now)
  expect(shop.model.asked).toHaveLength(0)
  expect((await ask(then)).status).toBe(200)
  expect(JSON.stringify(shop.model.asked[0]?.messages)).not.toContain('The second.')
})

test('documents that come during an answer are not found by its searches, as rows are not read by its queries', async () => {
  await shop.run('CREATE KNOWLEDGE BASE shop.notes')
  await shop.run("INSERT INTO shop.notes (id, content) VALUES ('old', 'The old lamp')")
  await shop.agent('reader', { data: { knowledge_bases: ['notes'] } })
  shop.model.script = async (asked) => {
    if (resultsOf(asked).length > 0) return 'A lamp.'
    await shop.run("INSERT INTO shop.notes (id, content) VALUES ('new', 'The new lamp')")
    return calls(['search_knowledge', { query: 'lamp' }])
  }
  expect((await shop.ask('reader', 'Which lamp?')).status).toBe(200)
  const [found = ''] = resultsOf(shop.model.asked[1] as never)
  expect(found).toContain('The old lamp')
  expect(found).not.toContain('The new lamp')
  const [answer] = await shop.answers()
  expect(answer).toMatchObject({ knowledge_bases: [{ position: answer?.['read_at'] }] })
})
