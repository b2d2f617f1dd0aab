import { expect, test } from '@jest/globals'
import type { Json } from '../../../events/common.js'
import { renderEnvelope } from '../../../events/stored/envelope.js'
import { payloadBytes } from '../../../src/chatbots/payloads.js'
import { transcriptOf } from '../../../src/chatbots/transcript.js'
import type { Resource, Log } from '../../../src/log/contract/log.js'

type Reading = Parameters<typeof transcriptOf>[0]

/** A conversation of so many events, with what a log would read of it. */
const conversationOf = (types: readonly string[], messages: readonly string[]) => {
  let events = 0
  let payloads = 0
  const text = (i: number): string => {
    const data: { [key: string]: Json } = { message: messages[i] ?? '', payload: `${types[i]} of ${messages[i]}` }
    return renderEnvelope({
      ...{ position: i + 1, stream: 'a conversation', version: i + 1, type: types[i] ?? '', schema: 1, data },
      ...{ recorded_at: '2026-01-01T00:00:00.000000Z', actor: 'ann', source: 'rest', request: null, correlation: null, causation: null },
    })
  }
  const log: Pick<Log, 'readStream' | 'payload'> = {
    readStream: async (_, after, limit) => {
      const read = Array.from({ length: Math.min(limit, types.length - after) }, (__, i) => ({
        position: after + i + 1,
        text: text(after + i),
      }))
      events += read.length
      return read
    },
    payload: async (hash) => {
      payloads += 1
      return payloadBytes({ text: hash })
    },
  }
  const found = { stream: 'a conversation', version: types.length } as unknown as Resource<'conversation'>
  return { log: log as Reading, found, counts: () => ({ events, payloads }) }
}

test('the texts before a message are read when they are asked for, the last ones with their answers', async () => {
  const messages = ['a', 'a', 'b', 'b', 'c', 'c', 'd']
  const { log, found, counts } = conversationOf(
    messages.map((message, i) => (messages.indexOf(message) === i ? 'MessageReceived' : 'MessageSent')),
    messages,
  )
  const transcript = await transcriptOf(log, found, 'd', 2)
  expect([transcript?.received.version, counts().payloads]).toEqual([7, 0])
  expect((await transcript?.turns())?.map(({ content }) => content)).toEqual([
    ...['MessageReceived of b', 'MessageSent of b', 'MessageReceived of c', 'MessageSent of c'],
  ])
  expect(await (await transcriptOf(log, found, 'd', 0))?.turns()).toEqual([])
})

test('a long conversation without answers is not read to its beginning for each message', async () => {
  const messages = Array.from({ length: 20_000 }, (_, i) => `m${Math.floor(i / 2)}`)
  const { log, found, counts } = conversationOf(
    messages.map((_, i) => (i % 2 === 0 ? 'MessageReceived' : 'MessageFailed')),
    messages,
  )
  const transcript = await transcriptOf(log, found, 'm9999', 10)
  expect(transcript?.received.version).toBe(19_999)
  expect(await transcript?.turns()).toEqual([])
  expect(counts().events).toBeLessThanOrEqual(1_100)
})
