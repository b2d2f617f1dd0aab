import { describe, expect, it } from '@jest/globals'
import { daysOf, isoMilliseconds, weekday, yearAndMonth } from '../../../src/models/numerics/dates.js'
import { nearest } from '../../../src/basics/nearest.js'
import { draw, Random, shuffle } from '../../../src/models/numerics/random.js'
import { columnTypeOf, readCell, readText } from '../../../src/models/data/values.js'

describe('values', () => {
  it.each([
    ['BIGINT', 'integer'],
    ['UTINYINT', 'integer'],
    ['DECIMAL(18,2)', 'number'],
    ['DOUBLE', 'number'],
    ['BOOLEAN', 'boolean'],
    ["ENUM('a', 'b')", 'text'],
    ['DATE', 'date'],
    ['TIMESTAMP WITH TIME ZONE', 'timestamp'],
    ['TIMESTAMP_NS', 'timestamp'],
    ['INTEGER[]', undefined],
    ['BLOB', undefined],
  ])('reduces %s to %s', (duckdb, type) => {
    expect(columnTypeOf(duckdb)).toBe(type)
  })

  it.each([
    ['number', '823', 823],
    ['number', ' -1.5e3 ', -1500],
    ['number', 12n, 12],
    ['number', null, NaN],
    ['number', Infinity, NaN],
    ['number', -0, 0],
    ['number', 'abc', undefined],
    ['number', '640,56', undefined],
    ['number', '', undefined],
    ['number', '0x10', undefined],
    ['number', '1e999', undefined],
    ['number', true, undefined],
    ['number', [1], undefined],
    ['boolean', 'TRUE', 1],
    ['boolean', 0, 0],
    ['boolean', 'yes', undefined],
    ['boolean', NaN, NaN],
    ['timestamp', new Date(NaN), NaN],
    ['date', '1970-01-02', 1],
    ['date', '1969-12-31T23:00:00Z', -1],
    ['date', '2023-02-29', undefined],
    ['date', 'yesterday', undefined],
    ['date', 1.5, 1],
    ['date', Infinity, NaN],
    ['timestamp', '1970-01-01 00:00:01.5', 1500],
    ['timestamp', '1970-01-01T02:00:00+02:00', 0],
    ['timestamp', new Date(7), 7],
  ] as const)('reads %s %p as %p', (type, value, expected) => {
    expect(readCell(type, value)).toBe(expected)
  })

  it('reads text, and refuses what is none', () => {
    expect([readText('a'), readText(5), readText(null), readText({})]).toEqual(['a', '5', null, undefined])
  })

  it('agrees with the calendar of the platform on four centuries', () => {
    for (let days = daysOf(1900, 1, 1); days < daysOf(2300, 1, 1); days += 17) {
      const date = new Date(days * 86_400_000)
      expect(yearAndMonth(days)).toEqual({ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1 })
      expect(weekday(days)).toBe((date.getUTCDay() + 6) % 7)
      expect(isoMilliseconds(date.toISOString())).toBe(date.getTime())
    }
  })
})

describe('random', () => {
  it('draws the same numbers for the same seed, whatever the platform', () => {
    const random = new Random(7)
    expect([random.next(), random.next(), random.next()]).toEqual([2917685297, 1525832735, 3836590155])
  })

  it('keeps the streams of one seed apart', () => {
    expect(new Random(7, 1).next()).not.toBe(new Random(7, 2).next())
  })

  it('shuffles without loss', () => {
    const items = Int32Array.from({ length: 100 }, (_, index) => index)
    shuffle(items, new Random(1))
    expect(Array.from(items)).not.toEqual(Array.from(items).sort((one, other) => one - other))
    expect(Array.from(items).sort((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, index) => index))
  })

  it('draws evenly and splits what it draws from', () => {
    const counts = new Int32Array(10)
    const [taken, rest] = [new Int32Array(3), new Int32Array(7)]
    const random = new Random(3)
    for (let repeat = 0; repeat < 10_000; repeat++) {
      draw(10, 3, random, taken, rest)
      for (const item of taken) counts[item]!++
    }
    expect([...taken, ...rest].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    for (const count of counts) expect(Math.abs(count - 3000)).toBeLessThan(200)
  })
})

describe('nearest', () => {
  it('finds the name that was meant', () => {
    expect(nearest('SQFEET', ['location', 'sqft', 'rooms'])).toBe('sqft')
    expect(nearest('x', [])).toBe('')
  })
})
