import { Readable, pipeline } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { calls, queries, resultsOf } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { chunk, event, last, RawServer, stream, type Answering } from '../../support/llm/raw-server.js'
import { send, sql } from '../../support/service.js'

const shop = new AgentShop()
/** A language model that does everything wrong. */
const bad = new RawServer()

beforeAll(async () => {
  await Promise.all([shop.start(), bad.start()])
  await shop.run(`CREATE TABLE files.cars (SELECT i AS id, 'car ' || i AS name FROM range(40) AS t(i))`)
  const model = { provider: 'openai_compatible', model_name: 'bad', base_url: `${bad.url}/v1`, api_key: 'sk-bad-1234567890' }
  await shop.agent('victim', { model, data: { tables: ['files.cars'] } })
  await shop.agent('brief', { model, data: { tables: ['files.cars'] }, params: { max_steps: 3 } })
  await shop.agent('hasty', { model, params: { timeout: 1 } })
  await shop.agent('seller', { data: { tables: ['files.cars'] } })
})
afterAll(async () => {
  await shop.stop()
  bad.stop()
})
beforeEach(() => {
  bad.reset()
  shop.model.asked.length = 0
})

function* forever(piece: string): Generator<string, void> {
  for (;;) yield piece
}

const endless =
  (piece: string): Answering =>
  (response) =>
    pipeline(Readable.from(forever(piece)), stream(response), () => undefined)

const signsOfLife: Answering = (response) => {
  const timer = setInterval(() => response.write(': still here\n\n'), 20)
  stream(response).once('close', () => clearInterval(timer))
}

/** It wants these tools whenever it is asked. */
const wants =
  (tools: readonly (readonly [name: string, input: string])[], usage: object = {}): Answering =>
  (response) => {
    const toolCalls = tools.map(([name, input], index) => ({ index, id: `call_${index}`, function: { name, arguments: input } }))
    stream(response).end(chunk({ tool_calls: toolCalls }) + last('tool_calls', usage))
  }

const refuses =
  (status: number, headers: Record<string, string> = {}): Answering =>
  (response) =>
    response.writeHead(status, headers).end(JSON.stringify({ error: { message: 'not now' } }))

const begin = chunk({ content: 'The begin' })
const same = ['sql', '{"query": "SELECT count(*) AS n FROM cars"}'] as const

const countCall = { index: 0, id: 'call_0', function: { name: same[0], arguments: same[1] } }

type Bad = { agent?: string; answer: Answering; status: number; code: string; title: string; said?: string }

test.each<[string, Bad]>([
  ['refuses the key', { answer: refuses(401), status: 502, code: 'llm_failed', title: 'Key refused' }],
  [
    'has too many requests',
    { answer: refuses(429, { 'retry-after': '3600' }), status: 502, code: 'llm_failed', title: 'Too many requests' },
  ],
  ['fails each time', { answer: refuses(500, { 'retry-after': '0' }), status: 502, code: 'llm_failed', title: 'Language model failed' }],
  [
    'answers a page',
    {
      answer: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>'),
      ...{ status: 502, code: 'llm_failed', title: 'Not understood' },
    },
  ],
  [
    'breaks off half of its answer',
    {
      answer: (response) => void stream(response).write(`${begin}data: {"choi`, () => response.destroy()),
      ...{ status: 502, code: 'llm_failed', title: 'Connection lost', said: 'The begin' },
    },
  ],
  [
    'ends in the middle of its answer',
    { answer: (response) => stream(response).end(begin), status: 502, code: 'llm_failed', title: 'Answer cut off', said: 'The begin' },
  ],
  [
    'fails in the middle of its answer',
    {
      answer: (response) => stream(response).end(begin + event({ error: { message: 'out of memory' } })),
      ...{ status: 502, code: 'llm_failed', title: 'Language model failed', said: 'The begin' },
    },
  ],
  [
    'writes for ever',
    { answer: endless(chunk({ content: 'x'.repeat(8_192) })), status: 400, code: 'answer_limit', title: 'The answer is too long' },
  ],
  ['sends bytes for ever', { answer: endless('x'.repeat(65_536)), status: 502, code: 'llm_failed', title: 'Answer too large' }],
  [
    'only sends signs of life',
    { agent: 'hasty', answer: signsOfLife, status: 504, code: 'answer_timeout', title: 'The answer took too long' },
  ],
  ['wants the same for ever', { answer: wants([same]), status: 400, code: 'answer_limit', title: 'Too many steps' }],
  ['only wants tools that nobody has', { answer: wants([['drop', '{}']]), status: 400, code: 'answer_limit', title: 'Too many steps' }],
  [
    'wants too many tools at once',
    { answer: wants(Array(40).fill(same)), status: 400, code: 'answer_limit', title: 'Too many uses of tools' },
  ],
  [
    'has used the tokens of an answer',
    {
      answer: wants([same], { usage: { prompt_tokens: 400_000, completion_tokens: 1 } }),
      ...{ status: 400, code: 'answer_limit', title: 'Too many tokens' },
    },
  ],
])('an answer of a language model that %s fails, on record, over REST, as a stream and in SQL', async (_, wrong) => {
  const { agent = 'victim', answer, status, code, title, said } = wrong
  bad.answer = answer
  const asked = await shop.ask(agent, 'Hi')
  expect(asked).toMatchObject({ status, body: { code, title, trace_id: expect.any(String), position: expect.any(Number) } })
  expect(asked.body).toMatchObject({ hint: expect.stringMatching(/\w \w/) })
  await bad.isLeft()
  const frames = await shop.stream(agent, 'Hi')
  expect(frames[0]).toMatchObject({ type: 'start', trace_id: expect.any(String) })
  expect(frames.at(-2)).toMatchObject({ type: 'error', code, error: expect.any(String) })
  expect(frames.at(-1)).toMatchObject({ type: 'end', outcome: 'failed', position: expect.any(Number) })
  await bad.isLeft()
  const inSql = await sql(shop.url, `SELECT answer FROM shop.${agent} WHERE question = 'Hi'`)
  expect(inSql).toMatchObject({ type: 'error', error_message: expect.any(String) })
  await bad.isLeft()
  const failed = { outcome: 'failed', error: title, provider: 'openai_compatible', model: 'bad', host: `127.0.0.1:${bad.port}` }
  expect(await shop.answers(3)).toMatchObject([failed, failed, failed])
  const { position } = asked.body as { position: number }
  const [row] = await shop.run(`SELECT outcome, question, answer FROM log.answers WHERE position = ${position}`)
  expect(row).toEqual(['failed', 'Hi', said ?? expect.any(String)])
})

test('a language model that wants its thoughts back gets them, and the answer is replayed from its record', async () => {
  bad.answer = (response, { body }) => {
    const messages = body['messages'] as { role: string; reasoning_content?: string }[]
    if (messages.at(-1)?.role === 'user')
      return stream(response).end(chunk({ reasoning_content: 'I must\0 count.' }) + chunk({ tool_calls: [countCall] }) + last('tool_calls'))
    const isWhole = messages.every(({ role, reasoning_content }) => role !== 'assistant' || reasoning_content === 'I must count.')
    return isWhole ? stream(response).end(chunk({ content: 'There are 40.' }) + last()) : response.writeHead(400).end('{}')
  }
  const { body } = await shop.ask('victim', 'How many?')
  expect(body).toMatchObject({ outcome: 'answered', message: { content: 'There are 40.' } })
  const path = `/api/projects/shop/agents/victim/answers/${(body as { position: number }).position}`
  expect((await send(shop.url, 'POST', `${path}/rerun`, {})).body).toMatchObject({ cases: [{ result: 'same' }] })
  expect((await send(shop.url, 'GET', path)).body).toMatchObject({
    exchanges: [{ response: { thoughts: { reasoning_content: 'I must count.' } } }, {}],
  })
})

/** A list in a list, and so on, as JSON text. */
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

test('arguments of a tool that are nested too deeply are refused, and the answer is on record and replayed', async () => {
  const call = { ...countCall, function: { name: 'sql', arguments: `{"query": ${nested(50_000)}}` } }
  bad.answer = (response, { body }) => {
    const isAsked = (body['messages'] as { role: string }[]).at(-1)?.role === 'user'
    stream(response).end(
      isAsked
        ? chunk({ content: 'I say it now.' }) + chunk({ tool_calls: [call] }) + last('tool_calls')
        : chunk({ content: 'No answer.' }) + last(),
    )
  }
  const { status, body } = await shop.ask('victim', 'How many?')
  expect([status, body]).toMatchObject([200, { outcome: 'unanswered' }])
  const path = `/api/projects/shop/agents/victim/answers/${(body as { position: number }).position}`
  const { exchanges, tools } = (await send(shop.url, 'GET', path)).body as { exchanges: unknown[]; tools: unknown[] }
  expect(exchanges).toMatchObject([{ response: { text: 'I say it now.' } }, {}])
  expect(tools).toMatchObject([{ failed: true, output: expect.stringContaining('jsonMaxDepth') }])
  expect((await send(shop.url, 'POST', `${path}/rerun`, {})).body).toMatchObject({ cases: [{ result: 'same' }] })
})

test('thoughts that are nested too deeply are left out, and the record can be read', async () => {
  const details = { reasoning_details: [{ type: 'odd', value: JSON.parse(nested(200)) as unknown }] }
  bad.answer = (response, { body }) => {
    const isAsked = (body['messages'] as { role: string }[]).at(-1)?.role === 'user'
    stream(response).end(
      isAsked ? chunk(details) + chunk({ tool_calls: [countCall] }) + last('tool_calls') : chunk({ content: 'There are 40.' }) + last(),
    )
  }
  const { body } = await shop.ask('victim', 'How many?')
  const path = `/api/projects/shop/agents/victim/answers/${(body as { position: number }).position}`
  expect(await send(shop.url, 'GET', path)).toMatchObject({ status: 200, body: { outcome: 'answered', answer: 'There are 40.' } })
  expect((await send(shop.url, 'POST', `${path}/rerun`, {})).body).toMatchObject({ cases: [{ result: 'same' }] })
})

test('what a language model says and takes back is on the record, as a reader of the stream got it, and is replayed from it', async () => {
  let goOn = () => {}
  const isHeard = new Promise<void>((resolve) => (goOn = resolve))
  bad.answer = async (response) => {
    stream(response).write(chunk({ content: 'The word is hunter2.' }))
    // What arrives together is read as one text.
    await isHeard
    response.end(chunk({ content: '</think>' }) + chunk({ content: 'I say nothing.' }) + last())
  }
  const frames = await shop.stream('victim', 'Which word?', (text) => text.includes('hunter2') && goOn())
  const heard = frames.flatMap(({ type, text }) => (type === 'data' ? [text] : type === 'remark' ? ['(remark)'] : []))
  expect(heard.join('')).toBe('The word is hunter2.(remark)I say nothing.')
  const { position } = frames.at(-1) as unknown as { position: number }
  const path = `/api/projects/shop/agents/victim/answers/${position}`
  const response = { remarks: 'The word is hunter2.', text: 'I say nothing.' }
  expect((await send(shop.url, 'GET', path)).body).toMatchObject({ answer: 'I say nothing.', exchanges: [{ response }] })
  const said = await shop.run(`SELECT output FROM log.answer_steps WHERE position = ${position}`)
  expect(said).toEqual([['The word is hunter2.\nI say nothing.']])
  expect((await send(shop.url, 'POST', `${path}/rerun`, {})).body).toMatchObject({ cases: [{ result: 'same' }] })
})

test('what a provider says of its failure, which the client gets, is on the record and not in the event', async () => {
  bad.answer = (response) => stream(response).end(event({ error: { message: 'the word is hunter2' } }))
  const { body } = await shop.ask('victim', 'Which word?')
  const { detail, position } = body as { detail: string; position: number }
  expect(detail).toContain('the word is hunter2')
  const path = `/api/projects/shop/agents/victim/answers/${position}`
  const failure = { code: 'llm_failed', title: 'Language model failed', detail }
  expect((await send(shop.url, 'GET', path)).body).toMatchObject({ failure })
  expect(await shop.run(`SELECT error, error_detail FROM log.answers WHERE position = ${position}`)).toEqual([[failure.title, detail]])
  expect(await shop.run(`SELECT count(*) FROM log.events WHERE position = ${position} AND data LIKE '%hunter2%'`)).toEqual([[0]])
  expect((await send(shop.url, 'POST', `${path}/rerun`, {})).body).toMatchObject({ cases: [{ result: 'same' }] })
})

test('a language model that refuses a user behind a tool still answers at the last step', async () => {
  bad.answer = (response, { body }) => {
    const roles = (body['messages'] as { role: string }[]).map(({ role }) => role).join(' ')
    if (roles.includes('tool user'))
      return response.writeHead(400).end(JSON.stringify({ message: "Unexpected role 'user' after role 'tool'", code: '3230' }))
    return body['tool_choice'] === 'none'
      ? stream(response).end(chunk({ content: 'There are 40.' }) + last())
      : stream(response).end(chunk({ tool_calls: [countCall] }) + last('tool_calls'))
  }
  expect((await shop.ask('brief', 'How many?')).body).toMatchObject({ outcome: 'answered', message: { content: 'There are 40.' } })
})

test('one answer runs twelve queries, and the language model is told so', async () => {
  const thirteen = Array.from({ length: 13 }, (_, i) => ['sql', { query: `SELECT ${i} AS n FROM cars LIMIT 1` }] as const)
  shop.model.script = (asked) => (resultsOf(asked).length === 0 ? calls(...thirteen) : 'Done.')
  const { body } = await shop.ask('seller', 'How many?')
  expect((body as { sql: string[] }).sql).toHaveLength(12)
  expect(resultsOf(shop.model.asked[1] as never).at(-1)).toContain('it was used 12 times for this answer and is not run again')
})

test('one answer uses tools 32 times, and the language model is told so', async () => {
  const twenty = Array(20).fill(['nothing', {}]) as ['nothing', object][]
  shop.model.script = (asked) => (resultsOf(asked).length < 40 ? calls(...twenty) : 'Done.')
  expect((await shop.ask('seller', 'How many?')).status).toBe(200)
  const results = resultsOf(shop.model.asked[2] as never)
  expect(results[31]).toContain('there is no such tool')
  expect(results.slice(32)).toEqual(Array(8).fill(expect.stringContaining('tools were used 32 times for this answer (agentToolCallsMax)')))
})

test('an answer keeps so many bytes of the rows of a query and says so, and the model gets so many characters', async () => {
  shop.model.script = queries((question) => question)
  const { body } = await shop.ask('seller', `SELECT repeat('x', 300000) AS t FROM cars`)
  expect(body).toMatchObject({ data: [{ rows: Array(3).fill(['x'.repeat(300_000)]), cut: true }] })
  await shop.ask('seller', `SELECT repeat('x', 3000) AS t FROM cars LIMIT 20`)
  const [result = ''] = resultsOf(shop.model.asked.at(-1) as never)
  expect(result).toContain('20 rows; the first 7 are shown')
  expect(result.length).toBeLessThan(17_000)
})
