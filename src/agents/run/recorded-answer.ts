import { currentEvent } from '../../../events/catalogue.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { erased, Problem } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import type { AnswerRecord } from '../contract/answer-record.js'
import { noteOf } from '../contract/note.js'
import { queriesOf, type AgentAnswer } from '../contract/answering.js'

type ReadableLog = Pick<Log, 'readAll' | 'payload' | 'erasedAt'>

/**
 * An answer as it was recorded at a position of the log.
 *
 * @throws Problem erased when its texts were erased
 * @example (await recordedAnswer(log, 41)).content // 'There are 42 cars.'
 */
export const recordedAnswer = async (log: ReadableLog, position: number): Promise<AgentAnswer> => {
  const [stored] = await log.readAll(position - 1, 1)
  const event = stored && currentEvent(parseEnvelope(stored.text))
  if (event?.type !== 'AgentAnswered') throw new TypeError(`position ${position} is no answer of an agent`)
  const { answer, model, outcome, steps, payload, error, input_tokens: input, output_tokens: output } = event.data
  const bytes = await log.payload(payload)
  if (!bytes)
    throw erased(
      'What was said for this answer',
      { position: await log.erasedAt(), reason: null },
      'Ask again with another Idempotency-Key.',
    )
  // This service sealed it as an AnswerRecord.
  const record = JSON.parse(bytes.toString()) as AnswerRecord
  const queries = queriesOf(record)
  const note = error === null ? noteOf({ steps, queries, exchanges: record.exchanges }) : undefined
  return {
    ...{ answer, position, model, outcome },
    content: record.answer,
    queries,
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
