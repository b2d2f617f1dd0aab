import { afterEach, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyLog } from '../../src/log/verify/verify.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { startChatService } from '../support/chatbots/chat-service.js'
import { ScriptedAgent } from '../support/chatbots/scripted-agent.js'
import { slackHeaders, webhookHeaders } from '../support/chatbots/signed.js'
import { countOf } from '../support/counts.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'

const kills = countOf('CHATBOT_KILLS')
const clients = 16
const timeoutMs = 120_000 + kills * 20_000
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

/** How each kind of client says a text, until that is acknowledged or answered. */
const ways: ((client: number, text: string) => Promise<void>)[] = [
  async (client, text) => {
    const body = JSON.stringify({ conversation: `c${client}`, text })
    const reply = await insist([200], () => send(place.url, 'POST', place.hooks['direct'] ?? '', body, webhookHeaders(secret, text, body)))
    expect(reply.body).toMatchObject({ status: 'answered', answer: { text: `You said: ${text}` } })
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
    const reply = await insist([200], () => send(place.url, 'POST', path, { text }, { 'idempotency-key': text }))
    expect(reply.body).toMatchObject({ status: 'answered', answer: { text: `You said: ${text}` } })
  },
]

test(
  'each message is answered once or marked as failed, and none is lost, whenever the service is killed',
  async () => {
    const chat = await startChatService()
    const agent = new ScriptedAgent(async (question) => {
      await sleep(Math.random() * 30)
      return `You said: ${question}`
    })
    await agent.start()
    let running = await spawnService(directory.path)
    place.url = running.url
    await send(place.url, 'POST', '/api/projects/mindsdb/agents', agent.named('helper'))
    await chatbot('direct', 'webhook', { secret })
    await chatbot('slack', 'slack', { token: 'xoxb-1', signing_secret: secret, api_url: chat.url })
    await chatbot('telegram', 'telegram', { token: '1:a', secret_token: secret, api_url: chat.url })

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
      await sleep(500 + Math.random() * 1_500)
      running.child.kill('SIGKILL')
      await running.ended
      running = await spawnService(directory.path)
      place.url = running.url
    }
    await sleep(300)
    isOver = true
    await Promise.all(talking)

    const columns = 'SELECT text, status, reason, channel, answer FROM log.messages'
    for (;;) {
      const waiting = await sql(place.url, `${columns} WHERE status = 'waiting'`)
      if (waiting.data.length === 0) break
      await sleep(50)
    }
    const { data } = await sql(place.url, columns)
    expect(data.map(([text]) => text).sort()).toEqual([...sent].sort())
    const posted = chat.calls.map(({ body }) => String(body['text']))
    expect(new Set(posted).size).toBe(posted.length)
    for (const [text, status, reason, channel, answer] of data) {
      if (status === 'answered') expect(answer).toBe(`You said: ${String(text)}`)
      else expect([channel, reason]).toEqual([expect.stringMatching(/slack|telegram/), 'unknown'])
    }
    const expected = data.filter(([, status, , channel]) => status === 'answered' && (channel === 'slack' || channel === 'telegram'))
    for (const [text] of expected) expect(posted).toContain(`You said: ${String(text)}`)
    const recorded = new Set(data.map(([text]) => `You said: ${String(text)}`))
    expect(posted.filter((text) => !recorded.has(text))).toEqual([])

    running.child.kill('SIGTERM')
    await running.ended
    await chat.stop()
    await agent.stop()
    expect((await verifyLog({ logFile: dataPaths(directory.path).log })).findings).toEqual([])
    if (process.env['CHATBOT_KILLS'] !== undefined)
      process.stderr.write(
        `${kills} kills, ${data.length} messages, ${data.filter(([, status]) => status === 'failed').length} marked as failed\n`,
      )
  },
  timeoutMs,
)
