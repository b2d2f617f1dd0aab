import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { parseSelect } from '../../../src/sql/engine/ast/checked-text.js'
import { nondeterminismIn } from '../../../src/sql/engine/read/nondeterminism.js'
import { functionLists } from '../../../src/sql/engine/guard/function-lists.js'

let connection: DuckDBConnection
beforeAll(async () => {
  connection = await (await DuckDBInstance.create()).connect()
})
afterAll(() => connection.closeSync())

const found = async (query: string) =>
  nondeterminismIn(await parseSelect(connection, query)).map(({ what }) => what.split(' ').slice(0, 2).join(' '))

test.each([
  ['SELECT * FROM t LIMIT 5', ['LIMIT without']],
  ['SELECT * FROM t LIMIT 5%', ['LIMIT without']],
  ['SELECT * FROM (SELECT * FROM t LIMIT 5) ORDER BY a', ['LIMIT without']],
  ['WITH c AS (SELECT * FROM t LIMIT 5) SELECT * FROM c', ['LIMIT without']],
  ['SELECT a FROM t UNION SELECT b FROM t LIMIT 5', ['LIMIT without']],
  ['SELECT * FROM t WHERE a IN (SELECT b FROM u LIMIT 1)', ['LIMIT without']],
  ['SELECT DISTINCT ON (a) a, b FROM t', ['DISTINCT ON']],
  ['SELECT *, random() FROM t', ['random() draws']],
  ['SELECT * FROM t ORDER BY UUID()', ['uuid() draws']],
  ['SELECT * FROM t WHERE d > now()', ['now() is']],
  ['SELECT * FROM t WHERE d > CURRENT_DATE', ['current_date is']],
  ['SELECT age(d) FROM t', ['age() is']],
  ['SELECT * FROM t TABLESAMPLE 10%', ['a sample']],
  ['SELECT * FROM t USING SAMPLE 5 ROWS', ['a sample']],
])('%s cannot repeat', async (query, expected) => {
  expect(await found(query)).toEqual(expected)
})

test.each([
  'SELECT * FROM t ORDER BY a LIMIT 5',
  'SELECT DISTINCT a FROM t',
  'SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b',
  'SELECT t.current_date, age(a, b) FROM t',
  "SELECT 'random()' AS now FROM t",
])('%s can', async (query) => {
  expect(await found(query)).toEqual([])
})

test('every function that users may call, and of which DuckDB says that it is not steady, is known', async () => {
  const reader = await connection.runAndReadAll(
    `SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'scalar' AND stability <> 'CONSISTENT'`,
  )
  const named = reader.getRows().map(([name]) => String(name))
  expect(named).toContain('random')
  // error() gives no value.
  const unknown: string[] = []
  for (const name of named.filter((one) => functionLists.values.has(one) && one !== 'error'))
    if ((await found(`SELECT "${name}"(1, 2)`)).length === 0) unknown.push(name)
  expect(unknown).toEqual([])
})
