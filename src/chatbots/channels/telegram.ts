import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { JsonObject } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { badSignature, sameText, strongSecret, type ReadHeader } from './signature-parts.js'
import {
  apiUrl,
  textParam,
  type Arrival,
  type Attempt,
  type Channel,
  type ChannelParams,
  type Fetch,
  type OutboundMessage,
} from './channel.js'
import { fromMarkdown, plainForms } from './markdown.js'
import { judgedForChat, messagesOf, post, waitAfter, type PostReply } from './post.js'

const update = z.looseObject({
  update_id: z.int(),
  message: z
    .looseObject({
      message_id: z.int(),
      message_thread_id: z.int().optional(),
      is_topic_message: z.boolean().optional(),
      from: z.looseObject({ id: z.int(), is_bot: z.boolean().optional() }).optional(),
      chat: z.looseObject({ id: z.int() }),
      text: z.string().optional(),
    })
    .optional(),
})

const read = (body: unknown): Arrival => {
  const parsed = update.safeParse(body)
  if (!parsed.success) throw wrong('the body is no update of Telegram')
  const { update_id, message } = parsed.data
  if (message?.text === undefined) return { ignored: 'an update without a text' }
  const { message_id, from, chat, text, message_thread_id: thread } = message
  if (!from || from.is_bot === true) return { ignored: 'a message that nobody wrote' }
  const topic = message.is_topic_message === true && thread !== undefined ? { message_thread_id: thread } : {}
  return {
    message: {
      place: [chat.id, topic.message_thread_id ?? ''].join(' '),
      ids: [`update ${update_id}`, `message ${chat.id} ${message_id}`],
      text: text.trim(),
      sender: String(from.id),
      address: { chat_id: chat.id, message_id, ...topic },
      onlyIfStarted: false,
    },
  }
}

const verifier =
  (secret: unknown) =>
  (header: ReadHeader): void => {
    const expected = strongSecret(secret, 'secret_token')
    if (!sameText(header('x-telegram-bot-api-secret-token') ?? '', expected))
      throw badSignature('the header X-Telegram-Bot-Api-Secret-Token is missing or is not the secret_token of the connection')
  }

const saidOk = z.looseObject({
  ok: z.boolean(),
  description: z.string().optional(),
  parameters: z.looseObject({ retry_after: z.number().nonnegative().optional() }).optional(),
})

const judge = (said: PostReply): Attempt => {
  const answer = saidOk.safeParse(said.body)
  const { ok, description, parameters } = answer.success ? answer.data : {}
  const told = parameters?.retry_after
  const byStatus = judgedForChat({ ...said, afterMs: told === undefined ? said.afterMs : told * 1_000 })
  if (byStatus.end === 'sent' && ok !== true) return { end: 'unknown', error: 'Telegram answered something else than JSON' }
  return 'error' in byStatus && description !== undefined
    ? { ...byStatus, error: `${byStatus.error}: ${description.slice(0, 200)}` }
    : byStatus
}

/**
 * A message that Telegram may accept later is sent again here, because the messages before it must not be sent again. `until` is the end of
 * all waits for an answer, as `performance.now()` tells it: meanwhile it keeps a place from other answers.
 */
const patiently = async (send: () => Promise<Attempt>, until: number, signal: AbortSignal): Promise<Attempt> => {
  for (let tries = 1; ; tries++) {
    const attempt = await send()
    if (attempt.end !== 'later') return attempt
    const waitMs = waitAfter(tries, attempt.afterMs)
    if (tries === limits.deliveryMaxAttempts || performance.now() + waitMs > until) return attempt
    // After a stop the next try says that the call broke off.
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
  }
}

/**
 * Telegram: updates have the secret token from `setWebhook`, and answers go out by `sendMessage`, long ones as several messages. If one of
 * these is not delivered, the answer is not: the rest is not sent.
 */
export const telegramChannel = (params: ChannelParams, call: Fetch): Channel => {
  const base = apiUrl(params, 'https://api.telegram.org')
  const url = `${base}/bot${encodeURIComponent(textParam(params, 'token')).replaceAll('%3A', ':')}/sendMessage`
  const sendOne = (body: JsonObject, signal: AbortSignal): Promise<Attempt> =>
    post(call, url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }, signal, judge)
  const send = async ({ address, status, text: said, note }: OutboundMessage, signal: AbortSignal): Promise<Attempt> => {
    const { message_id = null, ...to } = address
    const text = status === 'answered' ? fromMarkdown(said, plainForms) : said
    const most = { chars: limits.telegramMessageMaxChars, messages: limits.telegramAnswerMaxMessages }
    const [first = '', ...others] = messagesOf({ text, ...(note !== undefined && { note }) }, most)
    const bodyOf = (part: string): JsonObject => ({ ...to, text: part, link_preview_options: { is_disabled: true } })
    const begun = await sendOne({ ...bodyOf(first), reply_parameters: { message_id, allow_sending_without_reply: true } }, signal)
    if (begun.end !== 'sent') return begun
    const until = performance.now() + limits.deliveryRetryMaxWaitMs
    for (const [i, part] of others.entries()) {
      const attempt = await patiently(() => sendOne(bodyOf(part), signal), until, signal)
      if (attempt.end === 'sent') continue
      const error = `only ${i + 1} of ${others.length + 1} messages arrived: ${attempt.error}`
      return { end: attempt.end === 'unknown' ? 'unknown' : 'refused', error }
    }
    return begun
  }
  return { name: 'telegram', verify: verifier(params['secret_token']), read, post: send, answersInReply: false }
}
