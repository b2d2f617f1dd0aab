import { limits } from '../../src/basics/limits.js'
import { largestQuestion } from '../harness/language-model.js'
import type { Target } from '../harness/harness.js'
import { json, largeName, long, type Body } from './body.js'
import { settings } from './statements.js'
import { manyTokens } from './texts.js'

type Arguments = (share: number) => object

const statement = manyTokens('SELECT [', "'ab',", 2, "'ab'] AS list")
const horsepower = (count: number) => Array.from({ length: Math.floor(count) }, (_, n) => ({ Horsepower: n % 200 }))
/** Earlier answers may be longer than questions. */
const turn = (share: number, n: number) =>
  n % 2 === 0 ? { role: 'user', content: long(limits.agentQuestionMaxChars)(share) } : { role: 'assistant', content: long(300_000)(share) }

/** The longest arguments of each tool, and those with the longest answers. */
const calls: Readonly<Record<string, Readonly<Record<string, Arguments>>>> = {
  query: {
    'a long statement': (share) => ({ sql: statement(share) }),
    'a long parameter': (share) => ({ sql: 'SELECT length(:a) AS chars', params: { a: 'x'.repeat(share * 9_000_000) } }),
    'many rows': () => ({ sql: 'SELECT * FROM log.events', max_rows: limits.mcpMaxRows }),
  },
  list: {
    skills: () => ({ kind: 'skills', limit: limits.mcpMaxRows }),
    views: () => ({ kind: 'views', limit: limits.mcpMaxRows }),
    tables: () => ({ kind: 'tables', limit: limits.mcpMaxRows }),
  },
  describe: {
    'a table': () => ({ name: 'cars', in: 'files' }),
    'a table of many columns': () => ({ name: 'wide_columns', in: 'files' }),
    'a skill of many keys': () => ({ kind: 'skill', name: largeName('skill', 'keys') }),
    'a skill of a long text': () => ({ kind: 'skill', name: largeName('skill', 'one text') }),
  },
  history: {
    'large changes': () => ({ kind: 'skill', name: 'taken', limit: limits.mcpMaxRows }),
  },
  predict: {
    rows: (share) => ({ model: 'cars_model', rows: horsepower(share * limits.mcpPredictMaxRows) }),
    'explained rows': (share) => ({ model: 'cars_model', rows: horsepower(share * limits.mcpPredictMaxRows), contributions: true }),
  },
  ask_agent: {
    'a long question': (share) => ({ agent: 'speaker', question: long(limits.mcpQuestionMaxChars)(share) }),
    'a long history': (share) => ({
      ...{ agent: 'speaker', question: 'How many?' },
      history: Array.from({ length: limits.mcpHistoryMaxTurns }, (_, n) => turn(share, n)),
    }),
    'the largest answer': (share) => ({ agent: 'speaker', question: largestQuestion(share) }),
  },
  search_knowledge: {
    'a long text': (share) => ({
      ...{ knowledge_base: 'documents', limit: limits.mcpChunksMax },
      content: long(limits.knowledgeQueryMaxChars)(share),
    }),
  },
  dry_run: {
    'a long list': (share) => ({ sql: manyTokens("CREATE SKILL tried USING type = 'x', a = [", '1,', 2, '1]')(share) }),
    'many settings': (share) => ({ sql: `CREATE SKILL tried USING type = 'x'${settings(share)}` }),
  },
}

const headers = { accept: 'application/json, text/event-stream' }
const message = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', id, method, params })
const call = (name: string, args: object, id?: number) => message('tools/call', { name, arguments: args }, id)

/** Messages of MCP: calls of each tool, and others. */
export const toolBodies: readonly Body[] = [
  ...Object.entries(calls).flatMap(([tool, ways]) =>
    Object.entries(ways).map(([name, args]) => json(`${tool}: ${name}`, (share) => JSON.stringify(call(tool, args(share))))),
  ),
  json('a batch', () =>
    JSON.stringify(Array.from({ length: limits.mcpBatchMaxMessages }, (_, id) => call('list', { kind: 'skills', limit: 1_000 }, id + 1))),
  ),
  json('the schemas', () => JSON.stringify(message('resources/list'))),
  json('a schema', () => JSON.stringify(message('resources/read', { uri: 'mindledger://schemas/mindsdb' }))),
].map((body) => ({ ...body, headers }))

/** The names of the tools that a service offers. */
export const toolsOf = async ({ url }: Target): Promise<string[]> => {
  const response = await fetch(`${url}/api/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(message('tools/list')),
  })
  const text = await response.text()
  // An answer may come as a server-sent event.
  const [, sent = text] = /^data: (.+)$/m.exec(text) ?? []
  const { result } = JSON.parse(sent) as { result: { tools: { name: string }[] } }
  return result.tools.map(({ name }) => name)
}

/** The tools that a service offers and that are not called here, and those that are called and not offered. */
export const missingTools = (offered: readonly string[]): string[] => {
  const called = Object.keys(calls)
  const missing = [...offered.filter((name) => !called.includes(name)), ...called.filter((name) => !offered.includes(name))]
  return missing.map((name) => `the tool ${name}`)
}
