/**
 * Room: the routes for conversations, their messages and their webhooks. It imports only events, basics, vault, log, commands,
 * chatbots, http/protocol and http/reads.
 */

import * as z from 'zod'
import { conversationChannels } from '../../../../events/conversation.js'
import { limits } from '../../../basics/limits.js'
import { notFound } from '../../../basics/errors.js'
import { erasedMessage, messageOf, messagesOf } from '../../../chatbots/message-records.js'
import { webhookToken } from '../../../chatbots/webhook-token.js'
import type { Ledger } from '../../../commands/ledger.js'
import type { Log, Resource } from '../../../log/contract/log.js'
import { carriedOut, carryOut } from '../../protocol/carry-out.js'
import { whole } from '../../protocol/parameters.js'
import { json, noContent } from '../../protocol/reply.js'
import { commandHeaders, route, type Route, type Segments } from '../../protocol/route.js'
import { list, listParameters, resourcesPart } from '../../reads/paged-list.js'
import { recordTime } from '../../reads/records.js'
import { inProject, resultOf } from '../../../log/read/by-name.js'
import { conversationIn } from './conversation-in.js'

const conversationRecord = z
  .object({
    id: z.string(),
    chatbot: z.string(),
    channel: z.enum(conversationChannels),
    created_at: z.string(),
    updated_at: z.string(),
    waiting: z.int().describe('How many messages wait for an answer'),
  })
  .meta({ id: 'Conversation' })

const messageRecord = z
  .object({
    id: z.string(),
    position: z.int().describe('Position of the event in which it came'),
    received_at: z.string(),
    text: z.string().nullable().describe('Null when it was erased'),
    sender: z.string().nullable(),
    status: z.enum(['waiting', 'answered', 'failed']),
    answer: z.object({ id: z.string(), position: z.int(), at: z.string(), text: z.string().nullable() }).nullable(),
    reason: z.string().nullable().describe('Why it failed, in a word'),
    error: z.string().nullable(),
    notice: z.string().nullable().describe('The notice that the author got, if there is no answer'),
    erased: z.boolean().describe('Whether its text, or that of its answer, was erased'),
  })
  .meta({ id: 'ConversationMessage' })

const path = '/projects/:project/chatbots/:chatbot'

const recordOf = (chatbot: Resource<'chatbot'>, { stream, state, created_at, updated_at }: Resource<'conversation'>) => ({
  id: stream,
  chatbot: chatbot.state.name,
  channel: state.channel,
  created_at: recordTime(created_at),
  updated_at: recordTime(updated_at),
  waiting: state.waiting.length,
})

const pageParameters = {
  limit: whole(z.int().min(1).max(limits.conversationPageMaxMessages).optional(), { least: 1, most: limits.conversationPageMaxMessages }),
  after: whole(z.int().nonnegative().optional(), { least: 0, most: Number.MAX_SAFE_INTEGER }),
}

/** Conversations of chatbots and their messages, and the token of a chatbot's webhook. */
export const conversationRoutes = (ledger: Ledger, log: Log): Route[] => {
  const chatbotIn = async ({ project, chatbot }: Segments<typeof path>) => (await inProject(log, 'chatbot', project, chatbot)).found

  return [
    route({
      method: 'get',
      path: `${path}/conversations`,
      summary: 'List the conversations of a chatbot that have not ended',
      query: listParameters,
      answers: { 200: z.array(conversationRecord) },
      async handle(input) {
        const chatbot = await chatbotIn(input.segments)
        const read = (after: number, limit: number) => log.resources.linkedPage('conversation', chatbot.stream, after, limit)
        return list(input, [resourcesPart(read, (conversation) => [recordOf(chatbot, conversation)])])
      },
    }),
    route({
      method: 'get',
      path: `${path}/conversations/:conversation`,
      summary: 'Read a conversation: its messages in order, each with its result',
      query: pageParameters,
      answers: {
        200: conversationRecord.extend({ messages: z.array(messageRecord), next: z.int().nullable() }).meta({ id: 'ConversationMessages' }),
      },
      async handle({ segments, query: { after, limit } }) {
        const chatbot = await chatbotIn(segments)
        const conversation = await conversationIn(log, chatbot, segments.conversation)
        const page = await messagesOf(log, conversation.stream, after, limit)
        return json({ ...recordOf(chatbot, conversation), ...page })
      },
    }),
    route({
      method: 'get',
      path: `${path}/conversations/:conversation/messages/:message`,
      summary: 'Read one message of a conversation and its result; 410 if it was erased',
      answers: { 200: messageRecord },
      async handle({ segments }) {
        const chatbot = await chatbotIn(segments)
        const { stream } = await conversationIn(log, chatbot, segments.conversation)
        const message = await messageOf(log, stream, segments.message.toLowerCase())
        if (!message) throw notFound('message', segments.message)
        if (message.erased) throw erasedMessage(message.id)
        return json(message)
      },
    }),
    route({
      method: 'delete',
      path: `${path}/conversations/:conversation`,
      summary: 'End a conversation: the next message from the same place begins another one; its messages stay',
      commandHeaders,
      answers: { 204: null },
      async handle({ segments, call }) {
        if (await carriedOut(ledger, call)) return noContent
        const { stream } = await conversationIn(log, await chatbotIn(segments), segments.conversation)
        await carryOut(ledger, { type: 'EndConversation', data: { conversation: stream } }, call)
        return noContent
      },
    }),
    route({
      method: 'post',
      path: `${path}/webhook_token`,
      summary: 'Give the webhook of a chatbot another token, and show it this once',
      commandHeaders: ['If-Match', 'If-None-Match'],
      answers: { 200: z.object({ webhook_token: z.string(), path: z.string() }).meta({ id: 'WebhookToken' }) },
      async handle({ segments: { project, chatbot }, call }) {
        const outcome = await carryOut(ledger, { type: 'RenewChatbotToken', data: { project, chatbot } }, call)
        const token = webhookToken(ledger.vault, resultOf('chatbot', outcome.resource))
        call.forbidCaches()
        return json({ webhook_token: token, path: `/api/webhooks/chatbots/${token}` })
      },
    }),
  ]
}
