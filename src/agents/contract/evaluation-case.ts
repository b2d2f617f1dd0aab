import type { StreamId } from '../../../events/common.js'

/** An answer in the log: its id, and the position of its event. */
export type AnswerPlace = { answer: StreamId; position: number }

/**
 * One case of an evaluation. The payload of `AgentEvaluated` is a JSON array of these, as many as the event counts. A case names the
 * recorded answer that was asked again (`of`) and the answer that was given now (`gave`): an erasure of the first takes both, and the
 * whole payload. Whoever evaluates reads recorded answers and records the evaluation within `Erasures.beside`, so that nothing of an
 * erased answer is recorded after its erasure.
 */
export type EvaluationCase = {
  question: string
  /** What the table of questions expects; null where recorded answers were asked again. */
  expected: string | null
  answer: string
  of: AnswerPlace | null
  gave: AnswerPlace | null
  scores: Readonly<Record<string, number>>
  /** Why a language model judged it as the score `judge` says. */
  judgement?: { model: string; reason: string }
}
