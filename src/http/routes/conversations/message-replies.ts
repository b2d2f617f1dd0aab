import * as z from 'zod'
import { Problem } from '../../../basics/errors.js'
import type { MessageEnd } from '../../../chatbots/watchers.js'
import { json, type Reply } from '../../protocol/reply.js'

/** A message and its result. */
export const endedMessage = z
  .object({
    conversation: z.string(),
    message: z.string(),
    status: z.enum(['waiting', 'answered', 'failed']),
    answer: z
      .object({
        id: z.string().describe('That of the answer in log.answers'),
        text: z.string(),
        queries: z
          .array(z.object({ sql: z.string(), columns: z.array(z.string()), rows: z.array(z.array(z.json())), cut: z.boolean() }))
          .describe('The queries behind the answer'),
        note: z.string().optional().describe('That it is cut off, and its basis if no query returned rows: other tools, or no data'),
      })
      .optional(),
    reason: z.string().optional(),
    error: z.string().optional(),
    notice: z.string().optional().describe('The notice for the author, if there is no answer'),
  })
  .meta({ id: 'AnsweredMessage' })

type MessageRef = { conversation: string; message: string }

const answerOf = ({ answer: id, text, queries, note }: MessageEnd & { status: 'answered' }) => ({
  ...{ id, text, queries },
  ...(note !== undefined && { note }),
})

/** The fields of a message that ended. */
export const endFields = (end: MessageEnd): { [name: string]: unknown } =>
  end.status === 'answered'
    ? { status: 'answered', answer: answerOf(end) }
    : { status: 'failed', reason: end.reason, error: end.error, ...(end.notice !== null && { notice: end.notice }) }

/** The answer to a message: 200 when it ended, 202 while it waits. */
export const messageReply = ({ conversation, message }: MessageRef, end: MessageEnd | undefined): Reply =>
  end
    ? json({ conversation, message, ...endFields(end) }, { keep: 'never' })
    : json({ conversation, message, status: 'waiting' }, { status: 202, keep: 'never' })

/** The refusal for a client over REST whose message has no answer. */
export const notAnswered = ({ conversation, message }: MessageRef, { reason, error, notice }: MessageEnd & { status: 'failed' }): Problem =>
  new Problem('not_answered', 'Not answered', error, { conversation, message, reason, ...(notice !== null && { notice }) })
