import { expect, test } from '@jest/globals'
import { AnswerRun } from '../../../src/agents/run/answer-run.js'
import { ToolExecutor } from '../../../src/agents/run/tool-executor.js'
import { settingsOf } from '../../../src/agents/prompt/settings.js'
import { Fence } from '../../../src/agents/prompt/fence.js'
import { inputSchema, type Tool } from '../../../src/agents/tools/tool.js'
import { Problem } from '../../../src/basics/errors.js'
import type { LanguageModel, TokenUsage } from '../../../src/llm/contract/language-model.js'
import { reserveAll, type ReserveTokens } from '../../../src/llm/tokens/daily-token-quotas.js'

/** Asks for five searches at once, and answers after their results. */
const model: LanguageModel = {
  ...{ provider: 'scripted', model: 'm', host: 'localhost:1' },
  chat: async function* ({ messages }) {
    if (messages.at(-1)?.role === 'tool') yield { text: 'Found.' }
    else for (const n of [1, 2, 3, 4, 5]) yield { toolCall: { id: `${n}`, tool: 'search_knowledge', input: JSON.stringify({ n }) } }
    return { finish: 'stop', usage: { input: 10, output: 10 }, model: 'm' }
  },
}
const embedder = { provider: 'openai', model: 'small', host: 'localhost:2' }

/** An answer whose searches ask an embedder, with this estimate, and get this usage told. */
const answer = async (estimate: number, usage: TokenUsage, { answerTokens = 2_500, most = estimate, reserve = reserveAll }) => {
  let asked = 0
  const granted: number[] = []
  const tool: Tool = {
    ...{ kind: 'search', description: { name: 'search_knowledge', description: '', inputSchema: inputSchema({}) }, givesData: true },
    use: (_input, _signal, { asking }) =>
      asking('embedding', { ...embedder, estimate, most }, async ({ onUsed, onSent }, tokens) => {
        asked += 1
        granted.push(tokens)
        onSent()
        onUsed(usage)
        return { output: 'a lamp', rows: 1 }
      }),
  }
  const finished = await new AnswerRun({
    ...{ model, messages: [{ role: 'user', content: 'Which lamp?' }], request: { maxOutputTokens: 100 } },
    bounds: { ...settingsOf({ params: {} }).bounds, answerTokens },
    ...{ executor: new ToolExecutor([tool], new Fence()), emit: () => undefined, signal: new AbortController().signal },
    reserve,
  }).finish()
  return { finished, asked, granted }
}

test('a fault of this service ends an answer, which keeps all that was said until then', async () => {
  const fault = new TypeError('nobody expects this')
  const reserve: ReserveTokens = (tokens) => (tokens === 7_777 ? Promise.reject(fault) : reserveAll(tokens))
  const { finished } = await answer(7_777, { input: 1, output: null }, { answerTokens: 100_000, reserve })
  expect(finished).toMatchObject({ outcome: 'failed', problem: { code: 'internal' }, fault })
  expect(finished.exchanges).toMatchObject([{ new: [{ content: 'Which lamp?' }], response: { toolCalls: Array(5).fill({}) } }])
  expect(finished.tools).toMatchObject([{ failed: true, output: expect.stringContaining('a fault of this service') }])
})

const tooMany = { outcome: 'failed', problem: { code: 'answer_limit', title: 'Too many tokens' } }

test('a search whose tokens the answer does not have left ends it, before its model is asked', async () => {
  const { finished, asked } = await answer(1_000, { input: 1_000, output: null }, {})
  expect(finished).toMatchObject(tooMany)
  expect(asked).toBe(2)
  expect(finished.steps.map(({ kind, outcome }) => [kind, outcome])).toEqual([
    ['model', 'complete'],
    ['search', 'complete'],
    ['search', 'complete'],
    ['search', 'failed'],
  ])
  expect(finished.steps.map(({ models }) => models?.[0]?.input_tokens)).toEqual([undefined, 1_000, 1_000, undefined])
  expect(finished.usage).toEqual({ input: 2_010, output: 10 })
})

test('a search that used more than was estimated is the last one of an answer beyond its limit', async () => {
  const { finished, asked } = await answer(1, { input: 5_000, output: null }, {})
  expect(finished).toMatchObject(tooMany)
  expect([asked, finished.tools.length]).toEqual([1, 1])
})

test('a model of a search may use as many tokens as the answer has left, if it may need them', async () => {
  const { granted } = await answer(10, { input: 1_000, output: null }, { most: 2_000 })
  // The language model has used 20 of 2,500.
  expect(granted).toEqual([2_000, 1_480, 480])
})

test('tokens of a search that its provider does not report count by their estimate', async () => {
  const { finished, asked } = await answer(1_000, { input: null, output: null }, {})
  expect(finished).toMatchObject({ ...tooMany, estimatedTokens: 2_000, usage: { input: 10, output: 10 } })
  expect(asked).toBe(2)
})

test('a day without tokens for a search ends the answer, too', async () => {
  const spent = new Problem('tokens_spent', 'The tokens of the day are used up', 'no tokens are left')
  const reserve: ReserveTokens = (tokens) => (tokens === 7_777 ? Promise.reject(spent) : reserveAll(tokens))
  const { finished, asked } = await answer(7_777, { input: 1, output: null }, { answerTokens: 100_000, reserve })
  expect(finished).toMatchObject({ outcome: 'failed', problem: { code: 'tokens_spent' } })
  expect([asked, finished.tools.length]).toEqual([0, 1])
})

test('searches within the limit are answered, and their models stand in the steps', async () => {
  const { finished, asked } = await answer(10, { input: 7, output: null }, {})
  expect(finished).toMatchObject({ outcome: 'answered', usage: { input: 55, output: 20 }, estimatedTokens: 0 })
  expect(asked).toBe(5)
  expect(finished.steps[1]).toMatchObject({
    ...{ kind: 'search', input_tokens: 7, output_tokens: null },
    models: [{ ...embedder, role: 'embedding', input_tokens: 7, output_tokens: null }],
  })
})
