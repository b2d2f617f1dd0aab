import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import { parseSelect, ParseFailure, prepareChecked, printSelect } from '../../src/sql/engine/ast/checked-text.js'
import type { AstNode } from '../../src/sql/engine/ast/json.js'
import { nodesOf } from '../../src/sql/engine/ast/nodes.js'
import { guard } from '../../src/sql/engine/guard/guard.js'
import { isProblem } from '../../src/basics/errors.js'
import { countOf } from '../support/counts.js'
import { memoryDatabase } from '../support/memory-database.js'
import { seeded } from '../support/random.js'
import { HostileNames } from '../support/sql/hostile-names.js'
import { rarerShapes } from '../support/sql/rarer-shapes.js'

const count = countOf('PRINTED')
const seed = countOf('SEED')

/** Random SELECTs in which whatever may have a name has a hostile one. */
class HostileQueries extends HostileNames {
  expression(depth: number): string {
    const inner = () => (depth <= 0 ? this.one([this.id(), this.text(), '1', 'NULL']) : this.expression(depth - 1))
    const of: readonly (() => string)[] = [
      () => this.id(),
      () => `${this.id()}.${this.id()}`,
      () => this.text(),
      () => this.one(['1', '-5', '0.5', '3000000000', '18446744073709551616', 'NULL', 'TRUE', "DATE '2026-01-31'", "INTERVAL '1' DAY"]),
      () => `(${inner()} + ${inner()})`,
      () => `(${inner()}).${this.id()}`,
      () => `${inner()}[${this.text()}]`,
      () => `{${this.several((id) => `${id}: ${inner()}`)}}`,
      () => `struct_pack(${this.id()} := ${inner()})`,
      () => `list_transform([${inner()}], lambda ${this.id()}: ${inner()})`,
      () => `MAP {${this.text()}: ${inner()}}`,
      () => `CAST(${inner()} AS STRUCT(${this.id()} INTEGER))`,
      () =>
        `CAST(${inner()} AS ${this.one(['DOUBLE', 'DECIMAL(4, 1)', 'INTEGER[]', 'INTEGER[3]', 'TIMESTAMPTZ', 'MAP(VARCHAR, INTEGER)', 'JSON'])})`,
      () => `CASE WHEN ${inner()} THEN ${inner()} ELSE ${inner()} END`,
      () => `${inner()} LIKE ${this.text()} ESCAPE ${this.text()}`,
      () => `${inner()} ->> ${this.text()}`,
      () => `${inner()} IN (${inner()}, ${this.text()})`,
      () => `${inner()} IN (${this.query(depth - 1)})`,
      () => `(${this.query(depth - 1)})`,
      () => `EXISTS (${this.query(depth - 1)})`,
      () => `sum(${inner()} ORDER BY ${this.id()}) FILTER (WHERE ${inner()})`,
      () => `lag(${inner()}) OVER (PARTITION BY ${this.id()} ORDER BY ${this.id()} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)`,
      () => `${inner()} COLLATE NOCASE`,
      () => `[${inner()} FOR ${this.id()} IN [1] IF ${inner()}]`,
      () => `${inner()} BETWEEN ${inner()} AND ${inner()}`,
      () => `extract(year FROM ${inner()})`,
    ]
    return this.one(of)()
  }

  private item(depth: number): string {
    const of: readonly (() => string)[] = [
      () => `${this.expression(depth)} AS ${this.id()}`,
      () => this.expression(depth),
      () => '*',
      () => `${this.id()}.*`,
      () => `* EXCLUDE (${this.several()})`,
      () => `${this.id()}.* EXCLUDE (${this.several()})`,
      () => `* EXCLUDE (${this.several((id) => `${this.id()}.${id}`)})`,
      () => `* REPLACE (${this.several((id) => `${this.expression(depth)} AS ${id}`)})`,
      () => `* RENAME (${this.several((id) => `${id} AS ${this.id()}`)})`,
      () => `COLUMNS(${this.text()})`,
      () => `* LIKE ${this.text()}`,
      () => `COLUMNS(* EXCLUDE (${this.several()}))`,
    ]
    return this.one(of)()
  }

  private table(depth: number): string {
    const inner = () => (depth <= 0 ? this.id() : this.table(depth - 1))
    const of: readonly (() => string)[] = [
      () => `${this.id()} AS ${this.id()}`,
      () => `${this.id()}.${this.id()}`,
      () => `(${this.query(depth - 1)}) AS ${this.id()}(${this.several()})`,
      () => `(VALUES (${this.text()})) AS ${this.id()}(${this.id()})`,
      () => `range(3) AS ${this.id()}(${this.id()})`,
      () => `unnest([{${this.id()}: 1}]) AS ${this.id()}`,
      () => `${inner()} JOIN ${inner()} USING (${this.several()})`,
      () => `${inner()} LEFT JOIN ${inner()} ON ${this.expression(1)}`,
      () => `${inner()}, LATERAL (${this.query(depth - 1)}) AS ${this.id()}`,
      () => `${this.id()} PIVOT (sum(${this.id()}) AS ${this.id()} FOR ${this.id()} IN (${this.text()}) GROUP BY ${this.id()})`,
      () => `${this.id()} UNPIVOT (${this.id()} FOR ${this.id()} IN (${this.id()} AS ${this.text()}))`,
      () => `${this.id()} TABLESAMPLE 10%`,
    ]
    return this.one(of)()
  }

  query(depth: number): string {
    if (depth <= 0)
      return this.one([`SELECT ${this.id()} FROM ${this.id()}`, `SELECT ${this.text()} AS ${this.id()}`, `VALUES (${this.text()})`])
    const select = `SELECT ${this.item(depth)}, ${this.item(depth)} FROM ${this.table(depth)}`
    const of: readonly (() => string)[] = [
      () => select,
      () => `${select} WHERE ${this.expression(depth)} ORDER BY ${this.id()} DESC NULLS LAST LIMIT 3`,
      () =>
        `SELECT DISTINCT ON (${this.id()}) ${this.expression(depth)} FROM ${this.table(depth)} GROUP BY ALL HAVING ${this.expression(1)}`,
      () => `WITH ${this.several((id) => `${id}(${this.id()}) AS MATERIALIZED (${this.query(depth - 1)})`)} ${select}`,
      () => `WITH RECURSIVE ${this.id()} AS (SELECT 1 AS ${this.id()} UNION ALL SELECT 1 FROM ${this.id()}) ${select}`,
      () => `${this.query(depth - 1)} UNION ALL ${this.query(depth - 1)}`,
      () => `${select} WINDOW ${this.several((id) => `${id} AS (PARTITION BY ${this.id()})`)}`,
      () => `${select} QUALIFY row_number() OVER (ORDER BY ${this.id()}) = 1`,
      () => `SELECT ${this.id()} FROM ${this.table(depth)} GROUP BY GROUPING SETS (${this.several((id) => `(${id})`)}, ())`,
    ]
    return this.one(of)()
  }
}

let connection: DuckDBConnection
beforeAll(async () => {
  connection = await (await memoryDatabase()).connect()
})
afterAll(() => connection.closeSync())

/** The list behind `SELECT * FROM (VALUES …)`: VALUES is printed in brackets, which read as such a query. An expression stays. */
const withoutBrackets = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Reflect.get(value, 'type') !== 'SUBQUERY' || 'class' in value) return value
  const { alias, subquery } = value as { alias?: string; subquery?: { node?: { from_table?: unknown } } }
  const list = withoutBrackets(subquery?.node?.from_table) as { type?: string; alias?: string } | undefined
  return list?.type === 'EXPRESSION_LIST' && list.alias === 'valueslist' ? { ...list, alias } : value
}

/** A tree as JSON, without places and brackets. The columns that a star leaves out, replaces or renames have no order. */
const sayingOf = (tree: AstNode): string =>
  JSON.stringify(tree, (key, value: unknown) => {
    if (key === 'query_location' || key === 'parenthesized') return undefined
    if (/^(?:exclude|qualified_exclude|replace|rename)_list$/.test(key) && Array.isArray(value))
      return value.map((item) => sayingOf(item as AstNode)).toSorted()
    return withoutBrackets(value)
  })

const treeIn = async (sql: string): Promise<AstNode | undefined> => {
  try {
    return await parseSelect(connection, sql)
  } catch (error) {
    if (error instanceof ParseFailure) return undefined
    throw error
  }
}

const passes = (tree: Parameters<typeof guard>[0]): boolean => {
  try {
    guard(tree)
    return true
  } catch (error) {
    if (isProblem(error)) return false
    throw error
  }
}

test(`of ${count} random trees with hostile names each that the guard lets through is printed as a text that says the same`, async () => {
  let printed = 0
  let tried = 0
  for (; printed < count; tried++) {
    const sql = new HostileQueries(seeded(seed * 1_000_003 + tried)).query(1 + (tried % 3))
    const tree = await treeIn(sql)
    if (!tree) continue
    const said = sayingOf(tree)
    if (!passes(tree)) continue
    const text = await printSelect(connection, tree).catch((error: unknown) => {
      throw new Error(`${sql} is not printed`, { cause: error })
    })
    printed++
    const read = await parseSelect(connection, text)
    if (sayingOf(read) !== said) expect({ sql, tree: sayingOf(read) }).toEqual({ sql, tree: said })
  }
  expect(printed / tried).toBeGreaterThan(0.5)
})

test(`each of ${count} queries of rarer shapes with hostile names is printed as a text that says the same, or not at all`, async () => {
  let printed = 0
  for (let tried = 0; tried < count; tried++) {
    const names = new HostileNames(seeded(seed * 1_000_003 + tried))
    const shape = rarerShapes[tried % rarerShapes.length]!(names)
    const sql = names.below(2) === 0 ? shape : `SELECT ${names.id()}.* FROM (${shape}) AS ${names.id()}`
    const tree = await parseSelect(connection, sql).catch(() => undefined)
    if (!tree) continue
    const said = sayingOf(tree)
    const text = await printSelect(connection, tree).catch(() => undefined)
    if (text === undefined) continue
    printed++
    const read = await parseSelect(connection, text)
    if (sayingOf(read) !== said) expect({ sql, tree: sayingOf(read) }).toEqual({ sql, tree: said })
  }
  expect(printed / count).toBeGreaterThan(0.5)
})

test.each<[string, (item: AstNode) => void]>([
  ['says less than the tree', (item) => void (item['distinct'] = true)],
  ['has another operator', (item) => void (item['function_name'] = '+ 3 -')],
])('a text that %s is not given out', async (_, change) => {
  const tree = await parseSelect(connection, 'SELECT 1 + 2')
  for (const item of nodesOf(tree, 'select_list')) change(item)
  await expect(printSelect(connection, tree)).rejects.toMatchObject({
    code: 'refused_statement',
    detail: expect.stringMatching(/differently/),
  })
})

test('a text of another kind of statement is not prepared', async () => {
  const text = await printSelect(connection, await parseSelect(connection, 'SELECT 1'))
  await expect(prepareChecked(connection, text, { before: 'CREATE TEMP TABLE made AS ' })).rejects.toThrow(TypeError)
  expect((await connection.runAndReadAll("SELECT count(*)::INTEGER FROM duckdb_tables() WHERE table_name = 'made'")).getRows()).toEqual([
    [0],
  ])
})

test.each([
  ['x y', '"x y".*'],
  ['version() AS q, z', '"version() AS q, z".*'],
  ['select', '"select".*'],
  ['a"b', '"a""b".*'],
])('the columns of a table called %s are those of that table', async (name, item) => {
  const sql = `SELECT ${item} FROM (SELECT 1 AS a) AS "${name.replaceAll('"', '""')}"`
  const prepared = await prepareChecked(connection, await printSelect(connection, await parseSelect(connection, sql)))
  expect((await prepared.runAndReadAll()).getRowObjects()).toEqual([{ a: 1 }])
})
