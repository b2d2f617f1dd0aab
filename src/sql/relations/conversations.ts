import { column, heldAt, nocase, type Relation } from './relation.js'

const ofChatbot = [
  column('project', 'VARCHAR', 'Project of the chatbot, by its name at that time.'),
  column('chatbot', 'VARCHAR', 'Name of the chatbot at that time.'),
  column('chatbot_id', 'VARCHAR', 'Stream of the chatbot.'),
]

/** Joins a conversation `c` with its chatbot and project, in their state when it began. */
const joinNames = `
    LEFT JOIN ledger.chatbots_history AS b ON b.stream = c.chatbot AND ${heldAt('b', 'c.id')}
    LEFT JOIN ledger.projects_history AS p ON p.stream = b.project AND ${heldAt('p', 'c.id')}`

const named = `${nocase('p.name')} AS project, ${nocase('b.name')} AS chatbot, c.chatbot AS chatbot_id`

/** The end of each message, up to the position of the query. */
const ends = `(SELECT * FROM ledger.messages WHERE position <= $position AND status <> 'received')`

export const conversations: Relation = {
  name: 'conversations',
  about: 'Conversations with chatbots, also those that ended.',
  kind: 'BASE TABLE',
  columns: [
    column('conversation', 'VARCHAR', 'Stream of the conversation; REST shows it as its id.'),
    ...ofChatbot,
    column('channel', 'VARCHAR', 'Channel of the conversation: api, webhook, slack or telegram.'),
    column('started_at', 'TIMESTAMP', 'When the conversation began (UTC).'),
    column('ended_at', 'BIGINT', 'Position of the event that ended the conversation; empty while it goes on.'),
    column('messages', 'BIGINT', 'Number of messages.'),
    column('answered', 'BIGINT', 'Number of answered messages.'),
    column('failed', 'BIGINT', 'Number of failed messages.'),
    column('last_message_at', 'TIMESTAMP', 'When the last message came (UTC).'),
  ],
  sql: `
    SELECT c.stream AS conversation, ${named}, c.channel, c.created_at AS started_at,
      CASE WHEN c.valid_to <= $position THEN c.valid_to END AS ended_at, coalesce(m.messages, 0) AS messages, coalesce(m.answered, 0) AS answered,
      coalesce(m.failed, 0) AS failed, m.last_message_at
    FROM ledger.conversations_history AS c${joinNames}
    LEFT JOIN (
      SELECT conversation, count(*) FILTER (status = 'received') AS messages, count(*) FILTER (status = 'answered') AS answered,
        count(*) FILTER (status = 'failed') AS failed, max(recorded_at) FILTER (status = 'received') AS last_message_at
      FROM ledger.messages WHERE position <= $position GROUP BY conversation
    ) AS m ON m.conversation = c.stream
    WHERE c.valid_from <= $position
    ORDER BY c.id`,
}

export const messages: Relation = {
  name: 'messages',
  about: 'Messages to chatbots, one row for each, with its result.',
  kind: 'BASE TABLE',
  columns: [
    column('position', 'BIGINT', 'Position of the event with which the message came.'),
    column('received_at', 'TIMESTAMP', 'When the message came (UTC).'),
    column('actor', 'VARCHAR', 'Who sent the message: a login, or the chatbot for a message from a chat service.'),
    column('request', 'VARCHAR', 'Request that brought the message.'),
    ...ofChatbot,
    column('conversation', 'VARCHAR', 'Stream of the conversation.'),
    column('channel', 'VARCHAR', 'Channel of the message: api, webhook, slack or telegram.'),
    column('message', 'VARCHAR', 'Id of the message.'),
    column('sender', 'VARCHAR', 'The author of the message, by the name in the chat service.'),
    column('text', 'VARCHAR', 'Text of the message.'),
    column('status', 'VARCHAR', 'waiting, answered or failed.'),
    column('ended', 'BIGINT', 'Position of the event with the result; empty while the message waits.'),
    column('ended_at', 'TIMESTAMP', 'When the result was recorded (UTC); empty while the message waits.'),
    column('answer_id', 'VARCHAR', 'Id of the answer of the agent, if there is one.'),
    column('answer', 'VARCHAR', 'Text of the answer.'),
    column('reason', 'VARCHAR', 'Why the message failed, in one word.'),
    column('error', 'VARCHAR', 'Why the message failed.'),
    column('notice', 'VARCHAR', 'Notice that the author got; empty if none arrived.'),
    column('readable', 'BOOLEAN', 'False if the text of the message or of its answer was erased.'),
  ],
  sql: `
    SELECT m.position, m.recorded_at AS received_at, m.actor, m.request, ${named}, m.conversation, c.channel, m.message, m.sender, m.text,
      coalesce(e.status, 'waiting') AS status, e.position AS ended, e.recorded_at AS ended_at, e.answer AS answer_id, e.text AS answer, e.reason,
      e.error, e.notice, m.readable AND coalesce(e.readable, true) AS readable
    FROM ledger.messages AS m
    JOIN ledger.conversations_history AS c ON c.stream = m.conversation
    LEFT JOIN ${ends} AS e ON e.conversation = m.conversation AND e.message = m.message${joinNames}
    WHERE m.position <= $position AND m.status = 'received'
    ORDER BY m.position`,
}
