import { bestMethod, FittedMethods, isPositive, type Misses } from './methods.js'
import { planRolling, rollOrigins } from './rolling-errors.js'
import { filled, findSeason, type Values } from './season.js'
import { normalisedMisses, spreadOf } from './prediction-interval.js'

/** The model of one series: its forecasts, the width of their errors, and its evaluation. */
export type SeriesModel = {
  /** The index of the chosen method in `methods`. */
  method: number
  /** Its length in steps; 1 means no season. */
  season: number
  forecasts: Float64Array
  /** The spread of each step, in the target's unit: half the width of an interval is a quantile times the spread. */
  spreads: Float64Array
  /** The errors of forecasts from the past, divided by their spread. */
  normalised: number[]
  misses: Misses
  /** The mean absolute error of repeating the previous season (or the last value) in the values of the first fit; 0 for a constant. */
  naive: number
  origins: number
}

export type SeriesRules = {
  horizon: number
  /** Possible lengths of a season. */
  seasons: readonly number[]
  /** The season's length that the user set: it is used for every series with two whole seasons. */
  season?: number
  /** The lower bound of forecasts: 0 where no value is negative. */
  least: number
  work: number
  refits: number
}

const naiveError = (values: Values, season: number): number => {
  let [sum, count] = [0, 0]
  for (let t = season; t < values.length; t++) {
    const step = Math.abs(values[t]! - values[t - season]!)
    if (Number.isNaN(step)) continue
    sum += step
    count++
  }
  return count > 0 ? sum / count : 0
}

/**
 * Learns one series: finds its season, forecasts it from its own past by every method, and keeps the method with the least error. `values`
 * lie on the grid, NaN for a gap; the first and the last are not NaN.
 *
 * @example modelSeries(values, { horizon: 12, seasons: [12], least: 0, work: 100_000, refits: 4 }).forecasts
 */
export const modelSeries = (
  values: Values,
  { horizon, seasons, season: said, least, work, refits }: SeriesRules,
  onFit: () => void = () => undefined,
): SeriesModel => {
  const season = said === undefined ? findSeason(values, seasons) : said * 2 + 2 <= values.length ? said : 1
  const plan = planRolling(values.length, season, horizon, { work, refits })
  const rules = { season, mayLog: horizon <= values.length - plan.first && isPositive(values), least }
  const misses = rollOrigins(values, rules, horizon, plan, onFit)
  const method = bestMethod(misses, horizon)
  const chosen = misses[method]!
  const fits = new FittedMethods(values, rules)
  const forecasts = fits.forecasts(horizon)[method]!
  const spread = spreadOf(chosen, horizon, fits.relative)
  const first = filled(values).subarray(0, plan.first)
  return {
    method,
    season,
    forecasts,
    spreads: spread.map((each, h) => (fits.relative && forecasts[h]! > 0 ? each * forecasts[h]! : each)),
    normalised: normalisedMisses(chosen, spread, fits.relative),
    misses: chosen,
    naive: naiveError(first, season) || naiveError(first, 1),
    origins: Math.ceil((values.length - plan.first) / plan.stride),
  }
}
