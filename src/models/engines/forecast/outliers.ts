import { filled, usualSize, type Values } from './season.js'

/** The number of neighbours on each side that show the usual values. */
const neighbours = 7
/** A spike is this many times as high as the usual step. */
const spikeFactor = 8
/** If there are more spikes than this, they are part of the series. */
const mostSpikes = 2
const mostShare = 0.01

const median = (values: Values): number => {
  const sorted = values.slice().sort()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The common distance of several differences with the same sign; 0 if their signs differ. */
const common = (differences: readonly number[]): number => {
  const isUp = differences.every((each) => each > 0)
  if (!isUp && !differences.every((each) => each < 0)) return 0
  return differences.reduce((least, each) => Math.min(least, Math.abs(each)), Infinity)
}

const before = (values: Values, t: number): Values => values.subarray(Math.max(0, t - neighbours), t)
const after = (values: Values, t: number): Values => values.subarray(t + 1, t + 1 + neighbours)

/** The distance of a value from the previous one, and from the usual values before it. */
const stepTo = (values: Values, t: number): number => common([values[t]! - values[t - 1]!, values[t]! - median(before(values, t))])

/** The values to compare with: the neighbours on both sides, and the values a season away, which may have the same cause. */
const comparedWith = (values: Values, t: number, seasons: readonly number[]): number[] => [
  ...(t > 0 ? [values[t - 1]!, median(before(values, t))] : []),
  ...(t + 1 < values.length ? [values[t + 1]!, median(after(values, t))] : []),
  ...seasons.flatMap((season) => [-1, 1].flatMap((way) => [-1, 0, 1].flatMap((shift) => values[t + way * season + shift] ?? []))),
]

const usualStep = (values: Values): number => usualSize(Float64Array.from({ length: values.length - 1 }, (_, i) => stepTo(values, i + 1)))

/**
 * Replaces isolated outliers by NaN: values whose distance from those before, after and a season away is many times the series' usual step.
 * Such a mistake or accident says nothing about the future and would distort it. A level that lasts two steps is no outlier, nor are
 * recurring peaks. The first and the last value may be outliers, too.
 *
 * @example withoutOutliers(Float64Array.of(5, 6, 5, 4, 5, 6, 5, 900, 5, 6, 4), [7])[7] // NaN
 */
export const withoutOutliers = (values: Values, seasons: readonly number[]): Values => {
  const whole = filled(values)
  const least = spikeFactor * usualStep(whole)
  if (least === 0) return values
  // A season of one step would compare a value with itself.
  const lags = seasons.filter((season) => season > 1)
  const usual = values.map((value, t) => {
    return common(comparedWith(whole, t, lags).map((other) => whole[t]! - other)) > least ? NaN : value
  })
  const spikes = usual.filter((value, t) => Number.isNaN(value) && !Number.isNaN(values[t])).length
  return spikes > Math.max(mostSpikes, mostShare * values.length) ? values : usual
}
