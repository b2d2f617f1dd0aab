import * as z from 'zod'
import { payloadsOf } from '../../events/references.js'
import type { Envelope } from '../../events/stored/envelope.js'
import type { Log } from '../log/contract/log.js'
import { causingPosition } from '../log/contract/origins.js'
import { eventsWith } from '../log/read/slices.js'
import { messagesIn } from './messages.js'
import type { PlanPart } from './plan.js'
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

/** The texts of a conversation that stay: of its messages, and of the answers that were sent. */
const stayingTexts = async (log: ReadableLog, conversation: string, goes: (event: Envelope) => boolean): Promise<Set<string>> => {
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

const dataOf = z.looseObject({ conversation: z.string().nullish(), payload: z.string() })

/**
 * Plans to take erased turns of conversations out of the records of later answers, and of reruns of these: each record has the turns before
 * its question. A turn is erased if none of the texts that stay is equal to it, so a repeated plan finds what an earlier one left.
 */
export const takeTurns = async (
  log: ReadableLog,
  conversations: Iterable<string>,
  { after, goes }: { after: number; goes: (event: Envelope) => boolean },
  into: Pick<PlanPart, 'payloads'>,
): Promise<void> => {
  const staying = new Map<string, Set<string>>()
  for (const conversation of conversations) staying.set(conversation, await stayingTexts(log, conversation, goes))
  if (staying.size === 0) return
  const answersOf = new Map<number, Set<string>>()
  for await (const event of eventsWith(log, after, (text) => text.includes('"type":"AgentAnswered"'))) {
    if (event.type !== 'AgentAnswered' || goes(event)) continue
    const { conversation, payload } = dataOf.parse(event.data)
    const texts = staying.get(conversation ?? '') ?? answersOf.get(causingPosition(event))
    if (!texts) continue
    answersOf.set(event.position, texts)
    const planned = await whole(log, payload, 0)
    const stays = planned && withoutTurns(await log.payload(payload), texts)
    if (planned && stays !== undefined) into.payloads.push({ ...planned, stays })
  }
}
