import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startChatting } from '../../support/chatbots/chatting.js'
import { send } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startChatting>>
beforeAll(async () => {
  at = await startChatting((question) => `${question}!`)
  await at.chatbot('desk', 'webhook', { secret: 'a secret that nobody guesses' })
})
afterAll(() => at.stop())

test('readiness and metrics tell an event whose reaction always fails, and other messages are answered', async () => {
  const { resources } = at.service.log
  const byStream = resources.byStream.bind(resources)
  let broken: string | undefined
  resources.byStream = (...asked) => {
    if (asked[0] === 'conversation') broken ??= asked[1]
    return asked[1] === broken ? Promise.reject(new TypeError('a fault')) : byStream(...asked)
  }
  const path = '/api/projects/mindsdb/chatbots/desk/messages'
  const left = new AbortController()
  const first = fetch(at.url + path, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text": "One"}', signal: left.signal },
  }).catch(() => undefined)
  try {
    while (broken === undefined) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await send(at.url, 'POST', path, { text: 'Two' })).toMatchObject({ status: 200, body: { answer: { text: 'Two!' } } })
    expect(await send(at.url, 'GET', '/ready?for=rest')).toMatchObject({
      status: 200,
      body: { warnings: [expect.stringMatching(/^the reaction "conversations" set an event aside: position \d+ \(MessageReceived\)/)] },
    })
    const { body: metrics } = await send(at.url, 'GET', '/api/metrics')
    expect(metrics).toContain('mindledger_events_set_aside{reaction="conversations"} 1\n')
    expect(metrics).toContain('mindledger_events_set_aside{reaction="trainings"} 0\n')
  } finally {
    resources.byStream = byStream
    left.abort()
    await first
  }
})
