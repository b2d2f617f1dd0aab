import { describe, expect, test } from '@jest/globals'
import type { AnswerFrame, Turn } from '../../../src/agents/contract/answering.js'
import { Fence } from '../../../src/agents/prompt/fence.js'
import { promptOf } from '../../../src/agents/prompt/prompt.js'
import type { RecordedAnswer } from '../../../src/agents/record/answer-records.js'
import { answerRecord } from '../../../src/agents/record/record-schema.js'
import { replay } from '../../../src/agents/rerun/recorded-run.js'
import { settingsOf } from '../../../src/agents/prompt/settings.js'
import { AnswerRun } from '../../../src/agents/run/answer-run.js'
import { ToolExecutor } from '../../../src/agents/run/tool-executor.js'
import { inputSchema, type Tool } from '../../../src/agents/tools/tool.js'
import { limits } from '../../../src/basics/limits.js'
import type { ChatRequest, LanguageModel } from '../../../src/llm/contract/language-model.js'
import { charsOf, charsOfTools, tokensOf } from '../../../src/llm/tokens/estimates.js'
import { reserveAll } from '../../../src/llm/tokens/daily-token-quotas.js'

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i)
const table = (i: number) => ({
  name: `shop.t${i}`,
  columns: numbers(20).map((column) => ({ name: `column_${column}`, type: 'VARCHAR', values: [] })),
  rows: [],
})
const question: Turn = { role: 'user', content: 'How many?' }
const toolChars = 400

const prompt = ({ params = {}, tables = 0, others = 0, turns = [question], about = [] as string[], models = '' }) => {
  const described = numbers(tables).map(table)
  const scope = { skills: [], models: [], bases: [], missing: [], about, tables: described.map(({ name }) => ({ path: name.split('.') })) }
  return promptOf({
    ...{ scope: scope as never, settings: settingsOf({ params }), fence: new Fence(), db: 'shop', turns, models, toolChars },
    tables: { described, others: numbers(others).map((i) => `shop.other_table_${i}`) },
  })
}

const tokensIn = ({ messages }: ReturnType<typeof prompt>) => tokensOf(messages.reduce((sum, message) => sum + charsOf(message), toolChars))
const long: Turn[] = numbers(60).flatMap((i): Turn[] => [
  { role: 'user', content: `Question ${i} ${'x'.repeat(1_500)}` },
  { role: 'assistant', content: `Answer ${i} ${'y'.repeat(1_500)}` },
])

describe('a prompt', () => {
  test('has all turns that a chatbot can ask for, if they are short', () => {
    const turns: Turn[] = numbers(limits.conversationHistoryMaxTurns).flatMap((i): Turn[] => [
      { role: 'user', content: `Question ${i}` },
      { role: 'assistant', content: `Answer ${i}` },
    ])
    expect(prompt({ turns: [...turns, question] }).messages.slice(1)).toEqual([...turns, question])
  })
  test.each([2_000, 4_000, 8_000, 32_000, 100_000])(
    'fits into %d tokens, and leaves room for the results of tools',
    (max_prompt_tokens) => {
      const whole = prompt({
        params: { max_prompt_tokens },
        tables: 40,
        others: 5_000,
        turns: [...long, question],
        models: 'm\n'.repeat(50_000),
      })
      expect(tokensIn(whole)).toBeLessThanOrEqual(max_prompt_tokens * 0.9)
      const [system, ...rest] = whole.messages
      expect(system?.content).toMatch(/Messages at the beginning of this conversation that are left out here: \d+\./)
      expect(system?.content).toContain('The end of this list is left out.')
      expect(rest.at(-1)).toEqual(question)
      // What is in the prompt and what it says to be left out are all tables.
      const { described, named, omitted } = whole.shown
      expect(described.length + named.length + omitted).toBe(5_040)
      if (omitted > 0) expect(system?.content).toContain(`Other tables that you may query, and that are left out here: ${omitted}.`)
    },
  )
  test('has the default limit without a setting, and never more than the limit of the service', () => {
    expect(settingsOf({ params: {} }).bounds.promptTokens).toBe(limits.agentPromptTokens)
    expect(settingsOf({ params: { max_prompt_tokens: 10 ** 9 } }).bounds.promptTokens).toBe(limits.agentPromptMaxTokens)
  })
  test('and an answer have the limits beside the model and inside it alike', () => {
    const given = { max_prompt_tokens: '900', max_answer_tokens: 5_000, max_history: 3, max_steps: 4, max_queries: 5, max_repairs: 0 }
    const { bounds, tokensPerDay } = settingsOf({ params: { model: { ...given, tokens_per_day: 70 } } })
    expect(bounds).toEqual({ promptTokens: 900, answerTokens: 5_000, history: 3, steps: 4, queries: 5, repairs: 0 })
    expect(tokensPerDay).toBe(70)
    expect(settingsOf({ params: { ...given, model: { max_steps: 2 } } }).bounds.steps).toBe(4)
  })
  test('has as many earlier messages as the agent says', () => {
    for (const [max_history, sent] of [
      [0, 1],
      [2, 3],
      [1_000, 11],
    ] as const) {
      const { messages } = prompt({ params: { max_history }, turns: [...long.slice(0, 10), question] })
      expect(messages.slice(1)).toHaveLength(sent)
      expect(messages[0]?.content.includes(`that are left out here: ${11 - sent}.`)).toBe(sent < 11)
    }
  })
  test('says nothing of what is left out where everything fits', () => {
    const { messages } = prompt({ tables: 3, turns: [...long.slice(0, 2), question] })
    expect(messages[0]?.content).not.toContain('left out')
    expect(messages).toHaveLength(4)
  })
  test('has room for the sentences about what is left out, or is refused', () => {
    const parts = { tables: 4, others: 50, turns: [...long, question] }
    for (let max_prompt_tokens = 200; max_prompt_tokens < 1_000; max_prompt_tokens++) {
      let needed = 0
      try {
        needed = tokensIn(prompt({ ...parts, params: { max_prompt_tokens } }))
      } catch (error) {
        expect(error).toMatchObject({ title: 'The prompt is too long' })
      }
      expect(needed).toBeLessThanOrEqual(max_prompt_tokens)
    }
  })
  test('that does not fit without the parts that can be left out is refused', () => {
    for (const bound of [{ params: { max_prompt_tokens: 100 } }, { params: { prompt_template: 'z'.repeat(200_000) } }])
      expect(() => prompt(bound)).toThrow(expect.objectContaining({ code: 'answer_limit', title: 'The prompt is too long' }))
  })
})

describe('results of tools', () => {
  const tool = (output: string): Tool => ({
    ...{ kind: 'sql', description: { name: 'sql', description: '', inputSchema: inputSchema({}) }, givesData: true },
    use: async () => ({ output, rows: 1 }),
  })
  type Input = (asked: number) => object
  const other: Input = (n) => ({ n })
  const same: Input = () => ({ n: 1 })
  const answer = async (output: string, promptTokens: number, { calls = 3, parallel = 1, input = other } = {}) => {
    const asked: ChatRequest[] = []
    const frames: AnswerFrame[] = []
    const model: LanguageModel = {
      ...{ provider: 'scripted', model: 'm', host: 'localhost:1' },
      chat: async function* (request) {
        asked.push(request)
        if (asked.length > calls || request.toolChoice === 'none') yield { text: 'Done.' }
        else
          for (const i of numbers(parallel))
            yield { toolCall: { id: `${asked.length}_${i}`, tool: 'sql', input: JSON.stringify({ ...input(asked.length), i }) } }
        return { finish: 'stop', usage: { input: 1, output: 1 }, model: 'm' }
      },
    }
    const executor = new ToolExecutor([tool(output)], new Fence())
    const bounds = { ...settingsOf({ params: {} }).bounds, promptTokens }
    const finished = await new AnswerRun({
      ...{
        model,
        executor,
        messages: [question],
        request: { maxOutputTokens: 100 },
        bounds,
      },
      ...{ reserve: reserveAll, emit: (frame) => frames.push(frame), signal: new AbortController().signal },
    }).finish()
    const read = asked.map(({ messages, tools }) => tokensOf(messages.reduce((sum, one) => sum + charsOf(one), charsOfTools(tools))))
    const settings = { tools: executor.descriptions, maxOutputTokens: 100, params: {}, bounds }
    return { finished, asked, read, settings, frames }
  }

  test('are cut to what the prompt has left, inside their marks, and the language model then answers', async () => {
    const { finished, asked, read } = await answer('r'.repeat(3_000), 1_000, { calls: 10 })
    expect(finished).toMatchObject({ outcome: 'answered', content: 'Done.' })
    expect(Math.max(...read)).toBeLessThanOrEqual(1_000)
    const [, cut] = finished.tools
    expect(cut?.output).toMatch(/^<(data-[0-9a-f]+) sql>\nr+ … \(the rest is left out: the prompt is full\)\n<\/\1>$/)
    expect(asked.at(-1)).toMatchObject({ toolChoice: 'none' })
    expect(asked.length).toBeLessThan(5)
  })
  const replayed = async ({ finished, settings }: Awaited<ReturnType<typeof answer>>) => {
    const { exchanges, tools, content, outcome } = finished
    const record = answerRecord.parse({ question: question.content, history: [], settings, exchanges, tools, answer: content })
    const event = { provider: 'scripted', model: 'm', host: 'localhost:1', outcome, error: null } as RecordedAnswer
    return replay(event, record)
  }
  // Characters that the marks replace are longer in the result than between the marks.
  const outputs = ['r'.repeat(3_000), 'r\u{e0041}'.repeat(1_000)]
  test.each([600, 1_000, 1_500, 3_000].flatMap((tokens) => outputs.map((output) => [tokens, output] as const)))(
    'are cut in the same places when the record is replayed: %d tokens',
    async (promptTokens, output) => {
      const answered = await answer(output, promptTokens, { calls: 10, input: same })
      expect(await replayed(answered)).toMatchObject({ isSame: true, outcome: 'answered' })
    },
  )
  const tooLong: Input = () => ({ query: 'q'.repeat(5_000) })
  const tooLongSoon: Input = (n) => ({ query: 'q'.repeat(n > 1 ? 2_000 : 1) })
  test.each<[string, number, Parameters<typeof answer>[2], ran: number]>([
    ['at once', 1_000, { input: tooLong }, 0],
    ['after another result', 1_000, { input: tooLongSoon }, 1],
    ['as many short calls', 1_000, { parallel: 32 }, 0],
  ])('have no room beside a long reply, %s: it is left out, and the language model answers without it', async (_, tokens, how, ran) => {
    const answered = await answer('r'.repeat(1_500), tokens, how)
    const { finished, asked, read, frames } = answered
    expect(finished).toMatchObject({ outcome: 'answered', content: 'Done.', problem: undefined })
    expect(finished.tools).toHaveLength(ran)
    expect(Math.max(...read)).toBeLessThanOrEqual(tokens)
    expect(asked.at(-1)).toMatchObject({ toolChoice: 'none' })
    const told = frames.filter((frame) => frame.type === 'result' && frame.failed)
    expect(told).toHaveLength(asked.length < 2 ? 0 : (how?.parallel ?? 1))
    expect(await replayed(answered)).toMatchObject({ isSame: true })
  })
  test('are whole where they fit', async () => {
    const { finished, asked } = await answer('r'.repeat(3_000), 4_000)
    expect(finished.tools.every(({ output }) => output.includes('r'.repeat(3_000)))).toBe(true)
    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto', 'auto'])
  })
  test('are not asked for by a prompt that does not fit: the answer fails', async () => {
    const { finished, asked } = await answer('r', 10)
    expect([finished.outcome, finished.problem?.title, asked.length]).toEqual(['failed', 'The prompt is too long', 0])
  })
})
