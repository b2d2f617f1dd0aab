import { limits } from '../../basics/limits.js'

/**
 * The milliseconds in which a number of answers have to end together: as many rounds as they need if each takes its whole time, and one
 * more. `calls` is how often a language model may take that time for each: for the answer, and for its judgement. `eachMs` is the time of
 * one answer.
 *
 * @example answersTimeoutMs(8) // 540000: two rounds and one more, of three minutes each
 */
export const answersTimeoutMs = (answers: number, calls = 1, eachMs: number = limits.agentAnswerTimeoutMs): number => {
  const rounds = Math.ceil(answers / limits.agentQuestionsAtOnce) + 1
  return Math.min(rounds * calls * eachMs, limits.rerunTimeoutMs)
}
