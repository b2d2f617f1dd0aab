import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { bytesShape } from '../../../src/files/byte-shapes.js'
import { textShape } from '../../../src/files/value-shapes.js'
import { load, types } from './tables.js'

const column = async (values: string[], separator = ',') => {
  const quoted = values.map((value) => `"${value}"${separator}x`)
  const table = await load(`v${separator}t\n${quoted.join('\n')}\n`)
  return { type: table.columns[0]?.type, values: table.rows.map(([value]) => value), warnings: table.warnings }
}

describe('a column has the type of all its values', () => {
  test.each([
    ['integers', ['1', '-20', '0'], 'BIGINT', ['1', '-20', '0']],
    ['64-bit integers', ['9223372036854775807', '-9223372036854775808'], 'BIGINT', ['9223372036854775807', '-9223372036854775808']],
    ['fractions', ['1.5', '2', '.5', '1e-3', '3.'], 'DOUBLE', [1.5, 2, 0.5, 0.001, 3]],
    ['blanks around numbers', [' 1', '2 ', ' '], 'BIGINT', ['1', '2', null]],
    ['true and false', ['true', 'FALSE', ''], 'BOOLEAN', [true, false, null]],
    ['days', ['2024-02-29', '1970-01-01'], 'DATE', ['2024-02-29', '1970-01-01']],
    ['days with slashes, year first', ['2024/02/29'], 'DATE', ['2024-02-29']],
    ['days with dots, day first', ['29.02.2024', '01.12.1999'], 'DATE', ['2024-02-29', '1999-12-01']],
    [
      'moments and days',
      ['2024-01-02 03:04', '2024-01-02T03:04:05.123456', '2024-01-02'],
      'TIMESTAMP',
      ['2024-01-02 03:04:00', '2024-01-02 03:04:05.123456', '2024-01-02 00:00:00'],
    ],
    [
      'moments with a zone',
      ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05+02:00'],
      'TIMESTAMP',
      ['2024-01-02 03:04:05', '2024-01-02 01:04:05'],
    ],
  ])('%s', async (_, given, type, values) => {
    expect(await column(given)).toMatchObject({ type, values })
  })

  test.each([
    ['leading zeros', ['00123', '45']],
    ['plus signs', ['+4930123', '+491']],
    ['integers beyond 64 bits', ['9223372036854775808', '1']],
    ['integers that a DOUBLE would round, beside fractions', ['9007199254740993', '1.5']],
    ['a word among numbers', ['1', 'two']],
    ['underscores', ['1_000']],
    ['other bases', ['0x10']],
    ['infinity', ['inf', '1.5']],
    ['numbers beyond a DOUBLE', ['1e400', '1']],
    ['yes and no', ['yes', 'no']],
    ['days that no calendar has', ['2023-02-29', '2024-01-01']],
    ['days and moments with a zone mixed', ['2024-01-02', '2024-01-02T03:04:05Z']],
    ['moments finer than microseconds', ['2024-01-02 03:04:05.1234567']],
    ['slashes with the year last', ['01/02/2024']],
    ['booleans and numbers mixed', ['true', '1']],
  ])('%s stay text, as they were', async (_, given) => {
    expect(await column(given)).toMatchObject({ type: 'VARCHAR', values: given })
  })

  test('the last of many rows decides too', async () => {
    const table = await load(`a\n${'1\n'.repeat(50_000)}x\n`)
    expect([table.columns[0]?.type, table.rowCount]).toEqual(['VARCHAR', 50_001])
  })

  test('markers for no value are NULL in typed columns, and told; in text they stay', async () => {
    const table = await load('n,t\n1,NA\nNA,b\nNULL,c\n')
    expect(types(table)).toEqual(['n BIGINT', 't VARCHAR'])
    expect(table.rows).toEqual([
      ['1', 'NA'],
      [null, 'b'],
      [null, 'c'],
    ])
    expect(table.warnings).toEqual(['Column "n" has markers such as NA, which are read as NULL.'])
  })
})

describe('commas in numbers', () => {
  test.each([
    ['decimal commas under semicolons', ';', ['1,5', '2', '1,234'], [1.5, 2, 1.234]],
    ['thousands by dots and decimal commas', ';', ['1.234,5', '2.000', '7'], [1234.5, 2000, 7]],
    ['one decimal comma in a column of integers and dots', ',', ['484', '640,56', '674.5', '1.234'], [484, 640.56, 674.5, 1.234]],
    ['thousands by commas', ',', ['1,234,567', '1,000', '12'], [1234567, 1000, 12]],
    ['thousands by commas with fractions', ',', ['1,234.5', '1,000'], [1234.5, 1000]],
  ])('%s are numbers', async (_, separator, given, values) => {
    expect(await column(given, separator)).toMatchObject({ type: 'DOUBLE', values })
  })

  test.each([
    ['three digits after a comma, which may be a thousand', ',', ['1,234', '5']],
    ['both kinds of commas', ',', ['1,234,567', '1,5']],
    ['decimal commas and a dot that may be a thousand', ';', ['1,5', '1.234']],
  ])('%s stay text, with a warning', async (_, separator, given) => {
    const found = await column(given, separator)
    expect(found).toMatchObject({ type: 'VARCHAR', values: given })
    expect(found.warnings).toHaveLength(1)
  })
})

test('bytes have the shape of their text', () => {
  const value = fc.oneof(
    fc.string({ unit: fc.constantFrom(...Array.from('0123456789-.,:/ TZe+')), maxLength: 22 }),
    fc.constantFrom(
      '2024-02-30',
      '2024-01-02 03:04:05',
      '2024-01-02T24:00:00',
      '0000-01-01',
      '1900-02-29',
      'NA',
      'True',
      '1.234',
      '0.234',
      '-007',
      'é',
    ),
  )
  fc.assert(
    fc.property(value, (text) => bytesShape(Buffer.from(`x${text}x`), 1, 1 + Buffer.byteLength(text)) === textShape(text)),
    {
      numRuns: 5_000,
    },
  )
})
