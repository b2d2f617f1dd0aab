import { describe, expect, test } from '@jest/globals'
import { isProblem } from '../../../src/basics/errors.js'
import { lex } from '../../../src/dialect/lexer.js'
import { misplacedAt } from '../../../src/dialect/client-syntax.js'
import { translate } from '../../../src/sql/engine/session/translation.js'

const translated = (sql: string) => translate(sql, lex(sql), {}).text.replace(/\s+/g, ' ').trim()

describe('an alias behind AT is written before it, as DuckDB takes it', () => {
  test.each([
    ['FROM t AT (VERSION => 3) AS a WHERE x', 'FROM t AS a AT (VERSION => 3) WHERE x'],
    ['FROM t AT (VERSION => 3) a', 'FROM t a AT (VERSION => 3)'],
    ['FROM t AT (VERSION => 3) AS a(x, y)', 'FROM t AS a ( x , y ) AT (VERSION => 3)'],
    [
      'FROM t AT (VERSION => (3)) `a b` JOIN u at (timestamp => now()) "u" ON true',
      'FROM t "a b" AT (VERSION => (3)) JOIN u "u" at (timestamp => now()) ON true',
    ],
    ['FROM t AT (VERSION => 3) JOIN u', 'FROM t AT (VERSION => 3) JOIN u'],
    ['FROM t AS a AT (VERSION => 3)', 'FROM t AS a AT (VERSION => 3)'],
    ['SELECT at (1) a, x AT TIME ZONE y b FROM t', 'SELECT at (1) a, x AT TIME ZONE y b FROM t'],
  ])('%s', (sql, expected) => expect(translated(sql)).toBe(expected))

  test('offsets lead back to the tokens that moved', () => {
    const sql = 'FROM t AT (VERSION => 3) AS alias'
    const translation = translate(sql, lex(sql), {})
    expect(translation.userOffset(translation.text.indexOf('alias'))).toBe(sql.indexOf('alias'))
    expect(translation.userOffset(translation.text.indexOf('VERSION'))).toBe(sql.indexOf('VERSION'))
  })
})

test('only an AT behind brackets is said to be misplaced', () => {
  const said = (sql: string) => misplacedAt(sql, lex(sql), sql.indexOf('AT'))
  expect(isProblem(said('FROM (SELECT 1) AT (VERSION => 3)'))).toBe(true)
  expect(isProblem(said('FROM range(5) AS r AT (VERSION => 3)'))).toBe(true)
  expect(said('FROM t AT (VERSION => 3)')).toBeUndefined()
  expect(said('FROM (SELECT 1) AT 3')).toBeUndefined()
})
