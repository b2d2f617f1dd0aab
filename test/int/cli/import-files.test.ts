import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { fetchFrom } from '../../../src/basics/fetch-from.js'
import { importItems } from '../../../src/import/import-items.js'
import { Client } from '../../../src/import/client.js'
import type { Item } from '../../../src/import/items.js'
import { commandHere } from '../../support/command-here.js'
import { startMindsdb } from '../../support/mindsdb-server.js'
import { send, startTestService } from '../../support/service.js'

let old: Awaited<ReturnType<typeof startMindsdb>>
let here: Awaited<ReturnType<typeof startTestService>>

beforeAll(async () => {
  const files = { homes: { columns: ['id'], rows: ['[1]', '[2]'] }, years: { columns: ['2019', '2020'], rows: [] } }
  old = await startMindsdb({ databases: [], files, projects: {}, tables: {} })
  here = await startTestService()
})
afterAll(async () => {
  await here.stop()
  await old.stop()
})

test('a disk that takes no rows fails the file alone, and is told', async () => {
  const clients = { old: new Client(old.url, fetchFrom(old.url, {})), here: new Client(here.url, fetchFrom(here.url, {})) }
  const make = { by: 'request' as const, path: '/api/projects', body: { project: { name: 'shop' } } }
  const items: Item[] = [
    { kind: 'file', project: null, name: 'homes', notes: [], fate: { is: 'create', make: { by: 'upload' } } },
    { kind: 'project', project: null, name: 'shop', notes: [], fate: { is: 'create', make } },
  ]
  const outcomes = await importItems(items, { ...clients, directory: join(here.directory, 'none'), onProgress: () => undefined })
  expect(outcomes.map(({ item, failed }) => [item.name, failed])).toEqual([
    ['homes', expect.stringMatching(/^its rows cannot be kept on this machine: ENOENT/) as unknown],
    ['shop', undefined],
  ])
  expect((await send(here.url, 'GET', '/api/projects/shop')).status).toBe(200)
})

test('a file that arrives with other rows is not kept', async () => {
  const { code, out } = await commandHere(['import', '--url', here.url, '--from', old.url, '--apply'])
  expect(code).toBe(1)
  expect(out).toContain('- file years: 0 rows were sent, and 1 arrived, so it is deleted here again\n')
  expect((await send(here.url, 'GET', '/api/files/years')).status).toBe(404)
  expect((await send(here.url, 'GET', '/api/files/homes')).body).toMatchObject({ row_count: 2 })
})
