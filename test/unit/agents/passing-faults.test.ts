import { expect, test } from '@jest/globals'
import { AnswerRun } from '../../../src/agents/run/answer-run.js'
import { ToolExecutor } from '../../../src/agents/run/tool-executor.js'
import { settingsOf } from '../../../src/agents/prompt/settings.js'
import { Fence } from '../../../src/agents/prompt/fence.js'
import { inputSchema, type Tool } from '../../../src/agents/tools/tool.js'
import { retryWhileUnavailable } from '../../../src/sql/contract/retry-while-unavailable.js'
import { Problem, type ProblemCode } from '../../../src/basics/errors.js'
import type { LanguageModel } from '../../../src/llm/contract/language-model.js'
import { reserveAll } from '../../../src/llm/tokens/daily-token-quotas.js'

const { signal } = new AbortController()
const starting = () => new Problem('analytics_unavailable', 'SQL is not available', 'The process that answers SQL is starting.')

/** Asks for a query, and answers whatever it is told. */
const model = (asked: string[]): LanguageModel => ({
  ...{ provider: 'scripted', model: 'm', host: 'localhost:1' },
  chat: async function* ({ messages }) {
    const { content } = messages.at(-1) ?? { content: '' }
    asked.push(content)
    if (asked.length > 1) yield { text: 'There are none.' }
    else yield { toolCall: { id: '1', tool: 'sql', input: '{}' } }
    return { finish: 'stop', usage: { input: 1, output: 1 }, model: 'm' }
  },
})

const answer = async (problem: Problem, asked: string[]) => {
  const tool: Tool = {
    ...{ kind: 'sql', description: { name: 'sql', description: '', inputSchema: inputSchema({}) }, givesData: true },
    use: () => Promise.reject(problem),
  }
  return new AnswerRun({
    ...{ model: model(asked), messages: [{ role: 'user', content: 'How many?' }], request: { maxOutputTokens: 100 } },
    bounds: settingsOf({ params: {} }).bounds,
    ...{ executor: new ToolExecutor([tool], new Fence()), reserve: reserveAll, emit: () => undefined, signal },
  }).finish()
}

test('a service that cannot query now fails the answer, and the language model is not told that there is no data', async () => {
  const asked: string[] = []
  expect(await answer(starting(), asked)).toMatchObject({
    ...{ outcome: 'failed', problem: { code: 'analytics_unavailable' }, content: '' },
    ...{ steps: [{ kind: 'model' }, { kind: 'sql', outcome: 'failed' }], tools: [{ failed: true }] },
  })
  expect(asked).toEqual(['How many?'])
})

test('tables that stopped at an event fail the answer, too', async () => {
  const stopped = new Problem('analytics_unavailable', 'Projection stopped', 'at event 7', { position: 7 })
  expect(await answer(stopped, [])).toMatchObject({ outcome: 'failed', problem: { title: 'Projection stopped' } })
})

test('what is wrong with a query is told, so that it can be mended', async () => {
  const asked: string[] = []
  expect(await answer(new Problem('query_failed', 'No such table', 'there is no table nope'), asked)).toMatchObject({
    ...{ outcome: 'unanswered', problem: undefined },
  })
  expect(asked[1]).toContain('there is no table nope')
})

test.each<[ProblemCode, number, number]>([
  ['busy', 600_000, 3],
  ['analytics_unavailable', 600_000, 3],
  ['analytics_unavailable', 0, 1],
  ['query_failed', 600_000, 1],
])('%s is asked again within %d ms: %d times', async (code, withinMs, times) => {
  let asked = 0
  const asking = retryWhileUnavailable(
    async () => {
      asked += 1
      if (asked < 3) throw new Problem(code, 'No', 'not now')
    },
    signal,
    withinMs,
  )
  await asking.catch((error: unknown) => expect(error).toMatchObject({ code }))
  expect(asked).toBe(times)
})
