import { expect, test } from '@jest/globals'
import { settingsOf } from '../../../src/agents/prompt/settings.js'
import { answersTimeoutMs } from '../../../src/agents/rerun/answers-timeout.js'
import { limits } from '../../../src/basics/limits.js'
import { settingSchemas } from '../../../src/commands/rules/agent-settings.js'

test('reruns have the whole time of each answer, more of it with more answers, within their limit', () => {
  expect(answersTimeoutMs(1)).toBeGreaterThan(limits.agentAnswerTimeoutMs)
  expect(answersTimeoutMs(20)).toBeGreaterThan((20 / limits.agentQuestionsAtOnce) * limits.agentAnswerTimeoutMs)
  expect(answersTimeoutMs(20, 2)).toBe(2 * answersTimeoutMs(20))
  expect(answersTimeoutMs(10_000)).toBe(limits.rerunTimeoutMs)
  // A model on a small machine takes forty seconds for an answer, and two minutes for four at once.
  expect(answersTimeoutMs(limits.rerunAnswersMax)).toBeGreaterThan((limits.rerunAnswersMax / limits.agentQuestionsAtOnce) * 120_000)
})

test('an agent may have more time than the usual one, up to a limit, and less', () => {
  const timeoutOf = (timeout?: number | string) => settingsOf({ params: timeout === undefined ? {} : { timeout } }).timeoutMs
  expect(timeoutOf()).toBe(limits.agentAnswerTimeoutMs)
  expect(timeoutOf(20)).toBe(20_000)
  expect(timeoutOf('540')).toBe(540_000)
  expect(timeoutOf(limits.agentAnswerMaxTimeoutMs)).toBe(limits.agentAnswerMaxTimeoutMs)
  expect(limits.agentAnswerMaxTimeoutMs).toBeGreaterThan(limits.agentAnswerTimeoutMs)
  expect(settingSchemas['timeout']?.['description']).toContain(`at most ${limits.agentAnswerMaxTimeoutMs / 1_000}`)
})

test('everything that waits for an answer waits longer than an answer may take', () => {
  const longestMs = limits.agentAnswerMaxTimeoutMs
  expect(answersTimeoutMs(1, 1, longestMs)).toBeGreaterThan(longestMs)
  expect(answersTimeoutMs(8, 1, longestMs)).toBeGreaterThan(2 * longestMs)
  expect(limits.messageAnswerTimeoutMs).toBeGreaterThan(longestMs + limits.agentRecordPatienceMs)
  expect(limits.llmAnswerTimeoutMs).toBeGreaterThanOrEqual(longestMs)
  // A language model may read a long prompt, or think, without a word.
  expect(limits.llmStallTimeoutMs).toBeGreaterThanOrEqual(limits.llmHeadersTimeoutMs)
})
