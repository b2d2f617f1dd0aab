import { expect, test } from '@jest/globals'
import { Fence } from '../../../src/agents/prompt/fence.js'
import { settingsOf } from '../../../src/agents/prompt/settings.js'
import { AnswerRun } from '../../../src/agents/run/answer-run.js'
import { ToolExecutor } from '../../../src/agents/run/tool-executor.js'
import type { Tool } from '../../../src/agents/tools/tool.js'
import type { LanguageModel } from '../../../src/llm/contract/language-model.js'
import { reserveAll } from '../../../src/llm/tokens/daily-token-quotas.js'

const sql: Tool = {
  kind: 'sql',
  description: { name: 'sql', description: 'Runs a query.', inputSchema: {} },
  givesData: true,
  use: async () => ({ output: '40', rows: 1, query: { sql: 'SELECT 40', columns: ['n'], rows: [[40]], cut: false } }),
}

/** A model that uses a tool a number of times before it answers. */
const modelThatQueries = (times: number): LanguageModel => ({
  ...{ provider: 'scripted', model: 'm', host: 'localhost:1' },
  chat: async function* ({ messages }) {
    const used = messages.filter(({ role }) => role === 'tool').length
    if (used < times) yield { toolCall: { id: `c${used}`, tool: 'sql', input: '{}' } }
    else yield { text: 'Forty.' }
    return { finish: 'stop', usage: { input: 1, output: 1 }, model: 'm' }
  },
})

test.each([
  [1, 'answered', 'Forty.'],
  [0, 'unanswered', 'Forty.\n\nNothing of the data that this agent may use is there now: this answer rests on no data.'],
])('data that could not be read for the prompt, and gave rows %d times since, make the answer %s', async (times, outcome, content) => {
  const finished = await new AnswerRun({
    ...{ model: modelThatQueries(times), messages: [{ role: 'user', content: 'How many?' }], request: {}, isGone: true },
    ...{ bounds: settingsOf({ params: {} }).bounds, executor: new ToolExecutor([sql], new Fence()), reserve: reserveAll },
    ...{ signal: new AbortController().signal, emit: () => undefined },
  }).finish()
  expect(finished).toMatchObject({ outcome, content })
})
