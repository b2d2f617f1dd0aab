import { afterEach, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyLog } from '../../src/log/verify/verify.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { calls, questionOf, resultsOf, ScriptedModel } from '../support/agents/scripted-model.js'
import { startChatService } from '../support/chatbots/chat-service.js'
import { slackHeaders, webhookHeaders } from '../support/chatbots/signed.js'
import { countOf } from '../support/counts.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'
import { until } from '../support/until.js'

const kills = countOf('CHATBOT_KILLS')
const clients = 16
const secret = 'a secret that nobody guesses'

const directory = temporaryDirectory()
afterEach(() => directory.remove())

/** The service of the moment; clients find it again after each kill. */
const place: { url: string; hooks: Record<string, string> } = { url: '', hooks: {} }

const chatbot = async (name: string, engine: string, parameters: object) => {
  const made = await send(place.url, 'POST', '/api/projects/mindsdb/chatbots', {
    chatbot: { name, agent_name: 'helper', is_running: true, db_engine: engine, db_params: parameters },
  })
  place.hooks[name] = `/api/webhooks/chatbots/${(made.body as { webhook_token: string }).webhook_token}`
}

/** Sends until it is answered with one of these statuses, as chat services do. */
const insist = async (statuses: readonly number[], attempt: () => ReturnType<typeof send>) => {
  for (;;) {
    const reply = await attempt().catch(() => undefined)
    if (reply && statuses.includes(reply.status)) return reply
    await sleep(20)
  }
}

/** Questions at which the agent's language model fails; people get a notice instead of an answer. */
const isHopeless = (text: unknown): boolean => Number(String(text).split('-')[2]) % 7 === 0
const answerTo = (text: unknown): string => `You said: ${String(text)}`
const isNotice = (text: string): boolean => text.startsWith('Sorry')

/** How each kind of client says a text, until that is acknowledged or answered. */
const ways: ((client: number, text: string) => Promise<void>)[] = [
  async (client, text) => {
    const body = JSON.stringify({ conversation: `c${client}`, text })
    const reply = await insist([200], () => send(place.url, 'POST', place.hooks['direct'] ?? '', body, webhookHeaders(secret, text, body)))
    expect(reply.body).toMatchObject(
      isHopeless(text) ? { status: 'failed', reason: 'agent' } : { status: 'answered', answer: { text: answerTo(text) } },
    )
  },
  async (client, text) => {
    const event = { type: 'message', channel_type: 'im', user: 'U', channel: `D${client}`, ts: text, text }
    const body = JSON.stringify({ type: 'event_callback', team_id: 'T', event_id: text, event })
    await insist([200], () => send(place.url, 'POST', place.hooks['slack'] ?? '', body, slackHeaders(secret, body)))
  },
  async (client, text) => {
    const [, , number = ''] = text.split('-')
    const message = { message_id: Number(number), from: { id: client }, chat: { id: client }, text }
    const body = { update_id: client * 1_000_000 + Number(number), message }
    await insist([200], () => send(place.url, 'POST', place.hooks['telegram'] ?? '', body, { 'x-telegram-bot-api-secret-token': secret }))
  },
  async (_, text) => {
    const path = '/api/projects/mindsdb/chatbots/direct/messages'
    const reply = await insist([isHopeless(text) ? 502 : 200], () => send(place.url, 'POST', path, { text }, { 'idempotency-key': text }))
    expect(reply.body).toMatchObject(isHopeless(text) ? { reason: 'agent' } : { status: 'answered', answer: { text: answerTo(text) } })
  },
  async (client, text) => {
    const body = JSON.stringify({ conversation: `p${client}`, text })
    await insist([202], () => send(place.url, 'POST', place.hooks['program'] ?? '', body, webhookHeaders(secret, text, body)))
  },
]

/** A language model that counts with a query before it answers, and refuses what is hopeless. */
const startModel = async (): Promise<ScriptedModel> => {
  const model = new ScriptedModel()
  model.script = async (asked) => {
    const question = questionOf(asked)
    await sleep(Math.random() * 15)
    if (resultsOf(asked).length === 0) return calls(['sql', { query: `SELECT count(*) AS facts, '${question}' AS asked FROM facts` }])
    return isHopeless(question) ? { error: { message: 'no', type: 'authentication_error' }, status: 401 } : answerTo(question)
  }
  await model.start()
  return model
}

type Message = {
  text: string
  status: string
  reason: string | null
  channel: string
  answer: string | null
  notice: string | null
  outcome: string | null
  queries: number
}

/** All messages, when none waits any more. */
const settledMessages = async (): Promise<Message[]> => {
  while ((await sql(place.url, "SELECT 1 FROM log.messages WHERE status = 'waiting'")).data.length > 0) await sleep(50)
  const { data } = await sql(
    place.url,
    `SELECT m.text, m.status, m.reason, m.channel, m.answer, m.notice, a.outcome,
       (SELECT count(*) FROM log.answer_steps AS s WHERE s.answer_id = m.answer_id AND s.kind = 'sql' AND s.outcome = 'complete')
     FROM log.messages AS m LEFT JOIN log.answers AS a ON a.answer_id = m.answer_id`,
  )
  return data.map(([text, status, reason, channel, answer, notice, outcome, queries]) => ({
    text: String(text),
    status: String(status),
    reason: reason as string | null,
    channel: String(channel),
    answer: answer as string | null,
    notice: notice as string | null,
    outcome: outcome as string | null,
    queries: Number(queries),
  }))
}

const count = <T>(items: readonly T[], holds: (item: T) => boolean): number => items.filter(holds).length

test('each message is answered once or marked as failed, none is lost, and each answer sent has its event, whenever the service is killed', async () => {
  const slowMs = () => Math.random() * 200
  const [chat, program, model] = [await startChatService(slowMs), await startChatService(slowMs), await startModel()]
  let running = await spawnService(directory.path)
  place.url = running.url
  await sql(place.url, 'CREATE TABLE files.facts (SELECT range AS n FROM range(42))')
  await send(place.url, 'POST', '/api/projects/mindsdb/agents', {
    agent: { name: 'helper', model: model.model, data: { tables: ['files.facts'] } },
  })
  await chatbot('direct', 'webhook', { secret })
  await chatbot('slack', 'slack', { token: 'xoxb-1', signing_secret: secret, api_url: chat.url })
  await chatbot('telegram', 'telegram', { token: '1:a', secret_token: secret, api_url: chat.url })
  await chatbot('program', 'webhook', { secret, reply_url: program.url })

  const sent: string[] = []
  let isOver = false
  const talking = Array.from({ length: clients }, async (_, client) => {
    for (let n = 1; !isOver; n++) {
      const text = `text-${client}-${n}`
      await ways[client % ways.length]?.(client, text)
      sent.push(text)
    }
  })
  for (let kill = 0; kill < kills; kill++) {
    // Each start gets far enough to answer some, however long SQL takes to start, and is killed amid others.
    const before = chat.calls.length + program.calls.length
    await until(() => chat.calls.length + program.calls.length >= before + 12)
    await sleep(Math.random() * 1_000)
    running.child.kill('SIGKILL')
    await running.ended
    running = await spawnService(directory.path)
    place.url = running.url
  }
  await sleep(300)
  isOver = true
  await Promise.all(talking)

  const messages = await settledMessages()
  expect(messages.map(({ text }) => text).sort()).toEqual([...sent].sort())
  for (const { text, status, reason, channel, answer, notice, outcome, queries } of messages) {
    if (isHopeless(text)) expect({ text, status, reason }).toEqual({ text, status: 'failed', reason: 'agent' })
    else if (status === 'answered')
      expect({ text, answer, outcome, notice, isQueried: queries > 0 }).toEqual({
        ...{ text, answer: answerTo(text), outcome: 'answered', notice: null, isQueried: true },
      })
    else expect([text, channel, reason]).toEqual([text, expect.stringMatching(/slack|telegram/), 'unknown'])
  }

  // Slack and Telegram: no answer twice, none without its event, and no more notices than failures.
  const inChats = messages.filter(({ channel }) => channel === 'slack' || channel === 'telegram')
  const posted = chat.calls.map(({ body }) => String(body['text']))
  const answers = posted.filter((text) => !isNotice(text))
  expect(new Set(answers).size).toBe(answers.length)
  const known = new Set(inChats.map(({ text }) => answerTo(text)))
  expect(answers.filter((text) => !known.has(text))).toEqual([])
  for (const { text, status } of inChats) if (status === 'answered') expect(answers).toContain(answerTo(text))
  const notices = posted.length - answers.length
  expect(notices).toBeGreaterThanOrEqual(count(inChats, ({ notice }) => notice !== null))
  expect(notices).toBeLessThanOrEqual(count(inChats, ({ reason }) => reason === 'agent'))

  // A program gets each answer and each notice at least once, every time with the same id.
  const ofProgram = messages.filter(({ text, channel }) => channel === 'webhook' && Number(text.split('-')[1]) % ways.length === 4)
  const bodies = new Map(program.calls.map(({ headers, raw }) => [String(headers['webhook-id']), raw]))
  for (const { headers, raw } of program.calls) expect(bodies.get(String(headers['webhook-id']))).toBe(raw)
  const texts = [...bodies.values()].map((raw) => (JSON.parse(raw) as { text: string }).text)
  const expected = ofProgram.map(({ text }) => (isHopeless(text) ? 'Sorry' : answerTo(text)))
  expect(texts.map((text) => (isNotice(text) ? 'Sorry' : text)).sort()).toEqual(expected.sort())

  running.child.kill('SIGTERM')
  await running.ended
  for (const part of [chat, program, model]) await part.stop()
  expect((await verifyLog({ logFile: dataPaths(directory.path).log })).findings).toEqual([])
  if (process.env['CHATBOT_KILLS'] !== undefined)
    process.stderr.write(
      `${kills} kills, ${messages.length} messages of ${clients} clients: ${count(messages, ({ status }) => status === 'answered')} answered, ` +
        `${count(messages, ({ reason }) => reason === 'agent')} failed by the agent, ${count(messages, ({ reason }) => reason === 'unknown')} unknown, ` +
        `${sent.length - messages.length} lost, ${answers.length - new Set(answers).size} doubled in chats; ${notices} notices; ` +
        `${program.calls.length - bodies.size} of ${bodies.size} deliveries to a program repeated with their id\n`,
    )
})
