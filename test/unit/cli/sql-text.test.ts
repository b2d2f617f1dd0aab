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

test('whole numbers that JavaScript would round stay as they are', () => {
  const text = '[9007199254740993,-12345678901234567890,1234567890123456,0.12345678901234567,"9007199254740993"]'
  expect(exactJson(text)).toEqual(['9007199254740993', '-12345678901234567890', 1234567890123456, 0.12345678901234567, '9007199254740993'])
})
