import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { until } from '../../support/until.js'
import { described } from '../../support/agents/described.js'
import { framesOf } from '../../support/agents/shop.js'
import { calls, contentOf, queries, resultsOf, ScriptedModel } from '../../support/agents/scripted-model.js'
import { rowsNow, send, sql, startTestService } from '../../support/service.js'

const model = new ScriptedModel()
let at: Awaited<ReturnType<typeof startTestService>>
const agents = '/api/projects/shop/agents'

beforeAll(async () => {
  await model.start()
  at = await startTestService()
  await sql(at.url, 'CREATE PROJECT shop')
  await sql(
    at.url,
    `CREATE TABLE files.cars (SELECT i AS id, 'car ' || i AS name, CASE WHEN i % 2 = 0 THEN 'red' ELSE 'blue' END AS colour, i * 1000.5 AS price FROM range(40) AS t(i))`,
  )
  await sql(at.url, `CREATE TABLE files.secrets (SELECT 'hunter2' AS word)`)
  await sql(at.url, `CREATE VIEW shop.red_cars AS (SELECT * FROM files.cars WHERE colour = 'red')`)
  await send(at.url, 'POST', '/api/projects/shop/skills', {
    skill: { name: 'cars', type: 'sql', params: { database: 'files', tables: ['cars'], description: 'Cars that we sell.' } },
  })
  await send(at.url, 'POST', agents, { agent: { name: 'seller', model: model.model, skills: ['cars'], params: { return_context: true } } })
  await send(at.url, 'POST', agents, {
    agent: { name: 'newer', model: model.model, data: { tables: ['shop.*', 'files.cars'] }, prompt_template: 'Be brief.' },
  })
})
afterAll(async () => {
  await at.stop()
  await model.stop()
})
beforeEach(() => {
  model.asked.length = 0
  model.script = () => 'Hello.'
})

const ask = (agent: string, messages: unknown, more: { query?: string; headers?: Record<string, string> } = {}) =>
  send(at.url, 'POST', `${agents}/${agent}/completions${more.query ?? ''}`, { messages }, more.headers)

const user = (content: string) => [{ role: 'user', content }]

test('an answer carries the query that it rests on, and exactly its rows', async () => {
  model.script = queries(() => 'SELECT colour, count(*) AS n FROM cars GROUP BY colour ORDER BY colour', 'Twenty each.')
  const { status, body, headers } = await ask('seller', user('How many cars of each colour?'))
  expect(status).toBe(200)
  expect(body).toMatchObject({
    message: {
      content: 'Twenty each.',
      role: 'assistant',
      trace_id: expect.any(String),
      context: [expect.stringContaining('["blue",20]')],
    },
    outcome: 'answered',
    sql: ['SELECT colour, count(*) AS n FROM cars GROUP BY colour ORDER BY colour'],
    data: [
      {
        columns: ['colour', 'n'],
        rows: [
          ['blue', 20],
          ['red', 20],
        ],
        cut: false,
      },
    ],
  })
  expect(headers.get('mindledger-position')).toBe(String((body as { position: number }).position))
})

test('the prompt has the schema, values and rows of the tables of the agent, between marks, and nothing of others', async () => {
  await described(at.url, `${agents}/seller/completions`)
  await ask('seller', user('What is there?'))
  const [system, question] = model.asked[0]?.messages ?? []
  const prompt = system ? contentOf(system) : ''
  expect(prompt).toContain('table files.cars')
  expect(prompt).toContain('"colour" VARCHAR, values: "blue", "red"')
  expect(prompt).toContain('[0,"car 0","red",0]')
  expect(prompt).toContain('Cars that we sell.')
  expect(prompt).not.toMatch(/secrets|hunter2|red_cars|sk-scripted/)
  expect(prompt).toMatch(/<data-[0-9a-f]{16} tables>/)
  expect(question).toEqual({ role: 'user', content: 'What is there?' })
  await ask('newer', [
    { question: 'Which?', answer: 'The red ones.' },
    { question: 'How many?', answer: null },
  ])
  const newer = model.asked[1]?.messages ?? []
  expect(newer[0] && contentOf(newer[0])).toMatch(/Be brief\.[^]*table shop\.red_cars[^]*table files\.cars/)
  expect(newer.slice(1)).toEqual([
    { role: 'user', content: 'Which?' },
    { role: 'assistant', content: 'The red ones.' },
    { role: 'user', content: 'How many?' },
  ])
})

test('a query beyond the tables of the agent is refused, and the model may correct it', async () => {
  const tried = ['SELECT * FROM files.secrets', 'SELECT * FROM nope', 'SELECT colr FROM cars', 'SELECT count(*) AS n FROM cars']
  model.script = (asked) => {
    const query = tried[resultsOf(asked).length]
    return query === undefined ? 'Forty.' : calls(['sql', { query }])
  }
  const { body } = await ask('seller', user('How many?'))
  expect(body).toMatchObject({ message: { content: 'Forty.' }, sql: ['SELECT count(*) AS n FROM cars'], data: [{ rows: [[40]] }] })
  const results = resultsOf(model.asked.at(-1) as never)
  expect(results[0]).toContain('not one of those that may be read here')
  expect(results[2]).toMatch(/colr[^]*colour/)
  expect(results.join('')).not.toContain('hunter2')
})

test('after a query and three repairs that fail no further one is run, and the answer says that it rests on nothing', async () => {
  let tries = 0
  model.script = () => (tries++ < 6 ? calls(['sql', { query: `SELECT x${tries} FROM cars` }]) : 'There are 7.')
  const { body } = await ask('seller', user('How many?'))
  expect(body).toMatchObject({
    outcome: 'unanswered',
    sql: [],
    data: [],
    message: { content: expect.stringMatching(/^There are 7\.\n\n.*rests on no data/) },
  })
  expect(resultsOf(model.asked.at(-1) as never).slice(4)).toEqual(Array(2).fill(expect.stringContaining('is not run again')))
})

test('a query that a model asks again is not run again, and stands in the answer once', async () => {
  const again = calls(['sql', { query: 'SELECT count(*) AS n FROM cars' }])
  model.script = (asked) => (resultsOf(asked).length < 3 ? again : 'Forty.')
  const { body } = await ask('seller', user('How many?'))
  expect(body).toMatchObject({ outcome: 'answered', sql: ['SELECT count(*) AS n FROM cars'], data: [{ rows: [[40]] }] })
})

test('a stream has frames for clients of both generations, and its last ones come once the answer is recorded', async () => {
  model.script = queries(() => 'SELECT max(price) AS most FROM cars', 'The dearest costs 39019.5.')
  const response = await fetch(`${at.url}${agents}/seller/completions/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: user('What is the highest price?') }),
  })
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const frames = (await response.text())
    .trim()
    .split('\n\n')
    .map((line) => JSON.parse(line.replace(/^data: /, '')) as Record<string, unknown>)
  expect(frames[0]).toMatchObject({ type: 'start', prompt: 'What is the highest price?', trace_id: expect.any(String) })
  expect(frames.find(({ type }) => type === 'sql')).toMatchObject({ content: 'SELECT max(price) AS most FROM cars', rows: [[39019.5]] })
  const text = frames.filter(({ type }) => type === 'data').map((frame) => frame['text'])
  expect(text.join('')).toBe('The dearest costs 39019.5.')
  expect(frames.at(-2)).toMatchObject({ output: 'The dearest costs 39019.5.', outcome: 'answered', data: [{ rows: [[39019.5]] }] })
  expect(frames.at(-1)).toMatchObject({ type: 'end', outcome: 'answered', position: expect.any(Number) })
})

test('bad requests are refused as MindsDB does', async () => {
  const { status, body } = await send(at.url, 'POST', `${agents}/seller/completions`, {})
  expect([status, (body as { title: string }).title]).toEqual([400, 'Missing parameter'])
  expect((await ask('nobody', user('Hi'))).status).toBe(404)
  expect((await send(at.url, 'POST', '/api/projects/none/agents/seller/completions', { messages: user('Hi') })).status).toBe(404)
  for (const messages of [
    [],
    'x',
    [1],
    [{}],
    [{ role: 'assistant', content: 'Hi' }],
    [{ role: 'user', content: ' ' }],
    [{ role: 'user', content: 'x'.repeat(40_000) }],
  ])
    expect((await ask('seller', messages)).status).toBe(400)
  expect(model.asked).toHaveLength(0)
})

test.each([
  [[{ role: 'user', content: '' }], 'messages[0].content'],
  [[{ role: 'user', content: ' \n\t\u00a0' }], 'messages[0].content'],
  [[{ role: 'user', content: '\u200b\u2060' }], 'messages[0].content'],
  [[{ role: 'user' }], 'messages[0].content'],
  [[{ role: 'user', content: [{ type: 'image_url' }] }], 'messages[0].content'],
  [[{ question: ' ', answer: null }], 'messages[0].question'],
  [[...user('Hi'), { role: 'user', content: ' ' }, ...user('Still there?')], 'messages[1].content'],
])('a message without a text is refused, and the refusal says what to send: %j', async (messages, where) => {
  const streamed = await send(at.url, 'POST', `${agents}/seller/completions/stream`, { messages })
  expect([streamed.status, streamed.body]).toEqual([400, expect.stringContaining(`${where} has no text`)])
  for (const path of ['completions', 'completions?dry_run=true']) {
    const { status, body } = await send(at.url, 'POST', `${agents}/seller/${path}`, { messages })
    expect([status, body]).toMatchObject([400, { detail: `${where} has no text`, hint: expect.stringContaining('"content": "…"') }])
  }
  expect(model.asked).toHaveLength(0)
})

test.each(['system', 'developer', 'tool', 7])('a message of the role %j is no question of the user, and is refused', async (role) => {
  const answer = await ask('seller', [{ role, content: 'Answer in French.' }, ...user('How many?')])
  expect(answer).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('messages[0].role'), hint: expect.stringContaining('prompt_template') },
  })
  expect(model.asked).toHaveLength(0)
})

test('a dry run tells prompt, tools and schema, and calls nobody', async () => {
  await described(at.url, `${agents}/seller/completions`)
  const { body } = await ask('seller', user('How many?'), { query: '?dry_run=true' })
  expect(body).toMatchObject({
    model: 'scripted',
    tables: ['files.cars'],
    tools: [{ name: 'sql' }],
    messages: [{ role: 'system' }, { role: 'user', content: 'How many?' }],
    schema: [
      {
        name: 'files.cars',
        columns: [{ name: 'id', type: 'BIGINT' }, { name: 'name' }, { name: 'colour', values: ['blue', 'red'] }, { name: 'price' }],
      },
    ],
  })
  expect(JSON.stringify(body)).not.toContain('sk-scripted')
  expect(model.asked).toHaveLength(0)
})

test('an answer without a query says so over REST, as a stream, in SQL and again with its key', async () => {
  const note = 'No query was run and nothing was retrieved for this answer.'
  const headers = { 'Idempotency-Key': 'k-note' }
  expect((await ask('seller', user('Hi'), { headers })).body).toMatchObject({ note })
  expect((await ask('seller', user('Hi'), { headers })).body).toMatchObject({ note })
  const { body } = await send(at.url, 'POST', `${agents}/seller/completions/stream`, { messages: user('Hi') })
  expect(framesOf(String(body)).find(({ type }) => type === 'answer')).toMatchObject({ note })
  const [[context] = []] = await rowsNow(at.url, "SELECT context FROM shop.seller WHERE question = 'Hi'")
  expect(JSON.parse(String(context))).toMatchObject({ queries: [], note })
  model.script = queries(() => 'SELECT count(*) AS n FROM cars', 'Forty.')
  const [[withRows] = []] = await rowsNow(at.url, "SELECT context FROM shop.seller WHERE question = 'How many?'")
  expect(JSON.parse(String(withRows))).not.toHaveProperty('note')
})

test.each([
  [
    'length',
    'The answer is cut off: the language model reached its limit of tokens (max_tokens, or what was left of the tokens of the answer or of the day).',
  ],
  ['content_filter', 'The answer is cut off: the provider of the language model filtered it.'],
])('an answer that ends by %s says so, also again with its key', async (finishReason, cutOff) => {
  const rested = 'No query was run and nothing was retrieved for this answer.'
  model.script = () => ({ content: 'There are', finishReason })
  const headers = { 'Idempotency-Key': `k-${finishReason}` }
  for (let i = 0; i < 2; i++)
    expect((await ask('seller', user('Hi'), { headers })).body).toMatchObject({ outcome: 'answered', note: `${cutOff} ${rested}` })
  model.script = (asked) =>
    resultsOf(asked).length === 0 ? calls(['sql', { query: 'SELECT count(*) AS n FROM cars' }]) : { content: 'There are', finishReason }
  expect((await ask('seller', user('How many?'))).body).toMatchObject({ data: [{ rows: [[40]] }], note: cutOff })
})

test('a request that is sent again with its key gets the recorded answer', async () => {
  model.script = queries(() => 'SELECT count(*) AS n FROM cars', 'Forty.')
  const headers = { 'Idempotency-Key': 'k-1' }
  const first = await ask('seller', user('How many?'), { headers })
  expect(first.body).not.toHaveProperty('note')
  const asked = model.asked.length
  const second = await ask('seller', user('How many?'), { headers })
  expect(second.body).toMatchObject({
    message: { content: 'Forty.' },
    data: [{ rows: [[40]] }],
    position: (first.body as { position: number }).position,
  })
  expect(model.asked).toHaveLength(asked)
  expect((await ask('seller', user('Another?'), { headers })).status).toBe(422)
})

test('a key belongs to the parameters of the address as well: the past and a dry run get no other answer', async () => {
  model.script = () => 'Hi.'
  const headers = { 'Idempotency-Key': 'k-parameters' }
  const asOf = `?as_of=${(await at.service.head()).position}`
  const sent = (query: string) => ask('seller', user('Hi'), { headers, query })
  const first = await sent(asOf)
  expect(first).toMatchObject({ status: 200, body: { message: { content: 'Hi.' } } })
  expect((await sent(asOf)).body).toMatchObject({ position: (first.body as { position: number }).position })
  expect((await sent(`${asOf}&other=1`)).status).toBe(200)
  for (const query of ['', '?as_of=1', `${asOf}&dry_run=true`])
    expect(await sent(query)).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
  expect(model.asked).toHaveLength(1)
})

test('a stream that is sent again with its key has the outputs of tools, as the first one has', async () => {
  model.script = queries(() => 'SELECT count(*) AS n FROM cars', 'Forty.')
  const stream = async () => {
    const path = `${agents}/seller/completions/stream`
    const { body } = await send(at.url, 'POST', path, { messages: user('How many?') }, { 'Idempotency-Key': 'k-context' })
    return framesOf(String(body)).find(({ type }) => type === 'context')
  }
  const first = await stream()
  expect(first).toMatchObject({ content: [expect.stringContaining('[40]')] })
  expect(await stream()).toEqual(first)
})

test('a request that is sent again after its answer was erased is told which erasure it was', async () => {
  const headers = { 'Idempotency-Key': 'k-erased' }
  const path = `${agents}/seller/completions/stream`
  const again = () => send(at.url, 'POST', path, { messages: user('Who?') }, headers)
  const position = async () => Number((await sql(at.url, 'SELECT max(position) FROM log.answers')).data[0]?.[0])
  const erase = async (body: object) =>
    ((await send(at.url, 'POST', '/api/log/erasures', body)).body as { positions: number[] }).positions[0]
  await again()
  const erasedAt = await erase({ answer: await position(), reason: 'Article 17' })
  await ask('seller', user('What?'))
  await erase({ answer: await position() })
  expect(await again()).toMatchObject({
    status: 410,
    body: expect.stringMatching(new RegExp(`was erased \\(position ${erasedAt} of the log: Article 17\\)`)),
  })
})

test('requests with one key at the same time get one answer: that which is recorded', async () => {
  let said = 0
  model.script = async () => {
    await sleep(50)
    return `This is answer ${++said}.`
  }
  const path = `${agents}/seller/completions/stream`
  const asked = await Promise.all(
    Array.from({ length: 3 }, () => send(at.url, 'POST', path, { messages: user('Which?') }, { 'Idempotency-Key': 'k-2' })),
  )
  const texts = asked.map(({ body }) =>
    framesOf(String(body))
      .flatMap(({ type, text }) => (type === 'data' ? [text] : []))
      .join(''),
  )
  expect(texts).toEqual(Array(3).fill('This is answer 1.'))
  expect(new Set(asked.flatMap(({ body }) => framesOf(String(body)).map(({ trace_id }) => trace_id))).size).toBe(1)
})

test('what a language model does wrong ends in an error that names the recorded answer', async () => {
  model.script = () => ({ error: { message: 'no such key', type: 'auth' }, status: 401 })
  const { status, body } = await ask('seller', user('Hi'))
  expect([status, body]).toMatchObject([502, { code: 'llm_failed', trace_id: expect.any(String), position: expect.any(Number) }])
  model.script = () => calls(['nope', {}], ['sql', '{"query":'], ['sql', '[]'], ['sql', { query: 7 }])
  const looped = await ask('seller', user('Hi'))
  expect([looped.status, looped.body]).toMatchObject([400, { code: 'answer_limit', title: 'Too many steps' }])
  const { data } = await sql(
    at.url,
    `SELECT type, data->>'outcome', data->>'error' FROM log.events WHERE type = 'AgentAnswered' ORDER BY position DESC LIMIT 2`,
  )
  expect(data).toEqual([
    ['AgentAnswered', 'failed', 'Too many steps'],
    ['AgentAnswered', 'failed', expect.any(String)],
  ])
})

test('the answer of a client that leaves is recorded as aborted', async () => {
  let asked: () => void = () => undefined
  let goOn: () => void = () => undefined
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  const isOver = new Promise<void>((resolve) => (goOn = resolve))
  model.script = async () => {
    asked()
    await isOver
    return 'Too late.'
  }
  const left = new AbortController()
  const response = fetch(`${at.url}${agents}/seller/completions/stream`, {
    method: 'POST',
    signal: left.signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: user('Talk') }),
  }).then((reply) => reply.text())
  await isAsked
  left.abort()
  await expect(response).rejects.toThrow()
  const last = `SELECT data->>'outcome' FROM log.events WHERE type = 'AgentAnswered' ORDER BY position DESC LIMIT 1`
  await until(async () => (await rowsNow(at.url, last))[0]?.[0] === 'aborted')
  goOn()
})

test('what failed, or was aborted as its client left, is asked anew with the same key, and each try is on record', async () => {
  const headers = { 'Idempotency-Key': 'k-retried' }
  const tries = async () => (await sql(at.url, `SELECT outcome FROM log.answers WHERE question = 'Retried?' ORDER BY position`)).data.flat()
  model.script = () => ({ error: { message: 'out of order', type: 'invalid_request_error' }, status: 400 })
  expect(await ask('seller', user('Retried?'), { headers })).toMatchObject({ status: 502 })
  let isAsked = false
  let goOn: () => void = () => undefined
  const isOver = new Promise<void>((resolve) => (goOn = resolve))
  model.script = async () => {
    isAsked = true
    await isOver
    return 'Too late.'
  }
  const left = new AbortController()
  const asking = fetch(`${at.url}${agents}/seller/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ messages: user('Retried?') }),
    signal: left.signal,
  }).catch(() => undefined)
  await until(() => isAsked)
  left.abort()
  await asking
  model.script = () => 'Now it works.'
  const retried = await ask('seller', user('Retried?'), { headers })
  expect(retried).toMatchObject({ status: 200, body: { message: { content: 'Now it works.' } } })
  expect(await tries()).toEqual(['failed', 'aborted', 'answered'])
  goOn()
  model.script = () => 'Another.'
  expect((await ask('seller', user('Retried?'), { headers })).body).toMatchObject({ message: { content: 'Now it works.' } })
  expect(await tries()).toHaveLength(3)
})
