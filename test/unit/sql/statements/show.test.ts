import { describe, expect, test } from '@jest/globals'
import { likePattern } from '../../../../src/sql/facade/like.js'
import { parseStatement } from '../../../../src/sql/statements/parse.js'
import { showAsSelect } from '../../../../src/sql/facade/show.js'
import { systemAnswer } from '../../../../src/sql/facade/server-answers.js'

const context = { db: 'shop' }

const selectOf = (sql: string): string => {
  const statement = parseStatement(sql)
  if (statement.kind !== 'show' && statement.kind !== 'describe') throw new Error(statement.kind)
  return showAsSelect(statement, 'shop')
}

const answerOf = (sql: string) => {
  const statement = parseStatement(sql)
  if (statement.kind !== 'show' && statement.kind !== 'system_select') throw new Error(statement.kind)
  return systemAnswer(statement, context)
}

describe('SHOW and DESCRIBE are SELECTs with the documented columns', () => {
  const order = `ORDER BY CASE "TYPE" WHEN 'system' THEN 0 WHEN 'project' THEN 1 ELSE 2 END, "NAME" <> 'files', "NAME"`
  test.each([
    ['SHOW DATABASES', `SELECT "Database" FROM (SELECT *, "NAME" AS "Database" FROM information_schema.databases) AS shown ${order}`],
    [
      "SHOW FULL DATABASES LIKE 's%'",
      `SELECT "Database", "TYPE", "ENGINE" FROM (SELECT *, "NAME" AS "Database" FROM information_schema.databases) AS shown WHERE "Database" ILIKE 's%' ${order}`,
    ],
    [
      'SHOW PROJECTS',
      `SELECT "project" FROM (SELECT *, "NAME" AS "project" FROM information_schema.databases WHERE "TYPE" = 'project') AS shown ORDER BY "NAME"`,
    ],
    ['SHOW SKILLS', `SELECT "NAME", "PROJECT", "TYPE", "PARAMS" FROM information_schema.skills WHERE "PROJECT" = 'shop'`],
    [
      "SHOW AGENTS FROM `Other` WHERE name = 'a' OR 1=1",
      `SELECT "NAME", "PROJECT", "MODEL_NAME", "SKILLS", "PARAMS" FROM information_schema.agents WHERE "PROJECT" = 'Other' AND (name = 'a' OR 1=1)`,
    ],
    [
      "SHOW VIEWS LIKE 'it\\'s\\\\_x'",
      `SELECT "NAME", "PROJECT", "QUERY" FROM information_schema.views WHERE "PROJECT" = 'shop' AND "NAME" ILIKE 'it''s\\\\_x' ESCAPE '\\\\'`,
    ],
    [
      'SHOW FULL TABLES FROM `P`',
      `SELECT "Tables_in_P", "TABLE_TYPE" AS "Table_type" FROM (SELECT *, "TABLE_NAME" AS "Tables_in_P" FROM information_schema.tables WHERE "TABLE_SCHEMA" = 'P' AND "TABLE_TYPE" NOT IN ('AGENT', 'KNOWLEDGE_BASE')) AS shown`,
    ],
    [
      'SHOW TABLES IN p',
      `SELECT "Tables_in_p" FROM (SELECT *, "TABLE_NAME" AS "Tables_in_p" FROM information_schema.tables WHERE "TABLE_SCHEMA" = 'p' AND "TABLE_TYPE" NOT IN ('AGENT', 'KNOWLEDGE_BASE') AND "TABLE_TYPE" <> 'SYSTEM VIEW') AS shown`,
    ],
    ['SHOW ML_ENGINES', `SELECT "NAME", "HANDLER", "CONNECTION_DATA" FROM information_schema.ml_engines`],
    [
      'DESCRIBE SKILL p.s',
      `SELECT "NAME", "PROJECT", "TYPE", "PARAMS" FROM information_schema.skills WHERE "PROJECT" = 'p' AND "NAME" = 's'`,
    ],
    [
      'DESCRIBE PROJECT p',
      `SELECT "NAME", "TYPE", "ENGINE", "CONNECTION_DATA" FROM information_schema.databases WHERE "NAME" = 'p' AND "TYPE" = 'project'`,
    ],
    [
      "SHOW ENGINES WHERE Engine = 'InnoDB'",
      `SELECT "Engine", "Support", "Comment", "Transactions", "XA", "Savepoints" FROM (VALUES ('InnoDB', 'DEFAULT', 'Supports transactions, row-level locking, and foreign keys', 'YES', 'YES', 'YES')) AS fixed("Engine", "Support", "Comment", "Transactions", "XA", "Savepoints") WHERE (Engine = 'InnoDB')`,
    ],
  ])('%s', (sql, select) => expect(selectOf(sql)).toBe(select))

  test('SHOW COLUMNS names its six columns', () =>
    expect(selectOf('SHOW COLUMNS FROM files.rentals')).toMatch(
      /^SELECT "Field", "Type", "Null", "Key", "Default", "EXTRA" AS "Extra" FROM .* WHERE "TABLE_SCHEMA" = 'files' AND "TABLE_NAME" = 'rentals'\) AS shown ORDER BY/,
    ))

  test.each([
    'SHOW TABLES',
    "SHOW MODELS FROM p LIKE 'a'",
    'SHOW CREATE TABLE p.t',
    "SHOW TABLE STATUS LIKE 'x'",
    "SHOW VARIABLES WHERE Variable_name = 'x'",
    'SHOW FULL COLUMNS FROM t IN p WHERE Field = 1',
    'DESCRIBE DATABASE d',
  ])('%s becomes a statement that DuckDB answers', (sql) => expect(parseStatement(selectOf(sql)).kind).toBe('select'))
})

describe('what the server knows of itself', () => {
  test.each([
    ['SELECT database()', ['database'], [['shop']]],
    ['SELECT version()', ['version'], [['8.0.17']]],
    ['SELECT @@version_comment', ['@@version_comment'], [['(Mindledger)']]],
    ['SELECT @@session.tx_isolation', ['@@session.tx_isolation'], [['REPEATABLE-READ']]],
    ['SELECT @@nope AS x, DATABASE()', ['x', 'DATABASE'], [[null, 'shop']]],
    [
      "SHOW VARIABLES LIKE 'version%'",
      ['Variable_name', 'Value'],
      [
        ['version', '8.0.17'],
        ['version_comment', '(Mindledger)'],
      ],
    ],
    ['SHOW WARNINGS', ['Level', 'Code', 'Message'], []],
    [
      'SHOW SESSION STATUS',
      ['Variable_name', 'Value'],
      [
        ['auto_increment_increment', '1'],
        ['tx_isolation', 'REPEATABLE-READ'],
        ['tx_read_only', '0'],
      ],
    ],
    ['SHOW COLLATION', ['Collation', 'Charset', 'Id', 'Default', 'Compiled', 'Sortlen', 'Pad_attribute'], expect.anything()],
  ])('%s', (sql, columns, rows) => expect(answerOf(sql)).toEqual({ columns, rows }))

  test.each(['SHOW DATABASES', "SHOW VARIABLES WHERE Variable_name = 'x'", 'SHOW JOBS'])('%s has to be looked up', (sql) =>
    expect(answerOf(sql)).toBeUndefined(),
  )
})

describe('LIKE', () => {
  test.each([
    ['abc', 'ABC', true],
    ['abc', 'a%', true],
    ['abc', '%c', true],
    ['abc', 'a_c', true],
    ['abc', '_', false],
    ['', '%', true],
    ['a_c', 'a\\_c', true],
    ['abc', 'a\\_c', false],
    ['aXbXc', '%x%x%', true],
    ['abc', '', false],
  ])('%s is like %s: %s', (text, pattern, is) => expect(likePattern(pattern)(text)).toBe(is))

  test('no pattern takes long', () => {
    const before = process.cpuUsage()
    expect(likePattern('%a'.repeat(1_000) + 'b')('a'.repeat(2_000))).toBe(false)
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
  })
})
