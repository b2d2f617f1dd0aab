import { v7 as uuidv7 } from 'uuid'
import type { ConversationChannel } from '../../events/conversation.js'
import { isBlank, streamId, type JsonObject, type StreamId } from '../../events/common.js'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { Problem, wrong } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { eventAt } from '../log/read/slices.js'
import type { Ledger } from '../commands/ledger.js'
import type { Log, Resource, Origin, Outcome } from '../log/contract/log.js'
import { payloadBytes } from './payloads.js'

/**
 * A message to a chatbot. `place` names its conversation within the chatbot and the channel, or is an existing conversation; `ids`
 * distinguish the message from others.
 */
export type ChatbotMessage = {
  chatbot: Resource<'chatbot'>
  channel: ConversationChannel
  place: string | Resource<'conversation'>
  ids: readonly string[]
  text: string
  sender: string | null
  address: JsonObject
  onlyIfStarted: boolean
  origin: Origin
}

/** A message in the log, and the position of its event; `isNew` says whether it is recorded for the first time. */
export type Receipt = { conversation: StreamId; message: string; position: number; isNew: boolean }

type ReadableLog = Pick<Log, 'resources' | 'readAll' | 'readStream'>

const nameChars = 32
const originChars = 16
/** The number of events of a conversation that are searched for an earlier arrival of the same message. */
const lookBackEvents = 500

/** An opaque name of a conversation, which does not reveal its place. */
const nameOf = ({ vault }: Ledger, { chatbot, channel, place }: ChatbotMessage): string =>
  typeof place === 'string' ? vault.fingerprint(`conversation ${chatbot.stream} ${channel} ${place}`).slice(0, nameChars) : place.state.name

/** @throws Problem when a text is empty or too long */
export const checkText = (text: string): string => {
  if (isBlank(text)) throw wrong('text: the message has no text', 'Send {"text": "…"} with the message in words.')
  if (text.length > limits.messageMaxChars)
    throw new Problem(
      'too_large',
      'Message too long',
      `the message has ${text.length} characters; at most ${limits.messageMaxChars} are taken`,
    )
  return text
}

/**
 * A text of a person in a chat, who would not see a refusal: of a text that is too long, the beginning. Its end says so to the agent and to
 * readers of the record.
 *
 * @example cutMessage('x'.repeat(25_000)) // 'xx… … [The end of this message is left out: it has 25000 characters.]'
 */
export const cutMessage = (text: string): string => {
  if (text.length <= limits.messageMaxChars) return text
  const mark = ` … [The end of this message is left out: it has ${text.length} characters.]`
  return text.slice(0, limits.messageMaxChars - mark.length).toWellFormed() + mark
}

/**
 * Records the arrival of a message once: the same id in the same chatbot, or the same idempotency key, is the same message. A processor
 * that reacts to the event answers it.
 *
 * @example const receipt = await receiveMessage({ ledger, log }, arrived, uuidv7())
 * @throws Problem when the chatbot does not run, or too many messages wait
 */
export const receiveMessage = async (
  { ledger, log }: { ledger: Ledger; log: ReadableLog },
  arrived: ChatbotMessage,
  message: string = uuidv7(),
): Promise<Receipt | undefined> => {
  const { chatbot, channel, ids, text, sender, address, onlyIfStarted, origin } = arrived
  const name = nameOf(ledger, arrived)
  const origins = ids.map((id) => ledger.vault.fingerprint(`message ${chatbot.stream} ${channel} ${id}`).slice(0, originChars))
  const sealed = ledger.vault.seal(payloadBytes({ text, sender, address }))
  const data = { chatbot: chatbot.stream, channel, name, onlyIfStarted, message, origins, payload: sealed.hash }
  const [first] = origins
  const idempotency =
    first === undefined ? {} : { idempotency: { key: `message:${chatbot.stream}:${first}`, request: JSON.stringify([first, name, text]) } }
  const outcome = await ledger.execute({ type: 'ReceiveMessage', data }, origin, { payloads: [sealed], ...idempotency })
  const position = outcome.positions.at(-1)
  if (!outcome.repeated && position !== undefined) return { conversation: streamId.parse(outcome.stream), message, position, isNew: true }
  const before = (await atPosition(log, outcome)) ?? (await amongLast(log, name, origins))
  return before && { ...before, isNew: false }
}

type EarlierReceipt = Omit<Receipt, 'isNew'>

/** The message that an earlier request recorded. */
const atPosition = async (log: ReadableLog, { positions }: Outcome): Promise<EarlierReceipt | undefined> => {
  const last = positions.at(-1)
  const stored = last === undefined ? undefined : await eventAt(log, last)
  const event = stored && parseEnvelope(stored.text)
  const message = event?.data['message']
  return event && typeof message === 'string'
    ? { conversation: streamId.parse(event.stream), message, position: event.position }
    : undefined
}

/** The message with one of these origins, among the last messages of a conversation. */
const amongLast = async (log: ReadableLog, name: string, origins: readonly string[]): Promise<EarlierReceipt | undefined> => {
  const conversation = await log.resources.one('conversation', name)
  if (!conversation) return undefined
  const { stream, version } = conversation
  const stored = await log.readStream(stream, Math.max(0, version - lookBackEvents), lookBackEvents)
  for (const { data, position } of stored.map(({ text }) => parseEnvelope(text)).reverse()) {
    const { origins: known, message } = data
    if (
      Array.isArray(known) &&
      typeof message === 'string' &&
      known.some((origin) => typeof origin === 'string' && origins.includes(origin))
    )
      return { conversation: stream, message, position }
  }
  return undefined
}
