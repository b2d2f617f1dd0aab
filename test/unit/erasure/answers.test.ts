import { expect, test } from '@jest/globals'
import type { Envelope } from '../../../events/stored/envelope.js'
import { takeAnswers } from '../../../src/erasure/plan/answers.js'
import type { PlanPart } from '../../../src/erasure/plan/plan.js'

const received = (position: number): Envelope => ({
  ...{ position, stream: 'a conversation', version: position, type: 'MessageReceived', schema: 1 },
  ...{ recorded_at: '2026-01-01T00:00:00.000000Z', actor: 'ann', source: 'rest', request: null, correlation: null, causation: null },
  data: { message: `message ${position}`, origins: [], payload: `payload ${position}` },
})

test('more messages are erased at once than a call takes arguments', async () => {
  const messages = Array.from({ length: 150_000 }, (_, i) => received(i + 1))
  const log = { readAll: async () => [], readStream: async () => [], payload: async () => undefined, payloadState: async () => undefined }
  const into: PlanPart = { payloads: [], already: 0 }
  await takeAnswers(log, messages, into)
  expect(into.already).toBe(messages.length)
})
