import { expect, test } from '@jest/globals'
import { exactJson } from '../../../src/basics/exact-json.js'
import { splitStatements } from '../../../src/cli/terminal/sql-text.js'

test('a text is divided at its semicolons, but for those in quotes, comments and brackets', () => {
  const text = "SELECT ';' AS a; -- no; \n CREATE JOB j (SELECT 1; SELECT 2) EVERY hour;; SELECT"
  expect(splitStatements(text)).toEqual({
    statements: ["SELECT ';' AS a", '-- no; \n CREATE JOB j (SELECT 1; SELECT 2) EVERY hour'],
    rest: ' SELECT',
    isEmpty: false,
  })
  expect(splitStatements('SELECT 1; -- done')).toMatchObject({ statements: ['SELECT 1'], isEmpty: true })
})

test('what never ends is all rest', () => {
  expect(splitStatements("SELECT 1; SELECT 'open;")).toEqual({ statements: [], rest: "SELECT 1; SELECT 'open;", isEmpty: false })
})

test('numbers that JavaScript would round stay as they are written', () => {
  const rounded = [
    '9007199254740993',
    '-12345678901234567890',
    '0.12345678901234567',
    '-12345678901234.567',
    '1e-400',
    '1234567890.12345678e5',
  ]
  expect(exactJson(`[${rounded.join(', ')}]`)).toEqual(rounded)
  const kept =
    '[1234567890123456,0.30000000000000004,-0.000012345678901234,100.00000000000000000,1.7976931348623157e308,5e-324,"9007199254740993"]'
  expect(exactJson(kept)).toEqual(JSON.parse(kept))
})
