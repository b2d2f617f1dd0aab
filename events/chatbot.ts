import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import {
  jsonObject,
  nothing,
  resourceName,
  streamId,
  text,
  unreachable,
  type JsonObject,
  type SchemasOf,
  type StreamId,
  type UpcastersOf,
} from './common.js'
import type { ResourceKind } from './kind.js'

/** A chatbot connects an agent (or a model) to a chat service, which is a database connection. */
export type Chatbot = {
  project: StreamId
  name: string
  agent: StreamId | null
  model_name: string | null
  database: StreamId
  is_running: boolean
  params: JsonObject
}

/** `renewals` counts the tokens of its webhook that were replaced. */
export type ChatbotState = Chatbot & { renewals?: number }

export type ChatbotEvent =
  | Event<'ChatbotCreated', Chatbot>
  | Event<'ChatbotUpdated', Partial<Pick<Chatbot, 'agent' | 'model_name' | 'database' | 'is_running' | 'params'>>>
  | Event<'ChatbotRenamed', { name: string }>
  | Event<'ChatbotTokenRenewed', Record<string, never>>
  | Event<'ChatbotDeleted', Record<string, never>>

const fields = { agent: streamId.nullable(), model_name: text.nullable(), database: streamId, is_running: z.boolean(), params: jsonObject }

const schemas: SchemasOf<ChatbotEvent> = {
  ChatbotCreated: z.strictObject({ project: streamId, name: resourceName, ...fields }).describe('A chatbot was created.'),
  ChatbotUpdated: z
    .strictObject({
      agent: fields.agent.exactOptional(),
      model_name: fields.model_name.exactOptional(),
      database: fields.database.exactOptional(),
      is_running: fields.is_running.exactOptional(),
      params: fields.params.exactOptional(),
    })
    .describe('A chatbot got other settings; each value is the new value.'),
  ChatbotRenamed: z.strictObject({ name: resourceName }).describe('A chatbot got another name.'),
  ChatbotTokenRenewed: nothing.describe('The webhook of a chatbot got another token; the service no longer accepts the old one.'),
  ChatbotDeleted: nothing.describe('A chatbot was deleted.'),
}

const upcasters: UpcastersOf<ChatbotEvent> = {
  // Version 1 had no `is_running`: a chatbot did nothing until somebody started it.
  ChatbotCreated: [(data) => ({ ...data, is_running: false })],
}

const evolve = (chatbot: ChatbotState | undefined, event: ChatbotEvent): ChatbotState | undefined => {
  switch (event.type) {
    case 'ChatbotCreated':
      return event.data
    case 'ChatbotUpdated':
    case 'ChatbotRenamed':
      return chatbot && { ...chatbot, ...event.data }
    case 'ChatbotTokenRenewed':
      return chatbot && { ...chatbot, renewals: (chatbot.renewals ?? 0) + 1 }
    case 'ChatbotDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

/** The streams a chatbot refers to. */
const links = (chatbot: Chatbot): StreamId[] => (chatbot.agent === null ? [chatbot.database] : [chatbot.agent, chatbot.database])

export const chatbotKind: ResourceKind<ChatbotState, ChatbotEvent> = {
  plural: 'chatbots',
  inProject: true,
  schemas,
  upcasters,
  evolve,
  links,
}
