import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { TestLedger } from '../../support/log/ledger.js'
import { shopLedger } from '../../support/sql/shop.js'

// Earlier releases recorded the own project of a view by its name of then.

let ledger: TestLedger
beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.history('projects', { stream: 'p-depot', name: 'Store', from: 30, to: 35 })
  await ledger.history('projects', { stream: 'p-depot', id: 30, name: 'depot', from: 35 })
  const view = { project: 'p-depot', from: 31, query: 'SELECT n FROM numbers' }
  await ledger.history('views', { ...view, stream: 'v-numbers', name: 'numbers', query: 'SELECT 7 AS n', database: '' })
  await ledger.history('views', { ...view, id: 32, stream: 'v-former', name: 'former', database: 'store' })
  await ledger.history('views', { ...view, id: 33, stream: 'v-lost', name: 'lost', database: 'crm' })
  ledger.head = 40
  await ledger.lock()
})
afterAll(() => ledger.close())

test('a view with an earlier name of its own project reads that project', async () => {
  expect((await ledger.select('SELECT n FROM depot.former')).data).toEqual([[7]])
  expect((await ledger.select('SELECT n FROM store.former', { upTo: 34 })).data).toEqual([[7]])
})

test('a view with the name of another database that is gone is refused', () =>
  expect(ledger.select('SELECT n FROM depot.lost')).rejects.toMatchObject({
    code: 'not_found',
    detail: expect.stringContaining('there is no project or database crm'),
  }))
