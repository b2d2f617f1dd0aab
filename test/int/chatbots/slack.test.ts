import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startChatService, type ChatService } from '../../support/chatbots/chat-service.js'
import { startChatting } from '../../support/chatbots/chatting.js'
import { until } from '../../support/until.js'
import { seconds, slackHeaders } from '../../support/chatbots/signed.js'
import { send, sql } from '../../support/service.js'

const secret = '8f742231b10e8888abcd99yyyzzz85a5'
let at: Awaited<ReturnType<typeof startChatting>>
let slack: ChatService
let hook: string
let count = 0
/** How an answer of an agent without data ends. */
const note = '\n\nNo query was run and nothing was retrieved for this answer.'

beforeAll(async () => {
  slack = await startChatService()
  at = await startChatting((question) => `<!channel> ${question} & more`)
  hook = await at.chatbot('bot', 'slack', { token: 'xoxb-1', signing_secret: secret, api_url: slack.url })
})
afterAll(async () => {
  await at.stop()
  await slack.stop()
})

const deliver = (fields: object, headers?: Record<string, string>) => {
  const body = JSON.stringify(fields)
  return send(at.url, 'POST', hook, body, headers ?? slackHeaders(secret, body))
}
const event = (fields: object, id = `Ev${++count}`) => ({
  ...{ type: 'event_callback', team_id: 'T1', api_app_id: 'A1', event_id: id, authorizations: [{ user_id: 'UBOT', is_bot: true }] },
  event: { type: 'app_mention', user: 'U1', channel: 'C1', ts: `17000.${++count}`, ...fields },
})
const received = async () => (await at.events('MessageReceived')).length

test('Slack verifies the address, and only with a signature', async () => {
  const challenge = { type: 'url_verification', challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P' }
  expect(await deliver(challenge)).toMatchObject({ status: 200, body: challenge.challenge })
  const body = JSON.stringify(challenge)
  for (const headers of [
    slackHeaders('another secret, as long as it', body),
    slackHeaders(secret, body, seconds() - 301),
    slackHeaders(secret, body, seconds() + 302),
    { ...slackHeaders(secret, body), 'x-slack-signature': 'v0=00' },
    { 'content-type': 'application/json' },
  ])
    expect((await deliver(challenge, headers)).status).toBe(401)
})

test('a mention is acknowledged at once and answered in its thread, without mentions of its own, and says that it has no rows behind it', async () => {
  const before = slack.calls.length
  expect(await deliver(event({ text: '<@UBOT> how many &lt;rooms&gt;?', ts: '1.1' }))).toMatchObject({ status: 200, body: { ok: true } })
  await until(() => slack.calls.length === before + 1)
  expect(slack.calls.at(-1)).toMatchObject({
    path: '/chat.postMessage',
    headers: { authorization: 'Bearer xoxb-1' },
    body: { channel: 'C1', thread_ts: '1.1', text: `&lt;!channel&gt; how many &lt;rooms&gt;? &amp; more${note}` },
  })
  expect(at.agent.asked.at(-1)).toBe('how many <rooms>?')
})

test('an answer in Markdown has the marks of Slack, and still no mentions', async () => {
  at.agent.says(() => '## Most\n**Biscoe** <!channel>\n\n| island | n |\n|---|---|\n| Biscoe | 44 |')
  const before = slack.calls.length
  await deliver(event({ text: 'marked', ts: '1.5' }))
  await until(() => slack.calls.length === before + 1)
  const text = '*Most*\n*Biscoe* &lt;!channel&gt;\n\n```\nisland  n\nBiscoe  44\n```'
  expect(slack.calls.at(-1)?.body['text']).toBe(text + note)
  at.agent.says((question) => question)
})

test('an event that Slack sends again, and the message that comes with a mention, are one message', async () => {
  const before = [await received(), slack.calls.length] as const
  const mention = event({ text: 'once', ts: '2.1' })
  await Promise.all([deliver(mention), deliver(mention), deliver(mention)])
  await deliver(event({ type: 'message', channel_type: 'channel', text: 'once', ts: '2.1' }))
  await until(async () => (await at.events('MessageSent')).length === (await received()))
  expect([await received(), slack.calls.length]).toEqual([before[0] + 1, before[1] + 1])
})

test('a thread is a conversation, and goes on without a mention; other messages of a channel are none', async () => {
  await deliver(event({ text: 'start', ts: '3.1' }))
  await deliver(event({ type: 'message', channel_type: 'channel', text: 'go on', ts: '3.2', thread_ts: '3.1' }))
  await until(() => at.agent.asked.at(-1) === 'go on')
  const before = await received()
  expect((await deliver(event({ type: 'message', channel_type: 'channel', text: 'not for you', ts: '4.1' }))).status).toBe(200)
  expect((await deliver(event({ type: 'message', channel_type: 'channel', text: 'nor this', ts: '4.2', thread_ts: '4.0' }))).status).toBe(
    200,
  )
  expect(await received()).toBe(before)
})

test('messages of programs, its own ones, edits and other events are acknowledged and ignored', async () => {
  const before = await received()
  const ignored: object[] = [
    { bot_id: 'B1', text: 'robot' },
    { user: 'UBOT', text: 'myself' },
    { app_id: 'A1', text: 'my app' },
    { type: 'message', channel_type: 'im', subtype: 'message_changed', text: 'edit' },
    { type: 'reaction_added', text: 'x' },
    { type: 'message', channel_type: 'im', text: '' },
    { type: 'message', channel_type: 'im', user: undefined, text: 'nobody' },
  ]
  for (const fields of ignored) expect((await deliver(event(fields))).status).toBe(200)
  expect((await deliver({ type: 'app_rate_limited' })).status).toBe(200)
  expect(await received()).toBe(before)
})

const settled = async () => {
  await until(async () => (await at.events('MessageSent', 'DeliveryFailed', 'MessageFailed')).length === (await received()))
  return (await at.events('MessageSent', 'DeliveryFailed', 'MessageFailed')).at(-1)
}
const direct = (text: string) => deliver(event({ type: 'message', channel_type: 'im', channel: `D${++count}`, text }))

test('a rate limit and a server that asks to wait are waited for, and the answer is sent once', async () => {
  await settled()
  const before = slack.calls.length
  slack.next({ status: 429, headers: { 'retry-after': '0' }, body: { ok: false, error: 'ratelimited' } })
  slack.next({ status: 503, headers: { 'retry-after': '0' }, body: 'no JSON' })
  await direct('patience')
  expect(await settled()).toMatchObject({ type: 'MessageSent' })
  expect(slack.calls.length).toBe(before + 3)
  expect(at.agent.asked.filter((question) => question === 'patience')).toHaveLength(1)
  expect((await at.events('DeliveryDeferred')).length).toBeGreaterThanOrEqual(2)
})

test('an answer that Slack never takes is sent six times', async () => {
  const before = slack.calls.length
  for (let i = 0; i < 6; i++) slack.next({ status: 429, headers: { 'retry-after': '0' }, body: { ok: false, error: 'ratelimited' } })
  await direct('never')
  expect(await settled()).toMatchObject({ type: 'DeliveryFailed', reason: 'unreachable' })
  expect(slack.calls.length).toBe(before + 6)
  expect(at.agent.asked.filter((question) => question === 'never')).toHaveLength(1)
})

test('what Slack refuses, and a connection that breaks off, are marked and not sent again', async () => {
  const before = slack.calls.length
  slack.next({ body: { ok: false, error: 'channel_not_found' } })
  await direct('refused')
  expect(await settled()).toMatchObject({ type: 'DeliveryFailed', reason: 'refused', error: 'Slack answered channel_not_found' })
  slack.next({ cut: true })
  await direct('cut')
  expect(await settled()).toMatchObject({ type: 'DeliveryFailed', reason: 'unknown' })
  expect(slack.calls.length).toBe(before + 2)
})

test('an answer that Slack may have taken before an error is not sent again', async () => {
  for (const [said, error] of [
    [{ body: { ok: false, error: 'internal_error' } }, 'Slack answered internal_error'],
    [{ body: { ok: false, error: 'fatal_error' } }, 'Slack answered fatal_error'],
    [{ status: 500, body: { ok: false, error: 'internal_error' } }, 'it answered 500'],
    [{ status: 504, body: 'of a proxy' }, 'it answered 504'],
  ] as const) {
    const before = slack.calls.length
    slack.next(said)
    await direct(`perhaps: ${error}`)
    expect(await settled()).toMatchObject({ type: 'DeliveryFailed', reason: 'unknown', error })
    expect(slack.calls.length).toBe(before + 1)
  }
})

test('a stopped chatbot acknowledges and ignores, and messages that wait are answered when it runs again', async () => {
  const path = '/api/projects/mindsdb/chatbots/bot'
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  at.agent.says(async (question) => {
    if (question === 'first') await held
    return question
  })
  const channel = { type: 'message', channel_type: 'im', channel: 'DWAIT' }
  await deliver(event({ ...channel, text: 'first' }))
  await deliver(event({ ...channel, text: 'second' }))
  await until(() => at.agent.asked.at(-1) === 'first')
  await send(at.url, 'PUT', path, { chatbot: { is_running: false } })
  const before = await received()
  const refused = await deliver(event({ ...channel, text: 'third' }))
  expect([refused.status, refused.headers.get('x-slack-no-retry')]).toEqual([200, '1'])
  expect(await received()).toBe(before)
  release()
  await until(() => slack.calls.at(-1)?.body['text'] === `first${note}`)
  expect(at.agent.asked).not.toContain('second')
  await send(at.url, 'PUT', path, { chatbot: { is_running: true } })
  await until(() => slack.calls.at(-1)?.body['text'] === `second${note}`)
})

test('people get a short notice when the agent fails: once, in their thread, and without what went wrong', async () => {
  await settled()
  const before = slack.calls.length
  at.agent.says(() => ({ error: { message: 'the key sk-planted-secret is not valid', type: 'authentication_error' }, status: 401 }))
  slack.next({ status: 429, headers: { 'retry-after': '0' }, body: { ok: false, error: 'ratelimited' } })
  await deliver(event({ text: 'broken', ts: '9.1' }))
  const end = await settled()
  const notice = 'Sorry, I could not answer that. Please try again later.'
  expect(end).toMatchObject({ type: 'MessageFailed', reason: 'agent', notice })
  const sent = slack.calls.slice(before)
  // Slack did not take the first one. Nobody asks the agent again for the second.
  expect(sent.map(({ body }) => body)).toEqual([expect.objectContaining({ channel: 'C1', thread_ts: '9.1', text: notice }), sent[0]?.body])
  expect(at.agent.asked.filter((question) => question === 'broken')).toHaveLength(1)
  expect(JSON.stringify([sent.map(({ raw }) => raw), end])).not.toContain('sk-planted-secret')
  const { data } = await sql(at.url, "SELECT status, reason, notice, answer FROM log.messages WHERE text = 'broken'")
  expect(data).toEqual([['failed', 'agent', notice, null]])
})

test('a notice that Slack refuses, or that is lost on its way, is not sent again', async () => {
  const before = slack.calls.length
  for (const said of [{ body: { ok: false, error: 'channel_not_found' } }, { cut: true }]) {
    slack.next(said)
    await direct('broken again')
    expect(await settled()).toMatchObject({ type: 'MessageFailed', reason: 'agent', notice: null })
  }
  expect(slack.calls.length).toBe(before + 2)
})

test('the param notice is what people are told, and an empty one tells them nothing', async () => {
  const path = '/api/projects/mindsdb/chatbots/bot'
  await send(at.url, 'PUT', path, { chatbot: { params: { notice: 'Das ging nicht.' } } })
  await direct('kaputt')
  expect(await settled()).toMatchObject({ type: 'MessageFailed', notice: 'Das ging nicht.' })
  await send(at.url, 'PUT', path, { chatbot: { params: { notice: '' } } })
  const before = slack.calls.length
  await direct('silent')
  expect(await settled()).toMatchObject({ type: 'MessageFailed', notice: null })
  expect(slack.calls.length).toBe(before)
  at.agent.says((question) => question)
})

test('a message that is too long is cut, and its end tells the language model so', async () => {
  at.agent.says(() => 'fine')
  await deliver(event({ text: 'x'.repeat(25_000), ts: '11.1' }))
  await until(() => at.agent.asked.at(-1)?.startsWith('xxx') === true)
  const asked = at.agent.asked.at(-1) ?? ''
  expect(asked).toMatch(/^x+ … \[The end of this message is left out: it has 25000 characters\.\]$/)
  expect(asked).toHaveLength(20_000)
})
