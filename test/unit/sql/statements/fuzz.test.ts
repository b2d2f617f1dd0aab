import { describe, expect, test } from '@jest/globals'
import { fc } from '../../../support/random/properties.js'
import { isProblem } from '../../../../src/basics/errors.js'
import { parseStatement } from '../../../../src/sql/statements/parse.js'
import { codePoint } from '../../../support/random/code-points.js'

const words =
  "CREATE DROP ALTER UPDATE SHOW DESCRIBE SET USE RETRAIN SELECT FROM WHERE LIKE OR REPLACE IF NOT EXISTS PROJECT DATABASE SKILL AGENT CHATBOT MODEL VIEW TABLE JOB TRIGGER ML_ENGINE KNOWLEDGE BASE USING PREDICT ORDER GROUP BY WINDOW HORIZON WITH ENGINE PARAMETERS START END EVERY FULL COLUMNS TABLES active a p.m p.m.2 .2 1 -1 1e5 true null 'x' \"y\" `z` 'it\\'s' ( ) { } [ ] , ; : = . :v ? @x @@y {} [] {'a':1} [1,2] (SELECT 1) -- /* */ ' \" ` \u00e9 \ud83d\ude00 api_key".split(
    ' ',
  )
const valid = [
  "CREATE AGENT IF NOT EXISTS p.a USING model = {'a': [1, null, {\"b\": true}]}, skills = ['s'], x.`y` = pca(k = 1)",
  'CREATE DATABASE d WITH ENGINE = \'e\', PARAMETERS = {"password": "x"}',
  'CREATE MODEL p.m FROM db (SELECT * FROM t) PREDICT a, b ORDER BY c DESC GROUP BY d WINDOW 1 HORIZON 2 USING e.f = 1',
  "CREATE JOB j (SELECT 1; SELECT 2) START '2024-01-01' EVERY 2 hours IF (SELECT 1)",
  "ALTER JOB j (SELECT 1; SELECT 2) START '2024-01-01' END NULL EVERY 2 hours IF (SELECT 1)",
  'CREATE VIEW v FROM db AS (SELECT 1)',
  "SHOW FULL TABLES FROM p LIKE 'x' WHERE a = 1",
  'DESCRIBE p.m.2.features',
  'SET active p.m.2',
  'DROP VIEW IF EXISTS a, b.c',
]

const neverCrashes = (sql: string) => {
  try {
    expect(parseStatement(sql, { v: 1 }).kind).toEqual(expect.any(String))
  } catch (error) {
    if (!isProblem(error)) throw error
    expect(error.code).toBe('bad_statement')
    expect(error.detail).not.toBe('')
  }
}

describe('whatever is sent, the parser answers a statement or a Problem', () => {
  test('token soups', () =>
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 25 }), fc.constantFrom(' ', '', '\n'), (soup, gap) =>
        neverCrashes(soup.join(gap)),
      ),
      { numRuns: 1500 },
    ))

  test('soups that begin like a statement', () =>
    fc.assert(
      fc.property(fc.constantFrom(...valid), fc.nat(12), fc.array(fc.constantFrom(...words), { maxLength: 12 }), (start, size, soup) =>
        neverCrashes([...start.split(' ').slice(0, size), ...soup].join(' ')),
      ),
      { numRuns: 1500 },
    ))

  test('valid statements with pieces cut out, put in and swapped', () =>
    fc.assert(
      fc.property(fc.constantFrom(...valid), fc.nat(150), fc.nat(30), fc.constantFrom('', ...words), (sql, at, size, piece) =>
        neverCrashes(sql.slice(0, at) + piece + sql.slice(at + size)),
      ),
      { numRuns: 1500 },
    ))

  test('any text', () => fc.assert(fc.property(fc.string({ unit: codePoint, maxLength: 60 }), neverCrashes), { numRuns: 1000 }))
})

describe('a value that is written as a literal comes back as it was', () => {
  const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes('__proto__'))
  const safe = json.filter((value) => !/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(value)) && !/[1-9]\d{15,}/.test(JSON.stringify(value)))

  test('JSON in double quotes, as clients send PARAMETERS', () =>
    fc.assert(
      fc.property(safe, (value) => {
        const sql = `CREATE DATABASE d WITH ENGINE = 'e', PARAMETERS = {"v": ${JSON.stringify(value)}}`
        expect(parseStatement(sql)).toMatchObject({ kind: 'create_database' })
        const statement = parseStatement(sql)
        // JSON.stringify writes -0 as 0.
        if (statement.kind === 'create_database') expect(JSON.stringify(statement.parameters['v'])).toBe(JSON.stringify(value))
      }),
      { numRuns: 800 },
    ))

  test('text in both quotes with their escapes', () =>
    fc.assert(
      fc.property(
        fc.string({ maxLength: 30 }).filter((text) => !text.includes('\0')),
        (text) => {
          const escaped = text.replaceAll('\\', '\\\\')
          const sql = `CREATE AGENT a USING s = '${escaped.replaceAll("'", "''")}', d = "${escaped.replaceAll('"', '\\"')}"`
          expect(parseStatement(sql)).toMatchObject({ using: { s: text, d: text } })
        },
      ),
      { numRuns: 800 },
    ))
})
