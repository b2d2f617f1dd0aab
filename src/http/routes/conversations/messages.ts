import { v7 as uuidv7 } from 'uuid'
import * as z from 'zod'
import { text as anyText } from '../../../../events/common.js'
import { isProblem, notFound, wrong } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { MessageIntake, AcceptedMessage } from '../../../chatbots/message-intake.js'
import { checkText } from '../../../chatbots/receiving.js'
import type { MessageNews } from '../../../chatbots/watchers.js'
import type { Log, Resource } from '../../../log/contract/log.js'
import { object } from '../../protocol/body-schema.js'
import type { Call } from '../../protocol/call.js'
import { eventHeaders, stream, type Piece } from '../../protocol/reply.js'
import { route, type Route } from '../../protocol/route.js'
import { withBeats } from '../../reads/heartbeat.js'
import { inProject } from '../../../log/read/by-name.js'
import { conversationIn } from './conversation-in.js'
import { messageReply, endedMessage, endFields, notAnswered } from './message-replies.js'

const body = z.object({
  text: anyText.describe('What is asked'),
  conversation: anyText.nullish().describe('The conversation to go on with; a new one begins without it'),
  user: anyText.min(1).max(200).nullish().describe('The user who asks, as your page knows them; it is erased with the message'),
})
type Body = z.infer<typeof body>

const path = '/projects/:project/chatbots/:chatbot/messages'

const frame = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`

/** The progress of a message, as server-sent events. */
const framesOf = (news: MessageNews, { conversation, message }: AcceptedMessage): string => {
  if ('end' in news) {
    const fields = endFields(news.end)
    const { end } = news
    const last = end.status === 'answered' ? { type: 'answer', content: end.text } : { type: 'error', content: end.error }
    return frame({ ...last, conversation, message, ...fields }) + frame({ type: 'end' })
  }
  switch (news.frame.type) {
    case 'start':
      return frame({ type: 'context', trace_id: news.frame.answer })
    case 'step':
    case 'remark':
      return frame(news.frame)
    case 'result': {
      const { text, sql, ...rest } = news.frame
      return frame({ ...rest, content: text, ...(sql !== undefined && { sql }) })
    }
    case 'text':
      return frame({ type: 'data', text: news.frame.text, content: news.frame.text })
  }
}

async function* piecesOf(intake: MessageIntake, taken: AcceptedMessage, call: Call): AsyncGenerator<Piece, void, void> {
  const { conversation, message } = taken
  yield frame({ type: 'start', conversation, message })
  try {
    for await (const news of withBeats(intake.news(taken, call.gone), limits.eventStreamHeartbeatMs))
      yield news === 'beat' ? ': \n\n' : framesOf(news, taken)
  } catch (error) {
    if (!isProblem(error)) throw error
    yield frame({ type: 'error', content: error.detail, error: error.detail }) + frame({ type: 'end' })
  }
}

/** Only conversations that began over REST can continue over REST; the others belong to another channel. @throws Problem 400 */
const ownConversation = (conversation: Resource<'conversation'>): Resource<'conversation'> => {
  if (conversation.state.channel === 'api') return conversation
  throw wrong(`the conversation is one of ${conversation.state.channel}; it goes on there`, 'Leave "conversation" out to begin one here.')
}

/** Messages from the client's own application, with the same login as all other addresses. */
export const messageRoutes = (log: Log, intake: MessageIntake): Route[] => {
  /** The conversation of a message, or a name for a new one: a repeated request gets the same name. */
  const placeOf = async (chatbot: Resource<'chatbot'>, { conversation }: Body, call: Call) => {
    if (conversation !== undefined && conversation !== null) return ownConversation(await conversationIn(log, chatbot, conversation))
    const key = call.header('idempotency-key')
    return key === undefined ? `new ${uuidv7()}` : `new ${call.origin().actor} ${key}`
  }

  const take = async (
    { project, chatbot: name }: { project: string; chatbot: string },
    sent: Body,
    call: Call,
  ): Promise<AcceptedMessage> => {
    const { found: chatbot } = await inProject(log, 'chatbot', project, name)
    const { idempotency } = call.idempotency()
    const origin = call.origin()
    const place = await placeOf(chatbot, sent, call)
    const taken = await intake.take({
      chatbot,
      channel: 'api',
      place,
      ids: idempotency ? [`key ${origin.actor} ${idempotency.key}`] : [],
      text: checkText(sent.text),
      sender: sent.user ?? null,
      address: {},
      onlyIfStarted: typeof place !== 'string',
      origin,
    })
    if (!taken) throw notFound('conversation', sent.conversation ?? '')
    call.positions = [taken.position]
    return taken
  }

  return [
    route({
      method: 'post',
      path,
      summary: 'Send a message to a chatbot, and get the answer',
      commandHeaders: ['Idempotency-Key'],
      body: object(body, 'message'),
      answers: { 200: endedMessage, 202: endedMessage },
      async handle({ segments, body: sent, call }) {
        const taken = await take(segments, sent, call)
        const end = await intake.end(taken, limits.messageReplyWaitMs, call.gone)
        if (end?.status === 'failed') throw notAnswered(taken, end)
        return messageReply(taken, end)
      },
    }),
    route({
      method: 'post',
      path: `${path}/stream`,
      summary: 'Send a message to a chatbot, and read the answer while it is made, as server-sent events',
      commandHeaders: ['Idempotency-Key'],
      body: object(body, 'message'),
      gives: ['text/event-stream'],
      answers: { 200: null },
      async handle({ segments, body: sent, call }) {
        const taken = await take(segments, sent, call)
        return stream(
          'text/event-stream',
          { pieces: piecesOf(intake, taken, call), close: () => taken.follower.close() },
          { headers: eventHeaders, keep: 'never' },
        )
      },
    }),
  ]
}
