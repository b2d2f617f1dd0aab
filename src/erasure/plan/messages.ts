import { conversationKind } from '../../../events/conversation.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import type { Log } from '../../log/contract/log.js'
import { streamEventsWith } from '../../log/read/slices.js'

/** The events of a conversation that have payloads: messages and their answers. */
const types = Object.keys(conversationKind.payloads ?? {})
const texts = types.map((type) => `"type":"${type}"`)
const known: ReadonlySet<string> = new Set(types)

/** Whether the stored text of an event may describe a message or the answer to one. */
export const recordsMessages = (text: string): boolean => texts.some((type) => text.includes(type))

/** Whether an event records a message, or the answer to one. */
export const isOfMessages = ({ type }: Pick<Envelope, 'type'>): boolean => known.has(type)

/** All events of a conversation that record messages or answers. */
export async function* messagesIn(log: Pick<Log, 'readStream'>, conversation: string): AsyncGenerator<Envelope, void, void> {
  for await (const event of streamEventsWith(log, conversation, 0, recordsMessages)) if (isOfMessages(event)) yield event
}

/** Messages of a conversation, selected by their answers or by their own ids. */
export type MessageIds = { answers: Set<string>; messages: Set<string> }

/**
 * The events of some messages: each message, and each delivery of its answer. They contain the question and the answer of an agent, like
 * the record of the answer.
 */
export async function* messagesSaid(
  log: Pick<Log, 'readStream'>,
  conversation: string,
  { answers, messages }: MessageIds,
): AsyncGenerator<Envelope, void, void> {
  const wanted = new Set<unknown>(messages)
  for await (const { data } of messagesIn(log, conversation))
    if (typeof data['answer'] === 'string' && answers.has(data['answer'])) wanted.add(data['message'])
  for await (const event of messagesIn(log, conversation)) if (wanted.has(event.data['message'])) yield event
}
