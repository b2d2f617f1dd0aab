/**
 * Room: the records of answers, and how to find them. It imports only events, basics, vault, log, commands, llm/contract,
 * llm/tokens and agents/contract.
 */

import { currentEvent } from '../../../events/catalogue/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import type { AgentAnswered } from '../../../events/records/answers.js'
import { parseEnvelope, type Envelope } from '../../../events/stored/envelope.js'
import { erased, Problem } from '../../basics/errors.js'
import { LongWork } from '../../basics/long-work.js'
import { eventAt } from '../../log/read/slices.js'
import type { Log } from '../../log/contract/log.js'
import { erasureOfPayload } from '../../log/read/find-erasure.js'
import type { AnswerRecord } from '../contract/answer-record.js'
import { answerRecord } from './record-schema.js'

/** An answer in the log. */
export type RecordedAnswer = AgentAnswered & Pick<Envelope, 'position' | 'recorded_at' | 'actor' | 'source' | 'request'>

/** The current rows of a small query of the service. It takes a turn of `client`. */
type ReadRows = (sql: string, client: string | undefined) => Promise<unknown[][]>

type Options = { log: Pick<Log, 'readAll' | 'readStream' | 'payload' | 'payloadState'>; readRows: ReadRows }

/** How to find an answer: `log` may be an earlier state of the log; the query takes a turn of `client`. */
type LookupOptions = { log?: Pick<Log, 'readAll'>; client?: string }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The event of a stored text, if it is an answer. */
export const asAnswer = (text: string): RecordedAnswer | undefined => {
  const envelope = parseEnvelope(text)
  const event = currentEvent(envelope)
  if (event.type !== 'AgentAnswered') return undefined
  const { position, recorded_at, actor, source, request } = envelope
  return { ...event.data, position, recorded_at, actor, source, request }
}

/** An answer, and the payload with its texts. */
type AnswerPlace = Pick<RecordedAnswer, 'position' | 'answer' | 'payload'>

/** Why the texts of an answer cannot be read. @param hint the hint if they were erased */
export const unreadableAnswer = async (
  log: Pick<Log, 'readStream' | 'payloadState'>,
  { position, answer, payload }: AnswerPlace,
  hint: string,
): Promise<Problem> => {
  if ((await log.payloadState(payload))?.isErased)
    return erased(`The answer ${answer}`, (await erasureOfPayload(log, payload)) ?? { position, reason: null }, hint)
  return new Problem('storage_failed', 'Payload unreadable', `what was said at position ${position} cannot be read`, {
    hint: 'mindledger verify says whether the log is sound.',
  })
}

/**
 * Finds recorded answers, and opens their payloads: question, data and answer.
 *
 * @example
 * const answer = await records.one(id)
 * const { question, exchanges } = await records.open(answer)
 */
export class AnswerRecords {
  constructor(private readonly options: Options) {}

  /** An answer by its id, or by the position of its event; undefined if there is none. Ids are looked up in the tables of SQL. */
  async find(ref: string, { log = this.options.log, client }: LookupOptions = {}): Promise<RecordedAnswer | undefined> {
    const position = /^\d{1,15}$/.test(ref) ? Number(ref) : await this.#positionOf(ref, client)
    const stored = position === undefined ? undefined : await eventAt(log, position)
    return stored && asAnswer(stored.text)
  }

  /** The same; if an agent is named, only its answers. @throws Problem not_found */
  async one(ref: string, asking: LookupOptions & { agent?: StreamId } = {}): Promise<RecordedAnswer> {
    const found = await this.find(ref, asking)
    if (found && (asking.agent === undefined || found.agent === asking.agent)) return found
    throw new Problem('not_found', 'Answer not found', `there is no answer ${ref}${asking.agent === undefined ? '' : ' of this agent'}`, {
      hint: 'GET …/agents/<agent>/answers lists them; an answer has an id (trace_id) and the position of its event.',
    })
  }

  /** The question, the data and the answer. A record of many bytes is read in several turns. @throws Problem erased, storage_failed */
  async open({ position, answer, payload }: AnswerPlace): Promise<AnswerRecord> {
    const { log } = this.options
    const work = new LongWork()
    const bytes = await log.payload(payload)
    await work.pause()
    const json = bytes && parsedOr(bytes.toString())
    await work.pause()
    const record = answerRecord.safeParse(json)
    await work.pause()
    if (record.success) return record.data
    const hint = 'Nothing is kept of what was asked and said; the event still says when, by which version and how long.'
    throw await unreadableAnswer(log, { position, answer, payload }, hint)
  }

  async #positionOf(id: string, client: string | undefined): Promise<number | undefined> {
    if (!uuid.test(id)) return undefined
    const sql = `SELECT position FROM log.answers WHERE answer_id = '${id.toLowerCase()}' ORDER BY position LIMIT 1`
    const [[position] = []] = await this.options.readRows(sql, client)
    return position === undefined || position === null ? undefined : Number(position)
  }
}

/** JSON that may be ill-formed, for example in a forged payload. */
const parsedOr = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
