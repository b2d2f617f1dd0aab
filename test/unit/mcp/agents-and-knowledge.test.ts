import { expect, test } from '@jest/globals'
import type { StreamId } from '../../../events/common.js'
import type { AnswerFrame, AgentAnswer, AgentRequest as Question, AskAgent } from '../../../src/agents/contract/answering.js'
import { Problem } from '../../../src/basics/errors.js'
import type { Moment } from '../../../src/http/reads/read-routes.js'
import type { KnowledgeQuery, SearchOnRecord } from '../../../src/knowledge/contract/search.js'
import { limits } from '../../../src/basics/limits.js'
import type { CallContext } from '../../../src/mcp/tool-parts/tool.js'
import { askAgentTool } from '../../../src/mcp/tools/ask-agent.js'
import { searchKnowledgeTool } from '../../../src/mcp/tools/search-knowledge.js'

const moment = { resources: { one: async (kind: string, name: string) => ({ kind, state: { name } }) } } as unknown as Moment

/** A call, with what it told and noted. */
const call = () => {
  const [told, noted]: [string[], number[]] = [[], []]
  const asked: CallContext = {
    origin: { actor: 'me', source: 'mcp', request: 'r', correlation: null, causation: null },
    client: 'c',
    signal: new AbortController().signal,
    tell: (step) => told.push(step),
    note: (positions) => noted.push(...positions),
  }
  return { told, noted, asked }
}

const frames: readonly AnswerFrame[] = [
  { type: 'start', answer: 'a1' },
  { type: 'step', tool: 'sql', input: 'SELECT 1' },
  { type: 'result', tool: 'sql', failed: false, text: '1' },
  { type: 'text', text: 'It is 1.' },
]
const answered: AgentAnswer = {
  ...{
    answer: 'a1',
    position: 7,
    model: 'scripted',
    host: 'localhost:1',
    content: 'It is 1.',
    outcome: 'answered',
    usage: { input: 3, output: null },
  },
  queries: [{ sql: 'SELECT 1', columns: ['a'], rows: [[1]], cut: false }],
  retrieved: ['1'],
}

/** The contract, with an answer that is known before. */
const asking = (end: AgentAnswer, questions: Question[] = []): AskAgent =>
  async function* (question) {
    questions.push(question)
    yield* frames
    return end
  }

test('an answer without a query says what it rests on', async () => {
  const end: AgentAnswer = { ...answered, queries: [], note: 'It rests on nothing.' }
  const given = await askAgentTool(asking(end), moment, 'shop').call({ agent: 'helper', question: 'Hi' }, call().asked)
  expect(given).toMatchObject({ queries: [], note: 'It rests on nothing.' })
})

test('a question is asked in the name of the client, and its answer has the queries that it rests on', async () => {
  const questions: Question[] = []
  const { told, noted, asked } = call()
  const given = await askAgentTool(asking(answered, questions), moment, 'shop').call(
    { agent: 'helper', question: 'How many?', history: [{ role: 'user', content: 'Hello' }] },
    asked,
  )
  expect(given).toEqual({
    ...{ answer_id: 'a1', position: 7, outcome: 'answered', answer: 'It is 1.', truncated: false, usage: { input: 3, output: null } },
    queries: [{ sql: 'SELECT 1', columns: ['a'], rows: [[1]], cut: false }],
  })
  expect(questions[0]).toMatchObject({
    ...{ purpose: 'tool', origin: { source: 'mcp' }, agent: { state: { name: 'helper' } }, project: { state: { name: 'shop' } } },
    turns: [
      { role: 'user', content: 'Hello' },
      { role: 'user', content: 'How many?' },
    ],
  })
  expect([told, noted]).toEqual([['sql: SELECT 1', 'sql answered'], [7]])
})

test('an answer that failed is refused with its reason and its record, and is noted as recorded', async () => {
  const problem = new Problem('llm_failed', 'No answer', 'the language model cannot be reached')
  const { noted, asked } = call()
  const tool = askAgentTool(asking({ ...answered, outcome: 'failed', problem }), moment, 'shop')
  await expect(tool.call({ agent: 'helper', question: 'How many?' }, asked)).rejects.toMatchObject({
    ...{ code: 'llm_failed', detail: problem.detail, extras: { trace_id: 'a1', position: 7 } },
  })
  expect(noted).toEqual([7])
})

const wide = Array.from({ length: 1_000 }, () => ['x'.repeat(1_000)])

test('a long answer keeps the SQL of each query, and the rows of the last ones', async () => {
  const look = { sql: 'SELECT * FROM orders', columns: ['x'], rows: wide, cut: false }
  const count = { sql: 'SELECT count(*) AS n FROM orders', columns: ['n'], rows: [[1_000]], cut: false }
  const ask = asking({ ...answered, queries: [look, count] })
  const given = await askAgentTool(ask, moment, 'shop').call({ agent: 'helper', question: 'How many?' }, call().asked)
  expect(given).toMatchObject({ queries: [{ sql: look.sql, columns: ['x'], cut: true }, count], truncated: true })
  const [first] = given['queries'] as { rows: unknown[] }[]
  expect(first?.rows.length).toBeGreaterThan(200)
  expect(first?.rows).toEqual(wide.slice(0, first?.rows.length))
  expect(Buffer.byteLength(JSON.stringify(given))).toBeLessThanOrEqual(limits.mcpAnswerMaxBytes)
})

test('statements that are too long for one answer are left out from the first on', async () => {
  const queries = ['a', 'b', 'c'].map((name) => ({ sql: name.repeat(100_000), columns: [name], rows: [[1]], cut: false }))
  const ask = asking({ ...answered, queries })
  const given = await askAgentTool(ask, moment, 'shop').call({ agent: 'helper', question: 'How many?' }, call().asked)
  expect(given).toMatchObject({ queries: queries.slice(1), truncated: true })
})

const chunk = { id: 'i', chunk_id: 'i:1of1:0to5', content: 'Hello', metadata: { page: 1 }, relevance: 0.9, distance: null }

test('a search gives the chunks that fit, and passes its conditions on', async () => {
  const queries: KnowledgeQuery[] = []
  const search: SearchOnRecord = async (_, query) => {
    queries.push(query)
    const long = { ...chunk, content: 'x'.repeat(limits.mcpAnswerMaxBytes) }
    return { chunks: [chunk, long].map((one, key) => ({ key, ...one })), position: 9 }
  }
  const find = async () => ({ stream: '01' as StreamId, version: 1 })
  const tool = searchKnowledgeTool({ find, search }, 'shop')
  const filters = [{ column: 'page', op: '>=', value: 1 }]
  const given = await tool.call({ knowledge_base: 'docs', content: 'greeting', min_relevance: 0.2, filters, as_of: 4 }, call().asked)
  expect(given).toEqual({ chunks: [chunk], position: 9, truncated: true })
  expect(queries).toEqual([{ content: 'greeting', limit: 10, minRelevance: 0.2, filters, asOf: 4 }])
  await expect(
    tool.call({ knowledge_base: 'docs', content: 'x', filters: [{ column: 'a', op: 'drop', value: 1 }] }, call().asked),
  ).rejects.toThrow(/filters\.0\.op/)
  const long = 'x'.repeat(limits.knowledgeQueryMaxChars + 1)
  await expect(tool.call({ knowledge_base: 'docs', content: long }, call().asked)).rejects.toThrow(/content/)
})
