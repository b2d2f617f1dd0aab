import { bestEts, type FittedEts, type Forecaster, type SeasonKind } from './exponential-smoothing.js'
import { ForecastClamp } from './forecast-clamp.js'
import type { Values } from './season.js'
import { fitTheta } from './theta.js'

/**
 * The forecast methods: three single ones, and the median of their forecasts at each step. If methods are equally good, the earlier one is
 * chosen.
 */
export const methods = ['damped_ets', 'trend_ets', 'theta', 'median'] as const
export type Method = (typeof methods)[number]

export const aboutMethods: Readonly<Record<Method, string>> = {
  damped_ets: 'Exponential smoothing without a trend or with a damped one',
  trend_ets: 'Exponential smoothing with a straight trend',
  theta: 'The Theta method',
  median: 'The median of the three others, step by step',
}

/**
 * The most distance between forecasts and the range of the past, on the scale of the fit, and for logarithms also on the scale of the
 * values.
 */
const slack = { fitted: 2, values: 1 }

/**
 * `mayLog` says whether a fit may use logarithms: all values of the series, including those after the fit, must be positive; and forecasts
 * over the whole horizon must be measured, because growth on the logarithmic scale can explode without a check.
 */
export type FitRules = { season: number; mayLog: boolean; least: number }

type SmoothingFit = { damped: FittedEts; straight: FittedEts; criterion: number }

const smooth = (values: Values, season: number, mayMultiply: boolean, jacobian: number): SmoothingFit => {
  const kinds: readonly SeasonKind[] = season < 2 ? ['none'] : mayMultiply ? ['additive', 'multiplicative'] : ['additive']
  const damped = bestEts(values, ['none', 'damped'], kinds, season)
  const straight = bestEts(values, ['linear'], kinds, season)
  return { damped, straight, criterion: Math.min(damped.criterion, straight.criterion) + jacobian }
}

const sumOf = (values: Values): number => values.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : value), 0)

const middle = (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))

export const isPositive = (values: Values): boolean => values.every((value) => !(value <= 0))

/**
 * The three methods, fitted to the values of a series or to their logarithms, whichever has the higher likelihood. `relative` says whether
 * the errors grow with the level.
 *
 * @example new FittedMethods(values, { season: 12, mayLog: true, least: 0 }).forecasts(12)[0] // by damped_ets
 */
export class FittedMethods {
  readonly logged: boolean
  readonly relative: boolean
  readonly #fitted: readonly Forecaster[]
  readonly #least: number
  readonly #clamp: ForecastClamp
  /** A linear trend of logarithms means exponential growth of the values, so the values are bounded as well. */
  readonly #clampOfValues: ForecastClamp | undefined

  constructor(values: Values, { season, mayLog, least }: FitRules) {
    const plain = smooth(values, season, isPositive(values), 0)
    const logs = mayLog ? values.map(Math.log) : undefined
    // Subtracting the sum of the logarithms converts densities of logarithms to densities of values.
    const logged = logs && smooth(logs, season, false, 2 * sumOf(logs))
    const isLogged = logged !== undefined && logged.criterion < plain.criterion
    const { damped, straight } = isLogged ? logged : plain
    this.logged = isLogged
    this.relative = isLogged || damped.form.season === 'multiplicative'
    this.#least = least
    const scaled = isLogged && logs ? logs : values
    this.#fitted = [damped.forecaster, straight.forecaster, fitTheta(scaled, season, !isLogged)]
    this.#clamp = new ForecastClamp(scaled, slack.fitted)
    this.#clampOfValues = isLogged ? new ForecastClamp(values, slack.values) : undefined
  }

  /** Updates the methods with one value, keeping the fitted weights. */
  update(value: number): void {
    const scaled = this.logged ? Math.log(value) : value
    for (const each of this.#fitted) each.update(scaled)
    this.#clamp.update(scaled)
    this.#clampOfValues?.update(value)
  }

  /** Each method's forecasts of the next `steps` steps, in the order of `methods`. */
  forecasts(steps: number): Float64Array[] {
    const each = this.#fitted.map((forecaster) => {
      const into = new Float64Array(steps)
      forecaster.forecast(into)
      return into.map((value, h) => {
        const bounded = this.#clamp.bounded(value, h)
        return Math.max(this.#clampOfValues?.bounded(Math.exp(bounded), h) ?? bounded, this.#least)
      })
    })
    const [one, two, three] = each as [Float64Array, Float64Array, Float64Array]
    return [...each, one.map((value, h) => middle(value, two[h]!, three[h]!))]
  }
}

/** The errors of a method's forecasts from past times, one entry per forecast and step, with `actual` and `forecast`. */
export type Misses = { step: number[]; actual: number[]; forecast: number[] }

/** If more than this share of the values is zero, squared errors are compared: absolute errors would prefer a constant forecast of zero. */
const intermittentShare = 1 / 3

const scoreOf = ({ step, actual, forecast }: Misses, horizon: number, squared: boolean): number => {
  const [sums, counts] = [new Float64Array(horizon), new Float64Array(horizon)]
  step.forEach((h, i) => {
    const miss = Math.abs(actual[i]! - forecast[i]!)
    sums[h] = sums[h]! + (squared ? miss * miss : miss)
    counts[h] = counts[h]! + 1
  })
  const means = sums.map((sum, h) => sum / counts[h]!).filter((mean) => !Number.isNaN(mean))
  return means.length > 0 ? means.reduce((sum, mean) => sum + mean, 0) / means.length : Infinity
}

/** The method with the least error, where every step has the same weight; the first one if several are equal. */
export const bestMethod = (misses: readonly Misses[], horizon: number): number => {
  const actual = misses[0]?.actual ?? []
  const squared = actual.filter((value) => value === 0).length > intermittentShare * actual.length
  const scores = misses.map((each) => scoreOf(each, horizon, squared))
  return scores.reduce((best, score, method) => (score < scores[best]! ? method : best), 0)
}
