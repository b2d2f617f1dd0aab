import * as z from 'zod'
import { answersStream } from '../../events/records/answers.js'
import type { StreamId } from '../../events/common.js'
import { parseEnvelope, type Envelope } from '../../events/stored/envelope.js'
import type { AgentAnswer, Turn } from '../agents/contract/answering.js'
import { readableAnswer } from '../agents/run/recorded-answer.js'
import { limits } from '../basics/limits.js'
import { causeAt } from '../log/contract/origins.js'
import type { Resource, Log } from '../log/contract/log.js'
import { streamEventsWith } from '../log/read/slices.js'
import { messageText } from './payloads.js'

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'payload' | 'versionAt'>

const chunkEvents = 100
/** The number of events of a conversation that are searched for the turns before a message. */
const lookBackEvents = 1_000

/** The message of a conversation's event. */
const messageOf = ({ data }: Envelope): unknown => data['message']

/** The end of a conversation's stream. It begins with the event of a message, or earlier, to include this many answers if they are near. */
const tailFrom = async (
  log: ReadableLog,
  { stream, version }: Resource<'conversation'>,
  message: string,
  turns: number,
): Promise<Envelope[]> => {
  let tail: Envelope[] = []
  let hasMessage = false
  let answers = 0
  const isEnough = () => hasMessage && (turns === 0 || answers > turns || tail.length >= lookBackEvents)
  for (let before = version; before > 0 && !isEnough(); before -= chunkEvents) {
    const after = Math.max(0, before - chunkEvents)
    const chunk = (await log.readStream(stream, after, before - after)).map(({ text }) => parseEnvelope(text))
    hasMessage ||= chunk.some((event) => event.type === 'MessageReceived' && messageOf(event) === message)
    answers += chunk.filter(({ type }) => type === 'MessageSent').length
    tail = [...chunk, ...tail]
  }
  return tail
}

/** A message, and a function that reads the turns before it. */
export type Transcript = { received: Envelope; turns: () => Promise<Turn[]> }

const textIn = async (log: ReadableLog, event: Envelope | undefined): Promise<string | undefined> => {
  const hash = event?.data['payload']
  return typeof hash === 'string' ? messageText(await log.payload(hash)) : undefined
}

/**
 * The event of a message, and the last turns before it: at most this many, each with its answer. Erased turns are left out. The texts are
 * only read when the caller asks for them.
 *
 * @example
 * const { received, turns } = await transcriptOf(log, conversation, message, 10)
 * await turns() // [{ role: 'user', content: 'Hi' }, …]
 */
export const transcriptOf = async (
  log: ReadableLog,
  conversation: Resource<'conversation'>,
  message: string,
  max: number,
): Promise<Transcript | undefined> => {
  const tail = await tailFrom(log, conversation, message, max)
  const receipts = new Map(tail.filter(({ type }) => type === 'MessageReceived').map((event) => [messageOf(event), event]))
  const received = receipts.get(message)
  if (!received) return undefined
  const readTurns = async (): Promise<Turn[]> => {
    const turns: Turn[] = []
    let chars = 0
    const answers = tail.filter(({ type }) => type === 'MessageSent').reverse()
    for (const sent of answers.slice(0, max)) {
      const [asked, answered] = [await textIn(log, receipts.get(messageOf(sent))), await textIn(log, sent)]
      if (asked === undefined || answered === undefined) continue
      chars += asked.length + answered.length
      if (chars > limits.conversationHistoryMaxChars) break
      turns.unshift({ role: 'user', content: asked }, { role: 'assistant', content: answered })
    }
    return turns
  }
  return { received, turns: readTurns }
}

const answerData = z.looseObject({ conversation: z.string().nullable(), outcome: z.string() })

/**
 * The answer that an agent already gave to a message, in this run of the service or before; undefined if there is no readable one. The
 * answer's event names the message's event as its cause.
 */
export const givenAnswer = async (
  log: ReadableLog,
  agent: StreamId,
  conversation: StreamId,
  received: Envelope,
): Promise<AgentAnswer | undefined> => {
  const stream = answersStream(agent)
  const after = await log.versionAt(stream, received.position)
  for await (const event of streamEventsWith(log, stream, after, (text) => text.includes(conversation))) {
    const data = answerData.safeParse(event.data)
    if (!data.success || data.data.conversation !== conversation || event.causation !== causeAt(received.position)) continue
    if (data.data.outcome === 'answered' || data.data.outcome === 'unanswered') return readableAnswer(log, event.position)
  }
  return undefined
}
