import { describe, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { TableLinks } from '../../../src/agents/prompt/schema-linking.js'
import { fitting } from '../../../src/agents/prompt/prompt.js'
import { tableText } from '../../../src/agents/prompt/table-text.js'
import { grantsOf } from '../../../src/catalogue/grants.js'
import { resourcesNamed } from '../../../src/agents/scope/resources-named.js'
import { scopeOf } from '../../../src/agents/scope/agent-scope.js'
import { settingsOf } from '../../../src/agents/prompt/settings.js'
import { sqlTool } from '../../../src/agents/tools/sql-tool.js'

const names = (n: number, prefix = 't') => Array.from({ length: n }, (_, i) => `${prefix}${i}`)
const most = limits.agentNamesMax

describe('what skills and data name', () => {
  test('is bounded for all of them together, and the agent is told', () => {
    const skill = { type: 'sql', params: { database: 'files', tables: names(most - 1) } }
    const { tables, missing } = grantsOf([skill, { ...skill, params: { tables: names(5, 'u') } }], { data: { models: names(most) } })
    expect(tables.flatMap((one) => one.names)).toHaveLength(most)
    expect(missing).toEqual([`all tables after the first ${most} names (agentNamesMax)`])
  })

  test('is nothing where too many names are left out: a shorter list would grant more', () => {
    const { tables, missing } = grantsOf([], { data: { tables: ['files.*'], ignore_tables: names(most + 1) } })
    expect([tables, missing]).toEqual([[], [`all tables of a list that leaves out more than ${most} names (agentNamesMax)`]])
    expect(grantsOf([], { data: { tables: ['files.*'], ignore_tables: names(most) } }).tables[0]?.except).toHaveLength(most)
  })
})

describe('a list that narrows, and has no usable name', () => {
  const faulty = [[], [''], [' '], [null], [{}], [['cars']], ['.'], '', ' , ', {}, 7, true, null]
  const grants = (params: object, type = 'sql') => grantsOf([{ type, params: params as never }], {})

  test.each(faulty.flatMap((list) => ['tables', 'include_tables', 'include'].map((key) => [key, list] as const)))(
    'grants no table as %s: %j',
    (key, list) => {
      const { tables, faults } = grants({ database: 'files', [key]: list })
      expect([tables, faults]).toEqual([[], [`${key}: must be a list of names`]])
    },
  )
  test('grants nothing in place of the list that it comes before', () =>
    expect(grants({ database: 'files', tables: [], include_tables: ['cars'] }).tables).toEqual([]))
  test('leaves the usable names of a list, and reports the others', () => {
    const { tables, faults } = grants({ database: 'files', tables: ['cars', null] })
    expect([tables[0]?.names, faults]).toEqual([['cars'], ['tables: must be a list of names']])
  })
  test.each([[[null]], [['secrets', {}]], [['']], [{}], [7]])('grants nothing as an exclusion: %j', (list) => {
    for (const key of ['ignore_tables', 'exclude_tables', 'exclude'])
      expect(grants({ database: 'files', [key]: list })).toMatchObject({ tables: [], faults: [`${key}: must be a list of names`] })
    const bases = { knowledge_bases: ['*'], ignore_knowledge_bases: list }
    expect(grants({ source: '*', ignore_knowledge_bases: list }, 'retrieval').knowledgeBases).toEqual([])
    const { tables, knowledgeBases, faults } = grantsOf([], { data: { tables: ['files.*'], ignore_tables: list, ...bases } })
    expect([tables, knowledgeBases]).toEqual([[], []])
    expect(faults).toEqual(['ignore_tables: must be a list of names', 'ignore_knowledge_bases: must be a list of names'])
  })
  test.each([[''], [null], [{}], [7]])('grants nothing as a place: %j', (place) => {
    expect(grants({ database: place, tables: ['*'] })).toMatchObject({ tables: [], faults: ['database: must be a name'] })
    for (const key of ['knowledge_base_database', 'knowledge_base_project'])
      expect(grants({ [key]: place, source: '*' }, 'knowledge_base')).toMatchObject({
        knowledgeBases: [],
        faults: [`${key}: must be a name`],
      })
  })
  test('grants no model and no knowledge base', () => {
    for (const list of faulty) {
      const { models, knowledgeBases } = grants({ database: 'files', models: list, knowledge_bases: list })
      expect([models, knowledgeBases]).toEqual([[], []])
      expect(grants({ model: list }, 'model').models).toEqual([])
      expect(grantsOf([], { models: list, data: { tables: list, models: list, knowledge_bases: list } })).toMatchObject({
        ...{ tables: [], models: [], knowledgeBases: [] },
      })
    }
  })
  test('excludes nothing where it is empty', () => {
    for (const list of [[], '', null])
      expect(grants({ database: 'files', ignore_tables: list })).toMatchObject({ tables: [{ names: ['*'], except: [] }], faults: [] })
  })
})

describe('resources that are named', () => {
  const all = names(2_500, 'm').map((name, i) => ({ id: i + 1, state: { name } }))
  const asked: string[] = []
  const shop = {} as never
  const resources = {
    one: (_: string, name: string) => {
      asked.push(`one ${name}`)
      return Promise.resolve(all.find(({ state }) => state.name === name))
    },
    page: (_: string, __: unknown, after: number, limit: number) => {
      asked.push(`after ${after}`)
      // A page of large resources is shorter than what was asked for.
      return Promise.resolve(all.filter(({ id }) => id > after).slice(0, limit / 2))
    },
  } as never
  const found = async (pattern: string, limit: number) =>
    (await resourcesNamed(resources, 'model', pattern, { project: shop, most: limit })).map(({ state }) => state.name)

  test('are looked up by a name, and no others are read', async () => {
    asked.length = 0
    expect(await found('m7', 50)).toEqual(['m7'])
    expect(asked).toEqual(['one m7'])
  })

  test('fit a pattern wherever they stand, up to a number', async () => {
    expect(await found('m249*', 50)).toEqual(['m249', ...names(10, 'm249')])
    expect(await found('*', 50)).toHaveLength(50)
  })
})

test('tables that a question is about come first, and changed columns count', () => {
  const links = new TableLinks()
  const table = (name: string, state: string, columns: string[]) => ({
    ...{ path: ['files', name], kind: 'file' as const, state },
    columns: columns.map((column) => ({ name: column, type: 'VARCHAR' })),
  })
  const first = (...tables: ReturnType<typeof table>[]) => links.linked(tables, 'Which customers ordered most?')[0]?.path[1]
  const plain = table('aa', '1', ['x'])
  expect(first(plain, table('bb', '1', ['orderedAt']))).toBe('bb')
  expect(first(plain, table('bb', '2', ['y']))).toBe('aa')
  expect(first(plain, table('bb', '2', ['y']), table('customer', '1', []))).toBe('customer')
})

test('an agent may read so many tables, and is told that there are more', async () => {
  const columns = [{ name: 'a', type: 'VARCHAR' }]
  const files = names(limits.agentTablesMax + 1).map((name, i) => ({ id: i + 1, state: { name, content: 'c', columns } }))
  const page = async (_: string, __: unknown, after: number, limit: number) => files.filter(({ id }) => id > after).slice(0, limit)
  const place = { resources: { page }, isPast: false, project: { state: { name: 'shop' } }, knowledge: undefined }
  const agent = { state: { skills: [], params: { data: { tables: ['files.*'] } } } }
  const { tables, missing } = await scopeOf(place as never, agent as never)
  expect(tables).toHaveLength(limits.agentTablesMax)
  expect(missing).toEqual([`all tables after the first ${limits.agentTablesMax} (agentTablesMax)`])
})

test('tables whose descriptions do not fit into a prompt are named there, and smaller ones are described', () => {
  const most = 24_000
  const table = (name: string, columns: number) => {
    const wide = names(columns, 'c'.repeat(100)).map((column) => ({ name: column, type: 'VARCHAR', values: [] }))
    return { name, columns: wide, rows: [] }
  }
  const { described, named } = fitting([...names(6, 'wide').map((name) => table(name, 200)), table('narrow', 1)], ['other'], most)
  expect(described.map(({ name }) => name)).toEqual(['wide0', 'wide1', 'wide2', 'wide3', 'narrow'])
  expect(named).toEqual(['wide4', 'wide5', 'other'])
  const chars = described.reduce((sum, one) => sum + tableText(one).length, 0)
  expect(chars / 4).toBeLessThanOrEqual(most)
})

test('a query of an agent has so much time, and so many rows', async () => {
  const asked: unknown[] = []
  const run = async (query: unknown) => {
    asked.push(query)
    return { columns: [], rows: [], cut: false }
  }
  await sqlTool({ run } as never, [], 'shop', settingsOf({ params: {} }).bounds).use({ query: 'SELECT 1' })
  const bounds = { maxRows: limits.agentQueryMaxRows, timeoutMs: limits.agentQueryTimeoutMs }
  expect(asked).toEqual([{ sql: 'SELECT 1', db: 'shop', only: [], ...bounds }])
})
