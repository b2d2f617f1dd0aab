import { expect, test } from '@jest/globals'
import { timeFor } from '../../../src/agents/rerun/time-for.js'
import { limits } from '../../../src/basics/limits.js'

test('reruns have the whole time of each answer, more of it with more answers, within their limit', () => {
  expect(timeFor(1)).toBeGreaterThan(limits.agentAnswerTimeoutMs)
  expect(timeFor(20)).toBeGreaterThan((20 / limits.agentQuestionsAtOnce) * limits.agentAnswerTimeoutMs)
  expect(timeFor(20, 2)).toBe(2 * timeFor(20))
  expect(timeFor(10_000)).toBe(limits.rerunTimeoutMs)
  // A model on a small machine takes forty seconds for an answer, and two minutes for four at once.
  expect(timeFor(limits.rerunAnswersMax)).toBeGreaterThan((limits.rerunAnswersMax / limits.agentQuestionsAtOnce) * 120_000)
})
