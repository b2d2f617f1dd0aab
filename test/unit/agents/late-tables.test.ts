import { expect, test } from '@jest/globals'
import { Problem } from '../../../src/basics/errors.js'
import { plain } from '../../../src/connections/contract/types.js'
import { noComments, type ListedColumn } from '../../../src/connections/contract/requests.js'
import { isUnread, TableDescriptions } from '../../../src/agents/prompt/describe.js'
import type { Queries } from '../../../src/agents/queries/queries.js'
import type { ScopeTable } from '../../../src/agents/scope/tables-in.js'

const connection = { stream: 'c', state: { name: 'crm' } } as unknown as NonNullable<ScopeTable['connection']>
const tableAt = (...path: string[]): ScopeTable => ({ path: ['crm', ...path], kind: 'connected', state: 'c 1', connection })
const listed: ListedColumn[] = [
  { schema: 'public', table: 'Orders', isUsual: true, name: 'id', type: plain('BIGINT'), remote: 'int8', nullable: false },
  { schema: 'old', table: 'orders', isUsual: false, name: 'code', type: plain('VARCHAR'), remote: 'text', nullable: false },
]

/** Queries that fail with this code. */
const failing = (code: 'query_limit' | 'connection_failed') => {
  let asked = 0
  const run = async () => {
    asked += 1
    throw new Problem(code, 'The database took too long', '')
  }
  return { queries: { run } as unknown as Queries, asked: () => asked }
}

test.each([
  [['orders'], 'id', 'BIGINT'],
  [['old', 'orders'], 'code', 'VARCHAR'],
])('a connected table %j whose rows come too late has the columns that its database lists', async (path, name, type) => {
  const { queries, asked } = failing('query_limit')
  const descriptions = new TableDescriptions(
    async () => noComments,
    async () => ({ listed, isCut: false }),
  )
  for (let times = 0; times < 2; times++)
    expect(await descriptions.of(tableAt(...path), queries, 'now')).toMatchObject({
      columns: [{ name, type }],
      late: 'The database took too long',
    })
  expect(asked()).toBe(1)
})

test('a table whose database fails cannot be read, and is asked for again by the next question', async () => {
  const { queries, asked } = failing('connection_failed')
  const descriptions = new TableDescriptions(
    async () => noComments,
    async () => ({ listed, isCut: false }),
  )
  for (let times = 0; times < 2; times++)
    expect(await descriptions.of(tableAt('orders'), queries, 'now')).toMatchObject({ columns: [], problem: expect.any(String) })
  expect(asked()).toBe(2)
})

test.each([
  ['query_limit', listed, false],
  ['query_limit', [], true],
  ['connection_failed', listed, true],
] as const)('after %s, nothing of a table whose database lists %j could be read: %j', async (code, columns, expected) => {
  const descriptions = new TableDescriptions(
    async () => noComments,
    async () => ({ listed: [...columns], isCut: false }),
  )
  expect(isUnread(await descriptions.of(tableAt('orders'), failing(code).queries, 'now'))).toBe(expected)
})
