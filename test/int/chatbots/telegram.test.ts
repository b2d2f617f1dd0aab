import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startChatService, type ChatService } from '../../support/chatbots/chat-service.js'
import { startChatting } from '../../support/chatbots/chatting.js'
import { until } from '../../support/until.js'
import { send } from '../../support/service.js'

const secret = 'a-secret-token-of-the-webhook'
let at: Awaited<ReturnType<typeof startChatting>>
let telegram: ChatService
let hook: string
let count = 0
/** How an answer of an agent without data ends. */
const note = '\n\nNo query was run and nothing was retrieved for this answer.'

beforeAll(async () => {
  telegram = await startChatService()
  at = await startChatting((question) => `${question}?`)
  hook = await at.chatbot('bot', 'telegram', { token: '123:abc', secret_token: secret, api_url: telegram.url })
})
afterAll(async () => {
  await at.stop()
  await telegram.stop()
})

const deliver = (update: object, token = secret) => send(at.url, 'POST', hook, update, { 'x-telegram-bot-api-secret-token': token })
const update = (text: string, more: object = {}) => ({
  update_id: ++count,
  message: { message_id: 100 + count, from: { id: 7, is_bot: false }, chat: { id: -5, type: 'group' }, text, ...more },
})
const received = async () => (await at.events('MessageReceived')).length

test('an update is answered with sendMessage, as a reply to its message, and says that it has no rows behind it', async () => {
  expect(await deliver(update('Really'))).toMatchObject({ status: 200, body: { ok: true } })
  await until(() => telegram.calls.length === 1)
  expect(telegram.calls[0]).toMatchObject({
    path: '/bot123:abc/sendMessage',
    body: { chat_id: -5, text: `Really?${note}`, reply_parameters: { message_id: 101, allow_sending_without_reply: true } },
  })
})

test('an update without the secret token, or with another one, is refused', async () => {
  const before = await received()
  for (const token of ['', 'another', `${secret}x`, secret.slice(1)]) expect((await deliver(update('attack'), token)).status).toBe(401)
  expect((await send(at.url, 'POST', hook, update('attack'))).status).toBe(401)
  expect(await received()).toBe(before)
})

test('an update that comes again is one message, and what nobody wrote is none', async () => {
  const before = await received()
  const twice = update('twice')
  await Promise.all([deliver(twice), deliver(twice)])
  await deliver(update('robot', { from: { id: 8, is_bot: true } }))
  await deliver({ update_id: ++count, edited_message: { text: 'edited' } })
  await deliver({ update_id: ++count, message: { message_id: 1, from: { id: 7 }, chat: { id: 1 }, photo: [] } })
  expect(await received()).toBe(before + 1)
  expect((await deliver({ hello: 'there' })).status).toBe(400)
})

test('messages of one chat are answered in their order, and those of others beside them', async () => {
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  at.agent.says(async (question) => {
    if (question === 'slow') await held
    return question
  })
  const before = telegram.calls.length
  await deliver(update('slow'))
  await deliver(update('after it'))
  await deliver(update('beside it', { chat: { id: 99 } }))
  await until(() => telegram.calls.at(-1)?.body['text'] === `beside it${note}`)
  release()
  await until(() => telegram.calls.length === before + 3)
  expect(telegram.calls.slice(before).map(({ body }) => body['text'])).toEqual(['beside it', 'slow', 'after it'].map((text) => text + note))
})

test('a rate limit says in its body how long to wait, and a long answer is cut', async () => {
  const before = telegram.calls.length
  telegram.next({ status: 429, body: { ok: false, description: 'Too Many Requests', parameters: { retry_after: 0 } } })
  at.agent.says(() => 'x'.repeat(5_000))
  await deliver(update('long'))
  await until(() => telegram.calls.length === before + 2)
  const text = String(telegram.calls.at(-1)?.body['text'])
  expect([text.length, text.slice(-note.length - 1)]).toEqual([4_096, `…${note}`])
  await until(async () => (await at.events('MessageSent')).length === (await received()))
})

test('no error of a delivery holds the token', async () => {
  telegram.next({ status: 401, body: { ok: false, description: 'Unauthorized' } })
  await deliver(update('refused'))
  await until(async () => (await at.events('DeliveryFailed')).length === 1)
  telegram.next({ cut: true })
  await deliver(update('cut'))
  await until(async () => (await at.events('DeliveryFailed')).length === 2)
  const failed = await at.events('DeliveryFailed')
  expect(failed).toMatchObject([{ reason: 'refused', error: 'it answered 401: Unauthorized' }, { reason: 'unknown' }])
  expect(JSON.stringify(failed)).not.toContain('123:abc')
})

test('people get a notice as a reply when the agent fails', async () => {
  at.agent.says(() => ({ error: { message: 'no', type: 'authentication_error' }, status: 401 }))
  await deliver(update('broken'))
  await until(() => String(telegram.calls.at(-1)?.body['text']).startsWith('Sorry'))
  expect(telegram.calls.at(-1)?.body).toMatchObject({ reply_parameters: { message_id: expect.any(Number) } })
})
