import { expect, test } from '@jest/globals'
import { leftOutBy } from '../../../src/agents/scope/tables-in.js'

const file = (name: string) => ({ path: ['files', name], kind: 'file' as const })
const connected = (...path: string[]) => ({ path, kind: 'connected' as const })

test.each([
  ['secrets', file('Secrets'), true],
  ['files.secrets', file('secrets'), true],
  ['FILES."sec*"', file('secrets'), true],
  ['other.secrets', file('secrets'), false],
  ['secret', file('secrets'), false],
  ['public.secrets', connected('crm', 'public', 'secrets'), true],
  ['crm.public.*', connected('crm', 'public', 'secrets'), true],
  ['crm.secrets', connected('crm', 'public', 'secrets'), false],
  // Its schema is not said, so that it may be any.
  ['public.secrets', connected('crm', 'secrets'), true],
  ['crm.public.secrets', connected('crm', 'secrets'), true],
  ['crm.*.sec*', connected('crm', 'secrets'), true],
  ['erp.public.secrets', connected('crm', 'secrets'), false],
  ['public.secrets', file('secrets'), false],
  ['a.files.secrets', file('secrets'), false],
])('%s leaves out %j: %s', (written, table, isLeftOut) => {
  expect(leftOutBy(['nothing', written, 'no*ne'])(table)).toBe(isLeftOut)
})

test('a long list of names is read once for all tables', () => {
  const isLeftOut = leftOutBy(Array.from({ length: 50_000 }, (_, i) => `files.other_${i}`))
  const tables = Array.from({ length: 2_000 }, (_, i) => file(`table_${i}`))
  expect([...tables, file('other_49999')].filter(isLeftOut)).toEqual([file('other_49999')])
})
