import { describe, expect, test } from '@jest/globals'
import { load, problemOf, types } from './tables.js'

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

describe('encodings', () => {
  const text = 'name,city\nZoë,Köln\nИван,東京\n'
  const rows = [
    ['Zoë', 'Köln'],
    ['Иван', '東京'],
  ]
  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 LE with a mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 BE with a mark', utf16be(`\ufeff${text}`)],
  ])('%s gives the same table', async (_, bytes) => {
    const table = await load(bytes)
    expect(types(table)).toEqual(['name VARCHAR', 'city VARCHAR'])
    expect(table.rows).toEqual(rows)
  })

  test('Windows-1252 is read when the text is not UTF-8, and the result says so', async () => {
    const table = await load(Buffer.from('name;price\nM\xfcller\x92s;5 \x80\n', 'latin1'))
    expect(table.rows).toEqual([['Müller’s', '5 €']])
    expect(table.warnings).toEqual(['The text is not UTF-8; it was read as Windows-1252.'])
  })

  test('UTF-8 with a damaged character is refused, not read as another encoding', async () => {
    const problem = await problemOf(load(Buffer.concat([Buffer.from('name\nZoë\nJürgen\nKöln'), Buffer.from([0xc3, 0x0a])])))
    expect(problem.code).toBe('bad_file')
    expect(problem.detail).toContain('not well-formed')
  })

  test.each([
    ['half a surrogate pair in UTF-16', Buffer.from([0xff, 0xfe, 0x61, 0, 0x0a, 0, 0, 0xd8, 0x0a, 0])],
    ['a byte that no encoding has', Buffer.from('a\n\x81\n', 'latin1')],
    ['UTF-16 without a mark', Buffer.from('a,b\n1,2\n', 'utf16le')],
  ])('%s is refused', async (_, bytes) => {
    expect((await problemOf(load(bytes))).code).toBe('bad_file')
  })

  test('a character on the border of two chunks stays whole', async () => {
    const bytes = Buffer.from(`a\n${'ä'.repeat(3 * 1024 * 1024)}\nb\n`)
    expect((await load(bytes)).rows).toEqual([['ä'.repeat(3 * 1024 * 1024)], ['b']])
  })

  test('a NUL is refused with its line', async () => {
    const problem = await problemOf(load('a,b\n1,2\n3,\0\n'))
    expect([problem.code, problem.extras['line']]).toEqual(['bad_file', 3])
  })
})

describe('dialects', () => {
  test.each([
    ['comma', ','],
    ['semicolon', ';'],
    ['tab', '\t'],
    ['bar', '|'],
  ])('a %s separates', async (_, separator) => {
    const table = await load(
      [
        ['a', 'b'],
        ['1', 'x'],
        ['2', 'y'],
      ]
        .map((row) => row.join(separator))
        .join('\n'),
    )
    expect(types(table)).toEqual(['a BIGINT', 'b VARCHAR'])
    expect(table.rows).toEqual([
      ['1', 'x'],
      ['2', 'y'],
    ])
  })

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('lines end with %s, and the last one may not', async (_, end) => {
    const lines = ['a,b', '1,"x"', '2,y']
    const expected = [
      ['1', 'x'],
      ['2', 'y'],
    ]
    expect((await load(lines.join(end))).rows).toEqual(expected)
    expect((await load(lines.join(end) + end)).rows).toEqual(expected)
  })

  test('semicolons win over the commas of the numbers', async () => {
    const table = await load('a;b\n1,5;2,25\n3,5;4,75\n')
    expect(types(table)).toEqual(['a DOUBLE', 'b DOUBLE'])
    expect(table.rows).toEqual([
      [1.5, 2.25],
      [3.5, 4.75],
    ])
  })

  test('the sep= line of spreadsheets is not part of the table', async () => {
    const table = await load('sep=;\r\na;b\r\n1;2\r\n')
    expect(table.rows).toEqual([['1', '2']])
    expect((await problemOf(load('sep=;\r\na;b\r\n1\r\n'))).extras['line']).toBe(3)
  })

  test('one column needs no separator', async () => {
    expect((await load('a\n1\n\n""\n2\n')).rows).toEqual([['1'], [null], ['2']])
  })
})

describe('fields', () => {
  test('quotes keep separators, line breaks, quotes and blanks', async () => {
    const table = await load('a,b\n"1, 2","x\r\ny"\n"say ""hi""","  z "\n  p , q\n')
    expect(table.rows).toEqual([
      ['1, 2', 'x\r\ny'],
      ['say "hi"', '  z '],
      ['  p ', ' q'],
    ])
  })

  test('a quote within a bare field and a lone carriage return are text', async () => {
    expect((await load('a,b\n5" pipe,x\ry\nplain,"q" \n')).rows).toEqual([
      ['5" pipe', 'x\ry'],
      ['plain', 'q'],
    ])
  })

  test('empty fields are NULL, empty lines are no rows, and separators alone are a row', async () => {
    expect((await load('a,b\n\n1,\n   \n"",x\n,\n')).rows).toEqual([
      ['1', null],
      [null, 'x'],
      [null, null],
    ])
  })

  test('a huge field is read whole', async () => {
    const huge = 'x,"y'.repeat(1_500_000)
    expect((await load(`a,b\n"${huge.replaceAll('"', '""')}",1\nz,2\n`)).rows).toEqual([
      [huge, '1'],
      ['z', '2'],
    ])
  })

  test('a row beyond the limit is refused', async () => {
    const problem = await problemOf(load(`a\n"${'x'.repeat(40 * 1024 * 1024)}"\n`))
    expect(problem.code).toBe('too_large')
  })
})

describe('rows that do not fit', () => {
  const ragged = 'a,b\n1,2\n3\n4,5,6\n"x\ny",7\n8,"open\n9,10\n'

  test('a row with another number of fields is refused with line, text and reason', async () => {
    const problem = await problemOf(load(ragged))
    expect(problem.code).toBe('bad_file')
    expect(problem.detail).toBe('Line 3: it has 1 field, and the first row has 2')
    expect(problem.extras).toMatchObject({ line: 3, text: '3', reason: 'it has 1 field, and the first row has 2' })
  })

  test('skipped rows are counted and reported, and the rows after an open quote are kept', async () => {
    const table = await load(ragged, 'a.csv', 'skip')
    expect(table.rows).toEqual([
      ['1', '2'],
      ['x\ny', '7'],
      ['9', '10'],
    ])
    expect(table.skipped).toEqual({
      count: 3,
      first: [
        { line: 3, text: '3', reason: 'it has 1 field, and the first row has 2' },
        { line: 4, text: '4,5,6', reason: 'it has 3 fields, and the first row has 2' },
        { line: 7, text: '8,"open', reason: 'a quote is opened and not closed' },
      ],
    })
  })

  test('skipped rows may lie across the pieces that a file is read in', async () => {
    const pair = `1,"a\nb"\n"x"y,${'z'.repeat(3_000)}\n`
    const table = await load(`a,b\n${pair.repeat(4_000)}`, 'a.csv', 'skip')
    expect([table.rowCount, table.skipped.count, table.skipped.first[99]?.line]).toEqual([4_000, 4_000, 301])
  })

  test('text after a closing quote is refused', async () => {
    expect((await problemOf(load('a,b\n"x"y,1\n'))).detail).toBe('Line 2: text follows a closing quote')
  })

  test('only the first 100 skipped rows are told, cut to 200 characters', async () => {
    const table = await load(`a,b\n1,2\n${`${'x'.repeat(300)}\n`.repeat(150)}`, 'a.csv', 'skip')
    expect([table.skipped.count, table.skipped.first.length, table.skipped.first[0]?.text.length]).toEqual([150, 100, 201])
  })

  test('a file of which nothing is left is refused', async () => {
    expect((await problemOf(load('a,b\n1\n2\n', 'a.csv', 'skip'))).detail).toContain('None of the 2 rows')
  })

  test.each([
    ['nothing', ''],
    ['a mark', '\ufeff'],
    ['empty lines', '\n\n  \n'],
    ['an open quote in the first row', '"a,b\n1,2\n'],
  ])('a file of %s is refused', async (_, text) => {
    expect((await problemOf(load(text))).code).toBe('bad_file')
  })
})

describe('names of columns', () => {
  test('duplicate and empty names are changed, always in the same way, and told', async () => {
    const table = await load('x,X,,x_1, y \n1,2,3,4,5\n')
    expect(table.columns.map(({ name }) => name)).toEqual(['x', 'X_2', 'column_3', 'x_1', 'y'])
    expect(table.renamed).toEqual([
      { from: 'X', to: 'X_2' },
      { from: '', to: 'column_3' },
      { from: ' y ', to: 'y' },
    ])
  })

  test('any text can be a name', async () => {
    const table = await load('"a ""b""; DROP TABLE x","\'--",Ünïcode\n1,2,3\n')
    expect(table.columns.map(({ name }) => name)).toEqual(['a "b"; DROP TABLE x', "'--", 'Ünïcode'])
  })

  test('a first row of numbers only is data, numbers that count the columns are names', async () => {
    const table = await load('5.1,3\n4.9,2\n')
    expect(table.columns.map(({ name }) => name)).toEqual(['column_1', 'column_2'])
    expect(table.rowCount).toBe(2)
    expect(table.warnings[0]).toContain('read as data')
    expect((await load('0,1,2\n5,6,7\n')).rowCount).toBe(1)
  })

  test('a file of names alone is an empty table', async () => {
    const table = await load('a,b')
    expect([table.rowCount, table.warnings.length]).toEqual([0, 1])
  })
})
