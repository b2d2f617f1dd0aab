import { expect, test } from '@jest/globals'
import { answersTimeoutMs } from '../../../src/agents/rerun/answers-timeout.js'
import { limits } from '../../../src/basics/limits.js'

test('reruns have the whole time of each answer, more of it with more answers, within their limit', () => {
  expect(answersTimeoutMs(1)).toBeGreaterThan(limits.agentAnswerTimeoutMs)
  expect(answersTimeoutMs(20)).toBeGreaterThan((20 / limits.agentQuestionsAtOnce) * limits.agentAnswerTimeoutMs)
  expect(answersTimeoutMs(20, 2)).toBe(2 * answersTimeoutMs(20))
  expect(answersTimeoutMs(10_000)).toBe(limits.rerunTimeoutMs)
  // A model on a small machine takes forty seconds for an answer, and two minutes for four at once.
  expect(answersTimeoutMs(limits.rerunAnswersMax)).toBeGreaterThan((limits.rerunAnswersMax / limits.agentQuestionsAtOnce) * 120_000)
})
