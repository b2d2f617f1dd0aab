import type { StreamId } from '../../events/common.js'
import type { Envelope } from '../../events/stored/envelope.js'
import { readableAnswer } from '../agents/run/recorded-answer.js'
import { Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { Log } from '../log/contract/log.js'
import { streamEventsWith } from '../log/read/slices.js'
import { messageText, readMessage } from './payloads.js'
import type { MessageEnd } from './watchers.js'

type ReadableLog = Pick<Log, 'readStream' | 'readAll' | 'payload'>

/** A message in the log, and its result. Erased texts are null. */
export type MessageRecord = {
  id: string
  position: number
  received_at: string
  text: string | null
  sender: string | null
  status: 'waiting' | 'answered' | 'failed'
  answer: { id: string; position: number; at: string; text: string | null } | null
  reason: string | null
  error: string | null
  /** The notice that the author of a message without an answer got. */
  notice: string | null
  erased: boolean
}

/** The events that begin and end a message. */
const telling = (text: string): boolean => /"type":"(?:MessageReceived|MessageSent|MessageFailed|DeliveryFailed)"/.test(text)

const payloadOf = ({ data }: Envelope): string | undefined => (typeof data['payload'] === 'string' ? data['payload'] : undefined)

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const messageIdOf = ({ data: { message } }: Envelope): string => (typeof message === 'string' ? message : '')

/** A received message, and the event that ended it. */
type Pair = { received: Envelope; ended: Envelope | undefined }

const recordOf = async (log: ReadableLog, { received, ended }: Pair): Promise<MessageRecord> => {
  const said = readMessage(await log.payload(payloadOf(received) ?? ''))
  const replied = ended && payloadOf(ended)
  const reply = replied === undefined ? undefined : messageText(await log.payload(replied))
  const { answer, answered_at } = ended?.data ?? {}
  return {
    id: messageIdOf(received),
    position: received.position,
    received_at: received.recorded_at,
    text: said?.text ?? null,
    sender: said?.sender ?? null,
    status: ended ? (ended.type === 'MessageSent' ? 'answered' : 'failed') : 'waiting',
    answer:
      ended && typeof answer === 'string'
        ? { id: answer, position: Number(answered_at), at: ended.recorded_at, text: reply ?? null }
        : null,
    reason: textOf(ended?.data['reason']),
    error: textOf(ended?.data['error']),
    notice: textOf(ended?.data['notice']),
    erased: !said || (replied !== undefined && reply === undefined),
  }
}

/** A page of messages, and the place after which the next page begins; null after the last. */
export type MessagePage = { messages: MessageRecord[]; next: number | null }

/**
 * Messages of a conversation in the order of arrival: at most `limit`, after a version of its stream.
 *
 * @example const { messages, next } = await messagesOf(log, conversation, 0, 50)
 */
export const messagesOf = async (
  log: ReadableLog,
  conversation: StreamId,
  after = 0,
  limit: number = limits.conversationPageMaxMessages,
): Promise<MessagePage> => {
  const pairs = new Map<string, Pair>()
  let next: number | null = null
  let open = 0
  for await (const event of streamEventsWith(log, conversation, after, telling)) {
    const message = messageIdOf(event)
    const pair = pairs.get(message)
    if (event.type !== 'MessageReceived') {
      if (!pair || pair.ended) continue
      pair.ended = event
      open--
    } else if (pairs.size < limit) {
      pairs.set(message, { received: event, ended: undefined })
      open++
    } else next ??= event.version - 1
    if (next !== null && open === 0) break
  }
  const messages: MessageRecord[] = []
  for (const pair of pairs.values()) messages.push(await recordOf(log, pair))
  return { messages, next }
}

/** One message of a conversation; undefined when it has none with this id. */
export const messageOf = async (log: ReadableLog, conversation: StreamId, message: string): Promise<MessageRecord | undefined> => {
  let pair: Pair | undefined
  for await (const event of streamEventsWith(log, conversation, 0, (text) => telling(text) && text.includes(message))) {
    if (event.data['message'] !== message) continue
    if (event.type === 'MessageReceived') pair = { received: event, ended: undefined }
    else if (pair) return recordOf(log, { ...pair, ended: event })
  }
  return pair && recordOf(log, pair)
}

/** The refusal of a message whose text, or that of its answer, was erased. */
export const erasedMessage = (message: string): Problem =>
  new Problem('erased', 'Erased', `the message ${message} or its answer was erased`)

/** The end of a message, in the form of its live news; undefined while it waits. */
export const endOf = async (
  log: ReadableLog,
  { status, answer, reason, error, notice }: MessageRecord,
): Promise<MessageEnd | undefined> => {
  if (status === 'waiting') return undefined
  if (status === 'failed' || !answer) return { status: 'failed', reason: reason ?? 'agent', error: error ?? '', notice }
  const given = await readableAnswer(log, answer.position)
  const said = { answer: answer.id, text: answer.text ?? '', queries: given?.queries ?? [] }
  return { status: 'answered', ...said, ...(given?.note !== undefined && { note: given.note }) }
}
