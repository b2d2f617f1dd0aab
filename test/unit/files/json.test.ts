import { describe, expect, test } from '@jest/globals'
import { load, problemOf, types } from './tables.js'

const json = (text: string, onBadRows: 'refuse' | 'skip' = 'refuse') => load(text, 'a.json', onBadRows)

describe('objects are rows', () => {
  const rows = [
    ['1', 'x', null],
    [null, 'y', true],
  ]
  test.each([
    ['an array', '[{"a": 1, "b": "x"}, {"b": "y", "c": true, "a": null}]'],
    ['an array over many lines', '[\n {\n "a": 1,\n "b": "x"\n },\n { "b": "y", "c": true }\n]\n'],
    ['JSON lines', '{"a":1,"b":"x"}\n\n{"b":"y","c":true}\n'],
    ['objects one after the other', '{"a":1,"b":"x"} {"b":"y",\n"c":true}'],
    ['a byte order mark', '\ufeff[{"a":1,"b":"x"},{"b":"y","c":true}]'],
  ])('%s', async (_, text) => {
    const table = await json(text)
    expect(types(table)).toEqual(['a BIGINT', 'b VARCHAR', 'c BOOLEAN'])
    expect(table.rows).toEqual(rows)
  })

  test('an object without members is a row of NULL, a key met late is a column', async () => {
    expect((await json('{}\n{"a":1}\n{}\n{"b":2}\n')).rows).toEqual([
      [null, null],
      ['1', null],
      [null, null],
      [null, '2'],
    ])
  })

  test('empty text is not NULL, and text is never made a number', async () => {
    const table = await json('[{"a":"","b":"12"},{"a":null,"b":"3"},{"a":"x","b":"4"}]')
    expect(types(table)).toEqual(['a VARCHAR', 'b VARCHAR'])
    expect(table.rows).toEqual([
      ['', '12'],
      [null, '3'],
      ['x', '4'],
    ])
  })

  test('no number is rounded: what fits no type is text as it was written', async () => {
    const table = await json('[{"a":9223372036854775807,"b":123456789012345678901234567890,"c":1.5,"d":"x"},{"a":1,"b":1,"c":2,"d":1.50}]')
    expect(types(table)).toEqual(['a BIGINT', 'b VARCHAR', 'c DOUBLE', 'd VARCHAR'])
    expect(table.rows[0]).toEqual(['9223372036854775807', '123456789012345678901234567890', 1.5, 'x'])
    expect(table.rows[1]).toEqual(['1', '1', 2, '1.50'])
    const long = await json('[{"a":12345678901234567.89,"b":1e-400,"c":0.30000000000000004}]')
    expect(types(long)).toEqual(['a VARCHAR', 'b VARCHAR', 'c DOUBLE'])
    expect(long.rows).toEqual([['12345678901234567.89', '1e-400', 0.30000000000000004]])
    expect(long.warnings).toHaveLength(2)
  })

  test('nested values are JSON text without blanks between their parts', async () => {
    const table = await json('[{"a": {"b": [1, 2.50, "x  y"], "c": 12345678901234567890 }}, {"a": []}]')
    expect(table.rows).toEqual([['{"b":[1,2.50,"x  y"],"c":12345678901234567890}'], ['[]']])
  })

  test('days and moments in text are typed', async () => {
    expect(types(await json('[{"d":"2024-01-31","t":"2024-01-31T10:00:00Z"}]'))).toEqual(['d DATE', 't TIMESTAMP'])
  })

  test('keys that differ in case are two columns', async () => {
    expect(types(await json('[{"id":1,"ID":2,"":3}]'))).toEqual(['id BIGINT', 'ID_1 BIGINT', 'column_3 BIGINT'])
  })

  test('escapes are read, in keys too', async () => {
    expect((await json('{"\\u00e4":"a\\n\\"b\\" \\ud83d\\ude00 \\\\u0000"}')).rows).toEqual([['a\n"b" 😀 \\u0000']])
  })
})

describe('what is no table', () => {
  test.each([
    ['numbers', '[1, 2]', 'an object is expected'],
    ['arrays in an array', '[[1], [2]]', 'an object is expected'],
    ['an array without end', '[{"a":1}', 'not closed'],
    ['text after the array', '[{"a":1}] x', 'text follows'],
    ['a missing comma', '[{"a":1} {"a":2}]', 'a comma or ]'],
    ['a comma too many', '[{"a":1},]', 'expected'],
    ['an empty array', '[]', 'no columns'],
    ['a number with a leading zero', '{"a":01}', '01 is not a JSON value'],
    ['NaN', '{"a":NaN}', 'NaN is not a JSON value'],
    ['a value that is missing', '{"a":}', 'a value is missing'],
    ['a bad escape', '{"a":"\\x"}', 'well-formed'],
    ['a bad nested value', '{"a":[1,]}', 'well-formed'],
    ['a line break in text', '{"a":"x\ny"}', 'line break'],
    ['the same key twice', '{"a":1,"a":2}', 'stands twice'],
    ['a NUL', '{"a":"\\u0000"}', 'NUL'],
    ['half a surrogate pair', '{"a":["\\ud800"]}', 'surrogate'],
    ['deep nesting', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'nested deeper'],
    ['a file that ends too early', '{"a":"x', 'ends within'],
    ['ill-formed text', Buffer.from('{"a":"\xff"}', 'latin1'), 'well-formed'],
  ])('%s is refused', async (_, text, reason) => {
    const problem = await problemOf(load(text, 'a.json'))
    expect(problem.code).toBe('bad_file')
    expect(problem.detail).toContain(reason)
  })

  test('a broken line is named, or skipped', async () => {
    const text = '{"a":1}\n{"a":\n{"a":3}\n{"a":"x}\n{"a":5}\n'
    expect((await problemOf(json(text))).extras).toMatchObject({ line: 2, text: '{"a":' })
    const table = await json(text, 'skip')
    expect(table.rows.at(-1)).toEqual(['5'])
    expect(table.skipped.first.map(({ line }) => line)).toEqual([2, 4])
  })
})
