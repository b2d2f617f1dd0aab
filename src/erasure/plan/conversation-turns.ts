import * as z from 'zod'
import { payloadsOf } from '../../../events/catalogue/references.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import { limits } from '../../basics/limits.js'
import type { Log } from '../../log/contract/log.js'
import { causingPosition } from '../../log/contract/origins.js'
import { eventsWith } from '../../log/read/slices.js'
import { messagesIn } from './messages.js'
import { whole, type PlannedPayload } from './plan.js'

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

/** The texts of a message and its answer, as a key. */
const keyOf = (turn: readonly string[]): string => JSON.stringify(turn)

/**
 * The record of an answer without the earlier turns that do not stay: in its history, and in the first messages to the language model. A
 * turn is a message and its answer. Undefined if all turns stay.
 *
 * @example withoutTurns(bytes, new Set(['["Hi","Hello"]'])) // '{"question":…,"history":[…],…,"history_erased":true}'
 */
export const withoutTurns = (bytes: Buffer | undefined, staying: ReadonlySet<string>): string | undefined => {
  const record = parsed(recordOf, bytes)
  if (!record) return undefined
  const { history } = record
  const stays = history.map((_, place) => {
    const begin = place - (place % 2)
    return staying.has(keyOf(history.slice(begin, begin + 2).map(({ content }) => content)))
  })
  if (!stays.includes(false)) return undefined
  const left = history.filter((_, place) => stays[place])
  const [first, ...others] = record.exchanges
  // The first messages are the rules, the last turns of the history, and the question.
  const shift = history.length + 1 - (first?.new.length ?? 0)
  const messages = first?.new.filter(({ role }, i) => role === 'system' || stays[i + shift] !== false)
  const exchanges = first ? [{ ...first, new: messages }, ...others] : []
  return JSON.stringify({ ...record, history: left, exchanges, history_erased: true })
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

/** The turns of a conversation that stay. Answers after the position `until` got no other turn. */
type Staying = { turns: ReadonlySet<string>; until: number }

/** The turns of a conversation that stay: its messages, each with the answer that was sent. */
const stayingTurns = async (log: ReadableLog, conversation: string, goes: Erasing['goes']): Promise<Staying> => {
  const turns = new Set<string>()
  let [until, staysSince] = [0, 0]
  const received = new Map<unknown, Envelope>()
  const textOf = async (event: Envelope | undefined): Promise<string | undefined> => {
    const [hash] = event && !goes(event) ? payloadsOf(event.type, event.data) : []
    return hash === undefined ? undefined : parsed(messageOf, await log.payload(hash))?.text
  }
  for await (const event of messagesIn(log, conversation)) {
    const { message } = event.data
    if (event.type === 'MessageReceived') received.set(message, event)
    if (event.type !== 'MessageSent') continue
    const [asked, given] = [await textOf(received.get(message)), await textOf(event)]
    received.delete(message)
    if (asked === undefined || given === undefined) [until, staysSince] = [Infinity, 0]
    else {
      turns.add(keyOf([asked, given]))
      // An answer gets only the last turns.
      if (++staysSince === limits.conversationHistoryMaxTurns) until = Math.min(until, event.position)
    }
  }
  return { turns, until }
}

/** Which answers are read: `since` leaves out those up to a position, whose records have lost their turns. `events` has all answers. */
type Reading = { since?: number; events?: AsyncIterable<Envelope> }

/**
 * Records of answers after a position without the erased turns of their conversations: each record has the turns before its question. This
 * includes reruns of these answers. A turn is erased if it is equal to none that stays, so that a repeated erasure finds what
 * an earlier one left.
 *
 * @example for await (const planned of cutHistories(log, 0, { goes, touches })) plan.payloads.push(planned)
 */
export async function* cutHistories(
  log: ReadableLog,
  after: number,
  { goes, touches }: Erasing,
  { since = 0, events = eventsWith(log, after, recordsAnswer) }: Reading = {},
): AsyncGenerator<PlannedPayload & { stays: string; position: number }, void, void> {
  const staying = new Map<string, Staying>()
  /** For each answer of a conversation, and for its reruns: the conversation, and the position of the answer that got its turns. */
  const originals = new Map<number, { conversation: string; toldAt: number }>()
  for await (const event of events) {
    if (event.type !== 'AgentAnswered') continue
    const { conversation: own, payload } = dataOf.parse(event.data)
    const { position } = event
    const original = typeof own === 'string' ? { conversation: own, toldAt: position } : originals.get(causingPosition(event))
    if (original === undefined) continue
    originals.set(position, original)
    const { conversation, toldAt } = original
    if (position <= since || goes(event) || !touches(conversation, payload)) continue
    const known = staying.get(conversation) ?? (await stayingTurns(log, conversation, goes))
    staying.set(conversation, known)
    const { turns, until } = known
    if (toldAt > until) continue
    const planned = await whole(log, payload, 0)
    const stays = planned && withoutTurns(await log.payload(payload), turns)
    if (planned && stays !== undefined) yield { ...planned, stays, position }
  }
}
