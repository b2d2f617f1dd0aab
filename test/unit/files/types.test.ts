import { describe, expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import { bytesShape } from '../../../src/files/types/shape-of-bytes.js'
import { textShape } from '../../../src/files/types/shape-of-text.js'
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
    ['days with dots, day first', ['29.02.2024', '01.12.1999', '1.2.2000'], 'DATE', ['2024-02-29', '1999-12-01', '2000-02-01']],
    ['days of which one has its day first', ['30/09/2007', '01/02/2008', '5/5/2008'], 'DATE', ['2007-09-30', '2008-02-01', '2008-05-05']],
    ['days of which one has its month first', ['12/31/2020', '01/02/2021', ''], 'DATE', ['2020-12-31', '2021-01-02', null]],
    ['days that are the same either way', ['01/01/2020', '1-1-2021'], 'DATE', ['2020-01-01', '2021-01-01']],
    ['days with dashes, day first', ['31-12-2020', '1-2-2020'], 'DATE', ['2020-12-31', '2020-02-01']],
    ['days with the year first in any form', ['2020/12/31', '2020-1-5', '2020-02-03'], 'DATE', ['2020-12-31', '2020-01-05', '2020-02-03']],
    ['months', ['1749-01', '1981-4', '2020-12'], 'DATE', ['1749-01-01', '1981-04-01', '2020-12-01']],
    ['months with the year last', ['01/1749', '4/1981'], 'DATE', ['1749-01-01', '1981-04-01']],
    [
      'days with the names of months',
      ['30 Sep 2007', 'Sept 1, 2008', '3-december-2008', 'MAY 4 2009'],
      'DATE',
      ['2007-09-30', '2008-09-01', '2008-12-03', '2009-05-04'],
    ],
    ['months by name', ['Jan 2000', 'December, 2001', 'may-2002'], 'DATE', ['2000-01-01', '2001-12-01', '2002-05-01']],
    [
      'days and times of day',
      ['30/09/2007 14:30', '1/2/2008 9:05:07', '2/2/2008', '3/2/2008 1:05 PM', '3/2/2008 12:00:01 am', '4/2/2008 23:59:59.25'],
      'TIMESTAMP',
      [
        '2007-09-30 14:30:00',
        '2008-02-01 09:05:07',
        '2008-02-02 00:00:00',
        '2008-02-03 13:05:00',
        '2008-02-03 00:00:01',
        '2008-02-04 23:59:59.25',
      ],
    ],
    ['names of months and times of day', ['Sep 30, 2007 2:30 PM'], 'TIMESTAMP', ['2007-09-30 14:30:00']],
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
    ['booleans and numbers mixed', ['true', '1']],
  ])('%s stay text, as they were', async (_, given) => {
    expect(await column(given)).toMatchObject({ type: 'VARCHAR', values: given })
  })

  test.each([
    ['days that may have either first', ['01/02/2024', '03/04/2024'], 'whether the day or the month is first'],
    ['days that contradict each other', ['30/09/2007', '09/30/2007'], 'days like 30/09/2007 and days like 09/30/2007'],
    ['pairs of years', ['2005-06', '2006-07'], 'pairs of years'],
    ['days in several forms', ['30/09/2007', '2007-10-01'], 'more than one form'],
    ['a day that no calendar has', ['30/01/2007', '31/02/2007', '30/02/2007'], 'has a day that does not exist: "31/02/2007" in line 3'],
    ['an ISO day that no calendar has', ['2007-01-30', '2007-02-29'], '"2007-02-29" in line 3'],
  ])('%s stay text, and the warning says why', async (_, given, why) => {
    const csv = await column(given)
    expect(csv).toMatchObject({ type: 'VARCHAR', values: given })
    expect(csv.warnings).toEqual([expect.stringContaining(why)])
    const json = await load(['{"v":null}', ...given.map((v) => JSON.stringify({ v }))].join('\n'), 'a.json')
    expect(types(json)).toEqual(['v VARCHAR'])
    expect(json.warnings).toEqual(csv.warnings)
  })

  test.each([
    ['numbers of parts', ['1234-5', '2001-12']],
    ['fractions', ['1/2', '3/4']],
    ['words that begin like a month', ['mayor', 'March of 2001', 'Junk 5 2001']],
    ['moments with a wrong time', ['30/09/2007 24:30']],
  ])('%s are no days', async (_, given) => {
    expect(await column(given)).toMatchObject({ type: 'VARCHAR', values: given, warnings: [] })
  })

  test('JSON has the same days as CSV', async () => {
    for (const given of [
      ['30/09/2007', '01/02/2008'],
      ['1749-01', '1981-4'],
      ['Jan 1 2000', 'Feb 1 2000'],
      ['12/31/2020 11:59 PM', '1/2/2021'],
    ]) {
      const [csv, json] = [await column(given), await load(JSON.stringify(given.map((v) => ({ v }))), 'a.json')]
      expect(json.rows.map(([value]) => value)).toEqual(csv.values)
      expect([json.columns[0]?.type, json.warnings]).toEqual([csv.type, csv.warnings])
      expect(csv.type).toMatch(/DATE|TIMESTAMP/)
    }
  })

  test('every day is read as itself, whichever way it is written', async () => {
    const days = Array.from({ length: 400 }, (_, i) => new Date(Date.UTC(1999, 0, 1) + i * 9 * 86_400_000))
    const two = (part: number) => String(part).padStart(2, '0')
    const month = (day: Date) => day.toLocaleString('en', { month: 'long', timeZone: 'UTC' })
    const forms: ((day: Date) => string)[] = [
      (day) => `${two(day.getUTCDate())}/${two(day.getUTCMonth() + 1)}/${day.getUTCFullYear()}`,
      (day) => `${day.getUTCMonth() + 1}-${day.getUTCDate()}-${day.getUTCFullYear()}`,
      (day) => `${day.getUTCDate()}.${day.getUTCMonth() + 1}.${day.getUTCFullYear()}`,
      (day) => `${day.getUTCFullYear()}/${day.getUTCMonth() + 1}/${day.getUTCDate()}`,
      (day) => `${day.getUTCDate()} ${month(day).slice(0, 3)} ${day.getUTCFullYear()}`,
      (day) => `${month(day)} ${day.getUTCDate()}, ${day.getUTCFullYear()}`,
    ]
    for (const form of forms)
      expect(await column(days.map(form))).toMatchObject({ type: 'DATE', values: days.map((day) => day.toISOString().slice(0, 10)) })
  })

  test.each([
    ['a fraction of 16 digits', ['90071992547409.93', '1.5']],
    ['a fraction of 19 digits', ['12345678901234567.89']],
    ['a number that is less than the least DOUBLE', ['1e-400', '1']],
    ['a number with an exponent', ['1.2345678901234567891e5']],
    ['a fraction of 45 digits', ['0.123456789012345678901234567890123456789012345', '1.5']],
    ['an integer of 45 digits', ['123456789012345678901234567890123456789012345', '1']],
    ['a number that is more than the greatest DOUBLE', ['1e400', '1']],
    ['thousands by commas', ['9,007,199,254,740,993']],
    ['thousands by commas and a fraction', ['90,071,992,547,409.93', '1,234.5']],
    ['a decimal comma', ['90071992547409,93', '1,5']],
    ['thousands by dots and a decimal comma', ['90.071.992.547.409,93']],
  ])('%s that a DOUBLE would round keeps its column a text, with a warning', async (_, given) => {
    const found = await column(given, ';')
    expect(found).toMatchObject({ type: 'VARCHAR', values: given })
    expect(found.warnings).toEqual([expect.stringContaining('has numbers that neither 64 bits nor a DOUBLE hold exactly')])
  })

  test.each([
    ['by the shortest digits', ['0.30000000000000004', '-1.7976931348623157e308', '123456789012345.69', '5e-324', '9007199254740992.0']],
    ['by more digits than needed', ['0.10000000000000001', '0.100000000000000006', '1.000000000000000056e-01', '4.9406564584124654e-324']],
    ['with all its digits', ['0.5', '0.1000000000000000055511151231257827021181583404541015625']],
    ['with zeros at the end', ['0.50000000000000000000', '1.500000000000000000', '0.000', '1.100000000000000000']],
    ['with thousands by commas', ['9,007,199,254,740,992', '1,234,567.25']],
  ])('a DOUBLE that a program printed %s is one', async (_, given) => {
    const found = await column(given)
    expect(found).toMatchObject({ type: 'DOUBLE', values: given.map((text) => Number(text.replaceAll(',', ''))), warnings: [] })
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
    ['fractions under semicolons', ';', ['1.234', '12.5', '800'], [1.234, 12.5, 800]],
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
    ['dots that may be thousands under semicolons', ';', ['1.234', '12.500', '800']],
    ['the same under tabs', '\t', ['640,56', '1.234', '12,5']],
    ['the same under commas', ',', ['640,56', '1.234', '12,5']],
  ])('%s stay text, with a warning', async (_, separator, given) => {
    const found = await column(given, separator)
    expect(found).toMatchObject({ type: 'VARCHAR', values: given })
    expect(found.warnings).toHaveLength(1)
  })
})

/** Decimals in plain notation of 14 to 19 digits: most of these are not DOUBLEs, and all numbers of programs are. */
const decimals = fc.oneof(
  fc
    .tuple(fc.bigInt({ min: 10n ** 13n, max: 10n ** 19n }), fc.integer({ min: 0, max: 18 }))
    .map(([digits, places]) => `${digits}`.replace(new RegExp(`(\\d{${places}})$`), '.$1').replace(/^\./, '0.')),
  fc.double({ min: -1e15, max: 1e15, noNaN: true }).map(String),
  fc.tuple(fc.double({ min: 1e-5, max: 1e15, noNaN: true }), fc.integer({ min: 14, max: 19 })).map(([value, n]) => value.toPrecision(n)),
)

test('bytes have the shape of their text', () => {
  const value = fc.oneof(
    decimals,
    fc.string({ unit: fc.constantFrom(...Array.from('0123456789-.,:/ TZe+')), maxLength: 22 }),
    fc.constantFrom(
      '2024-02-30',
      '2024-01-02 03:04:05',
      '2024-01-02T24:00:00',
      '30/09/2007',
      '31/02/2007 9:05',
      '1749-01',
      'Sep 1, 2007',
      'may 2007',
      '1.2.2003',
      '0000-01-01',
      '1900-02-29',
      'NA',
      'True',
      '1.234',
      '0.234',
      '0.1000000000000000055511151231257827021181583404541015625',
      '1e400',
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
