import { expect, test } from '@jest/globals'
import { loadModule } from '../../support/console/load-module.js'

const { mayWrite } = await loadModule<{ mayWrite: (sql: string) => boolean }>('pages/query/statement-kind.ts')

test.each([
  'EVALUATE AGENT broker USING test_table = $$files.questions$$',
  '-- all\nEVALUATE /* now */ AGENT broker USING version = 1',
  'SELECT * FROM shop_db (SELECT pay(7))',
  'SELECT * FROM "shop db" (SELECT(pay(7)))',
  'SELECT * FROM shop_db /* now */ (GRANT ALL ON notes TO ann)',
  `SELECT * FROM t JOIN shop_db (COPY notes TO 'x')`,
  'SELECT * FROM shop_db (VACUUM notes)',
  'SELECT * FROM shop_db (WITH a AS (SELECT 1) SELECT pay(n) FROM a)',
  'SELECT * FROM shop_db (INSERT INTO notes VALUES (1) RETURNING id)',
  'SELECT * FROM shop_db ($$DELETE FROM notes$$)',
  'SELECT * FROM shop_db (\n$q_1$ DELETE FROM notes $q_1$)',
  'SELECT * FROM données ($é$DELETE FROM notes$é$)',
  'SELECT * FROM "a""b" (DELETE FROM notes)',
  "SELECT '--' AS a FROM shop_db (DELETE FROM notes)",
  'CREATE PROJECT a',
])('a statement that may write, or asks an agent for each of its questions, is one that may write: %s', (sql) => {
  expect(mayWrite(sql)).toBe(true)
})

test.each([
  'SELECT range AS i FROM range(5)',
  'SELECT range AS i FROM range($most)',
  `SELECT * FROM read_csv('a.csv') JOIN range(a + 1) ON true`,
  'SELECT * FROM (SELECT 1) AS t, LATERAL (SELECT t.x) WHERE id IN (SELECT 2)',
  'SELECT * FROM t JOIN LATERAL (SELECT 1) ON true',
  'EVALUATE accuracy FROM (SELECT 1 AS actual, 1 AS prediction)',
])('a statement that only reads is none: %s', (sql) => {
  expect(mayWrite(sql)).toBe(false)
})
