import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { request, type ClientRequest } from 'node:http'
import { startChatService, type ChatService } from '../../support/chatbots/chat-service.js'
import { startChatting } from '../../support/chatbots/chatting.js'
import { until } from '../../support/until.js'
import { seconds, webhookHeaders } from '../../support/chatbots/signed.js'
import { calls } from '../../support/agents/scripted-model.js'
import { rowsNow, send, sql, type Reply } from '../../support/service.js'

const secret = 'a secret that nobody guesses'
let at: Awaited<ReturnType<typeof startChatting>>
let receiver: ChatService
let hook: string
let posting: string
let count = 0

beforeAll(async () => {
  receiver = await startChatService()
  at = await startChatting((question) => `You said: ${question}`)
  hook = await at.chatbot('direct', 'webhook', { secret })
  posting = await at.chatbot('posting', 'webhook', { secret, reply_url: `${receiver.url}/replies` })
})
afterAll(async () => {
  await at.stop()
  await receiver.stop()
})

const post = (path: string, body: string, headers: Record<string, string>) => send(at.url, 'POST', path, body, headers)
const say = (path: string, text: string, id = `m-${++count}`, conversation = 'c-1') => {
  const body = JSON.stringify({ conversation, text })
  return post(path, body, webhookHeaders(secret, id, body))
}
const received = async () => (await at.events('MessageReceived')).length

test('a signed message is answered in the reply, without a login', async () => {
  expect(await say(hook, 'Hi')).toMatchObject({ status: 200, body: { status: 'answered', answer: { text: 'You said: Hi' } } })
})

test('a message that is sent again has the same answer, and is not asked again', async () => {
  const [one, two] = await Promise.all([say(hook, 'twice', 'same'), say(hook, 'twice', 'same')])
  expect(one).toMatchObject({ status: 200, body: { answer: { text: 'You said: twice' } } })
  expect(two.body).toEqual(one.body)
  const [first, second] = [one, two].map(({ headers }) => headers.get('mindledger-position'))
  expect([Number(first) > 0, second]).toEqual([true, first])
  expect((await say(hook, 'twice', 'same')).body).toEqual(one.body)
  expect(at.agent.asked.filter((question) => question === 'twice')).toHaveLength(1)
  expect((await say(hook, 'other', 'same')).status).toBe(422)
})

const body = JSON.stringify({ conversation: 'c-1', text: 'attack' })
const good = () => webhookHeaders(secret, 'attack', body)
const without = (name: string) => Object.fromEntries(Object.entries(good()).filter(([key]) => key !== name))
const other = Buffer.alloc(32, 1).toString('base64')

test.each<[string, string, () => Record<string, string>]>([
  ['no signature', body, () => without('webhook-signature')],
  ['no id', body, () => without('webhook-id')],
  ['no time', body, () => without('webhook-timestamp')],
  ['another secret', body, () => webhookHeaders('another secret of the same kind', 'attack', body)],
  ['another body', body.replace('attack', 'attacK'), good],
  ['another id', body, () => ({ ...good(), 'webhook-id': 'another' })],
  ['another time', body, () => ({ ...good(), 'webhook-timestamp': String(seconds() - 1) })],
  ['a time that is past', body, () => webhookHeaders(secret, 'attack', body, seconds() - 301)],
  ['a time to come', body, () => webhookHeaders(secret, 'attack', body, seconds() + 302)],
  ['a time that is none', body, () => ({ ...good(), 'webhook-timestamp': 'now' })],
  ['a signature that is too short', body, () => ({ ...good(), 'webhook-signature': 'v1,AA' })],
  ['a signature of the same length', body, () => ({ ...good(), 'webhook-signature': `v1,${other}` })],
  [
    'a signature of another version',
    body,
    () => ({ ...good(), 'webhook-signature': good()['webhook-signature']?.replace('v1', 'v0') ?? '' }),
  ],
  ['many signatures', body, () => ({ ...good(), 'webhook-signature': `v1,${other} `.repeat(200) })],
])('a request with %s is refused, and nothing is recorded', async (_, sent, headers) => {
  const before = await received()
  expect(await post(hook, sent, headers())).toMatchObject({ status: 401, body: { type: expect.stringContaining('bad_signature') } })
  expect(await received()).toBe(before)
})

test('of several signatures one has to fit, as while a secret is replaced', async () => {
  const sent = JSON.stringify({ conversation: 'c-2', text: 'rotated' })
  const headers = webhookHeaders(secret, 'rotated', sent)
  expect((await post(hook, sent, { ...headers, 'webhook-signature': `v1,${other} ${headers['webhook-signature']}` })).status).toBe(200)
})

test('another token, a token in another form, and a token that was replaced lead nowhere', async () => {
  const token = hook.split('/').at(-1) ?? ''
  const changed = token.slice(0, 30) + (token[30] === 'A' ? 'B' : 'A') + token.slice(31)
  for (const wrong of ['x', changed, token.slice(0, -1), `${token}A`, 'A'.repeat(43)])
    expect((await post(`/api/webhooks/chatbots/${wrong}`, body, good())).status).toBe(404)
  const renewed = await send(at.url, 'POST', '/api/projects/mindsdb/chatbots/direct/webhook_token')
  const { path } = renewed.body as { path: string }
  expect(path).not.toBe(hook)
  expect((await say(hook, 'old token')).status).toBe(404)
  hook = path
  expect((await say(hook, 'new token')).status).toBe(200)
  expect((await send(at.url, 'GET', '/api/projects/mindsdb/chatbots/direct')).body).toMatchObject({ webhook_token: null })
})

test('a body that is none, is too large, is packed, or says what nobody takes is refused', async () => {
  const refused = async (text: string, more: Record<string, string> = {}) =>
    (await post(hook, text, { ...webhookHeaders(secret, 'bad', text), ...more })).status
  expect(await refused('{')).toBe(400)
  expect(await refused('[]')).toBe(400)
  expect(await refused('{"text":"x"}')).toBe(400)
  expect(await refused('{"conversation":"c","text":""}')).toBe(400)
  expect(await refused('{"conversation":"c","text":"x","reply_url":"http://127.0.0.1:1/"}')).toBe(400)
  expect(await refused(JSON.stringify({ conversation: 'c', text: 'x'.repeat(20_001) }))).toBe(413)
  expect(await refused(JSON.stringify({ conversation: 'c', text: 'x'.repeat(300_000) }))).toBe(413)
  expect(await refused('{}', { 'content-encoding': 'gzip' })).toBe(415)
})

test('a body that is cut off is recorded as nothing', async () => {
  const before = await received()
  const { hostname, port } = new URL(at.url)
  const sent = request({ hostname, port, path: hook, method: 'POST', headers: { ...good(), 'content-length': '500' } })
  sent.on('error', () => undefined)
  // It is on its way when the connection ends.
  await new Promise((resolve) => sent.write(body, resolve))
  sent.destroy()
  expect((await say(hook, 'after')).status).toBe(200)
  expect(await received()).toBe(before + 1)
})

test('so many requests are read at once, and others are told to come again', async () => {
  const { hostname, port } = new URL(at.url)
  const open = new Set<ClientRequest>()
  let isOver = false
  const begin = () => {
    const sent = request({ hostname, port, path: hook, method: 'POST', agent: false, headers: { ...good(), 'content-length': '500' } })
    open.add(sent)
    sent.on('error', () => undefined)
    sent.on('close', () => {
      open.delete(sent)
      // It was refused as the last place was taken for a moment, or the time for its body was over before the others were there.
      if (!isOver) begin()
    })
    sent.write('{')
  }
  const unsigned = () => post(hook, body, without('webhook-signature'))
  try {
    for (let i = 0; i < 256; i++) begin()
    let refused: Reply | undefined
    await until(async () => (refused = await unsigned()).status === 503)
    expect(refused).toMatchObject({ status: 503, body: { code: 'busy', detail: expect.stringContaining('webhookRequestsMax') } })
  } finally {
    isOver = true
    for (const sent of open) sent.destroy()
  }
  await until(async () => (await unsigned()).status === 401)
  expect((await say(hook, 'after many')).status).toBe(200)
})

test('with a reply_url the answer is posted there, signed, and to no address that a request names', async () => {
  expect(await say(posting, 'post it')).toMatchObject({ status: 202, body: { status: 'waiting' } })
  await until(() => receiver.calls.length === 1)
  const [call] = receiver.calls
  const headers = call?.headers ?? {}
  const note = 'No query was run and nothing was retrieved for this answer.'
  expect(call).toMatchObject({
    path: '/replies',
    body: { conversation: 'c-1', webhook_id: `m-${count}`, status: 'answered', text: 'You said: post it', note, queries: [] },
  })
  const id = String(headers['webhook-id'])
  expect(headers['webhook-signature']).toBe(
    webhookHeaders(secret, id, call?.raw ?? '', Number(headers['webhook-timestamp']))['webhook-signature'],
  )
})

test('an answer at a reply_url names its message and its record, and has its queries, also when it is posted again', async () => {
  await sql(at.url, 'CREATE TABLE files.rooms (SELECT i AS n FROM range(3) AS t(i))')
  const { agent } = at.agent.named('counter')
  await send(at.url, 'POST', '/api/projects/mindsdb/agents', { agent: { ...agent, data: { tables: ['files.rooms'] } } })
  const path = await at.chatbot('counting', 'webhook', { secret, reply_url: `${receiver.url}/counts` }, { agent_name: 'counter' })
  const look = `SELECT n, repeat('x', 50000) AS wide FROM files.rooms ORDER BY n`
  const count = 'SELECT count(*) AS rooms FROM files.rooms'
  const queries = [look, count]
  at.agent.says(() => {
    const query = queries.shift()
    return query === undefined ? 'There are 3.' : calls(['sql', { query }])
  })
  const before = receiver.calls.length
  receiver.next({ cut: true })
  const { body: taken } = await say(path, 'How many rooms?', 'count-1', 'c-9')
  const { message } = taken as { message: string }
  await until(() => receiver.calls.length === before + 2)
  const [first, again] = receiver.calls.slice(before)
  expect(again?.raw).toBe(first?.raw)
  const end = () => rowsNow(at.url, `SELECT answer_id FROM log.messages WHERE message = '${message}' AND status = 'answered'`)
  // The receiver has the answer before the log says that it was sent.
  await until(async () => (await end()).length === 1)
  const [[answer] = []] = await end()
  expect(first?.body).toEqual({
    ...{ conversation: 'c-9', webhook_id: 'count-1', message, reply: first?.headers['webhook-id'] },
    ...{ status: 'answered', text: 'There are 3.', answer_id: answer },
    queries: [
      // Two of its rows do not fit.
      expect.objectContaining({ columns: ['n', 'wide'], rows: [[0, 'x'.repeat(50_000)]], cut: true }),
      { sql: count, columns: ['rooms'], rows: [[3]], cut: false },
    ],
  })
})

test('a stopped chatbot refuses, and a secret that is too short is none', async () => {
  const off = await at.chatbot('off', 'webhook', { secret }, { is_running: false })
  expect(await say(off, 'anyone?')).toMatchObject({ status: 409, body: { title: 'Chatbot stopped' } })
  const weak = await at.chatbot('weak', 'webhook', { secret: 'short' })
  expect(await post(weak, body, webhookHeaders('short', 'weak', body))).toMatchObject({ status: 409, body: { title: 'No secret' } })
  const none = await at.chatbot('none', 'webhook', {})
  expect((await post(none, body, webhookHeaders('', 'none', body))).status).toBe(409)
})

test.each([
  ['has 7 bytes', 'whsec_1234567890', Buffer.from('1234567890', 'base64')],
  ['is no base64', 'whsec_!!!!!!!!!!!!!!!!!!!!!!!!', Buffer.alloc(0)],
])('a key that %s is none, however long its secret is', async (name, weak, key) => {
  const path = await at.chatbot(name.replaceAll(' ', '_'), 'webhook', { secret: weak })
  expect(await post(path, body, webhookHeaders(key, 'weak', body))).toMatchObject({ status: 409, body: { title: 'No secret' } })
})

test('the key of a secret with the prefix of Standard Webhooks is base64', async () => {
  const key = randomBytes(24)
  const path = await at.chatbot('standard', 'webhook', { secret: `whsec_${key.toString('base64')}` })
  expect((await post(path, body, webhookHeaders(key, 'standard', body))).status).toBe(200)
})

test('texts that tables cannot hold are kept without what does not fit', async () => {
  const text = 'a\u0000b\ud800c'
  const sent = JSON.stringify({ conversation: 'odd', text })
  at.agent.says((question) => `${question}\u0000\udfff`)
  const reply = await post(hook, sent, webhookHeaders(secret, 'odd', sent))
  expect(reply.status).toBe(200)
  expect(await at.events('MessageSent')).not.toHaveLength(0)
})

test('what nobody knows to have arrived is posted again, with the id that it had', async () => {
  at.agent.says((question) => `Once: ${question}`)
  const before = receiver.calls.length
  receiver.next({ cut: true })
  receiver.next({ status: 503, headers: { 'retry-after': '0' } })
  await say(posting, 'posted twice')
  await until(() => receiver.calls.length === before + 3)
  const posted = receiver.calls.slice(before)
  expect(new Set(posted.map(({ raw }) => raw)).size).toBe(1)
  expect(new Set(posted.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(at.agent.asked.filter((question) => question === 'posted twice')).toHaveLength(1)
  await until(async () => (await rowsNow(at.url, "SELECT status FROM log.messages WHERE text = 'posted twice'"))[0]?.[0] === 'answered')
})

test('a program is told in the same way that there is no answer', async () => {
  at.agent.says(() => ({ error: { message: 'no', type: 'authentication_error' }, status: 401 }))
  expect(await say(hook, 'broken')).toMatchObject({ status: 200, body: { status: 'failed', notice: expect.stringMatching(/^Sorry/) } })
  const before = receiver.calls.length
  await say(posting, 'broken')
  await until(() => receiver.calls.length > before)
  expect(receiver.calls.at(-1)?.body).toMatchObject({ conversation: 'c-1', status: 'failed', text: expect.stringMatching(/^Sorry/) })
  expect(receiver.calls.at(-1)?.body).toMatchObject({ webhook_id: `m-${count}`, message: expect.any(String) })
})
