import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { nothing, resourceName, sha256, streamId, text, unreachable, type SchemasOf, type StreamId, type UpcastersOf } from './common.js'
import type { ResourceKind } from './kind.js'

/** The channels through which messages arrive. `api`: a page of the user's own, over REST. */
export const conversationChannels = ['api', 'webhook', 'slack', 'telegram'] as const
export type ConversationChannel = (typeof conversationChannels)[number]

/**
 * Why a message has no answer. `agent`: it failed. `chatbot`: it was deleted or has no agent. `erased`: the message was erased before it
 * was read. `expired`: it waited too long.
 */
export const messageFailures = ['agent', 'chatbot', 'erased', 'expired'] as const
export type MessageFailure = (typeof messageFailures)[number]

/**
 * Why an answer was not delivered. `refused`: the chat service refused it. `unreachable`: several tries failed. `unknown`: the connection
 * or this service broke off meanwhile, so nobody knows whether the chat service has the answer.
 */
export const deliveryFailures = ['refused', 'unreachable', 'unknown'] as const
export type DeliveryFailure = (typeof deliveryFailures)[number]

/** An answer on its way to a chat service; `answer` and `answered_at` are those of the event AgentAnswered. */
export type Delivery = { message: string; reply: string; answer: string; answered_at: number; payload: string }

/** A message without an answer. */
export type FailedMessage = { message: string; reason: MessageFailure; error: string }

/**
 * A notice on its way to a chat service: it says that a message has no answer. The chatbot's settings give its text, which repeats nothing
 * of the message.
 */
export type Notice = FailedMessage & { reply: string; notice: string }

/** One message. The payload has its text, its author and its place. `origins` are opaque ids that tell it from other messages. */
export type ReceivedMessage = { message: string; origins: string[]; payload: string }

/**
 * A conversation between one place in a chat service and a chatbot. `name` is an opaque name of that place; only a payload tells the place
 * itself. `recent` has the origins of the last messages. Messages wait in the order of arrival. Only for the first message can an answer or
 * a notice be on its way. A delivery that was put off is sent again unchanged.
 */
export type Conversation = {
  chatbot: StreamId
  name: string
  channel: ConversationChannel
  waiting: { message: string; payload: string }[]
  delivering: Delivery | null
  notifying: Notice | null
  deferred: Delivery | Notice | null
  recent: string[]
}

export type ConversationEvent =
  | Event<'ConversationStarted', Pick<Conversation, 'chatbot' | 'name' | 'channel'>>
  | Event<'MessageReceived', ReceivedMessage>
  | Event<'DeliveryBegun', Delivery>
  | Event<'DeliveryDeferred', { message: string; reply: string; error: string }>
  | Event<'MessageSent', Delivery>
  | Event<'DeliveryFailed', Delivery & { reason: DeliveryFailure; error: string }>
  | Event<'NoticeBegun', Notice>
  | Event<'MessageFailed', FailedMessage & { notice: string | null }>
  | Event<'ConversationEnded', Record<string, never>>

/** The number of message origins that a conversation remembers. */
const recentMax = 32

const failed = { message: z.uuid(), reason: z.enum(messageFailures), error: text }
const delivery = { message: z.uuid(), reply: z.uuid(), answer: z.uuid(), answered_at: z.int().positive(), payload: sha256 }

const schemas: SchemasOf<ConversationEvent> = {
  ConversationStarted: z
    .strictObject({ chatbot: streamId, name: resourceName, channel: z.enum(conversationChannels) })
    .describe('A conversation with a chatbot began. Its name is an opaque name of the place in the chat service.'),
  MessageReceived: z
    .strictObject({ message: z.uuid(), origins: z.array(text.min(1).max(64)).max(4), payload: sha256 })
    .describe('Somebody wrote to a chatbot. The text, its author and its place are a payload that can be erased.'),
  DeliveryBegun: z
    .strictObject(delivery)
    .describe('The answer to a message is about to be sent to the chat service. The text is a payload that can be erased.'),
  DeliveryDeferred: z
    .strictObject({ message: z.uuid(), reply: z.uuid(), error: text })
    .describe('An answer or a notice did not reach the chat service, as far as the service knows. It is sent again later.'),
  MessageSent: z
    .strictObject(delivery)
    .describe('A message was answered: the chat service accepted the answer, or the client can read it here.'),
  DeliveryFailed: z
    .strictObject({ ...delivery, reason: z.enum(deliveryFailures), error: text })
    .describe('The answer to a message was not delivered, or nobody knows whether it was. It is not sent again.'),
  NoticeBegun: z
    .strictObject({ ...failed, reply: z.uuid(), notice: text })
    .describe('The author of a message is about to get the notice that it has no answer.'),
  MessageFailed: z
    .strictObject({ ...failed, notice: text.nullable() })
    .describe('There is no answer to a message. The notice is the text that the author got; null if the author got none.'),
  ConversationEnded: nothing.describe('A conversation was ended. Its messages stay; the next message begins another conversation.'),
}

/** The payloads of conversations: messages and answers. */
const payloads = {
  MessageReceived: ['payload'],
  DeliveryBegun: ['payload'],
  MessageSent: ['payload'],
  DeliveryFailed: ['payload'],
} as const

const upcasters: UpcastersOf<ConversationEvent> = {
  // Version 1 had no notice: authors got no message.
  MessageFailed: [(data) => ({ ...data, notice: null })],
}

const nothingUnderWay = { delivering: null, notifying: null, deferred: null }

/** Only the first waiting message can be under way, and only that one can end. */
const without = (conversation: Conversation, message: string): Conversation => ({
  ...conversation,
  waiting: conversation.waiting.filter((waiting) => waiting.message !== message),
  ...(conversation.waiting[0]?.message === message && nothingUnderWay),
})

const evolve = (conversation: Conversation | undefined, event: ConversationEvent): Conversation | undefined => {
  switch (event.type) {
    case 'ConversationStarted':
      return { ...event.data, waiting: [], ...nothingUnderWay, recent: [] }
    case 'MessageReceived': {
      const { message, payload, origins } = event.data
      return (
        conversation && {
          ...conversation,
          waiting: [...conversation.waiting, { message, payload }],
          recent: [...conversation.recent, ...origins].slice(-recentMax),
        }
      )
    }
    case 'DeliveryBegun':
      return conversation && { ...conversation, ...nothingUnderWay, delivering: event.data }
    case 'NoticeBegun':
      return conversation && { ...conversation, ...nothingUnderWay, notifying: event.data }
    case 'DeliveryDeferred':
      return conversation && { ...conversation, ...nothingUnderWay, deferred: conversation.delivering ?? conversation.notifying }
    case 'MessageSent':
    case 'DeliveryFailed':
    case 'MessageFailed':
      return conversation && without(conversation, event.data.message)
    case 'ConversationEnded':
      return undefined
    default:
      return unreachable(event)
  }
}

export const conversationKind: ResourceKind<Conversation, ConversationEvent> = {
  plural: 'conversations',
  inProject: false,
  schemas,
  payloads,
  upcasters,
  evolve,
  links: ({ chatbot }) => [chatbot],
}
