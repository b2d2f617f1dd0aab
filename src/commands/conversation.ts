import type { Command } from '@event-driven-io/emmett'
import { unreachable, type StreamId } from '../../events/common.js'
import type {
  ConversationChannel,
  ConversationEvent,
  Delivery,
  DeliveryFailure,
  FailedMessage,
  Notice,
  ReceivedMessage,
} from '../../events/conversation.js'
import { notFound, Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { byExactName, byStream, type FactsOf, type Resource } from '../log/contract/lookups.js'
import { decider } from './rules/decider.js'

/** A conversation by its stream: the name may belong to a later one by now. */
type Target = { conversation: StreamId }
/** `name` is that of the conversation. With `onlyIfStarted`, a message to a conversation that does not exist is ignored. */
type Receipt = ReceivedMessage & { chatbot: StreamId; channel: ConversationChannel; name: string; onlyIfStarted: boolean }

export type ConversationCommand =
  | Command<'ReceiveMessage', Receipt>
  | Command<'BeginDelivery', Target & Delivery>
  | Command<'DeferDelivery', Target & { message: string; reply: string; error: string }>
  | Command<'SendMessage', Target & Delivery>
  | Command<'FailDelivery', Target & Delivery & { reason: DeliveryFailure; error: string }>
  | Command<'BeginNotice', Target & Notice>
  | Command<'FailMessage', Target & FailedMessage & { notice: string | null }>
  | Command<'EndConversation', Target>

const reads = ({ type, data }: ConversationCommand) => ({
  chatbot: byStream('chatbot', type === 'ReceiveMessage' ? data.chatbot : ('' as StreamId)),
  conversation: type === 'ReceiveMessage' ? byExactName('conversation', data.name) : byStream('conversation', data.conversation),
})

type Facts = FactsOf<ReturnType<typeof reads>>

/** The refusal of a message to a stopped chatbot. */
export const chatbotStopped = (name: string): Problem =>
  new Problem('not_ready', 'Chatbot stopped', `the chatbot ${name} does not run`, {
    hint: 'UPDATE CHATBOT … SET is_running = true starts it.',
  })

const receive = (data: Receipt, { chatbot, conversation }: Facts): ConversationEvent[] => {
  if (!chatbot) throw notFound('chatbot', data.chatbot)
  if (!chatbot.state.is_running) throw chatbotStopped(chatbot.state.name)
  const { name, channel, onlyIfStarted, message, origins, payload } = data
  if (!conversation && onlyIfStarted) return []
  const { waiting = [], recent = [] } = conversation?.state ?? {}
  if (origins.some((origin) => recent.includes(origin))) return []
  if (waiting.length >= limits.conversationMaxWaiting)
    throw new Problem('busy', 'Too many messages', `${waiting.length} messages of this conversation wait (conversationMaxWaiting)`, {
      hint: 'Send the next one when one of them is answered.',
      retryAfterSeconds: 10,
    })
  const received: ConversationEvent = { type: 'MessageReceived', data: { message, origins, payload } }
  return conversation ? [received] : [{ type: 'ConversationStarted', data: { chatbot: chatbot.stream, name, channel } }, received]
}

/** Whether a message waits as the first of its conversation. The end of each message is decided once. */
const isFirst = ({ state: { waiting } }: Resource<'conversation'>, message: string): boolean => waiting[0]?.message === message

const decide = (command: ConversationCommand, facts: Facts): ConversationEvent[] => {
  if (command.type === 'ReceiveMessage') return receive(command.data, facts)
  const { conversation } = facts
  if (command.type === 'EndConversation') return end(command.data.conversation, conversation)
  if (!conversation || !isFirst(conversation, command.data.message)) return []
  const { delivering, notifying } = conversation.state
  const underWay = delivering ?? notifying
  switch (command.type) {
    case 'BeginDelivery': {
      const { conversation: _, ...data } = command.data
      return underWay ? [] : [{ type: 'DeliveryBegun', data }]
    }
    case 'BeginNotice': {
      const { conversation: _, ...data } = command.data
      return underWay ? [] : [{ type: 'NoticeBegun', data }]
    }
    case 'DeferDelivery': {
      const { conversation: _, ...data } = command.data
      return underWay?.reply === data.reply ? [{ type: 'DeliveryDeferred', data }] : []
    }
    case 'SendMessage': {
      const { conversation: _, ...data } = command.data
      return [{ type: 'MessageSent', data }]
    }
    case 'FailDelivery': {
      const { conversation: _, ...data } = command.data
      return [{ type: 'DeliveryFailed', data }]
    }
    case 'FailMessage': {
      const { conversation: _, ...data } = command.data
      return [{ type: 'MessageFailed', data }]
    }
    default:
      return unreachable(command)
  }
}

const end = (stream: StreamId, conversation: Resource<'conversation'> | undefined): ConversationEvent[] => {
  if (!conversation) throw notFound('conversation', stream)
  if (conversation.state.waiting.length > 0)
    throw new Problem(
      'not_empty',
      'Messages wait',
      `${conversation.state.waiting.length} messages of this conversation wait for an answer`,
      {
        hint: 'End it when they are answered.',
      },
    )
  return [{ type: 'ConversationEnded', data: {} }]
}

/** Decides the commands of conversations. Messages cannot be taken back, so there is no rollback. */
export const conversationDecider = decider('conversation', {
  commands: {
    ...{ ReceiveMessage: true, BeginDelivery: true, DeferDelivery: true, SendMessage: true, FailDelivery: true },
    ...{ BeginNotice: true, FailMessage: true, EndConversation: true },
  },
  secrets: [],
  rollback: null,
  reads,
  decide,
})
