import * as z from 'zod'
import { fittingQueries } from '../../agents/contract/fitting-queries.js'
import { missingField, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { ByteBudget } from '../../basics/limits/byte-budget.js'
import { badSignature, freshTimestamp, hmac, sameText, strongKey, type ReadHeader } from './signature-parts.js'
import { textParam, type Arrival, type Attempt, type Channel, type ChannelParams, type Fetch, type OutboundMessage } from './channel.js'
import { judgedByStatus, post } from './post.js'

const fields = z.strictObject({
  conversation: z.string().min(1).max(200),
  text: z.string(),
  user: z.string().min(1).max(200).optional(),
})

/**
 * The signature of Standard Webhooks: over the id, the time and the body.
 *
 * @example signature(strongKey(secret, 'secret'), 'msg_1', '1614265330', Buffer.from('{}')) // 'v1,…'
 */
const signature = (key: Buffer, id: string, time: string, body: Buffer): string =>
  `v1,${hmac(key, `${id}.${time}.`, body).toString('base64')}`

const idOf = (header: ReadHeader): string => {
  const id = header('webhook-id') ?? ''
  if (!/^[\x21-\x7e]{1,200}$/.test(id)) throw badSignature('the header webhook-id is missing, or not 1 to 200 printable characters')
  return id
}

const verifier =
  (secret: unknown) =>
  (header: ReadHeader, body: Buffer, now: number): void => {
    const key = strongKey(secret, 'secret')
    const id = idOf(header)
    const time = freshTimestamp(header, 'webhook-timestamp', now)
    const expected = signature(key, id, time, body)
    // A request has several signatures while its sender replaces a secret.
    const given = (header('webhook-signature') ?? '').split(' ').slice(0, 10)
    if (given.filter((one) => sameText(one, expected)).length === 0)
      throw badSignature(
        'the header webhook-signature is missing or does not fit the body',
        'It is that of Standard Webhooks: v1, and base64 of HMAC-SHA256.',
      )
  }

const read = (body: unknown, header: ReadHeader): Arrival => {
  const parsed = fields.safeParse(body)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const field = issue?.path.join('.') ?? ''
    if (issue?.code === 'invalid_type' && field !== '') throw missingField(field, 'message')
    throw wrong(
      `message${field === '' ? '' : `.${field}`}: ${issue?.message ?? 'does not fit'}`,
      'Send {"conversation": "…", "text": "…"}.',
    )
  }
  const { conversation, text, user = null } = parsed.data
  const id = idOf(header)
  const address = { conversation, webhook_id: id }
  return { message: { place: conversation, ids: [id], text: text.trim(), sender: user, address, onlyIfStarted: false } }
}

/** The body of a post to a `reply_url`. Rows that do not fit are left out, from the first query on. */
const bodyOf = ({ address, message, reply, status, text, note, answer }: OutboundMessage) => ({
  ...{ ...address, message, reply, status, text, note },
  ...(answer && { answer_id: answer.id, queries: fittingQueries(answer.queries, new ByteBudget(limits.replyQueriesMaxBytes)).queries }),
})

/**
 * A program of the user, with requests signed by Standard Webhooks. Without a `reply_url` the reply to the request has the answer; with one
 * the answer is posted there, signed in the same way. The address always comes from the connection, never from a request.
 */
export const webhookChannel = (params: ChannelParams, call: Fetch): Channel => {
  const url = textParam(params, 'reply_url')
  const secret = params['secret']
  const send = async (outgoing: OutboundMessage, signal: AbortSignal): Promise<Attempt> => {
    const { reply } = outgoing
    const body = Buffer.from(JSON.stringify(bodyOf(outgoing)))
    const time = String(Math.floor(Date.now() / 1_000))
    const headers = {
      'content-type': 'application/json',
      'webhook-id': reply,
      'webhook-timestamp': time,
      'webhook-signature': signature(strongKey(secret, 'secret'), reply, time, body),
    }
    return post(call, url, { method: 'POST', headers, body }, signal, judgedByStatus)
  }
  const posts = url !== ''
  return { name: 'webhook', verify: verifier(secret), read, post: posts ? send : undefined, answersInReply: !posts }
}
