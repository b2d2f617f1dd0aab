import * as z from 'zod'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { badSignature, freshTimestamp, hmac, sameText, strongSecret, type ReadHeader } from './signature-parts.js'
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
import { fromMarkdown, slackForms } from './markdown.js'
import { fitting, judgedForChat, post, type PostReply } from './post.js'

const id = z.string().min(1).max(100)

const message = z.looseObject({
  type: z.string(),
  subtype: z.string().optional(),
  bot_id: z.unknown().optional(),
  app_id: z.string().optional(),
  user: id.optional(),
  text: z.string().optional(),
  channel: id.optional(),
  channel_type: z.string().optional(),
  ts: id.optional(),
  thread_ts: id.optional(),
})

const envelope = z.looseObject({
  type: z.string(),
  challenge: z.string().max(1_000).optional(),
  team_id: id.optional(),
  api_app_id: z.string().optional(),
  event_id: id.optional(),
  event: message.optional(),
  authorizations: z.array(z.looseObject({ user_id: z.string().optional() })).optional(),
})

/** Subtypes of messages that a person wrote; all others are notices of Slack, edits, or messages of programs. */
const written: ReadonlySet<string | undefined> = new Set([undefined, 'thread_broadcast', 'file_share'])

const plain = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/** Escapes the characters that Slack would read as a mention or a link. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const read = (body: unknown): Arrival => {
  const parsed = envelope.safeParse(body)
  if (!parsed.success) throw wrong("the body is not a request of Slack's Events API")
  const { type, challenge, event, event_id, team_id = '', api_app_id, authorizations = [] } = parsed.data
  if (type === 'url_verification') return { challenge: challenge ?? '' }
  if (type !== 'event_callback' || !event || event_id === undefined) return { ignored: `a request of the type ${type}` }
  const { channel, ts, user, thread_ts, text = '', app_id } = event
  if (event.type !== 'app_mention' && event.type !== 'message') return { ignored: `an event of the type ${event.type}` }
  const own = authorizations.flatMap(({ user_id }) => user_id ?? [])
  const isOfBot =
    event.bot_id !== undefined || (app_id !== undefined && app_id === api_app_id) || (user !== undefined && own.includes(user))
  if (isOfBot || !written.has(event.subtype)) return { ignored: 'a message that nobody wrote' }
  if (channel === undefined || ts === undefined || user === undefined) return { ignored: 'a message without a channel, a time or a user' }
  const isDirect = event.channel_type === 'im'
  const words = own.reduce((rest, bot) => rest.replaceAll(`<@${bot}>`, ' '), text)
  const thread = thread_ts ?? (isDirect ? null : ts)
  return {
    message: {
      place: [team_id, channel, thread ?? ''].join(' '),
      // A mention also comes as a message, with another event id.
      ids: [event_id, `${team_id} ${channel} ${ts}`],
      text: plain(words).trim(),
      sender: user,
      address: { channel, ...(thread !== null && { thread_ts: thread }) },
      onlyIfStarted: !isDirect && event.type !== 'app_mention',
    },
  }
}

const verifier =
  (secret: unknown) =>
  (header: ReadHeader, body: Buffer, now: number): void => {
    const key = strongSecret(secret, 'signing_secret')
    const time = freshTimestamp(header, 'x-slack-request-timestamp', now)
    const expected = `v0=${hmac(key, `v0:${time}:`, body).toString('hex')}`
    if (!sameText(header('x-slack-signature') ?? '', expected))
      throw badSignature('the header X-Slack-Signature is missing or does not fit the body')
  }

const saidOk = z.object({ ok: z.boolean(), error: z.string().max(200).optional() })

/** Slack reports errors with `ok: false` and status 200; these errors are temporary. */
const passing: ReadonlySet<string | undefined> = new Set(['ratelimited', 'rate_limited', 'service_unavailable'])

/** Errors after which some of the call may have succeeded, as Slack documents them. */
const uncertain: ReadonlySet<string | undefined> = new Set(['fatal_error', 'internal_error'])

const judge = (said: PostReply): Attempt => {
  const byStatus = judgedForChat(said)
  const answer = saidOk.safeParse(said.body)
  if (byStatus.end !== 'sent') return byStatus
  if (!answer.success) return { end: 'unknown', error: 'Slack answered something else than JSON' }
  const { ok, error } = answer.data
  if (ok) return { end: 'sent' }
  const end = passing.has(error) ? 'later' : uncertain.has(error) ? 'unknown' : 'refused'
  return { end, error: `Slack answered ${error ?? 'an error'}` }
}

/**
 * Slack over its Events API. The signing secret signs the requests. Answers go by `chat.postMessage` into the thread of the message. The
 * chatbot answers mentions, direct messages, and messages in threads that it is part of. It does not answer messages of programs.
 */
export const slackChannel = (params: ChannelParams, call: Fetch): Channel => {
  const base = apiUrl(params, 'https://slack.com/api')
  const send = ({ address, status, text: said, note }: OutboundMessage, signal: AbortSignal): Promise<Attempt> => {
    const shown = escaped(status === 'answered' ? fromMarkdown(said, slackForms) : said)
    const text = fitting({ text: shown, ...(note !== undefined && { note: escaped(note) }) }, limits.slackMessageMaxChars)
    const body = { ...address, text, unfurl_links: false, unfurl_media: false }
    const headers = { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${textParam(params, 'token')}` }
    return post(call, `${base}/chat.postMessage`, { method: 'POST', headers, body: JSON.stringify(body) }, signal, judge)
  }
  return { name: 'slack', verify: verifier(params['signing_secret']), read, post: send, answersInReply: false }
}
