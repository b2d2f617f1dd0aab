import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { send, sql } from '../../support/service.js'
import { startChatting } from '../../support/chatbots/chatting.js'
import { calls } from '../../support/agents/scripted-model.js'
import { framesOf } from '../../support/agents/shop.js'

let at: Awaited<ReturnType<typeof startChatting>>
const path = '/api/projects/mindsdb/chatbots/desk'
type Answer = { conversation: string; message: string; status: string; answer?: { id: string; text: string } }

beforeAll(async () => {
  at = await startChatting((question, earlier) => `${question}! (${earlier.length} before)`)
  await at.chatbot('desk', 'webhook', { secret: 'a secret that nobody guesses' })
})
afterAll(() => at.stop())

const say = async (body: object, headers: Record<string, string> = {}) => {
  const reply = await send(at.url, 'POST', `${path}/messages`, body, headers)
  return { ...reply, body: reply.body as Answer & { detail?: string } }
}

test('a message is answered with what was said before it, and everything of it is in the log', async () => {
  const first = await say({ text: 'Hello', user: 'ann' })
  const note = 'No query was run and nothing was retrieved for this answer.'
  expect(first).toMatchObject({ status: 200, body: { status: 'answered', answer: { text: 'Hello! (0 before)', queries: [], note } } })
  const { conversation } = first.body
  const second = await say({ text: 'Again', conversation })
  expect(second.body).toMatchObject({ conversation, answer: { text: 'Again! (2 before)' } })
  const { body } = await send(at.url, 'GET', `${path}/conversations/${conversation}`)
  expect(body).toMatchObject({
    id: conversation,
    channel: 'api',
    waiting: 0,
    messages: [
      { id: first.body.message, text: 'Hello', sender: 'ann', status: 'answered', answer: { text: 'Hello! (0 before)' }, erased: false },
      { text: 'Again', sender: null, answer: { text: 'Again! (2 before)' } },
    ],
    next: null,
  })
  expect((await send(at.url, 'GET', `${path}/conversations`)).body).toMatchObject([{ id: conversation, chatbot: 'desk' }])
  const types = await sql(at.url, `SELECT type FROM log.events WHERE stream = '${conversation}' ORDER BY position`)
  expect(types.error_message).toBeUndefined()
  expect(types.data.flat()).toEqual(['ConversationStarted', 'MessageReceived', 'MessageSent', 'MessageReceived', 'MessageSent'])
})

test.each(['', ' ', '\n\t', '\u200b'])('a message without a text is refused, and the refusal says what to send: %j', async (text) => {
  for (const address of ['messages', 'messages/stream'])
    expect(await send(at.url, 'POST', `${path}/${address}`, { text })).toMatchObject({
      status: 400,
      body: { detail: 'text: the message has no text', hint: 'Send {"text": "…"} with the message in words.' },
    })
})

test('a request that is sent again with its key is one message with one answer', async () => {
  const key = { 'idempotency-key': 'k-1' }
  const [one, two] = await Promise.all([say({ text: 'Once' }, key), say({ text: 'Once' }, key)])
  const three = await say({ text: 'Once' }, key)
  expect(one.body).toMatchObject({ answer: { text: 'Once! (0 before)' } })
  expect(two.body).toEqual(one.body)
  expect(three.body).toEqual(one.body)
  expect(at.agent.asked.filter((question) => question === 'Once')).toHaveLength(1)
  expect((await say({ text: 'Other' }, key)).status).toBe(422)
})

test('the answer to a message names the position of its event, also when the message is sent again', async () => {
  for (const address of ['messages', 'messages/stream']) {
    const key = { 'idempotency-key': `k-${address}` }
    const sent = async () => (await send(at.url, 'POST', `${path}/${address}`, { text: 'Where?' }, key)).headers.get('mindledger-position')
    const first = await sent()
    const newest = await sql(at.url, "SELECT max(position) FROM log.events WHERE type = 'MessageReceived'")
    expect([Number(first), await sent()]).toEqual([newest.data[0]?.[0], first])
  }
})

test('what an agent cannot answer is refused, recorded, and does not stop the conversation', async () => {
  at.agent.says((question) => {
    if (question === 'break') return { error: { message: 'no such model' }, status: 400 }
    return 'fine'
  })
  const { conversation } = (await say({ text: 'go' })).body
  const failed = await say({ text: 'break', conversation })
  expect(failed).toMatchObject({
    status: 502,
    body: { type: expect.stringContaining('not_answered'), conversation, reason: 'agent', notice: expect.stringMatching(/^Sorry/) },
  })
  expect((await say({ text: 'go on', conversation })).body).toMatchObject({ answer: { text: 'fine' } })
})

test('a chatbot with a model and without an agent answers no message: its author gets the notice, and the event says what is missing', async () => {
  await sql(at.url, 'CREATE TABLE files.pairs (SELECT range AS x, 2 * range AS y FROM range(50))')
  const made = await sql(at.url, "CREATE MODEL mindsdb.guess FROM files (SELECT x, y FROM pairs) PREDICT y USING engine = 'constant'")
  expect(made.error_message).toBeUndefined()
  await at.chatbot('mute', 'webhook', { secret: 'a secret that nobody guesses' }, { agent_name: undefined, model_name: 'guess' })
  const failed = await send(at.url, 'POST', '/api/projects/mindsdb/chatbots/mute/messages', { text: 'Hello?' })
  expect(failed).toMatchObject({
    status: 502,
    body: { type: expect.stringContaining('not_answered'), reason: 'chatbot', notice: expect.stringMatching(/^Sorry/) },
  })
  expect((await at.events('MessageFailed')).at(-1)).toMatchObject({
    reason: 'chatbot',
    error: 'the chatbot has no agent that could answer: give it one (agent_name)',
  })
})

test('an answer that is longer than a question may be does not end the conversation', async () => {
  at.agent.says((question) => (question === 'tell all' ? 'x'.repeat(40_000) : 'fine'))
  const { conversation } = (await say({ text: 'tell all' })).body
  expect((await say({ text: 'and then?', conversation })).body).toMatchObject({ status: 'answered', answer: { text: 'fine' } })
})

test('SQL shows conversations and messages with what became of each, also as it was before', async () => {
  at.agent.says((question) => question.toUpperCase())
  const { conversation, message } = (await say({ text: 'loud', user: 'bea' })).body
  const of = `WHERE conversation = '${conversation}'`
  expect(
    (await sql(at.url, `SELECT project, chatbot, channel, messages, answered, failed, ended_at FROM log.conversations ${of}`)).data,
  ).toEqual([['mindsdb', 'desk', 'api', 1, 1, 0, null]])
  const columns = 'message, sender, text, status, answer, error, readable'
  const all = await sql(at.url, `SELECT ${columns}, position FROM log.messages ${of}`)
  expect(all.data).toEqual([[message, 'bea', 'loud', 'answered', 'LOUD', null, true, expect.any(Number)]])
  const before = await sql(at.url, `SELECT ${columns} FROM log.messages AT (VERSION => ${String(all.data[0]?.[7])}) ${of}`)
  expect(before.data).toEqual([[message, 'bea', 'loud', 'waiting', null, null, true]])
  expect((await sql(at.url, `SELECT kind, project FROM log.resources WHERE stream = '${conversation}'`)).data).toEqual([
    ['conversation', null],
  ])
})

test('a stream has the ids, each tool, the text and the whole answer; it is the same message with the same key', async () => {
  at.agent.says((_, earlier) => (earlier.length === 0 ? calls(['nothing', { a: 1 }]) : 'There are none.'))
  const stream = async () => {
    const { status, type, body } = await send(at.url, 'POST', `${path}/messages/stream`, { text: 'streamed' }, { 'idempotency-key': 'k-s' })
    expect([status, type]).toEqual([200, expect.stringMatching(/^text\/event-stream/)])
    return framesOf(String(body))
  }
  const frames = await stream()
  const [start] = frames
  expect(frames.filter(({ type }) => type !== 'data')).toMatchObject([
    { type: 'start', conversation: expect.any(String), message: expect.any(String) },
    { type: 'context', trace_id: expect.any(String) },
    { type: 'step', tool: 'nothing', input: '{"a":1}' },
    { type: 'result', tool: 'nothing', failed: true, content: expect.stringContaining('there is no such tool') },
    { ...start, type: 'answer', content: 'There are none.', status: 'answered', answer: { text: 'There are none.', queries: [] } },
    { type: 'end' },
  ])
  expect(frames.flatMap(({ type, text }) => (type === 'data' ? [text] : [])).join('')).toBe('There are none.')
  const asked = at.agent.asked.length
  expect(await stream()).toEqual([start, ...frames.slice(-2)])
  expect(at.agent.asked).toHaveLength(asked)
})

test('a stream whose agent fails ends with the error and the notice', async () => {
  at.agent.says(() => ({ error: { message: 'no such model' }, status: 400 }))
  const { body } = await send(at.url, 'POST', `${path}/messages/stream`, { text: 'fail' })
  expect(framesOf(String(body)).slice(-2)).toMatchObject([
    { type: 'error', content: 'Request refused', status: 'failed', reason: 'agent', notice: expect.stringMatching(/^Sorry/) },
    { type: 'end' },
  ])
})

test.each([
  [0, ['0', '0', '0']],
  [1, ['0', '2', '2']],
])('the param history %i is the number of earlier turns, each with its answer, that an agent gets', async (history, expected) => {
  const name = `history_${history}`
  await at.chatbot(name, 'webhook', { secret: 'a secret that nobody guesses' }, { params: { history } })
  at.agent.says((_, earlier) => String(earlier.length))
  const heard: unknown[] = []
  let conversation: string | undefined
  for (const text of ['one', 'two', 'three']) {
    const { body } = await send(at.url, 'POST', `/api/projects/mindsdb/chatbots/${name}/messages`, { text, conversation })
    conversation = (body as Answer).conversation
    heard.push((body as Answer).answer?.text)
  }
  expect(heard).toEqual(expected)
})
