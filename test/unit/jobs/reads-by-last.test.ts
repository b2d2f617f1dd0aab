import { describe, expect, test } from '@jest/globals'
import { readsByLast } from '../../../src/dialect/last-places.js'
import { lex } from '../../../src/dialect/lexer.js'

const reads = (sql: string): string | undefined => readsByLast(lex(sql))
const statement = 'SELECT t.id FROM pg.sales AS t WHERE t.id > LAST'

test('a statement without LAST reads nothing by it', () => {
  expect(reads('SELECT 1')).toBeUndefined()
  expect(reads('SELECT last FROM t WHERE t.last > 1')).toBeUndefined()
})

describe('the same is read by', () => {
  test.each([
    'select T.ID from PG.Sales as T where T.ID > last',
    'SELECT t.id, upper(t.place) FROM pg.sales AS t WHERE t.place IS NOT NULL AND (t.id > LAST)',
    'SELECT count(*) FROM pg.sales AS t WHERE LAST < t.id GROUP BY t.place',
    'SELECT t.id FROM "pg".`sales` AS t WHERE t.id >= COALESCE(LAST, 7)',
    'INSERT INTO files.other (SELECT t.id FROM pg.sales AS t WHERE t.id > LAST)',
    'SELECT * FROM files.f AS f WHERE f.a IN (SELECT t.id FROM pg.sales AS t WHERE t.id > LAST)',
    'SELECT t.id FROM pg.sales AS t WHERE t.size = (SELECT max(size) FROM files.g WHERE g.a = 1) AND t.id > LAST',
    "SELECT t.id FROM pg.sales AS t WHERE t.at > CAST('2026-01-01' AS TIMESTAMP WITH TIME ZONE) AND t.id > LAST",
  ])('%s', (same) => expect(reads(same)).toBe(reads(statement)))

  test('the same statement, also where its words do not say from which table the column is', () => {
    for (const unclear of [
      'WITH t AS (SELECT * FROM pg.sales) SELECT id FROM t WHERE t.id > LAST',
      'SELECT id FROM a JOIN b ON a.x > LAST',
      'SELECT id FROM a WHERE a.x + 1 > LAST',
    ])
      expect(reads(unclear)).toBe(reads(unclear))
  })
})

describe('something else is read by', () => {
  test.each([
    [statement, 'SELECT t.id FROM pg.rents AS t WHERE t.id > LAST'],
    [statement, 'SELECT t.id FROM other.sales AS t WHERE t.id > LAST'],
    [statement, 'SELECT t.id FROM pg.sales AS t WHERE t.day > LAST'],
    [statement, 'SELECT t.id FROM pg.sales AS t JOIN pg.rents AS r ON r.id = t.id WHERE t.id > LAST'],
    [statement, `${statement} AND t.day > LAST`],
    [statement, `${statement} UNION SELECT r.id FROM pg.rents AS r WHERE r.id > LAST`],
    [
      'SELECT a FROM (SELECT a FROM f WHERE b = 1) AS t WHERE t.a > LAST',
      'SELECT a FROM (SELECT a FROM f WHERE b = 2) AS t WHERE t.a > LAST',
    ],
    ["SELECT id FROM pg ($$SELECT 'a'$$) AS t WHERE t.id > LAST", "SELECT id FROM pg ($$SELECT 'A'$$) AS t WHERE t.id > LAST"],
    [
      'SELECT a.id FROM a JOIN b ON a.x IS DISTINCT FROM b.x WHERE b.id > LAST',
      'SELECT a.id FROM c JOIN b ON a.x IS DISTINCT FROM b.x WHERE b.id > LAST',
    ],
    [
      'WITH t AS (SELECT * FROM pg.sales) SELECT id FROM t WHERE t.id > LAST',
      'WITH t AS (SELECT * FROM pg.rents) SELECT id FROM t WHERE t.id > LAST',
    ],
    ['SELECT id FROM a WHERE a.x + 1 > LAST', 'SELECT id FROM a WHERE a.x + 2 > LAST'],
  ])('%s and %s', (one, other) => expect(reads(one)).not.toBe(reads(other)))
})

test('a statement with very many LASTs is compared as a whole, in little time', () => {
  const many = (n: number) =>
    `SELECT id FROM a WHERE ${Array.from({ length: 2_000 }, (_, i) => `a.x${i} > LAST`).join(' AND ')} AND 1 = ${n}`
  expect(reads(many(1))).toBe(reads(many(1)))
  expect(reads(many(1))).not.toBe(reads(many(2)))
})
