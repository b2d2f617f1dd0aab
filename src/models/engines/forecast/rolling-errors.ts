import { FittedMethods, methods, type FitRules, type Misses } from './methods.js'
import type { Values } from './season.js'

/**
 * The evaluation of a series: it is fitted to its first `first` values, forecast from every `stride`-th time after them, and refitted
 * `refits` times.
 */
export type RollingPlan = { first: number; stride: number; refits: number }

/** The number of values that a fit needs besides its seasons. */
const leastFitted = 5
const seasonsTested = 3
const leastTested = 24
const mostTested = 400

/**
 * Plans the part of a series that is forecast from its past: a quarter, three seasons or two horizons, whichever is longest; but at most
 * half of the series, and two seasons must remain for the fit. `work` limits the number of forecasts times steps.
 *
 * @example planRolling(144, 12, 12, { work: 100_000, refits: 4 }) // { first: 108, stride: 1, refits: 4 }
 */
export const planRolling = (
  length: number,
  season: number,
  horizon: number,
  { work, refits }: { work: number; refits: number },
): RollingPlan => {
  const wanted = Math.min(Math.max(2 * horizon, seasonsTested * season, leastTested, Math.floor(length / 4)), mostTested)
  const needed = Math.max(leastFitted, season > 1 ? 2 * season + 1 : 0)
  const tested = Math.max(1, Math.min(wanted, Math.floor(length / 2), length - needed))
  const steps = Math.min(horizon, tested)
  return { first: length - tested, stride: Math.max(1, Math.ceil((tested * steps) / work)), refits: Math.min(refits, tested) }
}

const noMisses = (): Misses => ({ step: [], actual: [], forecast: [] })

/**
 * Forecasts a series from times in its own past by each method, without using later values: the weights come from earlier fits, the state
 * is updated with each value. Returns the errors of each method, in the order of `methods`; `onFit` is called for each fit.
 */
export const rollOrigins = (values: Values, rules: FitRules, horizon: number, plan: RollingPlan, onFit: () => void): Misses[] => {
  const { first, stride, refits } = plan
  const tested = values.length - first
  const misses = methods.map(noMisses)
  for (let block = 0; block < refits; block++) {
    const from = first + Math.floor((tested * block) / refits)
    const to = first + Math.floor((tested * (block + 1)) / refits)
    const fits = new FittedMethods(values.subarray(0, from), rules)
    onFit()
    for (let origin = from; origin < to; origin++) {
      if ((origin - first) % stride === 0) {
        const forecasts = fits.forecasts(Math.min(horizon, values.length - origin))
        forecasts.forEach((forecast, method) => note(misses[method]!, forecast, values, origin))
      }
      fits.update(values[origin]!)
    }
  }
  return misses
}

const note = ({ step, actual, forecast }: Misses, forecasts: Float64Array, values: Values, origin: number): void => {
  forecasts.forEach((value, h) => {
    const truth = values[origin + h]!
    if (Number.isNaN(truth)) return
    step.push(h)
    actual.push(truth)
    forecast.push(value)
  })
}

/** The mean absolute error of each step, and the number of its errors. */
export const errorsByStep = (
  { step, actual, forecast }: Misses,
  horizon: number,
  relative: boolean,
): { means: Float64Array; counts: Float64Array } => {
  const [sums, counts] = [new Float64Array(horizon), new Float64Array(horizon)]
  step.forEach((h, i) => {
    sums[h] = sums[h]! + missOf(actual[i]!, forecast[i]!, relative)
    counts[h] = counts[h]! + 1
  })
  return { means: sums.map((sum, h) => (counts[h]! > 0 ? sum / counts[h]! : NaN)), counts }
}

/** The error of a forecast, relative to the forecast if errors grow with the level. */
export const missOf = (actual: number, forecast: number, relative: boolean): number =>
  relative && forecast > 0 ? Math.abs(actual - forecast) / forecast : Math.abs(actual - forecast)
