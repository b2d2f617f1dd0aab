import type { StreamId } from '../../../events/common.js'
import type { ChatExchange } from '../../llm/contract/language-model.js'

/** An answer in the log: its id, and the position of its event. */
export type AnswerPlace = { answer: StreamId; position: number }

/**
 * One case of an evaluation. The payload of `AgentEvaluated` is a JSON array of these, as many as the event counts. A case names the
 * recorded answer (`of`) and the new answer to the same question (`gave`): an erasure of the first erases both, and the whole payload. A
 * case with an answer that was erased before the evaluation was recorded has empty texts.
 */
export type EvaluationCase = {
  question: string
  /** The expected answer in the table of questions; null in a rerun of recorded answers. */
  expected: string | null
  answer: string
  of: AnswerPlace | null
  gave: AnswerPlace | null
  scores: Readonly<Record<string, number>>
  /** The language model's reason for the score `judge`. */
  judgement?: { model: string; reason: string }
  /** What was said to the language model that judges, and what it answered, also if it gave no verdict. */
  judged?: ChatExchange
  /** Why a metric has no score, as the client was told; it may repeat words of a provider. */
  note?: string
  /** Whether the longest texts are cut, because the cases together would be too large. */
  cut?: true
}
