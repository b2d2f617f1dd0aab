import * as z from 'zod'
import { payloadsOf } from '../../events/references.js'
import type { Envelope } from '../../events/stored/envelope.js'
import type { Log } from '../log/contract/log.js'
import { causingPosition } from '../log/contract/origins.js'
import { eventsWith } from '../log/read/slices.js'
import { messagesIn } from './messages.js'
import type { PlannedPayload } from './plan.js'
import { whole } from './whole-payload.js'

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'payload' | 'payloadState'>

const said = z.looseObject({ role: z.string(), content: z.string() })
const recordOf = z.looseObject({ history: z.array(said), exchanges: z.array(z.looseObject({ new: z.array(said) })) })
const messageOf = z.looseObject({ text: z.string() })

const parsed = <T>(schema: z.ZodType<T>, bytes: Buffer | undefined): T | undefined => {
  try {
    return schema.safeParse(JSON.parse(bytes?.toString() ?? 'null')).data
  } catch {
    return undefined
  }
}

/**
 * The record of an answer without the earlier turns that do not stay: in its history, and in the first messages to the language model.
 * Undefined if all turns stay.
 *
 * @example withoutTurns(bytes, new Set(['Hi', 'Hello'])) // '{"question":…,"history":[…],…,"history_erased":true}'
 */
export const withoutTurns = (bytes: Buffer | undefined, staying: ReadonlySet<string>): string | undefined => {
  const record = parsed(recordOf, bytes)
  if (!record) return undefined
  const stays = ({ content }: { content: string }): boolean => staying.has(content)
  const history = record.history.filter(stays)
  if (history.length === record.history.length) return undefined
  const [first, ...others] = record.exchanges
  // The first messages are the rules, the earlier turns and the question.
  const messages = first?.new.filter((message, i, { length }) => message.role === 'system' || i === length - 1 || stays(message))
  const exchanges = first ? [{ ...first, new: messages }, ...others] : []
  return JSON.stringify({ ...record, history, exchanges, history_erased: true })
}

const dataOf = z.looseObject({ conversation: z.string().nullish(), payload: z.string() })

/** Whether the stored text of an event may describe an answer of an agent. */
export const recordsAnswer = (text: string): boolean => text.includes('"type":"AgentAnswered"')

type Erasing = {
  /** Whether the data of an event is erased. */
  goes: (event: Envelope) => boolean
  /** Whether the records of an answer in this conversation, with this payload, may have to lose turns. */
  touches: (conversation: string, payload: string) => boolean
}

/** The texts of a conversation that stay: of its messages, and of the answers that were sent. */
const stayingTexts = async (log: ReadableLog, conversation: string, goes: Erasing['goes']): Promise<Set<string>> => {
  const texts = new Set<string>()
  for await (const event of messagesIn(log, conversation)) {
    if (goes(event)) continue
    for (const hash of payloadsOf(event.type, event.data)) {
      const message = parsed(messageOf, await log.payload(hash))
      if (message) texts.add(message.text)
    }
  }
  return texts
}

/**
 * Records of answers after a position without the erased turns of their conversations: each record has the turns before its question. This
 * includes reruns of these answers. A turn is erased if none of the texts that stay is equal to it, so that a repeated erasure finds what
 * an earlier one left.
 *
 * @example for await (const planned of cutHistories(log, 0, { goes, touches })) plan.payloads.push(planned)
 */
export async function* cutHistories(
  log: ReadableLog,
  after: number,
  { goes, touches }: Erasing,
): AsyncGenerator<PlannedPayload & { stays: string }, void, void> {
  const staying = new Map<string, Set<string>>()
  const conversations = new Map<number, string>()
  for await (const event of eventsWith(log, after, recordsAnswer)) {
    if (event.type !== 'AgentAnswered') continue
    const { conversation: own, payload } = dataOf.parse(event.data)
    const conversation = own ?? conversations.get(causingPosition(event))
    if (conversation === undefined) continue
    conversations.set(event.position, conversation)
    if (goes(event) || !touches(conversation, payload)) continue
    const texts = staying.get(conversation) ?? (await stayingTexts(log, conversation, goes))
    staying.set(conversation, texts)
    const planned = await whole(log, payload, 0)
    const stays = planned && withoutTurns(await log.payload(payload), texts)
    if (planned && stays !== undefined) yield { ...planned, stays }
  }
}
