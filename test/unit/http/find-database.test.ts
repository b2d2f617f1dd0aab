import { expect, test } from '@jest/globals'
import type { Resource } from '../../../src/log/contract/log.js'
import { entriesOf, findEntry, type Database, type Entry } from '../../../src/http/reads/find-database.js'
import { itemsOf } from '../../../src/http/reads/paged-list.js'

test('each table of a connection is shown once, however many there are', async () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `table_${index}`)
  const tables = names.map((name) => ({ schema: 'public', isUsual: true, name, type: 'table' as const }))
  const state = { exists: true, name: 'pg', engine: 'postgres', project: 'mindsdb' }
  const database = { type: 'connection' as const, name: 'pg', database: { id: 1, state } as unknown as Resource<'database'> }
  const at = { resources: undefined as never, connectedTables: async () => ({ tables, isCut: false }) }
  let shown = 0
  const show = ({ name }: Entry) => {
    shown += 1
    return { name }
  }
  const listed: unknown[] = []
  for await (const item of itemsOf(entriesOf(at, database, show))) listed.push(item)
  expect(listed).toEqual(names.map((name) => ({ name })))
  expect(shown).toBe(names.length)
})

test('the last table of a list that was cut says so', async () => {
  const tables = ['homes', 'orders'].map((name) => ({ schema: 'shop', isUsual: false, name, type: 'table' as const }))
  const state = { exists: true, name: 'pg', engine: 'postgres', project: 'mindsdb' }
  const database = { type: 'connection' as const, name: 'pg', database: { id: 1, state } as unknown as Resource<'database'> }
  const at = { resources: undefined as never, connectedTables: async () => ({ tables, isCut: true }) }
  const listed: unknown[] = []
  for await (const item of itemsOf(entriesOf(at, database, ({ name, there }) => ({ name, note: there?.note })))) listed.push(item)
  const note = expect.stringMatching(/ends here.*connectionTablesMax/) as unknown
  expect(listed).toEqual([
    { name: 'shop.homes', note: undefined },
    { name: 'shop.orders', note },
  ])
})

test('one table is found without the others of its database', async () => {
  const states = {
    file: { name: 'Homes', columns: ['size'] },
    view: { name: 'Good' },
    model: { name: 'Rent', versions: [{ engine: 'tree' }] },
  }
  const one = (kind: string, name: string) => {
    const state = (states as Record<string, { name: string } | undefined>)[kind]
    return Promise.resolve(state && (name === '7' || state.name.toLowerCase() === name.toLowerCase()) ? { id: 7, state } : undefined)
  }
  const at = { resources: { one } as never }
  const files: Database = { type: 'files', name: 'files' }
  const shop = { type: 'project', name: 'shop', project: {} } as Database
  expect(await findEntry(at, files, 'homes')).toMatchObject({ name: 'Homes', type: 'table' })
  expect(await findEntry(at, shop, 'GOOD')).toMatchObject({ name: 'Good', type: 'view', engine: null })
  expect(await findEntry(at, shop, 'rent')).toMatchObject({ name: 'Rent', type: 'model', engine: 'tree' })
  expect(await findEntry(at, shop, 'Models')).toMatchObject({ name: 'models', deletable: false })
  for (const database of [files, shop]) expect(await findEntry(at, database, '7')).toBeUndefined()
})
