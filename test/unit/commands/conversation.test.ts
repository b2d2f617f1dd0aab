import { describe, test } from '@jest/globals'
import { streamId } from '../../../events/common.js'
import type { ConversationEvent } from '../../../events/conversation.js'
import { limits } from '../../../src/basics/limits.js'
import { given } from '../../support/log/given.js'
import { at, bot, botCreated, hash, helperCreated, shopCreated, slackCreated } from './samples.js'

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const conversation = streamId.parse('00000000-0000-7000-8000-0000000000cc')
const past = [shopCreated, helperCreated(), slackCreated(), botCreated({ is_running: true })]

const receipt = (n: number, more: object = {}) => ({
  type: 'ReceiveMessage' as const,
  data: {
    ...{ chatbot: bot, channel: 'slack' as const, name: 'c0ffee', onlyIfStarted: false },
    ...{ message: id(n), origins: [`a${n}`], payload: hash, ...more },
  },
})
const started: ConversationEvent = { type: 'ConversationStarted', data: { chatbot: bot, name: 'c0ffee', channel: 'slack' } }
const received = (n: number): ConversationEvent => ({
  type: 'MessageReceived',
  data: { message: id(n), origins: [`a${n}`], payload: hash },
})
const delivery = (n: number) => ({ message: id(n), reply: id(800), answer: id(900), answered_at: 3, payload: hash })
const begun: ConversationEvent = { type: 'DeliveryBegun', data: delivery(1) }
const had = (...events: ConversationEvent[]) => [...past, ...events.map((event) => at(conversation, event))]

describe('ReceiveMessage', () => {
  test('begins a conversation with its first message, and adds the next ones', () => {
    given(...past)
      .when(receipt(1))
      .then(started, received(1))
    given(...had(started, received(1)))
      .when(receipt(2))
      .then(received(2))
  })
  test('knows a message by any of its ids, also after it was answered', () => {
    given(...had(started, received(1), { type: 'MessageSent', data: delivery(1) }))
      .when(receipt(2, { origins: ['b', 'a1'] }))
      .then()
  })
  test('a message that is only one in a conversation begins none', () => {
    given(...past)
      .when(receipt(1, { onlyIfStarted: true }))
      .then()
    given(...had(started))
      .when(receipt(1, { onlyIfStarted: true }))
      .then(received(1))
  })
  test('is refused by a chatbot that is stopped or gone, and when too many messages wait', () => {
    given(shopCreated, helperCreated(), slackCreated(), botCreated()).when(receipt(1)).refuses('not_ready', 'does not run')
    given(shopCreated).when(receipt(1)).refuses('not_found', bot)
    const many = Array.from({ length: limits.conversationMaxWaiting }, (_, n) => received(n + 1))
    given(...had(started, ...many))
      .when(receipt(99))
      .refuses('busy', 'conversationMaxWaiting')
  })
})

describe('deliveries', () => {
  const begin = (n: number) => ({ type: 'BeginDelivery' as const, data: { conversation, ...delivery(n) } })
  const send = (n: number) => ({ type: 'SendMessage' as const, data: { conversation, ...delivery(n) } })
  const defer = { type: 'DeferDelivery' as const, data: { conversation, message: id(1), reply: id(800), error: 'it answered 429' } }

  test('begin for the message that waits first, once', () => {
    given(...had(started, received(1), received(2)))
      .when(begin(1))
      .then(begun)
    given(...had(started, received(1), received(2)))
      .when(begin(2))
      .then()
    given(...had(started, received(1), begun))
      .when(begin(1))
      .then()
  })
  test('begin again after they were put off', () => {
    const { conversation: _, ...data } = defer.data
    given(...had(started, received(1), begun))
      .when(defer)
      .then({ type: 'DeliveryDeferred', data })
    given(...had(started, received(1), begun, { type: 'DeliveryDeferred', data }))
      .when(begin(1))
      .then(begun)
    given(...had(started, received(1)))
      .when(defer)
      .then()
  })
  test('end a message once, whatever the end', () => {
    given(...had(started, received(1), begun))
      .when(send(1))
      .then({ type: 'MessageSent', data: delivery(1) })
    const failed: ConversationEvent = { type: 'DeliveryFailed', data: { ...delivery(1), reason: 'unknown', error: 'cut' } }
    given(...had(started, received(1), begun, failed))
      .when(send(1))
      .then()
    given(...had(started, received(1), begun, { type: 'MessageSent', data: delivery(1) }))
      .when({ type: 'FailMessage', data: { conversation, message: id(1), reason: 'agent', error: 'late', notice: null } })
      .then()
  })
})

describe('EndConversation', () => {
  test('ends it when no message waits', () => {
    const end = { type: 'EndConversation' as const, data: { conversation } }
    given(...had(started))
      .when(end)
      .then({ type: 'ConversationEnded', data: {} })
    given(...had(started, received(1)))
      .when(end)
      .refuses('not_empty', '1 messages')
    given(...past)
      .when(end)
      .refuses('not_found', conversation)
  })
})
