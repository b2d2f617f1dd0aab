import { describe, expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import { jobUnits } from '../../../events/job.js'
import { nextAfter, nextRun, readSchedule } from '../../../src/commands/rules/schedule.js'
import { readTime } from '../../../src/basics/times.js'

const utc = (text: string): number => Date.parse(`${text}Z`)
const shown = (time: number): string => new Date(time).toISOString().slice(0, 19)

describe('how often', () => {
  test.each([
    ['every day', 1, 'day', 'every day'],
    ['every 2 hours', 2, 'hour', 'every 2 hours'],
    ['EVERY 5 min', 5, 'minute', 'EVERY 5 min'],
    ['hour', 1, 'hour', 'every hour'],
    ['3 Months', 3, 'month', 'every 3 Months'],
    [' 1 week ', 1, 'week', 'every 1 week'],
  ])('%s', (said, count, unit, shown) => expect(readSchedule(said)).toEqual({ count, unit, said: shown }))

  test.each([
    '',
    'every',
    'every second',
    'every 0 minutes',
    'every -1 day',
    'every 1.5 days',
    'every day and night',
    'every 999999999 months',
    '2',
  ])('"%s" is refused', (said) => expect(() => readSchedule(said)).toThrow(/how often|one minute/))
})

describe('when', () => {
  const now = utc('2026-05-06T07:08:09')
  test.each([
    ['now', '2026-05-06T07:08:09'],
    ['NOW', '2026-05-06T07:08:09'],
    ['2026-01-31', '2026-01-31T00:00:00'],
    ['2026-01-31 10:20:30', '2026-01-31T10:20:30'],
    ['2026-01-31 10:20', '2026-01-31T10:20:00'],
    ['2026-01-31T10:20:30.123456Z', '2026-01-31T10:20:30'],
    ['2026-01-31T10:20:30+02:00', '2026-01-31T08:20:30'],
    ['2026-01-31 10:20Z', '2026-01-31T10:20:00'],
    ['2026-01-31 10:20 UTC', '2026-01-31T10:20:00'],
    ['2026-01-31T10:20-0330', '2026-01-31T13:50:00'],
    ['2026-01-31 10:20:30.5+02', '2026-01-31T08:20:30'],
  ])('%s', (said, is) => expect(shown(readTime(said, 'start', now))).toBe(is))

  test.each(['', 'tomorrow', '2026-02-30', '2026-13-01', '2026-01-01 25:00:00', '1969-12-31', '31.1.2026', '99999-01-01'])(
    '"%s" is refused',
    (said) => expect(() => readTime(said, 'start', now)).toThrow('is not a time'),
  )
})

describe('the next run', () => {
  const monthly = readSchedule('every month')
  test('of a month that has no 31st is on its last day, and the 31st comes again', () => {
    const start = utc('2026-01-31T06:00:00')
    const times = ['2026-02-28T06:00:00', '2026-03-31T06:00:00', '2026-04-30T06:00:00']
    times.reduce((after, time) => {
      expect(shown(nextAfter(start, monthly, after))).toBe(time)
      return utc(time)
    }, start)
    expect(shown(nextAfter(utc('2024-02-29T00:00:00'), readSchedule('every 12 months'), utc('2027-06-01T00:00:00')))).toBe(
      '2028-02-29T00:00:00',
    )
  })

  test('is the first of the times from the start on that is later than now, however many were missed', () => {
    const naive = (start: number, n: number, unit: (typeof jobUnits)[number], count: number): number => {
      const date = new Date(start)
      if (unit === 'month') {
        const day = date.getUTCDate()
        date.setUTCDate(1)
        date.setUTCMonth(date.getUTCMonth() + n * count)
        const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
        date.setUTCDate(Math.min(day, last))
      } else if (unit === 'minute') date.setUTCMinutes(date.getUTCMinutes() + n * count)
      else if (unit === 'hour') date.setUTCHours(date.getUTCHours() + n * count)
      else date.setUTCDate(date.getUTCDate() + n * count * (unit === 'week' ? 7 : 1))
      return date.getTime()
    }
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e12 }),
        fc.constantFrom(...jobUnits),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: -2, max: 2 }),
        (start, unit, count, n, off) => {
          const after = naive(start, n, unit, count) + off
          const next = nextAfter(start, { count, unit, said: '' }, after)
          let expected = 0
          while (naive(start, expected, unit, count) <= after) expected += 1
          expect(next).toBe(naive(start, expected, unit, count))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('is none without a schedule, and none after the end', () => {
    const job = { start_at: '2026-01-01T00:00:00.000000Z', end_at: '2026-01-02T00:00:00.000000Z' }
    expect(nextRun({ ...job, schedule: null }, utc('2026-01-01T00:00:00'))).toBe(null)
    expect(nextRun({ ...job, schedule: readSchedule('every day') }, utc('2026-01-01T00:00:00'))).toBe('2026-01-02T00:00:00.000000Z')
    expect(nextRun({ ...job, schedule: readSchedule('every day') }, utc('2026-01-02T00:00:00'))).toBe(null)
  })
})
