import { describe, expect, test } from '@jest/globals'
import { isProblem } from '../../../src/basics/errors.js'
import { lex, sourceLocationOf, splitSingle } from '../../../src/dialect/lexer.js'
import { memoryDatabase } from '../../support/memory-database.js'
import { translate } from '../../../src/sql/engine/session/translation.js'

const kinds = (sql: string) => lex(sql).map(({ kind, value }) => `${kind}:${value}`)
const translated = (sql: string) => translate(sql, splitSingle(lex(sql)), {}).text
const refusal = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    if (isProblem(error)) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('tokens', () => {
  const cases: [string, string[]][] = [
    ['SELECT 1', ['word:SELECT', 'number:1']],
    ['`a``b`.`c`', ['backquoted:a`b', 'symbol:.', 'backquoted:c']],
    ['"a""b"', ['quoted:a"b']],
    [String.raw`'it\'s' 'it''s'`, ["string:it's", "string:it's"]],
    [String.raw`x LIKE '5\%' ESCAPE '\'`, ['word:x', 'word:LIKE', 'string:5\\%', 'word:ESCAPE', 'string:\\']],
    [String.raw`escape '\\' ESCAPE '\''`, ['word:escape', 'string:\\', 'word:ESCAPE', "string:'"]],
    [String.raw`'a\nb\\' '\d+' '50\%'`, ['string:a\nb\\', 'string:\\d+', 'string:50\\%']],
    [
      String.raw`{"a": "\u00e9\n\"", 'b':true}`,
      ['symbol:{', 'quoted:a', 'symbol::', 'quoted:é\n"', 'symbol:,', 'string:b', 'symbol::', 'word:true', 'symbol:}'],
    ],
    ['shop.rent.2', ['word:shop', 'symbol:.', 'word:rent', 'symbol:.', 'number:2']],
    ['shop.rent.2.features', ['word:shop', 'symbol:.', 'word:rent', 'symbol:.', 'number:2', 'symbol:.', 'word:features']],
    ['files.2024_sales', ['word:files', 'symbol:.', 'word:2024_sales']],
    ['1.5 .5 1e-3 0xff 1_000 2.', ['number:1.5', 'number:.5', 'number:1e-3', 'number:0xff', 'number:1_000', 'number:2.']],
    [
      'a=:p AND b = ? AND c=$q',
      [
        'word:a',
        'symbol:=',
        'parameter:p',
        'word:AND',
        'word:b',
        'symbol:=',
        'parameter:',
        'word:AND',
        'word:c',
        'symbol:=',
        'parameter:q',
      ],
    ],
    [
      'x::int l[a:b] l[1:2]',
      [
        'word:x',
        'symbol:::',
        'word:int',
        'word:l',
        'symbol:[',
        'word:a',
        'symbol::',
        'word:b',
        'symbol:]',
        'word:l',
        'symbol:[',
        'number:1',
        'symbol::',
        'number:2',
        'symbol:]',
      ],
    ],
    ['{a::b}', ['symbol:{', 'word:a', 'symbol:::', 'word:b', 'symbol:}']],
    ['@@version_comment @x @@session.y', ['variable:version_comment', 'variable:x', 'variable:session.y']],
    ['a /* x /* y */ z */ b -- c\n d', ['word:a', 'word:b', 'word:d']],
    ["$$it's$$ $t$a$$b$t$", ["string:it's", 'string:a$$b']],
    [String.raw`E'a\tb' x'4142'`, ['string:a\tb', 'string:4142']],
    ['SELECT\u00a0a\u3000FROM\u2003t\u200b.\u2060b\ufeff', ['word:SELECT', 'word:a', 'word:FROM', 'word:t', 'symbol:.', 'word:b']],
    ['a\u1680b "a\u00a0b"', ['word:a\u1680b', 'quoted:a\u00a0b']],
    ['größe naïve 表', ['word:größe', 'word:naïve', 'word:表']],
    ['a->>b !~~* c', ['word:a', 'symbol:->>', 'word:b', 'symbol:!~~*', 'word:c']],
    ["'😀'", ['string:😀']],
  ]
  test.each(cases)('%s', (sql, expected) => expect(kinds(sql)).toEqual(expected))

  test('are separated by what is white space to DuckDB, and by nothing else', async () => {
    const instance = await memoryDatabase()
    const connection = await instance.connect()
    const characters = Array.from({ length: 0xff80 }, (_, i) => String.fromCharCode(0x80 + i))
    for (const one of characters.filter((each) => /[\s\p{Z}\p{Cc}\p{Cf}]/u.test(each))) {
      const [name] = (await connection.runAndReadAll(`SELECT 1${one}AS${one}b, 2 AS c`)).columnNames()
      const code = one.charCodeAt(0).toString(16)
      expect([code, lex(`a${one}b`).length]).toEqual([code, name === 'b' ? 2 : 1])
    }
    connection.closeSync()
    instance.closeSync()
  })

  test('carry their place in the source', () => {
    for (const token of lex("SELECT `a b` , 'x\\'y' FROM t.1"))
      expect("SELECT `a b` , 'x\\'y' FROM t.1".slice(token.start, token.end)).toBe(token.text)
  })
})

describe('what never ends is refused with its place', () => {
  const cases: [string, RegExp, number, number][] = [
    ["SELECT 'abc", /text begins here with '/, 1, 8],
    ['SELECT 1\n  "abc', /text begins here with "/, 2, 3],
    ['SELECT `abc', /text begins here with `/, 1, 8],
    ['SELECT /* /* */', /comment begins here/, 1, 8],
    ['SELECT $a$ x $$', /begins here with \$a\$/, 1, 8],
  ]
  test.each(cases)('%s', (sql, reason, line, column) => {
    const problem = refusal(() => lex(sql))
    expect(problem.code).toBe('bad_statement')
    expect(problem.detail).toMatch(reason)
    expect(problem.extras).toMatchObject({ line, column })
    expect(problem.detail).toContain('^')
  })

  test('an escaped last quote gets the hint that fits', () =>
    expect(refusal(() => lex(String.raw`SELECT split_part(p, '\', 1)`)).extras.hint).toContain('write \\\\'))
})

describe('the text itself', () => {
  test('must not be too long', () => expect(refusal(() => lex(' '.repeat(1_000_001))).detail).toContain('1000000'))
  test('must be well-formed Unicode', () => expect(refusal(() => lex("SELECT '\ud800'")).detail).toContain('Unicode'))
  test('must not hold a NUL', () => expect(refusal(() => lex("SELECT 'a\0'")).detail).toContain('NUL'))
  test('must not make a NUL by an escape', () => expect(refusal(() => lex(String.raw`SELECT 'a\0'`)).detail).toContain('NUL'))
})

describe('one statement', () => {
  test('may end in semicolons', () => expect(splitSingle(lex('SELECT 1;;')).length).toBe(2))
  test('is not two', () => {
    const problem = refusal(() => splitSingle(lex('SELECT 1; SELECT 2'), 'SELECT 1; SELECT 2'))
    expect(problem.detail).toContain('only one statement')
    expect(problem.extras).toMatchObject({ line: 1, column: 11 })
  })
  test('is not none', () => expect(refusal(() => splitSingle(lex(' -- nothing\n;'))).detail).toContain('empty'))
  test('keeps a semicolon in a text', () => expect(splitSingle(lex("SELECT ';'")).length).toBe(2))
})

describe("DuckDB's spelling", () => {
  const cases: [string, string][] = [
    ['SELECT `a"b`  FROM\tt;', 'SELECT "a""b"  FROM\tt'],
    [String.raw`SELECT 'it\'s', 'a''b', 'C:\\x'`, String.raw`SELECT 'it''s', 'a''b', 'C:\x'`],
    [String.raw`SELECT E'a\tb', '\d'`, String.raw`SELECT E'a\tb', '\d'`],
    ['SELECT /* a note */ 1.50', 'SELECT 1.50'],
    ['SELECT * FROM files.2024_sales', 'SELECT * FROM files."2024_sales"'],
  ]
  test.each(cases)('%s', (sql, expected) => expect(translated(sql)).toBe(expected))
})

test('a position shows line, column and caret', () => {
  expect(sourceLocationOf('SELECT\n  nope', 9)).toEqual({ line: 2, column: 3, caret: '>  nope\n---^' })
  expect(sourceLocationOf('SELECT "😀" x', 12)).toMatchObject({ line: 1, column: 12 })
})
