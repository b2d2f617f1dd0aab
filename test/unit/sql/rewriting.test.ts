import { describe, expect, test } from '@jest/globals'
import { cloneAst, parseAst, printAst } from '../../../src/sql/engine/ast/json.js'
import { missingConditions, splitUsing } from '../../../src/dialect/client-syntax.js'
import { lex } from '../../../src/dialect/lexer.js'
import { similarName } from '../../../src/dialect/names.js'
import { translate } from '../../../src/sql/engine/session/translation.js'

describe('a tree', () => {
  const texts = [
    '{"a":18446744073709551615,"b":[50.0,-1.5e-7,Infinity,NaN,null,true,false],"c":{"d":"x\\"\\u0001\\n,}"}}',
    '[]',
    '{}',
    '"only text with 123 and {braces}"',
    '{"a\\\\":"b\\\\","c":"\\\\\\"","d\\"":["\\\\\\\\",":1,"]}',
  ]
  test.each(texts)('keeps every number and text as written: %s', (text) => {
    expect(printAst(parseAst(text))).toBe(text.replace('\\u0001', '\\u0001'))
    expect(printAst(cloneAst(parseAst(text)))).toBe(printAst(parseAst(text)))
  })

  test('that is too deep is refused', () => {
    expect(() => parseAst('['.repeat(2000) + ']'.repeat(2000))).toThrow('too deeply')
  })

  test.each(['{"a":1', '["a"', '"a', '"a\\\\\\"', '{"a" 1}', '{1:2}', '[nul]', ''])('that is broken off is refused: %s', (text) => {
    expect(() => parseAst(text)).toThrow('unexpected character')
  })

  test('does not take a text for a number', () => {
    expect(parseAst('["1"]')).toEqual(['1'])
  })
})

const withConditions = (sql: string) => {
  const { query: tokens } = splitUsing(lex(sql))
  return translate(sql, tokens, {}, missingConditions(tokens)).text
}

describe('JOIN without ON', () => {
  const cases: [string, string][] = [
    ['SELECT * FROM t JOIN m', 'SELECT * FROM t JOIN m ON TRUE'],
    ['SELECT * FROM t JOIN p.m.2 AS x WHERE a', 'SELECT * FROM t JOIN p.m."2" AS x ON TRUE WHERE a'],
    ['SELECT * FROM t JOIN m x LIMIT 1', 'SELECT * FROM t JOIN m x ON TRUE LIMIT 1'],
    ['SELECT * FROM t JOIN m JOIN n ON a', 'SELECT * FROM t JOIN m ON TRUE JOIN n ON a'],
    ['SELECT * FROM t JOIN (SELECT 1) AS x(a), u', 'SELECT * FROM t JOIN (SELECT 1) AS x(a) ON TRUE, u'],
    ['SELECT * FROM t JOIN m x AT (VERSION => 3) GROUP BY a', 'SELECT * FROM t JOIN m x AT (VERSION => 3) ON TRUE GROUP BY a'],
    ['SELECT * FROM t LEFT JOIN m USING (a)', 'SELECT * FROM t LEFT JOIN m USING (a)'],
    [
      'SELECT * FROM t CROSS JOIN m NATURAL LEFT JOIN n POSITIONAL JOIN o',
      'SELECT * FROM t CROSS JOIN m NATURAL LEFT JOIN n POSITIONAL JOIN o',
    ],
    ['SELECT * FROM t JOIN m JOIN u ON a ON b WHERE c', 'SELECT * FROM t JOIN m JOIN u ON a ON b WHERE c'],
    ['SELECT * FROM (SELECT * FROM t JOIN m) AS s JOIN u ON a', 'SELECT * FROM (SELECT * FROM t JOIN m ON TRUE) AS s JOIN u ON a'],
    ['SELECT * FROM (t JOIN m JOIN u ON a ON b) JOIN n', 'SELECT * FROM (t JOIN m JOIN u ON a ON b) JOIN n ON TRUE'],
    ['SELECT a AS join, t.join FROM t', 'SELECT a AS join, t.join FROM t'],
    ['SELECT * FROM t JOIN m LIMIT 2 USING a = 1, b = 2', 'SELECT * FROM t JOIN m ON TRUE LIMIT 2'],
  ]
  test.each(cases)('%s', (sql, expected) => expect(withConditions(sql)).toBe(expected))
})

describe('parameters', () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ['SELECT :a', { a: "it's" }, "SELECT  'it''s' "],
    ['SELECT :a, :b', { a: 1.5, b: null }, 'SELECT  1.5 ,  NULL '],
    ['SELECT ?, ?', { 1: true, 2: [1, 'x'] }, "SELECT  true ,  [1, 'x'] "],
    ['SELECT :a', { a: { k: 'v' } }, `SELECT  '{"k":"v"}' `],
  ]
  test.each(cases)('%s with %j', (sql, params, expected) => expect(translate(sql, lex(sql), params).text).toBe(expected))

  test('that are not set are named', () => expect(() => translate('SELECT :x', lex('SELECT :x'), {})).toThrow('Parameter is not set: x'))
  test('are own members only', () => expect(() => translate('SELECT :toString', lex('SELECT :toString'), {})).toThrow('not set'))
})

test('a place in the text that DuckDB reads leads back to the user’s text', () => {
  const sql = 'SELECT `größe`, :n, nope FROM t'
  const translation = translate(sql, lex(sql), { n: 'a long parameter' })
  const bytes = Buffer.byteLength(translation.text.slice(0, translation.text.indexOf('nope')))
  expect(translation.userOffset(bytes)).toBe(sql.indexOf('nope'))
})

test('the similarName known name is one that is like it', () => {
  expect(similarName('skils', ['agents', 'skills'])).toBe('skills')
  expect(similarName('cuont', ['count', 'sum'])).toBe('count')
  expect(similarName('xyz', ['agents', 'skills'])).toBeUndefined()
})
