import { Problem } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import type { AnswerRecord } from '../contract/answer-record.js'
import type { Answered, AnswerRows } from '../contract/answering.js'
import { AnswerRecords, asAnswer } from '../record/answer-records.js'

const queriesOf = ({ tools }: AnswerRecord): AnswerRows[] =>
  tools.flatMap(({ failed, sql, columns, rows, cut }) =>
    failed || sql === undefined ? [] : [{ sql, columns: columns ?? [], rows: rows ?? [], cut: cut ?? false }],
  )

/**
 * An answer as it was recorded at a position of the log.
 *
 * @throws Problem erased when what was said is gone
 * @example (await recordedAnswer(log, 41)).content // 'There are 42 cars.'
 */
export const recordedAnswer = async (log: Log, position: number): Promise<Answered> => {
  const [stored] = await log.readAll(position - 1, 1)
  const found = stored && asAnswer(stored.text)
  if (!found) throw new TypeError(`position ${position} is no answer of an agent`)
  const { answer, outcome, error, input_tokens: input, output_tokens: output } = found
  const record = await new AnswerRecords({ log, readRows: async () => [] }).open(found)
  return {
    ...{ answer, position, outcome },
    content: record.answer,
    queries: queriesOf(record),
    usage: { input, output },
    ...(error !== null && {
      problem: new Problem(
        outcome === 'failed' ? 'llm_failed' : 'busy',
        error,
        `The recorded answer ${answer} has the outcome ${outcome}`,
        { hint: 'Ask again with another Idempotency-Key.' },
      ),
    }),
  }
}
