import { expect, test } from '@jest/globals'
import type { JsonObject, StreamId } from '../../../events/common.js'
import type { ScopeTable } from '../../../src/agents/scope/tables-in.js'
import { describeTool } from '../../../src/agents/tools/describe-tool.js'
import { searchTool } from '../../../src/agents/tools/search-tool.js'
import { itemNamed, type Tool, type ToolModels } from '../../../src/agents/tools/tool.js'
import { limits } from '../../../src/basics/limits.js'
import type { KnowledgeChunk } from '../../../src/knowledge/contract/search.js'

const reports = { onUsed: () => undefined, onSent: () => () => undefined, onExchange: () => undefined }
const models: ToolModels = { asking: (_role, _model, use) => use(reports, Infinity), onReplayed: () => undefined }
const use = async (tool: Tool, input: JsonObject) => (await tool.use(input, new AbortController().signal, models)).output

const found = (chunks: readonly Pick<KnowledgeChunk, 'content' | 'metadata'>[]) =>
  use(
    searchTool({
      bases: [{ name: 'shop.manuals', base: { stream: 'kb' as StreamId, version: 1 } }],
      search: async () => ({
        chunks: chunks.map((one, i) => ({ ...one, key: i, id: `d${i}`, chunk_id: `d${i}:1of1`, relevance: 0.5, distance: null })),
        position: 7,
      }),
      asOf: 7,
      onSearched: () => undefined,
    }),
    { query: 'lamp' },
  )

test('metadata stands behind a passage, whole if it is short', async () => {
  expect(await found([{ content: 'The lamp.', metadata: { page: 3, tags: ['a'] } }])).toBe(
    '{"id":"d0","relevance":0.5}\nThe lamp.\nmetadata: {"page":3,"tags":["a"]}',
  )
  expect(await found([{ content: 'The lamp.', metadata: {} }])).toBe('{"id":"d0","relevance":0.5}\nThe lamp.')
})

test('long metadata takes no room from the passages, and long passages leave some for metadata', async () => {
  const html = '<p>lamp</p>'.repeat(400)
  const metadata = { html, parts: Array(500).fill('part'), page: 3 }
  const passage = 'The lamp of the attic is on. '.repeat(60)
  const passages = await found(Array(5).fill({ content: passage, metadata }))
  expect(passages.split(passage)).toHaveLength(6)
  expect(passages.split('"page":3')).toHaveLength(6)
  expect(passages.length).toBeLessThan(limits.agentToolOutputMaxChars)
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`column ${i}`, html]))
  const cut = await found(Array(5).fill({ content: passage, metadata: many }))
  expect(cut.split(passage)).toHaveLength(6)
  expect(cut.length).toBeLessThan(limits.agentToolOutputMaxChars + 100)
  const long = await found(Array(20).fill({ content: passage, metadata: { page: 3 } }))
  expect(long.split('metadata: {"page":3}')).toHaveLength(21)
  expect(long.split(passage.slice(0, 600))).toHaveLength(21)
})

test('descriptions that do not fit are left out whole, and their number is said', async () => {
  const tables = Array.from({ length: 12 }, (_, i): ScopeTable => ({ path: ['files', `t${i}`], kind: 'file', state: 's' }))
  const columns = Array.from({ length: 30 }, (_, i) => ({ name: `column ${i}`, type: 'VARCHAR', values: [], comment: 'c'.repeat(100) }))
  const tool = describeTool(tables, 'shop', async ({ path }) => ({ name: path.join('.'), columns, rows: [] }))
  const described = await use(tool, { tables: tables.map(({ path }) => path.join('.')) })
  const shown = described.split('\ntable files.').length
  expect(described.split('"column 29"')).toHaveLength(shown + 1)
  expect(shown).toBeLessThan(10)
  expect(described).toContain(`\n\n${12 - shown} of 12 tables are left out: describe fewer at once.`)
  expect(await use(tool, { tables: ['files.t1', 'files.t2'] })).not.toContain('left out')
})

test('a short name is that of one model or knowledge base, and never of several', () => {
  const named = (name: string | undefined, names: readonly string[]) => itemNamed('model', names, (one) => one, name)
  expect(named(undefined, ['a.rent'])).toBe('a.rent')
  expect(named('RENT', ['a.rent', 'b.price'])).toBe('a.rent')
  expect(named('b.Rent', ['a.rent', 'b.rent'])).toBe('b.rent')
  const refusal = (detail: string, hint: string) => expect.objectContaining({ detail, extras: { hint } })
  const thrown = (name: string | undefined, names: readonly string[]): unknown => {
    try {
      return named(name, names)
    } catch (error) {
      return error
    }
  }
  expect(thrown('rent', ['a.rent', 'b.rent', 'b.price'])).toEqual(
    refusal('model: several have this name', 'Write the project before it: a.rent, b.rent.'),
  )
  for (const name of ['price', 'ent', '', undefined])
    expect(thrown(name, ['a.rent', 'b.rent'])).toEqual(refusal('model: there is no such model', 'There are a.rent, b.rent.'))
})

test('a search in one of several knowledge bases with the same short name is refused', async () => {
  const searched: unknown[] = []
  const bases = ['shop', 'office'].map((project) => ({ name: `${project}.manuals`, base: { stream: project as StreamId, version: 1 } }))
  const search = async () => ({ chunks: [], position: 7 })
  const tool = searchTool({ bases, search, asOf: 7, onSearched: (one) => searched.push(one.knowledge_base) })
  await expect(use(tool, { knowledge_base: 'manuals', query: 'lamp' })).rejects.toMatchObject({
    detail: 'knowledge_base: several have this name',
  })
  await use(tool, { knowledge_base: 'office.manuals', query: 'lamp' })
  expect(searched).toEqual(['office'])
})
