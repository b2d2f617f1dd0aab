import { history, nameColumn, textColumn } from './history.js'
import { withPayload } from './payloads/payload-text.js'
import type { Projection } from './contract/projection.js'

/** Conversations with all chatbots; `name` stands for a place in a chat service. */
export const conversations = history({
  name: 'conversations',
  begins: 'ConversationStarted',
  changes: [],
  ends: ['ConversationEnded'],
  columns: { chatbot: textColumn, name: nameColumn, channel: textColumn },
})

/** The events of a source that received or ended a message, each with its payload if the payload is readable: a JSON object. */
export const messagesFrom = (source: string): string =>
  `CREATE OR REPLACE TEMP TABLE messages_said AS ${withPayload(
    `
      SELECT position, recorded_at, actor, source, request, stream AS conversation, type, data->>'$.message' AS message,
        data->>'$.reply' AS reply, data->>'$.answer' AS answer, (data->>'$.answered_at')::BIGINT AS answered_at,
        data->>'$.reason' AS reason, data->>'$.error' AS error, data->>'$.notice' AS notice, data->>'$.payload' AS payload
      FROM ${source} WHERE type IN ('MessageReceived', 'MessageSent', 'DeliveryFailed', 'MessageFailed')`,
    'OBJECT',
  )}`

/** One row for each received message, and one for its result. */
export const keepMessages = `INSERT INTO ledger.messages
    SELECT position, recorded_at, actor, source, request, conversation, message,
      CASE type WHEN 'MessageReceived' THEN 'received' WHEN 'MessageSent' THEN 'answered' ELSE 'failed' END, reply, answer, answered_at, reason, error, notice,
      body->>'$.text', body->>'$.sender', payload IS NULL OR body IS NOT NULL, payload
    FROM messages_said`

/**
 * Messages of conversations, and the result of each. The texts come from payloads; if one is gone, its text is null and `readable` is
 * false.
 */
export const messages: Projection = {
  name: 'messages',
  canHandle: ['MessageReceived', 'MessageSent', 'DeliveryFailed', 'MessageFailed'],
  init: `
    CREATE TABLE ledger.messages (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      conversation VARCHAR NOT NULL, message VARCHAR NOT NULL, status VARCHAR NOT NULL, reply VARCHAR, answer VARCHAR, answered_at BIGINT,
      reason VARCHAR, error VARCHAR, notice VARCHAR, text VARCHAR, sender VARCHAR, readable BOOLEAN NOT NULL, payload VARCHAR
    )`,
  evolve: [messagesFrom('batch'), keepMessages],
}
