import { expect, test } from '@jest/globals'
import { RememberedLists } from '../../../src/connections/remembered-lists.js'

const shop = { id: 'shop', version: 1, engine: 'postgres', parameters: {} }

test('a list is remembered, but not while a statement runs that may change it', async () => {
  let version = 0
  const lists = new RememberedLists(async () => ({ columns: [], version: ++version }) as never)
  const seen = async () => ((await lists.of(shop, { tables: true })) as unknown as { version: number }).version
  expect([await seen(), await seen()]).toEqual([1, 1])
  const [first, second] = [lists.writes('shop'), lists.writes('shop')]
  expect([await seen(), await seen()]).toEqual([2, 3])
  first()
  expect(await seen()).toBe(4)
  second()
  expect([await seen(), await seen()]).toEqual([5, 5])
  // Those of another connection stay.
  lists.writes('other')()
  expect(await seen()).toBe(5)
})
