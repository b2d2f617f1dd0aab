import type { Forecaster } from './exponential-smoothing.js'
import { minimise } from './minimise.js'
import { filled, lineThrough, seasonShape, type Values } from './season.js'

const firstWeight = 0.5
const evaluations = 60

/** The level after exponential smoothing, and the sum of its squared errors. */
const smoothed = (values: Values, weight: number, start: number): { level: number; squares: number } => {
  let [level, squares] = [start, 0]
  for (const value of values) {
    if (Number.isNaN(value)) continue
    const error = value - level
    squares += error * error
    level += weight * error
  }
  return { level, squares }
}

/**
 * The Theta method (Assimakopoulos and Nikolopoulos 2000) in the form of Hyndman and Billah: simple exponential smoothing of the
 * deseasonalised series, with a drift of half the slope of its line. The season is multiplicative if `mayMultiply` and all values are
 * positive, else additive.
 */
export const fitTheta = (values: Values, season: number, mayMultiply: boolean): Forecaster => {
  const multiplicative = mayMultiply && season > 1 && values.every((value) => !(value <= 0))
  const whole = filled(values)
  const shape = season > 1 ? seasonShape(whole, season, multiplicative) : new Float64Array(1)
  const without = (value: number, place: number) => (multiplicative ? value / shape[place]! : value - shape[place]!)
  const plain = values.map((value, t) => without(value, t % shape.length))
  const { slope } = lineThrough(filled(plain))
  const start = plain.find((value) => !Number.isNaN(value)) ?? 0
  // The search ends by the size of the squares, so they must not depend on the unit of the values.
  const unit = smoothed(plain, firstWeight, start).squares || 1
  const { at } = minimise(([weight]) => smoothed(plain, weight!, start).squares / unit, [firstWeight], [0.0001], [0.9999], evaluations)
  const weight = at[0]!
  let { level } = smoothed(plain, weight, start)
  // The remaining weight of the first value: (1 - weight) to the power of the number of steps.
  let faded = 1
  for (let t = 0; t < values.length; t++) faded *= 1 - weight
  let place = values.length % shape.length
  return {
    update(value) {
      if (!Number.isNaN(value)) level += weight * (without(value, place) - level)
      faded *= 1 - weight
      place = place + 1 === shape.length ? 0 : place + 1
    },
    forecast(into) {
      for (let h = 0; h < into.length; h++) {
        const ofSeason = shape[(place + h) % shape.length]!
        const base = level + (slope / 2) * (h + (1 - faded) / weight)
        into[h] = multiplicative ? base * ofSeason : base + ofSeason
      }
    },
  }
}
