import * as z from 'zod'
import { parseEnvelope, type Envelope } from '../../../events/stored/envelope.js'
import { payloadsOf } from '../../../events/catalogue/references.js'
import { Problem } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import { causingPosition } from '../../log/contract/origins.js'
import { eventAt, eventsWith, streamEventsWith } from '../../log/read/slices.js'
import { cutHistories, recordsAnswer } from './conversation-turns.js'
import { isOfMessages, messagesIn, messagesSaid, recordsMessages, type MessageIds } from './messages.js'
import { carriesWords, recordsSearch } from './searches.js'
import { LaterEvents, StepPart, type OlderPlan, type OlderRange, type StepBounds } from './older-steps.js'
import { emptyPlan, whole, type Plan, type PlanPart } from './plan.js'

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'payload' | 'payloadState'>

const judged = '"type":"AnswerJudged"'
const evaluated = '"type":"AgentEvaluated"'
const ofRerun = '"purpose":"rerun"'

/** Whether the stored text of an event may describe an answer, a comment, an evaluation, a message to a chatbot, or a search. */
export const recordsAnswers = (text: string): boolean =>
  recordsAnswer(text) || text.includes(judged) || text.includes(evaluated) || recordsMessages(text) || recordsSearch(text)

const types: ReadonlySet<string> = new Set(['AgentAnswered', 'AnswerJudged', 'AgentEvaluated'])

/** Whether an event records an answer, a comment or an evaluation, a message to a chatbot, or the words of a search. */
export const isOfAnswers = (event: Pick<Envelope, 'type' | 'data'>): boolean =>
  types.has(event.type) || isOfMessages(event) || carriesWords(event)

/** Whether an answer, a message, something about one, or a search was recorded after a position. */
export const hasAnswersAfter = async (log: Pick<Log, 'readAll'>, position: number): Promise<boolean> => {
  for await (const event of eventsWith(log, position, recordsAnswers)) if (isOfAnswers(event)) return true
  return false
}

const dataOf = z.looseObject({
  answer: z.string().optional(),
  answered_at: z.number().optional(),
  conversation: z.string().nullish(),
  purpose: z.string().optional(),
  read_at: z.number().nullish(),
})

const place = z.looseObject({ position: z.number() }).nullish()
const casesOf = z
  .array(z.looseObject({ of: place.catch(undefined), gave: place.catch(undefined) }).catch({ of: null, gave: null }))
  .catch([])
type Cases = z.infer<typeof casesOf>

/** The cases of an evaluation; none if they are unreadable. */
const readCases = async (log: ReadableLog, { type, data }: Envelope): Promise<Cases> => {
  const [hash] = payloadsOf(type, data)
  const bytes = hash === undefined ? undefined : await log.payload(hash)
  try {
    return casesOf.parse(JSON.parse(bytes?.toString() ?? '[]'))
  } catch {
    return []
  }
}

/** The events of questions. */
const asking: ReadonlySet<string> = new Set(['AgentAnswered', 'MessageReceived', 'KnowledgeSearched'])

/** Plans to erase the data that an event recorded. */
const take = async (log: ReadableLog, event: Envelope, into: PlanPart): Promise<void> => {
  for (const hash of payloadsOf(event.type, event.data)) {
    const planned = await whole(log, hash, asking.has(event.type) ? 1 : 0)
    if (planned) into.payloads.push(planned)
    else into.already++
  }
}

/** The same for the events at some positions. */
const takeAt = async (log: ReadableLog, positions: Iterable<number>, into: PlanPart): Promise<void> => {
  for (const position of positions) {
    const stored = await eventAt(log, position)
    if (stored) await take(log, parseEnvelope(stored.text), into)
  }
}

/**
 * The state of an unfinished plan. `taken` has the positions of the planned events, `firstIn` the first version with an answer in each
 * stream, `saidIn` the messages of each conversation, and `received` the positions of messages, which are the causes of answers. `answers`
 * has the positions between which the queries of each answer may have searched.
 */
type Sweep = {
  log: ReadableLog
  taken: Set<number>
  firstIn: Map<string, number>
  saidIn: Map<string, MessageIds>
  received: Set<number>
  answers: Map<string, { after: number; upTo: number }>
  into: PlanPart
}

const saidIn = (sweep: Sweep, conversation: string): MessageIds => {
  const said = sweep.saidIn.get(conversation) ?? { answers: new Set(), messages: new Set() }
  sweep.saidIn.set(conversation, said)
  return said
}

const takeOnce = async (sweep: Sweep, event: Envelope): Promise<void> => {
  const { log, taken, firstIn, received, answers, into } = sweep
  const { position, type, stream, version } = event
  if (taken.has(position)) return
  taken.add(position)
  if (type === 'AgentAnswered') {
    firstIn.set(stream, Math.min(firstIn.get(stream) ?? version, version))
    const { answer, conversation, read_at } = dataOf.parse(event.data)
    if (answer !== undefined) answers.set(answer, { after: read_at ?? 0, upTo: position })
    if (answer !== undefined && typeof conversation === 'string') saidIn(sweep, conversation).answers.add(answer)
  } else if (isOfMessages(event)) {
    const { message } = event.data
    if (typeof message === 'string') saidIn(sweep, stream).messages.add(message)
    if (type === 'MessageReceived') received.add(position)
  }
  await take(log, event, into)
}

/** The event of an answer at a position; undefined when there is another event. */
const answerAt = async (log: ReadableLog, position: number): Promise<Envelope | undefined> => {
  const stored = await eventAt(log, position)
  const event = stored && parseEnvelope(stored.text)
  return event?.type === 'AgentAnswered' ? event : undefined
}

/** Adds the later events of a stream that belong to planned answers: comments, answers of reruns, and evaluations. */
const takeLater = async (sweep: Sweep, stream: string, after: number): Promise<void> => {
  const { log, taken } = sweep
  const later = streamEventsWith(log, stream, after, (text) => [judged, evaluated, ofRerun].some((what) => text.includes(what)))
  for await (const event of later) {
    if (event.type === 'AnswerJudged' && taken.has(dataOf.parse(event.data).answered_at ?? 0)) await takeOnce(sweep, event)
    if (event.type === 'AgentAnswered' && taken.has(causingPosition(event))) await takeOnce(sweep, event)
    if (event.type !== 'AgentEvaluated') continue
    const cases = await readCases(log, event)
    const touched = cases.filter(({ of, gave }) => taken.has(of?.position ?? 0) || taken.has(gave?.position ?? 0))
    if (touched.length === 0) continue
    await takeOnce(sweep, event)
    // The answers of a rerun are also answers to the same question.
    for (const { gave } of touched) {
      const again = gave ? await answerAt(log, gave.position) : undefined
      if (again) await takeOnce(sweep, again)
    }
  }
}

/** The first of some positions, which may be too many for the arguments of a call. */
const firstOf = (positions: Iterable<number>): number => {
  let first = Infinity
  for (const position of positions) first = Math.min(first, position)
  return first
}

/** Adds the answers of an agent to planned messages, including failed answers. */
const takeCaused = async (sweep: Sweep): Promise<void> => {
  const { log, received } = sweep
  for await (const event of eventsWith(log, firstOf(received), recordsAnswer))
    if (event.type === 'AgentAnswered' && received.has(causingPosition(event))) await takeOnce(sweep, event)
}

/** Adds the searches of the queries of planned answers. They were recorded before their answers. */
const takeSearches = async (sweep: Sweep): Promise<void> => {
  const { log, answers } = sweep
  let [first, last] = [Infinity, 0]
  for (const { after, upTo } of answers.values()) [first, last] = [Math.min(first, after), Math.max(last, upTo)]
  for await (const event of eventsWith(log, first, recordsSearch, last))
    if (carriesWords(event) && answers.has(dataOf.parse(event.data).answer ?? '')) await takeOnce(sweep, event)
}

/**
 * Plans to erase answers, messages and searches. With an answer, its comments, its reruns, its evaluations with their answers, the searches
 * of its queries, and the chatbot messages that belong to it are erased. With a message, its answers are erased. Any other event is erased alone. The later answers of a
 * conversation lose the erased turns in their records.
 */
export const takeAnswers = async (log: ReadableLog, events: readonly Envelope[], into: PlanPart): Promise<void> => {
  const sweep: Sweep = { log, taken: new Set(), firstIn: new Map(), saidIn: new Map(), received: new Set(), answers: new Map(), into }
  for (const event of events) await takeOnce(sweep, event)
  // A rerun answer may have its own comments.
  for (let before = 0; before < sweep.taken.size;) {
    before = sweep.taken.size
    for (const [stream, version] of [...sweep.firstIn]) await takeLater(sweep, stream, version)
    for (const [conversation, said] of [...sweep.saidIn])
      for await (const message of messagesSaid(log, conversation, said)) await takeOnce(sweep, message)
    if (sweep.received.size > 0) await takeCaused(sweep)
  }
  await takeSearches(sweep)
  // The records of later answers of conversations that lose turns.
  const { taken, saidIn: conversations } = sweep
  if (conversations.size === 0) return
  const erasing = {
    goes: ({ position }: Envelope) => taken.has(position),
    touches: (conversation: string) => conversations.has(conversation),
  }
  for await (const planned of cutHistories(log, firstOf(taken), erasing)) into.payloads.push(planned)
}

const notFound = (detail: string) =>
  new Problem('not_found', 'Answer not found', detail, {
    hint: 'SELECT answer_id, position, agent, conversation FROM log.answers lists the existing answers.',
  })

/**
 * Plans to erase an answer, by its id or the position of its event. The position may also be that of a judgement, an evaluation or a
 * search.
 */
export const planAnswer = async (log: ReadableLog, answer: string | number): Promise<Plan> => {
  const plan = emptyPlan('answer', String(answer))
  const events: Envelope[] = []
  if (typeof answer === 'number') {
    const stored = await eventAt(log, answer)
    const event = stored && parseEnvelope(stored.text)
    if (event && isOfAnswers(event)) events.push(event)
  } else {
    const quoted = `"answer":${JSON.stringify(answer.toLowerCase())},`
    for await (const event of eventsWith(log, 0, (text) => text.includes(quoted) && recordsAnswer(text)))
      if (event.type === 'AgentAnswered' && dataOf.parse(event.data).answer === answer.toLowerCase()) events.push(event)
  }
  if (events.length === 0)
    throw notFound(typeof answer === 'number' ? `the event at position ${answer} kept no answer` : `no answer ${answer} was kept`)
  await takeAnswers(log, events, plan)
  return plan
}

/** All messages and answers of a conversation. */
export const planConversation = async (log: ReadableLog, conversation: string): Promise<Plan> => {
  const plan = emptyPlan('conversation', conversation)
  const quoted = `"conversation":${JSON.stringify(conversation)},`
  const events: Envelope[] = []
  for await (const event of eventsWith(log, 0, (text) => text.includes(quoted) && recordsAnswer(text)))
    if (event.type === 'AgentAnswered' && dataOf.parse(event.data).conversation === conversation) events.push(event)
  for await (const message of messagesIn(log, conversation)) events.push(message)
  if (events.length === 0) throw notFound(`there are no messages in a conversation ${conversation}`)
  await takeAnswers(log, events, plan)
  return plan
}

/**
 * Whether an event may be about older answers or messages, repeat them, or belong to an answer that does: no message, and no search or
 * answer for a question alone.
 */
const looksBack = ({ type, data }: Envelope): boolean => {
  if (type === 'KnowledgeSearched') return data['answer'] !== undefined
  return type !== 'MessageReceived' && (type !== 'AgentAnswered' || data['conversation'] !== null || data['purpose'] === 'rerun')
}

/** Later events that may be about older answers or messages; what they are about is in their data, or in a payload. */
export const laterOnAnswers = (): LaterEvents =>
  new LaterEvents(recordsAnswers, (event) => (isOfAnswers(event) && looksBack(event) ? { low: 0, high: Infinity } : undefined))

async function* both<T>(...all: AsyncIterable<T>[]): AsyncGenerator<T, void, void> {
  for (const one of all) yield* one
}

/**
 * Plans in steps the answers that were recorded in a range, with what later events say about them: comments, evaluations, reruns, and
 * answers to messages of the range, with the searches of their queries. The records of other later answers lose the turns of the range.
 */
export const olderAnswers = (log: ReadableLog, range: OlderRange, later: LaterEvents, bounds: StepBounds): OlderPlan => {
  const { from, bound } = range
  const conversations = new Set<string>()
  /** The positions of later events that go as well. */
  const late = new Set<number>()
  /** The positions of the later searches of each answer, which were recorded before it. */
  const searches = new Map<string, Set<number>>()
  const goes = (position: number) => (position > 0 && position <= bound) || late.has(position)
  const noteConversation = (event: Envelope) => {
    const conversation = isOfMessages(event) ? event.stream : dataOf.parse(event.data).conversation
    if (typeof conversation === 'string') conversations.add(conversation)
  }
  let isAny = false
  return async ({ at, cut }, until, isRest = false) => {
    const found = new StepPart(isRest ? undefined : bounds)
    const last = Math.min(bound, until.at)
    const end = found.end(at, last)
    for await (const event of eventsWith(log, at, recordsAnswers, end)) {
      if (!isOfAnswers(event)) continue
      isAny = true
      noteConversation(event)
      await take(log, event, found)
      if (found.isFull) return found.reached({ at: event.position, cut })
    }
    if (end < last) return found.reached({ at: end, cut })
    // An answer that was erased earlier can get no new comments or evaluations.
    if (!isAny || until.at <= bound) return found.reached(until, true)
    for await (const event of later.about(log, range, Math.max(at, bound), until.at)) {
      const { answer = '' } = dataOf.parse(event.data)
      if (event.type === 'KnowledgeSearched') searches.set(answer, (searches.get(answer) ?? new Set<number>()).add(event.position))
      if (!(await isAbout(log, event, goes))) continue
      late.add(event.position)
      noteConversation(event)
      await take(log, event, found)
      if (event.type === 'AgentAnswered') await takeAt(log, searches.get(answer) ?? [], found)
      if (found.isFull) return found.reached({ at: event.position, cut })
    }
    if (conversations.size === 0) return found.reached(until, true)
    const events = both(eventsWith(log, from, recordsAnswer, bound), later.about(log, range, bound, until.at))
    const touches = (conversation: string) => conversations.has(conversation)
    const cuts = cutHistories(log, from, { goes: ({ position }) => goes(position), touches }, { since: cut, events })
    for await (const planned of cuts) {
      if (planned.position > until.cut) break
      found.payloads.push(planned)
      if (found.isFull) return found.reached({ at: until.at, cut: planned.position })
    }
    return found.reached(until, true)
  }
}

/** Whether an event that is recent enough to stay is about answers or messages that will be erased. */
const isAbout = async (log: ReadableLog, event: Envelope, goes: (position: number) => boolean): Promise<boolean> => {
  const { answered_at = 0, conversation, purpose } = dataOf.parse(event.data)
  if (event.type === 'AgentEvaluated')
    return (await readCases(log, event)).some(({ of, gave }) => goes(of?.position ?? 0) || goes(gave?.position ?? 0))
  // Other answers have causes as well, such as the run of a job.
  if (event.type === 'AgentAnswered') return (typeof conversation === 'string' || purpose === 'rerun') && goes(causingPosition(event))
  return goes(answered_at)
}
