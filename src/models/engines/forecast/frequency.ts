import { wrong } from '../../../basics/errors.js'
import { dayMs, weekday } from '../../numerics/dates.js'
import { calendarOf, daysIn, stepsTo, type Grid } from './grid.js'
import { timeText, type OrderType } from './times.js'

/** The frequency of a series: its grid, the grid's name, the usual day of the month, and possible lengths of its season, in steps. */
export type Frequency = { grid: Grid; name: string; day: number; seasons: readonly number[] }

/** The distinct times of one series, ascending. */
export type Times = Float64Array

const hourMs = 3_600_000
const yearDays = 365
const weeksOfYear = 52
const longestSeason = 1_500
/** The least share of the grid's times with rows, in each series. Below it, the step is unknown. */
const leastCoverage = 0.5
/** A step of at least this share of the differences is meant: rows beside it are errors, and no sign of a finer step. */
const meantShare = 0.8
const monthsAtLeastMs = 28 * dayMs

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/** Calls `each` for the difference between each time and the one before it, over all series. */
const eachStep = (series: readonly Times[], each: (step: number, from: number, to: number) => void): void => {
  for (const times of series) for (let row = 1; row < times.length; row++) each(times[row]! - times[row - 1]!, times[row - 1]!, times[row]!)
}

const commonStep = (series: readonly Times[]): number => {
  let common = 0
  eachStep(series, (step) => (common = divisor(common, step)))
  return common
}

const every = (series: readonly Times[], holds: (time: number) => boolean): boolean => series.every((times) => times.every(holds))

/** The day of the month that all series share, cut to the length of short months. Undefined if there is none. */
const dayOfMonths = (series: readonly Times[]): number | undefined => {
  let [latest, isEnd, rest] = [0, true, NaN]
  for (const times of series)
    for (const time of times) {
      const { month, day, rest: ofDay } = calendarOf(time)
      if (Number.isNaN(rest)) rest = ofDay
      if (rest !== ofDay) return undefined
      latest = Math.max(latest, day)
      isEnd &&= day === daysIn(month)
    }
  const aimed = isEnd ? 31 : latest
  const isAimed = (time: number) => {
    const { month, day } = calendarOf(time)
    return day === Math.min(aimed, daysIn(month))
  }
  return every(series, isAimed) ? aimed : undefined
}

const monthNames: Readonly<Record<number, string>> = { 1: 'month', 3: 'quarter', 6: 'half-year', 12: 'year' }

const nameOfMonths = (size: number): string => monthNames[size] ?? (size % 12 === 0 ? `${size / 12} years` : `${size} months`)

const monthsBetween = (from: number, to: number): number => calendarOf(to).month - calendarOf(from).month

const ofMonths = (series: readonly Times[]): Frequency | undefined => {
  let shortest = Infinity
  eachStep(series, (step) => (shortest = Math.min(shortest, step)))
  const day = shortest < monthsAtLeastMs ? undefined : dayOfMonths(series)
  if (day === undefined) return undefined
  let size = 0
  eachStep(series, (_, from, to) => (size = divisor(size, monthsBetween(from, to))))
  return { grid: { unit: 'month', size }, name: nameOfMonths(size), day, seasons: seasonsOf(12 / size) }
}

/** Business days: no time is on a weekend, though some weekends lie between the times. */
const ofBusinessDays = (series: readonly Times[]): Frequency | undefined => {
  const rest = calendarOf(series[0]?.[0] ?? 0).rest
  const isBusiness = (time: number) => weekday(Math.floor(time / dayMs)) < 5 && calendarOf(time).rest === rest
  if (commonStep(series) !== dayMs || !every(series, isBusiness)) return undefined
  let weekends = 0
  eachStep(series, (step, from) => (weekends += step >= (7 - weekday(Math.floor(from / dayMs))) * dayMs ? 1 : 0))
  return weekends < 2 ? undefined : { grid: { unit: 'business_day', size: 1 }, name: 'business day', day: 0, seasons: [5] }
}

const units: readonly [ms: number, name: string][] = [
  [7 * dayMs, 'week'],
  [dayMs, 'day'],
  [hourMs, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
  [1, 'millisecond'],
]

const nameOfStep = (size: number): string => {
  const [ms, name] = units.find(([unit]) => size % unit === 0) ?? [1, 'millisecond']
  return size === ms ? name : `${size / ms} ${name}s`
}

const seasonsOf = (...lengths: number[]): number[] =>
  lengths.filter((length) => Number.isInteger(length) && length > 1 && length <= longestSeason)

const seasonsOfStep = (size: number): number[] => {
  if (size === 7 * dayMs) return [weeksOfYear]
  if (size >= dayMs) return seasonsOf((7 * dayMs) / size, ...(size === dayMs ? [yearDays] : []))
  return seasonsOf(...(size < hourMs ? [hourMs / size] : []), dayMs / size, (7 * dayMs) / size)
}

const ofSteps = (series: readonly Times[], type: OrderType): Frequency => {
  const size = commonStep(series)
  const grid: Grid = { unit: 'step', size }
  if (type === 'integer') return { grid, name: size === 1 ? 'step' : `steps of ${size}`, day: 0, seasons: [] }
  return { grid, name: nameOfStep(size), day: 0, seasons: seasonsOfStep(size) }
}

const stepBetween = ({ unit }: Grid, from: number, to: number): number => (unit === 'month' ? monthsBetween(from, to) : to - from)

/** The most common step between rows, in months on a grid of months, its share of all steps, and how many rows do not keep it. */
const usualStep = (series: readonly Times[], grid: Grid): { step: number; share: number; off: number } => {
  const counts = new Map<number, number>()
  eachStep(series, (_, from, to) => {
    const step = stepBetween(grid, from, to)
    counts.set(step, (counts.get(step) ?? 0) + 1)
  })
  const [step, rows] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), [1, 0])
  let [all, off] = [0, 0]
  for (const [each, count] of counts) {
    all += count
    if (each % step !== 0) off += count
  }
  return { step, share: rows / all, off }
}

/** The first row that does not keep a step. */
const firstBeside = (series: readonly Times[], grid: Grid, step: number): number => {
  let first = NaN
  eachStep(series, (_, from, to) => {
    if (Number.isNaN(first) && stepBetween(grid, from, to) % step !== 0) first = to
  })
  return first
}

const refuseIrregular = (column: string, series: readonly Times[], type: OrderType, { grid, name }: Frequency, share: number) => {
  const { step, off } = usualStep(series, grid)
  const usual = type === 'integer' ? String(step) : grid.unit === 'month' ? nameOfMonths(step) : nameOfStep(step)
  const found =
    off > 0
      ? `the usual step is ${usual}, and ${off} rows do not keep it, the first of them at ${timeText(type, firstBeside(series, grid, step))}`
      : `of the times of a series (step: ${name}) only ${Math.floor(share * 100)} % have a row`
  return wrong(
    `"${column}" is not regular: ${found}`,
    "Give one row a step: SELECT date_trunc('day', t) AS t, sum(y) AS y … GROUP BY ALL, and zeros where nothing happened, from a LEFT JOIN with generate_series.",
  )
}

/** The share of the grid's times, from the first to the last of a series, that have a row: the least of all series. */
const coverageOf = (series: readonly Times[], { grid, day }: Frequency): number =>
  series.reduce((least, times) => Math.min(least, times.length / (stepsTo(grid, { time: times[0]!, day }, times.at(-1)!) + 1)), 1)

/** Whether rows beside the usual step made the grid finer. Steps between business days differ by the weekends. */
const isOffStep = (series: readonly Times[], { grid }: Frequency): boolean => {
  if (grid.unit === 'business_day') return false
  const { share, off } = usualStep(series, grid)
  return off > 0 && share >= meantShare
}

/**
 * Infers the frequency of series: months, quarters, years …, days from Monday to Friday, or a fixed step such as a week, a day, an hour or
 * 15 minutes. At most half of the times of each series may be missing. Anything else is a `wrong_arguments` problem with the usual step and
 * a row with another step.
 *
 * @example inferFrequency('month', [times], 'date').name // 'month'
 */
export const inferFrequency = (column: string, series: readonly Times[], type: OrderType): Frequency => {
  const frequency = (type === 'integer' ? undefined : (ofMonths(series) ?? ofBusinessDays(series))) ?? ofSteps(series, type)
  const share = coverageOf(series, frequency)
  if (share < leastCoverage || isOffStep(series, frequency)) throw refuseIrregular(column, series, type, frequency, share)
  return frequency
}
