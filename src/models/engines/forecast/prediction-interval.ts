import { quantilesOf } from '../../numerics/quantiles.js'
import type { Misses } from './methods.js'
import { errorsByStep, missOf } from './rolling-errors.js'

/** The best non-decreasing fit to weighted means (pool adjacent violators), because later steps are never more certain. */
const rising = (means: readonly number[], weights: readonly number[]): number[] => {
  const pools: { mean: number; weight: number; size: number }[] = []
  means.forEach((mean, i) => {
    let pool = { mean, weight: weights[i]!, size: 1 }
    for (let last = pools.at(-1); last && last.mean > pool.mean; last = pools.at(-1)) {
      pools.pop()
      const weight = last.weight + pool.weight
      pool = { mean: (last.mean * last.weight + pool.mean * pool.weight) / weight, weight, size: last.size + pool.size }
    }
    pools.push(pool)
  })
  return pools.flatMap(({ mean, size }) => Array.from({ length: size }, () => mean))
}

/**
 * The width of each step's errors: the mean absolute error, smoothed so that it never falls. Beyond the last measured step, the width grows
 * with the root of the step.
 */
export const spreadOf = (misses: Misses, horizon: number, relative: boolean): Float64Array => {
  const { means, counts } = errorsByStep(misses, horizon, relative)
  const measured = Array.from(means.keys()).filter((h) => counts[h]! > 0)
  const curve = rising(
    measured.map((h) => means[h]!),
    measured.map((h) => counts[h]!),
  )
  const spread = new Float64Array(horizon)
  measured.forEach((h, i) => (spread[h] = curve[i]!))
  for (let h = 0; h < horizon; h++) {
    if (counts[h]! > 0) continue
    const known = measured.findLast((other) => other < h) ?? measured[0]
    if (known !== undefined) spread[h] = known < h ? spread[known]! * Math.sqrt((h + 1) / (known + 1)) : spread[known]!
  }
  return spread
}

/** The errors of a series as multiples of its spread; steps with a spread of 0 are left out. */
export const normalisedMisses = ({ step, actual, forecast }: Misses, spread: Float64Array, relative: boolean): number[] =>
  step.flatMap((h, i) => (spread[h]! > 0 ? [missOf(actual[i]!, forecast[i]!, relative) / spread[h]!] : []))

/**
 * The quantiles of normalised errors. Forecasts with overlapping steps have correlated errors: `independent` is the number of independent
 * ones, and each level gets the usual finite-sample correction for it, so that few errors do not give too narrow intervals.
 */
export const errorQuantiles = (normalised: readonly number[], independent: number): Float64Array =>
  quantilesOf(normalised, normalised.length * (1 + 1 / Math.max(independent, 1)))
