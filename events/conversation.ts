import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { nothing, resourceName, sha256, streamId, text, unreachable, type SchemasOf, type StreamId } from './common.js'
import type { ResourceKind } from './kind.js'

/** The ways on which messages come. `api`: a page of one's own, over REST. */
export const conversationChannels = ['api', 'webhook', 'slack', 'telegram'] as const
export type ConversationChannel = (typeof conversationChannels)[number]

/**
 * Why a message has no answer. `agent`: it failed. `chatbot`: it was deleted or has no agent. `erased`: the message was erased before it
 * was read. `expired`: it waited too long.
 */
export const messageFailures = ['agent', 'chatbot', 'erased', 'expired'] as const

/**
 * Why an answer was not delivered. `refused`: the chat service refused it. `unreachable`: it took none of several tries. `unknown`:
 * nobody knows whether the chat service has it, because the connection or this service broke off meanwhile.
 */
export const deliveryFailures = ['refused', 'unreachable', 'unknown'] as const
export type DeliveryFailure = (typeof deliveryFailures)[number]

/** An answer on its way to a chat service; `answer` and `answered_at` are those of the event AgentAnswered. */
export type Delivery = { message: string; reply: string; answer: string; answered_at: number; payload: string }

/** What somebody wrote, with whom and where from, is the payload. `origins` tell it from others without saying what they are. */
export type Received = { message: string; origins: string[]; payload: string }

/**
 * A conversation of one place in a chat service with a chatbot. `name` stands for that place, which only a payload says. `recent` are
 * origins of the last messages. Messages wait in the order in which they came; only the first can be on its way.
 */
export type Conversation = {
  chatbot: StreamId
  name: string
  channel: ConversationChannel
  waiting: { message: string; payload: string }[]
  delivering: Delivery | null
  recent: string[]
}

export type ConversationEvent =
  | Event<'ConversationStarted', Pick<Conversation, 'chatbot' | 'name' | 'channel'>>
  | Event<'MessageReceived', Received>
  | Event<'DeliveryBegun', Delivery>
  | Event<'DeliveryDeferred', { message: string; reply: string; error: string }>
  | Event<'MessageSent', Delivery>
  | Event<'DeliveryFailed', Delivery & { reason: DeliveryFailure; error: string }>
  | Event<'MessageFailed', { message: string; reason: (typeof messageFailures)[number]; error: string }>
  | Event<'ConversationEnded', Record<string, never>>

/** How many origins of messages a conversation remembers. */
const recentMax = 32

const delivery = { message: z.uuid(), reply: z.uuid(), answer: z.uuid(), answered_at: z.int().positive(), payload: sha256 }

const schemas: SchemasOf<ConversationEvent> = {
  ConversationStarted: z
    .strictObject({ chatbot: streamId, name: resourceName, channel: z.enum(conversationChannels) })
    .describe('A conversation with a chatbot began. Its name stands for the place in the chat service, and does not tell it.'),
  MessageReceived: z
    .strictObject({ message: z.uuid(), origins: z.array(text.min(1).max(64)).max(4), payload: sha256 })
    .describe('Somebody wrote to a chatbot. The text, who wrote it and where are a payload that can be erased.'),
  DeliveryBegun: z
    .strictObject(delivery)
    .describe('The answer to a message is about to be sent to the chat service. The text is a payload that can be erased.'),
  DeliveryDeferred: z
    .strictObject({ message: z.uuid(), reply: z.uuid(), error: text })
    .describe('The chat service did not take an answer yet. It is sent again later.'),
  MessageSent: z
    .strictObject(delivery)
    .describe('A message was answered: the chat service took the answer, or whoever asked can read it here.'),
  DeliveryFailed: z
    .strictObject({ ...delivery, reason: z.enum(deliveryFailures), error: text })
    .describe('The answer to a message was not delivered, or nobody knows whether it was. It is not sent again.'),
  MessageFailed: z
    .strictObject({ message: z.uuid(), reason: z.enum(messageFailures), error: text })
    .describe('There is no answer to a message.'),
  ConversationEnded: nothing.describe('A conversation was ended. What was said stays; the next message begins another one.'),
}

/** The payloads of conversations: what was written, and what was answered. */
const payloads = {
  MessageReceived: ['payload'],
  DeliveryBegun: ['payload'],
  MessageSent: ['payload'],
  DeliveryFailed: ['payload'],
} as const

const without = (conversation: Conversation, message: string): Conversation => ({
  ...conversation,
  waiting: conversation.waiting.filter((waiting) => waiting.message !== message),
  delivering: conversation.delivering?.message === message ? null : conversation.delivering,
})

const evolve = (conversation: Conversation | undefined, event: ConversationEvent): Conversation | undefined => {
  switch (event.type) {
    case 'ConversationStarted':
      return { ...event.data, waiting: [], delivering: null, recent: [] }
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
      return conversation && { ...conversation, delivering: event.data }
    case 'DeliveryDeferred':
      return conversation && { ...conversation, delivering: null }
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
  evolve,
  links: ({ chatbot }) => [chatbot],
}
