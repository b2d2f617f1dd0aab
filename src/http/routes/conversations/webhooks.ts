import { isBlank } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { channelOf } from '../../../chatbots/channels/channel-of.js'
import type { Channel, Fetch, InboundMessage } from '../../../chatbots/channels/channel.js'
import type { MessageIntake } from '../../../chatbots/message-intake.js'
import { checkText, cutMessage } from '../../../chatbots/receiving.js'
import { bearerOf, isTokenOf } from '../../../chatbots/webhook-token.js'
import { chatbotStopped } from '../../../commands/conversation.js'
import type { Log, Resource } from '../../../log/contract/log.js'
import type { Vault } from '../../../vault/vault.js'
import type { Call } from '../../protocol/call.js'
import { parseJsonBody } from '../../protocol/json-body.js'
import { readRawBody } from '../../protocol/raw-body.js'
import { json, text, type Reply } from '../../protocol/reply.js'
import { route, type Route } from '../../protocol/route.js'
import { messageReply, endedMessage } from './message-replies.js'

/** Limits the number of webhook requests that are read at once. */
class Places {
  #taken = 0

  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken >= limits.webhookRequestsMax)
      throw new Problem('busy', 'Too many requests', `${this.#taken} requests of webhooks are read already (webhookRequestsMax)`, {
        retryAfterSeconds: 1,
      })
    this.#taken++
    try {
      return await work()
    } finally {
      this.#taken--
    }
  }
}

/** The answer to a chat service when the chatbot ignores a message: a success, so that the service does not send it again. */
const nothingToDo = (channel: Channel): Reply =>
  json({ ok: true }, channel.name === 'slack' ? { headers: { 'X-Slack-No-Retry': '1' } } : {})

const noWebhook = () => new Problem('not_found', 'Webhook not found', 'no chatbot has a webhook with this token')

type Parts = { log: Log; vault: Vault; intake: MessageIntake; fetch: Fetch }

/** The webhooks for chat services, one for each chatbot. Requests are signed and need no login. */
export const webhookRoutes = ({ log, vault, intake, fetch }: Parts): Route[] => {
  const places = new Places()

  const chatbotOf = async (token: string): Promise<Resource<'chatbot'>> => {
    const stream = bearerOf(token)
    const chatbot = stream && (await log.resources.byStream('chatbot', stream))
    if (!chatbot || !isTokenOf(vault, token, chatbot)) throw noWebhook()
    return chatbot
  }

  const take = async (chatbot: Resource<'chatbot'>, channel: Channel, incoming: InboundMessage, call: Call) => {
    const project = await log.resources.byStream('project', chatbot.state.project)
    const actor = `chatbot:${project?.state.name ?? chatbot.state.project}.${chatbot.state.name}`
    // A person in a chat cannot see a refusal, but a program can.
    const said = channel.name === 'webhook' ? checkText(incoming.text) : cutMessage(incoming.text)
    return intake.take({ ...incoming, chatbot, channel: channel.name, text: said, origin: { ...call.origin(), actor } })
  }

  const answer = async (chatbot: Resource<'chatbot'>, channel: Channel, incoming: InboundMessage, call: Call): Promise<Reply> => {
    if (isBlank(incoming.text) && channel.name !== 'webhook') return nothingToDo(channel)
    if (!chatbot.state.is_running) {
      // A failure would make chat services send it again for hours, and finally disable the webhook.
      if (channel.name !== 'webhook') return nothingToDo(channel)
      throw chatbotStopped(chatbot.state.name)
    }
    const taken = await take(chatbot, channel, incoming, call)
    if (!taken) return nothingToDo(channel)
    call.positions = [taken.position]
    const { conversation, message } = taken
    if (channel.answersInReply) return messageReply(taken, await intake.end(taken, limits.messageReplyWaitMs, call.gone))
    taken.follower.close()
    return json(channel.name === 'webhook' ? { conversation, message, status: 'waiting' } : { ok: true }, {
      status: channel.name === 'webhook' ? 202 : 200,
    })
  }

  return [
    route({
      method: 'post',
      path: '/webhooks/chatbots/:token',
      summary: 'Receive a message for a chatbot from Slack, Telegram or your own program; it needs a signature, but no login',
      takes: { 'application/json': null },
      answers: { 200: endedMessage, 202: endedMessage },
      async handle({ segments: { token }, call }) {
        const { chatbot, channel, arrival } = await places.within(async () => {
          const chatbot = await chatbotOf(token)
          const channel = await channelOf(log, chatbot, fetch)
          const body = await readRawBody(call.incoming, { maxBytes: limits.webhookBodyMaxBytes, timeoutMs: limits.webhookBodyTimeoutMs })
          const header = (name: string) => call.header(name)
          channel.verify(header, body, Date.now())
          return { chatbot, channel, arrival: channel.read(await parseJsonBody(body), header) }
        })
        if ('challenge' in arrival) return text('text/plain', arrival.challenge)
        if ('ignored' in arrival) return nothingToDo(channel)
        return answer(chatbot, channel, arrival.message, call)
      },
    }),
  ]
}
