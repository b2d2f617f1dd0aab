import type { Row, Value } from '../../../api/sql.js'
import { timeOf } from '../../../basics/time.js'
import { isNumeric, isTime } from '../../../components/value.js'
import type { Picture } from './proposed-picture.js'
import type { RowStore } from './rows.js'

/** The most points of a chart. More would not be distinguishable. */
const pointsMax = 20_000

/** The most names along the bars of a chart. */
export const barNamesMax = 80

export type Point = Record<string, Value | Date>

/** A value in the form that a chart needs: numbers in texts become numbers, and times become dates. */
const pointValue = (value: Value, type: string): Value | Date => {
  if (value === null) return null
  if (isNumeric(type)) return Number(value)
  if (isTime(type) && typeof value === 'string') return timeOf(value)
  return typeof value === 'object' ? JSON.stringify(value) : value
}

/**
 * The bars of a picture, as points with `x`, `y` and `by`, or for a histogram with `from`, `to` and `rows`. `isSummed`: a bar stands for several
 * rows. `isMore`: there are more names.
 */
type Bars = { picture: Picture; isSummed: boolean; isMore: boolean }

/** What a chart draws: bars, or one row of each `every` as a point. */
export type Drawing = { points: Point[]; every: number; bars?: Bars }

/**
 * The rows of an answer that fit the filter as points: all of them, or every second, third … of many.
 *
 * @throws the reason of the signal
 */
export const sampleOf = async (store: RowStore, signal: AbortSignal): Promise<Drawing> => {
  const every = Math.max(1, Math.ceil(store.length / pointsMax))
  const points: Point[] = []
  let at = 0
  for await (const rows of store.fitting(signal))
    for (const row of rows) {
      if (at % every === 0)
        points.push(Object.fromEntries(store.columns.map(({ name, type }, i) => [name, pointValue(row[i] ?? null, type)])))
      at += 1
    }
  return { points, every }
}

/**
 * The bars of all rows that fit the filter: the sum of the numbers of each name and colour. If there are many names, the first ones have bars.
 *
 * @throws the reason of the signal
 * @example await barsOf(store, { kind: 'bar', x: 'district', y: 'rent', by: '' }, signal) // { points: [{ x: 'north', y: 5200, by: null }, …], … }
 */
export const barsOf = async (store: RowStore, picture: Picture, signal: AbortSignal): Promise<Drawing> => {
  const columnOf = (column: string) => {
    const at = store.columns.findLastIndex(({ name }) => name === column)
    return (row: Row) => pointValue(row[at] ?? null, store.columns[at]?.type ?? '')
  }
  const [x, y, by] = [columnOf(picture.x), columnOf(picture.y), columnOf(picture.by)]
  const names = new Map<string, Map<string, Point & { y: number }>>()
  let [isSummed, isMore] = [false, false]
  for await (const rows of store.fitting(signal))
    for (const row of rows) {
      const bar = { x: x(row), y: Number(y(row)), by: by(row) }
      const name = JSON.stringify(bar.x)
      const bars = names.get(name)
      if (bars === undefined && names.size === barNamesMax) isMore = true
      else if (bars === undefined) names.set(name, new Map([[JSON.stringify(bar.by), bar]]))
      else {
        const same = bars.get(JSON.stringify(bar.by))
        if (same === undefined) bars.set(JSON.stringify(bar.by), bar)
        else same.y += bar.y
        isSummed = true
      }
    }
  return { points: [...names.values()].flatMap((bars) => [...bars.values()]), every: 1, bars: { picture, isSummed, isMore } }
}

/** The most bars of a histogram, about. */
const rangesMax = 200

/** The width of a range: 1, 2 or 5 times a power of ten, whichever is nearest to what the spread of the numbers asks for (Scott, 1979). */
const stepOf = ({ count, least, greatest, deviation }: Record<'count' | 'least' | 'greatest' | 'deviation', number>): number => {
  const span = greatest - least
  const told = span > 0 ? Math.max((3.49 * deviation) / Math.cbrt(count), span / rangesMax) : 1
  // The ends of a range must differ as JavaScript numbers.
  const wanted = Math.max(told, Math.abs(least) / 1e12, Math.abs(greatest) / 1e12)
  const power = 10 ** Math.floor(Math.log10(wanted))
  const ratio = wanted / power
  return power * (ratio >= Math.sqrt(50) ? 10 : ratio >= Math.sqrt(10) ? 5 : ratio >= Math.SQRT2 ? 2 : 1)
}

/** Ranges of equal width: the beginning of each, and the one of a number. */
const rangesOf = (step: number) => {
  // A part of 1 is divided by a whole number: 3 / 10 is the number 0.3, and 3 * 0.1 is not.
  const inverse = step < 1 ? Math.round(1 / step) : undefined
  const begin = (i: number): number => (inverse === undefined ? i * step : i / inverse)
  const indexOf = (value: number): number => {
    const near = Math.floor(inverse === undefined ? value / step : value * inverse)
    return begin(near + 1) <= value ? near + 1 : begin(near) > value ? near - 1 : near
  }
  return { begin, indexOf }
}

/**
 * The histogram of all rows that fit the filter: how many of them have a number in each range.
 *
 * @throws the reason of the signal
 * @example await spreadOf(store, { kind: 'histogram', x: 'rent', … }, signal) // { points: [{ from: 500, to: 600, rows: 7 }, …], … }
 */
export const spreadOf = async (store: RowStore, picture: Picture, signal: AbortSignal): Promise<Drawing> => {
  const at = store.columns.findLastIndex(({ name }) => name === picture.x)
  const numbersIn = (rows: readonly Row[]): number[] =>
    rows.flatMap((row) => (row[at] === null || !Number.isFinite(Number(row[at])) ? [] : [Number(row[at])]))
  let [count, least, greatest, mean, squares] = [0, Infinity, -Infinity, 0, 0]
  for await (const rows of store.fitting(signal))
    for (const value of numbersIn(rows)) {
      count += 1
      least = Math.min(least, value)
      greatest = Math.max(greatest, value)
      const gap = value - mean
      mean += gap / count
      squares += gap * (value - mean)
    }
  const { begin, indexOf } = rangesOf(stepOf({ count, least, greatest, deviation: Math.sqrt(squares / count) }))
  const counts = new Map<number, number>()
  for await (const rows of store.fitting(signal))
    for (const value of numbersIn(rows)) {
      const i = indexOf(value)
      counts.set(i, (counts.get(i) ?? 0) + 1)
    }
  const points = Array.from(counts, ([i, rows]): Point => ({ from: begin(i), to: begin(i + 1), rows }))
  return { points, every: 1, bars: { picture, isSummed: false, isMore: false } }
}

/** A line goes from left to right, whatever the order of the rows. Points without an x value are left out. */
export const alongLine = (points: readonly Point[], x: string): Point[] => {
  const isPlaced = (value: Point[string] | undefined) => value !== null && value !== undefined && !Number.isNaN(Number(value))
  const isNumbers = points.every((one) => one[x] === null || typeof one[x] === 'number' || one[x] instanceof Date)
  return isNumbers ? points.filter((one) => isPlaced(one[x])).sort((a, b) => Number(a[x]) - Number(b[x])) : [...points]
}
