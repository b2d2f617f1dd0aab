import { describe, expect, test } from '@jest/globals'
import { inferFrequency, type Frequency } from '../../../../src/models/engines/forecast/frequency.js'
import { stepsTo, timeAfter } from '../../../../src/models/engines/forecast/grid.js'
import { timeText } from '../../../../src/models/engines/forecast/times.js'

const times = (...texts: string[]): Float64Array => Float64Array.from(texts, (text) => Date.parse(text.length === 10 ? text : `${text}Z`))

/** So many times from the first one on, each what `next` makes of the number of the step. */
const from = (start: string, count: number, next: (date: Date, step: number) => void): Float64Array =>
  Float64Array.from({ length: count }, (_, step) => {
    const date = new Date(`${start}Z`)
    next(date, step)
    return date.getTime()
  })

const months = (start: string, count: number, size = 1) =>
  from(`${start}T00:00`, count, (d, i) => d.setUTCMonth(d.getUTCMonth() + i * size))
const days = (start: string, count: number, size = 1) => from(`${start}T00:00`, count, (d, i) => d.setUTCDate(d.getUTCDate() + i * size))
const minutes = (start: string, count: number, size: number) => from(start, count, (d, i) => d.setUTCMinutes(d.getUTCMinutes() + i * size))

/** The next times behind the last one. */
const next = ({ grid, day }: Frequency, last: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => timeText('date', timeAfter(grid, { time: Date.parse(last), day }, i + 1)))

describe('the frequency of a series', () => {
  const found: [string, Float64Array, string, number[]][] = [
    ['months', months('1949-01-01', 30), 'month', [12]],
    ['months with gaps', months('1949-01-01', 30).filter((_, i) => i !== 4 && i !== 5), 'month', [12]],
    ['quarters', months('1990-03-01', 20, 3), 'quarter', [4]],
    ['half-years', months('1990-06-15', 20, 6), 'half-year', [2]],
    ['years', months('1990-12-31', 20, 12), 'year', []],
    ['two months', months('1990-01-01', 20, 2), '2 months', [6]],
    ['weeks', days('2024-01-03', 60, 7), 'week', [52]],
    ['days', days('2024-01-01', 60), 'day', [7, 365]],
    ['days without some', days('2024-01-01', 60).filter((_, i) => i % 5 !== 2), 'day', [7, 365]],
    ['every other day', days('2024-01-01', 60, 2), '2 days', []],
    ['business days', days('2024-01-01', 60).filter((time) => ![0, 6].includes(new Date(time).getUTCDay())), 'business day', [5]],
    ['hours', minutes('2024-01-01T00:00', 100, 60), 'hour', [24, 168]],
    ['quarters of an hour', minutes('2024-01-01T00:15', 100, 15), '15 minutes', [4, 96, 672]],
    ['minutes', minutes('2024-01-01T00:15', 100, 1), 'minute', [60, 1440]],
  ]
  test.each(found)('%s', (_, series, name, seasons) => {
    expect(inferFrequency('t', [series], 'timestamp')).toMatchObject({ name, seasons })
  })

  test('series of one frequency may begin anywhere', () => {
    expect(inferFrequency('t', [days('2024-01-01', 20, 7), days('2024-03-06', 20, 7)], 'date').name).toBe('week')
  })

  test('whole numbers have steps', () => {
    expect(inferFrequency('year', [Float64Array.of(1990, 1992, 1994, 1998)], 'integer')).toMatchObject({ name: 'steps of 2', seasons: [] })
  })

  test('the last days of months stay the last days, and other late days are cut to short months', () => {
    const ends = inferFrequency('t', [times('2023-11-30', '2023-12-31', '2024-01-31')], 'date')
    expect(next(ends, '2024-01-31', 3)).toEqual(['2024-02-29', '2024-03-31', '2024-04-30'])
    const late = inferFrequency('t', [times('2023-12-30', '2024-01-30', '2024-02-29')], 'date')
    expect(next(late, '2024-02-29', 2)).toEqual(['2024-03-30', '2024-04-30'])
  })

  test('business days go over the weekend', () => {
    const frequency = inferFrequency('t', [days('2024-01-01', 30).filter((time) => ![0, 6].includes(new Date(time).getUTCDay()))], 'date')
    expect(next(frequency, '2024-01-25', 4)).toEqual(['2024-01-26', '2024-01-29', '2024-01-30', '2024-01-31'])
    expect(stepsTo(frequency.grid, { time: Date.parse('2024-01-26'), day: 0 }, Date.parse('2024-01-27'))).toBeNaN()
  })

  test('what is on no step of the grid is said to be on none', () => {
    const { grid, day } = inferFrequency('t', [months('2024-01-01', 12)], 'date')
    const place = { time: Date.parse('2024-12-01'), day }
    expect(stepsTo(grid, place, Date.parse('2025-03-01'))).toBe(3)
    expect(stepsTo(grid, place, Date.parse('2024-11-01'))).toBe(-1)
    expect(stepsTo(grid, place, Date.parse('2025-03-02'))).toBeNaN()
  })
})

describe('an irregular series is refused', () => {
  test('if a single row is beside the usual step, though the rest of a finer step has rows', () => {
    const times = Float64Array.from([...Array.from({ length: 20 }, (_, i) => 2 * i), 39])
    expect(() => inferFrequency('at', [times], 'integer')).toThrow(
      /the usual step is 2, and 1 rows do not keep it, the first of them at 39/,
    )
  })

  test.each<[string, Float64Array, string, RegExp]>([
    ['half-years', months('1990-06-15', 20, 6), '1995-09-15', /the usual step is half-year, and 2 rows .* first of them at 1995-09-15/],
    ['two years', months('1950-01-01', 20, 24), '1971-01-01', /the usual step is 2 years, and 2 rows .* first of them at 1971-01-01/],
  ])('if a single row is beside the usual step of months: %s', (_, regular, stray, message) => {
    expect(() => inferFrequency('at', [Float64Array.of(...regular, ...times(stray)).sort()], 'date')).toThrow(message)
  })

  test('with the share of months that have a row when too few have', () => {
    const sparse = months('1990-01-01', 60).filter((_, i) => i % 12 < 2)
    expect(() => inferFrequency('at', [sparse], 'date')).toThrow(/of the times of a series \(step: month\) only 20 % have a row/)
  })

  test('if one of several has rows for fewer than half of its times', () => {
    const full = Float64Array.from({ length: 100 }, (_, i) => i)
    const sparse = Float64Array.of(0, 1, 9)
    expect(() => inferFrequency('at', [full, sparse], 'integer')).toThrow(/only 30 % have a row/)
  })

  test('with the usual step and the first row that does not keep it', () => {
    const weeks = days('2024-01-03', 60, 7)
    weeks[30] = weeks[30]! + 86_400_000
    expect(() => inferFrequency('day', [weeks], 'date')).toThrow(
      '"day" is not regular: the usual step is week, and 2 rows do not keep it, the first of them at 2024-08-01',
    )
  })

  test('with the share of times that have a row when too few have', () => {
    const sparse = days('2024-01-06', 100).filter((_, i) => i % 7 < 2)
    expect(() => inferFrequency('day', [sparse], 'date')).toThrow(/"day" is not regular: .*only 30 %/)
  })
})
