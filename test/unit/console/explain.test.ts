import { expect, test } from '@jest/globals'
import { loadModule } from '../../support/console/load-module.js'

const { withoutExplain } = await loadModule<{ withoutExplain: (sql: string) => string }>('pages/query/writing/schema.ts')

test.each([
  ['SELECT 1', 'SELECT 1'],
  ['EXPLAIN ANALYZE SELECT 1', ' SELECT 1'],
  ['analyze analyze SELECT 1', ' SELECT 1'],
  ['-- how\nEXPLAIN /* all /* of */ it */ ANALYZE/**/(SELECT 1)', '/**/(SELECT 1)'],
  ['-- how\n(SELECT 1)', '-- how\n(SELECT 1)'],
  ['DROP TABLE explain', 'DROP TABLE explain'],
  ['ANALYZED', 'ANALYZED'],
  ['EXPLAIN', ''],
])('a statement without EXPLAIN and ANALYZE: %s', (sql, rest) => {
  expect(withoutExplain(sql)).toBe(rest)
})
