import { describe, expect, test } from '@jest/globals'
import { parametrize } from '../../support/parametrize.js'

const named = (sql: string) => {
  const { query, parameters } = parametrize(sql)
  return [query, parameters.map(({ name, value }) => `${name}=${JSON.stringify(value)}`).join(' ')]
}

describe('constants become parameters named after', () => {
  const cases: [what: string, sql: string, query: string, parameters: string][] = [
    [
      'their aliases and the columns they are compared with',
      'select 1 year, SUM(case when month = 1 then total_sales else 0 end) as January from pg_demo.sales where total_sales = 100',
      'select :year year, SUM(case when month = :month then total_sales else :January end) as January from pg_demo.sales where total_sales = :total_sales',
      'year=1 month=1 January=0 total_sales=100',
    ],
    [
      'the columns of an INSERT',
      "INSERT INTO postgres.employees (employee_id, first_name) VALUES (101, 'John'), (102, upper('x'))",
      'INSERT INTO postgres.employees (employee_id, first_name) VALUES (:employee_id, :first_name), (:employee_id2, upper(:first_name2))',
      'employee_id=101 first_name="John" employee_id2=102 first_name2="x"',
    ],
    [
      'the columns of an INSERT, whatever brackets their values have',
      'INSERT INTO t (a, b) VALUES (1, (2)), ([3, 4], f(g, 5))',
      'INSERT INTO t (a, b) VALUES (:a, (:b)), ([:a2, :a3], f(g, :b2))',
      'a=1 b=2 a2=3 a3=4 b2=5',
    ],
    ['the table of an INSERT without columns', 'INSERT INTO a.t VALUES (1, 2)', 'INSERT INTO a.t VALUES (:t, :t2)', 't=1 t2=2'],
    [
      'the columns of an UPDATE, numbered from the second on',
      "UPDATE p.products SET price = 10, comments = 'it''s' WHERE price = 11 AND brand='C'",
      'UPDATE p.products SET price = :price, comments = :comments WHERE price = :price2 AND brand=:brand',
      'price=10 comments="it\'s" price2=11 brand="C"',
    ],
    [
      'lists',
      "SELECT a FROM t WHERE x NOT IN (1, 2) AND y IN ('a')",
      'SELECT a FROM t WHERE x NOT IN (:x, :x2) AND y IN (:y)',
      'x=1 x2=2 y="a"',
    ],
    [
      'bounds and patterns',
      "SELECT a FROM t WHERE x BETWEEN 1 AND 2.5 AND n NOT LIKE 'a%'",
      'SELECT a FROM t WHERE x BETWEEN :x AND :x2 AND n NOT LIKE :n',
      'x=1 x2=2.5 n="a%"',
    ],
    ['the other side', 'SELECT a FROM t WHERE 5 < t.b', 'SELECT a FROM t WHERE :b < t.b', 'b=5'],
    ['nothing, as param', 'SELECT f(1), 2 FROM t', 'SELECT f(:param), :param2 FROM t', 'param=1 param2=2'],
    [
      'a sign belongs to its number',
      'SELECT a FROM t WHERE x = -3 AND y > a - 4',
      'SELECT a FROM t WHERE x = :x AND y > a - :a',
      'x=-3 a=4',
    ],
    ['truth', 'SELECT a FROM t WHERE x = true AND y IS TRUE', 'SELECT a FROM t WHERE x = :x AND y IS TRUE', 'x=true'],
    ['names in quotes', 'SELECT a FROM t WHERE `Total sales` = 1', 'SELECT a FROM t WHERE `Total sales` = :Total_sales', 'Total_sales=1'],
    ['names that are free', 'SELECT a FROM t WHERE x = :x AND x > 1', 'SELECT a FROM t WHERE x = :x AND x > :x2', 'x2=1'],
  ]
  test.each(cases)('%s', (_, sql, query, parameters) => expect(named(sql)).toEqual([query, parameters]))
})

test.each([
  ['a list', (numbers: string) => `SELECT a FROM t WHERE x IN (${numbers})`, 'x'],
  ['one row', (numbers: string) => `INSERT INTO d.t VALUES (${numbers})`, 't'],
  ['a SELECT', (numbers: string) => `SELECT ${numbers}`, 'param'],
])('%s may be as long as a statement', (_, statement, name) => {
  const count = 49_000
  const { parameters } = parametrize(statement(Array.from({ length: count }, (__, i) => i).join(',')))
  expect(parameters.length).toBe(count)
  expect(parameters.at(-1)).toEqual({ name: `${name}${count}`, value: count - 1, type: 'int' })
})

test.each([
  'SELECT a FROM t ORDER BY 2, 1 LIMIT 10 OFFSET 5',
  "SELECT DATE '2024-01-01', INTERVAL '1 day', a::DECIMAL(10,2), CAST(a AS VARCHAR(3)) FROM t",
  'SELECT a FROM p.m.2',
  'SELECT a FROM t AT (VERSION => 4)',
  'SELECT 12345678901234567890 AS big',
  'SELECT NULL AS nothing',
  "SHOW TABLES LIKE 'a'",
  "CREATE SKILL s USING type = 'sql', api_key = 'sk-1'",
])('what is part of the language, or no value of JSON, stays: %s', (sql) => {
  expect(parametrize(sql)).toMatchObject({ query: sql, parameters: [] })
})

test('the tables are told by what stands before their dot', () => {
  const { databases } = parametrize(
    'WITH c AS (SELECT * FROM a.t) SELECT extract(year FROM c.d) FROM c, b.`t 2` AS x JOIN a.u ON true WHERE x.n IN (SELECT n FROM p.m.2)',
  )
  expect(databases).toEqual({ a: ['t', 'u'], b: ['t 2'], p: ['m.2'] })
})

test('types are the names that clients know', () => {
  expect(parametrize("SELECT 1 AS a, 1.5 AS b, 'x' AS c, true AS d, 1e3 AS e").parameters.map(({ type }) => type)).toEqual([
    'int',
    'float',
    'str',
    'bool',
    'float',
  ])
})

test('comments and space stay, and a text that is no statement is refused with its place', () => {
  expect(parametrize("SELECT a -- = 'x'\nFROM t WHERE b = /* 1 */ 2 ;").query).toBe("SELECT a -- = 'x'\nFROM t WHERE b = /* 1 */ :b ;")
  expect(() => parametrize("SELECT 'a")).toThrow(/line 1/)
  expect(() => parametrize('SELECT 1; SELECT 2')).toThrow(/one statement/)
  expect(() => parametrize('SLECT 1')).toThrow()
})
