import { describe, expect, test } from '@jest/globals'
import { digitsOf, putDecimal, putHugeint, putUuid } from '../../../src/connections/batch/numbers.js'
import { openScale } from '../../../src/connections/batch/open-scale.js'
import { daysOf, putInterval, putTimestamp } from '../../../src/connections/batch/times.js'
import { ValueError } from '../../../src/connections/batch/value-error.js'
import { encodeVectors, Vector } from '../../../src/connections/batch/vector.js'
import { encodeBatch, encodeColumns, encodeEnd, encodeError, FrameReader, type Frame } from '../../../src/connections/contract/frames.js'
import { decimal, plain, type ColumnType } from '../../../src/connections/contract/types.js'
import { fillChunk, newChunk } from '../../../src/connections/reader/chunk.js'
import { depthOf, flat, parseArray } from '../../../src/connections/engines/postgres/arrays.js'
import { redacted } from '../../../src/connections/engines/contract/explain.js'
import { mayWrite } from '../../../src/connections/pushdown/native.js'
import { Problem } from '../../../src/basics/errors.js'

const vectorOf = (
  type: ColumnType,
  put: (vector: Vector, row: number, text: string) => void,
  texts: readonly (string | null)[],
): Vector => {
  const vector = new Vector(type)
  texts.forEach((text, row) => {
    if (text === null) vector.setNull(row)
    else put(vector, row, text)
  })
  return vector
}

/** The values of a vector as DuckDB has them, over the whole way of a batch. */
const values = (vector: Vector, rows: number): unknown[] => {
  const chunk = fillChunk(newChunk([vector.type]), [vector.type], encodeVectors([vector], rows))
  return chunk.getColumnValues(0).map((value) => (value === null ? null : String(value)))
}

describe('vectors', () => {
  test.each([1, 11, 12, 13, 100, 70_000])('a text of %i letters arrives, plain or not', (length) => {
    const texts = ['x'.repeat(length), 'é'.repeat(length), null, '', '😀']
    const vector = vectorOf(plain('VARCHAR'), (own, row, text) => own.setText(row, text), texts)
    expect(values(vector, texts.length)).toEqual(texts)
  })

  test('a vector that is used again has nothing of the batch before', () => {
    const vector = vectorOf(plain('VARCHAR'), (own, row, text) => own.setText(row, text), ['a long text beyond twelve bytes', null])
    vector.clear()
    vector.setNull(0)
    vector.setText(1, 'b')
    expect(values(vector, 2)).toEqual([null, 'b'])
  })

  test.each([
    [decimal(4, 2), putDecimal(4, 2), ['-99.99', '0', '0.5', '1.500']],
    [decimal(9, 4), putDecimal(9, 4), ['12345.6789', '-0.0001']],
    [decimal(18, 0), putDecimal(18, 0), ['999999999999999999', '-999999999999999999']],
    [decimal(38, 10), putDecimal(38, 10), ['-1234567890123456789012345678.0123456789']],
  ] as const)('%j holds numbers to the last digit', (type, put, texts) => {
    const numbers = values(vectorOf(type, put, texts), texts.length).map(Number)
    expect(numbers).toEqual(texts.map(Number))
  })

  test.each(['100', '1.234', 'NaN', 'Infinity', '', '1e5', '--1'])('%j is no DECIMAL(4,2)', (text) => {
    expect(() => vectorOf(decimal(4, 2), putDecimal(4, 2), [text])).toThrow(ValueError)
  })

  test('numbers of 128 bits, UUIDs and points in time keep their order', () => {
    expect(values(vectorOf(plain('HUGEINT'), putHugeint, [String(-(2n ** 127n)), String(2n ** 127n - 1n)]), 2)).toEqual([
      String(-(2n ** 127n)),
      String(2n ** 127n - 1n),
    ])
    const uuids = ['00000000-0000-0000-0000-000000000001', 'ffffffff-ffff-ffff-ffff-fffffffffffe']
    expect(values(vectorOf(plain('UUID'), putUuid, uuids), 2)).toEqual(uuids)
    expect([daysOf(1970, 1, 1), daysOf(2000, 3, 1), daysOf(0, 2, 29), daysOf(-4712, 1, 1)]).toEqual([0, 11_017, -719_469, -2_440_550])
    expect(() => vectorOf(plain('TIMESTAMP'), putTimestamp, ['294276-12-31 00:00:00'])).toThrow(ValueError)
    expect(() => vectorOf(plain('INTERVAL'), putInterval, ['P1Y'])).toThrow(ValueError)
  })

  test('lists in lists grow beyond a batch', () => {
    const type: ColumnType = { type: 'LIST', of: plain('VARCHAR') }
    const vector = new Vector(type)
    const { child } = vector
    if (!child) throw new Error('a list has a child')
    child.reserve(5_000)
    vector.childRows = 5_000
    vector.data.writeBigUInt64LE(0n, 0)
    vector.data.writeBigUInt64LE(5_000n, 8)
    for (let i = 0; i < 5_000; i++) {
      if (i % 3 === 0) child.setNull(i)
      else child.setText(i, `item number ${i}`)
    }
    const [list] = values(vector, 1)
    expect(String(list)).toContain("'item number 4999'")
  })

  test('a batch that is damaged is refused, and DuckDB is not touched', () => {
    const type = plain('VARCHAR')
    const good = encodeVectors([vectorOf(type, (own, row, text) => own.setText(row, text), ['short', 'a text beyond twelve bytes'])], 2)
    const read = (bytes: Buffer) => fillChunk(newChunk([type]), [type], bytes)
    for (const [at, value] of [
      [0, 4_000],
      [16, 13],
      [48, 500],
      [52, 99_999],
    ] as const) {
      const bad = Buffer.from(good)
      bad.writeUInt32LE(value, at)
      expect(() => read(bad)).toThrow()
    }
    for (let length = 8; length < good.length; length += 8) expect(() => read(Buffer.from(good.subarray(0, length)))).toThrow()
    expect(read(good).getColumnValues(0)).toEqual(['short', 'a text beyond twelve bytes'])
  })
})

test('frames are whole again, however they are cut', () => {
  const bytes = Buffer.concat([
    encodeColumns([{ name: 'a', type: plain('INTEGER') }], 'SELECT 1'),
    ...encodeBatch(Buffer.from('12345678')),
    ...encodeBatch(Buffer.alloc(0)),
    encodeEnd({ rows: 1, bytes: 8 }),
    encodeError(new Problem('busy', 'Busy', 'later', { hint: 'wait' })),
    encodeError(new Error('a secret')),
  ])
  for (const size of [1, 3, 7, 64, bytes.length]) {
    const reader = new FrameReader()
    const frames: Frame[] = []
    for (let at = 0; at < bytes.length; at += size) frames.push(...reader.push(bytes.subarray(at, at + size)))
    expect(frames).toHaveLength(6)
    expect(frames[3]).toEqual({ end: { rows: 1, bytes: 8 } })
    expect(JSON.stringify(frames[5])).not.toContain('a secret')
  }
})

describe('arrays of PostgreSQL', () => {
  test.each([
    ['{}', 0, []],
    ['{1,NULL,3}', 1, ['1', null, '3']],
    ['{"NULL",null,""}', 1, ['NULL', null, '']],
    ['{"a,b","c\\"d","e\\\\f"," x "}', 1, ['a,b', 'c"d', 'e\\f', ' x ']],
    ['[-1:0]={5,6}', 1, ['5', '6']],
    ['{{1,2},{3,4}}', 2, ['1', '2', '3', '4']],
  ] as const)('%s', (text, depth, items) => {
    expect(depthOf(text)).toBe(depth)
    expect(flat(parseArray(text, ','))).toEqual(items)
  })

  test.each(['', '1', '{', '{1', '{1,{2}', '{"a', '{1;2'])('%j is none', (text) => {
    expect(() => parseArray(text, ',')).toThrow(ValueError)
  })
})

describe('statements that read', () => {
  test.each([
    'SELECT 1',
    '  select 1',
    '(SELECT 1)',
    '-- x\nSELECT 1',
    '/* x */ WITH a AS (SELECT 1) SELECT * FROM a',
    'TABLE x',
    'SHOW TABLES',
    'SELECT outfile FROM x',
  ])('%j', (sql) => {
    expect(() => mayWrite({ native: sql }, false)).not.toThrow()
  })
  test.each([
    '',
    'DELETE FROM x',
    '/* a /* b */ SELECT */ DELETE',
    '/*!50000 SELECT */ 1',
    'SELECT 1 INTO OUTFILE 1',
    "SELECT 1 into/**/dumpfile 'x'",
    "SELECT 1 INTO -- x\n#\nOUTFILE 'x'",
    "SELECT 1.5INTO OUTFILE 'x'",
    'SELECTED',
    ';SELECT 1',
  ])('not %j', (sql) => {
    expect(() => mayWrite({ native: sql }, false)).toThrow(Problem)
  })
})

test.each<[text: string, digits: ReturnType<typeof digitsOf>]>([
  ['12.50', { before: 2, behind: 1 }],
  ['-0012', { before: 2, behind: 0 }],
  ['+0.0', { before: 0, behind: 0 }],
  ['1200', { before: 4, behind: 0 }],
  ['.5', { before: 0, behind: 1 }],
  ['NaN', undefined],
  ['1e5', undefined],
  // Longer work than its length would not end.
  [`0.${'0'.repeat(2_000_000)}1`, { before: 0, behind: 2_000_001 }],
  [`${'0'.repeat(2_000_000)}x`, undefined],
])('the digits of a number are counted', (text, digits) => {
  expect(digitsOf(text)).toEqual(digits)
})

test.each<[texts: (string | null)[], most: number, scale: number | undefined]>([
  [[], 30, 16],
  [[], 0, 0],
  [['123456789.5', null, '0.3'], 30, 16],
  [['0.333333333333333333333333333333'], 30, 30],
  [['0.333333333333333333333333333333'], Infinity, 34],
  [['1234567890123456789012345678.5'], 10, 10],
  [['12345678901234567890123456789'], 10, 0],
  [['12345678901234567890123456789.5'], 30, 5],
  [['12345678901234567890.1234567890123456789'], 30, undefined],
])('numbers %j with at most %d digits behind the point have the scale %s', (texts, most, scale) => {
  expect(openScale(texts, most)).toBe(scale)
})

test('a secret is taken out of a text of any length', () => {
  expect(redacted('at postgres://u:word@host/db', ['word'])).toBe('at …@host/db')
  expect(redacted('a'.repeat(2_000_000), ['word'])).toMatch(/^a+/)
  expect(redacted('a://'.repeat(500_000), ['word'])).toMatch(/^a:/)
})
