import { Problem } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import { eventAt } from '../../log/read/slices.js'
import type { AnswerRecord } from '../contract/answer-record.js'
import { noteOf } from '../contract/note.js'
import { queriesOf, type AgentAnswer } from '../contract/answering.js'
import { outputsOf } from '../tools/replayed-tool.js'
import { asAnswer, unreadableAnswer, type RecordedAnswer } from '../record/answer-records.js'

const answerAt = async (log: Pick<Log, 'readAll'>, position: number): Promise<RecordedAnswer> => {
  const stored = await eventAt(log, position)
  const event = stored && asAnswer(stored.text)
  if (!event) throw new TypeError(`position ${position} is no answer of an agent`)
  return event
}

const read = async (log: Pick<Log, 'payload'>, event: RecordedAnswer): Promise<AgentAnswer | undefined> => {
  const { answer, position, model, host, outcome, steps, error, input_tokens: input, output_tokens: output } = event
  const bytes = await log.payload(event.payload)
  if (!bytes) return undefined
  // This service sealed it as an AnswerRecord.
  const record = JSON.parse(bytes.toString()) as AnswerRecord
  const queries = queriesOf(record)
  const note = error === null ? noteOf({ steps, queries, exchanges: record.exchanges }) : undefined
  return {
    ...{ answer, position, model, host, outcome },
    content: record.answer,
    queries,
    retrieved: outputsOf(record.tools),
    ...(note !== undefined && { note }),
    usage: { input, output },
    ...(error !== null && {
      problem: new Problem(
        outcome === 'failed' ? 'llm_failed' : 'busy',
        error,
        `The recorded answer ${answer} has the outcome ${outcome}`,
        {
          hint: 'Ask again with another Idempotency-Key.',
        },
      ),
    }),
  }
}

/** An answer as it was recorded at a position of the log; undefined when its texts were erased or cannot be read. */
export const readableAnswer = async (log: Pick<Log, 'readAll' | 'payload'>, position: number): Promise<AgentAnswer | undefined> =>
  read(log, await answerAt(log, position))

/**
 * The same for a client that asked for it.
 *
 * @throws Problem erased, storage_failed
 * @example (await recordedAnswer(log, 41)).content // 'There are 42 cars.'
 */
export const recordedAnswer = async (
  log: Pick<Log, 'readAll' | 'readStream' | 'payload' | 'payloadState'>,
  position: number,
): Promise<AgentAnswer> => {
  const event = await answerAt(log, position)
  const answer = await read(log, event)
  if (!answer) throw await unreadableAnswer(log, event, 'Ask again with another Idempotency-Key.')
  return answer
}
