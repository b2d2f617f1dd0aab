import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { questionOf, queries, ScriptedModel } from '../../support/agents/scripted-model.js'
import { send, sql, startTestService } from '../../support/service.js'

const model = new ScriptedModel()
let at: Awaited<ReturnType<typeof startTestService>>

beforeAll(async () => {
  await model.start()
  at = await startTestService()
  await sql(at.url, 'CREATE PROJECT shop')
  await sql(
    at.url,
    `CREATE TABLE files.questions (SELECT * FROM (VALUES (1, 'who?', 'x'), (2, 'what?', 'y'), (3, NULL, 'z'), (4, 'who?', 'w')) AS t(id, question, tag))`,
  )
  for (const name of ['helper', 'second'])
    await send(at.url, 'POST', '/api/projects/shop/agents', {
      agent: { name, model: model.model, data: { tables: ['files.questions'] } },
    })
})
afterAll(async () => {
  await at.stop()
  await model.stop()
})
beforeEach(() => {
  model.asked.length = 0
  model.script = (asked) => `re: ${questionOf(asked)}`
})

const ask = async (query: string) => {
  const { body } = await send(at.url, 'POST', '/api/sql/query', { query, context: { db: 'shop' } })
  return body as { type: string; column_names: string[]; data?: unknown[][]; error_message?: string }
}
const rows = async (query: string) => {
  const answer = await ask(query)
  expect(answer).toMatchObject({ type: 'table' })
  return answer.data
}
const asked = () => model.asked.map(questionOf).sort()

test.each<[string, unknown[][], string[]]>([
  ["SELECT answer FROM helper WHERE question = 'hello'", [['re: hello']], ['hello']],
  ["SELECT question, answer FROM helper WHERE question IN ('a', 'b') AND answer LIKE '%b'", [['b', 're: b']], ['a', 'b']],
  ['SELECT answer FROM helper WHERE question = "in double quotes"', [['re: in double quotes']], ['in double quotes']],
  ['SELECT answer FROM helper WHERE question = (SELECT max(tag) FROM files.questions)', [['re: z']], ['z']],
  [
    'SELECT q.id, a.answer FROM files.questions AS q JOIN helper AS a ORDER BY id',
    [
      [1, 're: who?'],
      [2, 're: what?'],
      [4, 're: who?'],
    ],
    ['what?', 'who?'],
  ],
  ["SELECT q.id, a.answer FROM files.questions AS q JOIN helper AS a WHERE q.tag IN ('x', 'z')", [[1, 're: who?']], ['who?']],
  [
    'SELECT q.id, a.answer FROM files.questions AS q LEFT JOIN helper AS a ON a.question = q.question WHERE q.id > 2 ORDER BY id',
    [
      [3, null],
      [4, 're: who?'],
    ],
    ['who?'],
  ],
  ["SELECT a.answer FROM files.questions AS q, helper AS a WHERE a.question = q.tag || '!' AND q.id = 2", [['re: y!']], ['y!']],
  ['SELECT a.answer FROM files.questions AS q JOIN helper AS a ON a.question = q.id WHERE q.id = 2', [['re: 2']], ['2']],
  [
    "SELECT b.answer FROM helper AS a JOIN second AS b ON b.question = a.answer WHERE a.question = 'deep'",
    [['re: re: deep']],
    ['deep', 're: deep'],
  ],
  [
    "WITH c AS (SELECT answer FROM helper WHERE question = 'cte') SELECT upper(answer), count(*) FROM c GROUP BY 1",
    [['RE: CTE', 1]],
    ['cte'],
  ],
])('%s', async (query, expected, questions) => {
  expect(await rows(query)).toEqual(expected)
  expect(asked()).toEqual(questions)
})

test('an answer has the columns of MindsDB, and says which rows it rests on', async () => {
  model.script = queries(() => 'SELECT count(*) AS n FROM questions', 'Four.')
  const answer = await ask("SELECT * FROM helper WHERE question = 'How many?'")
  expect(answer.column_names).toEqual(['answer', 'question', 'context', 'trace_id'])
  const [[said, question, context, trace] = []] = answer.data ?? []
  expect([said, question]).toEqual(['Four.', 'How many?'])
  expect(trace).toMatch(/^[0-9a-f-]{36}$/)
  expect(JSON.parse(String(context))).toMatchObject({
    outcome: 'answered',
    queries: [{ sql: 'SELECT count(*) AS n FROM questions', columns: ['n'], rows: [[4]] }],
  })
})

test('the context has the rows that fit, and the record has all of them', async () => {
  model.script = queries(() => "SELECT i, repeat('x', 900) AS text FROM range(1000) AS t(i)", 'Many.')
  const [[context, trace] = []] = (await rows("SELECT context, trace_id FROM helper WHERE question = 'which?'")) ?? []
  expect(String(context).length).toBeLessThan(70_000)
  const { queries: shown } = JSON.parse(String(context)) as { queries: { rows: unknown[]; cut: boolean }[] }
  expect(shown).toMatchObject([{ columns: ['i', 'text'], cut: true }])
  expect(shown[0]?.rows.length).toBeGreaterThan(60)
  const { body } = await send(at.url, 'GET', `/api/projects/shop/agents/helper/answers/${String(trace)}`)
  expect(JSON.stringify(body).length).toBeGreaterThan(900_000)
})

test('each question is an answer of its own on record', async () => {
  const count = () => rows("SELECT count(*) FROM log.events WHERE type = 'AgentAnswered' AND (data->>'$.purpose') = 'sql'")
  const [[before = 0] = []] = ((await count()) ?? []) as number[][]
  await rows('SELECT q.id, a.answer FROM files.questions AS q JOIN helper AS a')
  expect(await count()).toEqual([[before + 2]])
})

test('a view and a kept table ask agents, and a planned query asks nobody', async () => {
  expect(await ask("CREATE VIEW shop.said AS (SELECT answer FROM helper WHERE question = 'in a view')")).toMatchObject({ type: 'ok' })
  const answers = () => rows('SELECT count(*) FROM log.answers')
  const before = await answers()
  const columns = ['answer', 'question', 'context', 'trace_id']
  for (const query of [
    'EXPLAIN SELECT * FROM said',
    'EXPLAIN SELECT q.id, a.answer FROM files.questions AS q JOIN helper AS a ON a.question = q.tag',
    'DESCRIBE SELECT * FROM said',
    "DESCRIBE WITH c AS (SELECT * FROM helper WHERE question = 'x') SELECT * FROM c",
  ])
    expect(await ask(query)).toMatchObject({ type: 'table' })
  expect((await rows("DESCRIBE SELECT * FROM helper WHERE question = 'columns?'"))?.map(([name]) => name)).toEqual(columns)
  expect((await rows("SELECT column_name FROM (DESC SELECT * FROM helper WHERE question = 'x') AS d"))?.flat()).toEqual(columns)
  expect(asked()).toEqual([])
  expect(await answers()).toEqual(before)
  expect(await rows('SELECT * FROM said')).toEqual([['re: in a view']])
  await ask('CREATE TABLE files.kept (SELECT q.id, a.answer FROM files.questions AS q JOIN helper AS a WHERE q.id = 1)')
  expect(await rows('SELECT * FROM files.kept')).toEqual([[1, 're: who?']])
})

test('of several questions one may fail: it has no answer, and its context says why', async () => {
  model.script = (one) =>
    questionOf(one) === 'a' ? { error: { message: 'overworked', type: 'invalid_request_error' }, status: 400 } : 'Fine.'
  const data = await rows("SELECT question, answer, context FROM helper WHERE question IN ('a', 'b') ORDER BY question")
  expect(data).toEqual([
    ['a', null, expect.stringContaining('"outcome":"failed"')],
    ['b', 'Fine.', expect.stringContaining('"outcome":"answered"')],
  ])
  expect(await ask("SELECT answer FROM helper WHERE question = 'a'")).toMatchObject({ type: 'error' })
})

test.each([
  ['SELECT * FROM helper', /Nothing in the query gives a question to the agent shop\.helper/],
  ["SELECT * FROM helper WHERE answer = 'x'", /Nothing in the query gives a question/],
  ['SELECT answer FROM helper WHERE question = random()::VARCHAR', /Nothing in the query gives a question/],
  ['SELECT (SELECT answer FROM helper WHERE question = q.tag) FROM files.questions AS q', /Nothing in the query gives a question/],
  ["SELECT a.answer FROM range(1000) AS q(id) JOIN helper AS a ON a.question = 'q' || q.id", /more than 100 questions/],
  [
    "WITH RECURSIVE r(n, a) AS (SELECT 1, 'x' UNION ALL SELECT r.n + 1, h.answer FROM r JOIN helper AS h ON h.question = r.a WHERE r.n < 5) SELECT * FROM r",
    /cannot be asked about the rows of a recursive WITH/,
  ],
  ["SELECT answer FROM helper WHERE question = concat('a', chr(0))", /A question contains a NUL character/],
  ['CREATE MODEL shop.m FROM shop (SELECT a.answer, q.id FROM files.questions AS q JOIN helper AS a) PREDICT id', /cannot ask it/],
])('%s is refused, and nobody is asked', async (query, message) => {
  expect(await ask(query)).toMatchObject({ type: 'error', error_message: expect.stringMatching(message) })
  expect(asked()).toEqual([])
})

test('an agent is asked as it was, with the settings of that position', async () => {
  const { headers } = await send(at.url, 'GET', '/api/projects/shop/agents/helper')
  const [[position] = []] = (await rows('SELECT max(position) FROM log.events')) ?? []
  await send(at.url, 'PUT', '/api/projects/shop/agents/helper', { agent: { prompt_template: 'Speak like a pirate.' } })
  await rows("SELECT answer FROM helper WHERE question = 'now'")
  await rows(`SELECT answer FROM helper AT (VERSION => ${String(position)}) WHERE question = 'then'`)
  const prompts = model.asked.map(({ messages }) => JSON.stringify(messages))
  expect(prompts.map((prompt) => prompt.includes('pirate'))).toEqual([true, false])
  expect(headers.get('etag')).toBe('"1"')
})

test('a view of what an agent says, given to that agent, is not asked again', async () => {
  await send(at.url, 'POST', '/api/projects/shop/agents', {
    agent: { name: 'round', model: model.model, data: { tables: ['shop.circle'] } },
  })
  expect(await ask("CREATE VIEW shop.circle AS (SELECT answer FROM round WHERE question = 'Who are you?')")).toMatchObject({ type: 'ok' })
  model.script = queries(() => 'SELECT * FROM shop.circle', 'I have no answer.')
  const [[answer, context] = []] = (await rows("SELECT answer, context FROM round WHERE question = 'Who are you?'")) ?? []
  expect(answer).toMatch(/rests on no data/)
  expect(JSON.parse(String(context))).toMatchObject({ outcome: 'unanswered', queries: [] })
  expect(asked()).toEqual(['Who are you?', 'Who are you?'])
  expect(JSON.stringify(model.asked)).toContain('is an agent, and this statement cannot ask it')
})
