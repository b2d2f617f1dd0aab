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
const settled = () => until(async () => (await at.events('MessageSent', 'DeliveryFailed')).length === (await received()))

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
  // Answers to earlier messages may still be on their way.
  await settled()
  const before = telegram.calls.length
  await deliver(update('slow'))
  await deliver(update('after it'))
  await deliver(update('beside it', { chat: { id: 99 } }))
  await until(() => telegram.calls.at(-1)?.body['text'] === `beside it${note}`)
  release()
  await until(() => telegram.calls.length === before + 3)
  expect(telegram.calls.slice(before).map(({ body }) => body['text'])).toEqual(['beside it', 'slow', 'after it'].map((text) => text + note))
})

const textsSince = (before: number) => telegram.calls.slice(before).map(({ body }) => String(body['text']))

test('a rate limit says in its body how long to wait, and a long answer is several messages', async () => {
  const before = telegram.calls.length
  telegram.next({ status: 429, body: { ok: false, description: 'Too Many Requests', parameters: { retry_after: 0 } } })
  const lines = Array.from({ length: 500 }, (_, i) => `row ${i} of it`)
  at.agent.says(() => lines.join('\n'))
  await deliver(update('long'))
  await settled()
  const [refused, ...texts] = textsSince(before)
  expect([refused, texts.length]).toEqual([texts[0], 2])
  expect(texts.join('\n')).toBe(lines.join('\n') + note)
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(4_096)
  const replies = telegram.calls.slice(before).map(({ body }) => 'reply_parameters' in body)
  expect(replies).toEqual([true, true, false])
})

test('a message that Telegram takes later is sent again alone, and an answer of which one is refused is not delivered', async () => {
  const long = `${'a'.repeat(4_000)} ${'b'.repeat(4_000)} ${'c'.repeat(4_000)}`
  at.agent.says(() => long)
  const starts = (before: number) => textsSince(before).map(([first]) => first)
  let before = telegram.calls.length
  telegram.next({})
  telegram.next({ status: 429, body: { ok: false, parameters: { retry_after: 0 } } })
  await deliver(update('patience'))
  await settled()
  expect(starts(before)).toEqual(['a', 'b', 'b', 'c'])
  before = telegram.calls.length
  telegram.next({})
  telegram.next({ status: 400, body: { ok: false, description: 'chat is closed' } })
  await deliver(update('closed'))
  await settled()
  expect(starts(before)).toEqual(['a', 'b'])
  const error = 'only 1 of 3 messages arrived: it answered 400: chat is closed'
  expect(await at.events('DeliveryFailed')).toMatchObject([{ reason: 'refused', error }])
  // An answer that would have to wait longer than all of it may wait does not keep its place from others.
  before = telegram.calls.length
  telegram.next({})
  telegram.next({ status: 429, body: { ok: false, parameters: { retry_after: 3_600 } } })
  await deliver(update('busy'))
  await settled()
  expect(starts(before)).toEqual(['a', 'b'])
  expect((await at.events('DeliveryFailed')).at(-1)).toMatchObject({ reason: 'refused', error: expect.stringContaining('only 1 of 3') })
})

test('an answer that Telegram may have taken before an error is not sent again, nor one of its messages', async () => {
  at.agent.says((question) => (question === 'whole' ? 'a' : `${'a'.repeat(4_000)} ${'b'.repeat(4_000)} ${'c'.repeat(4_000)}`))
  const failing = { status: 502, body: 'of a proxy' }
  const before = telegram.calls.length
  telegram.next(failing)
  await deliver(update('whole'))
  await settled()
  telegram.next({})
  telegram.next(failing)
  await deliver(update('in parts'))
  await settled()
  expect(textsSince(before).map(([first]) => first)).toEqual(['a', 'a', 'b'])
  expect((await at.events('DeliveryFailed')).slice(-2)).toMatchObject([
    { reason: 'unknown', error: 'it answered 502' },
    { reason: 'unknown', error: 'only 1 of 3 messages arrived: it answered 502' },
  ])
})

test('an answer in Markdown comes without its marks', async () => {
  at.agent.says(() => '**Biscoe** has most:\n\n| island | n |\n|---|---|\n| Biscoe | 44 |')
  const before = telegram.calls.length
  await deliver(update('marked'))
  await settled()
  expect(textsSince(before)).toEqual([`Biscoe has most:\n\nisland | n\nBiscoe | 44${note}`])
})

test('no error of a delivery holds the token', async () => {
  telegram.next({ status: 401, body: { ok: false, description: 'Unauthorized' } })
  await deliver(update('refused'))
  await settled()
  telegram.next({ cut: true })
  await deliver(update('cut'))
  await settled()
  const failed = (await at.events('DeliveryFailed')).slice(-2)
  expect(failed).toMatchObject([{ reason: 'refused', error: 'it answered 401: Unauthorized' }, { reason: 'unknown' }])
  expect(JSON.stringify(failed)).not.toContain('123:abc')
})

test('people get a notice as a reply when the agent fails', async () => {
  at.agent.says(() => ({ error: { message: 'no', type: 'authentication_error' }, status: 401 }))
  await deliver(update('broken'))
  await until(() => String(telegram.calls.at(-1)?.body['text']).startsWith('Sorry'))
  expect(telegram.calls.at(-1)?.body).toMatchObject({ reply_parameters: { message_id: expect.any(Number) } })
})

test('a message that is too long is cut, and its end tells the language model so', async () => {
  at.agent.says(() => 'fine')
  await deliver(update('x'.repeat(25_000), { chat: { id: -77 } }))
  await until(() => at.agent.asked.at(-1)?.startsWith('xxx') === true)
  const asked = at.agent.asked.at(-1) ?? ''
  expect(asked).toMatch(/^x+ … \[The end of this message is left out: it has 25000 characters\.\]$/)
  expect(asked).toHaveLength(20_000)
})
