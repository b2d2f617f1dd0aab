import { minimise } from './minimise.js'
import { filled, lineThrough, seasonShape, type Values } from './season.js'

/**
 * A method of exponential smoothing (Holt and Winters) that is fitted to a series: it takes the next value (NaN for a gap), and forecasts
 * the following ones.
 */
export type Forecaster = {
  update: (value: number) => void
  /** Writes the forecasts of the next `into.length` steps. */
  forecast: (into: Float64Array) => void
}

export type Trend = 'none' | 'damped' | 'linear'
export type SeasonKind = 'none' | 'additive' | 'multiplicative'
export type EtsForm = { trend: Trend; season: SeasonKind }

type Weights = { level: number; slope: number; season: number; damping: number }
type State = { level: number; slope: number; shape: Float64Array; place: number }

const bounds: Readonly<Record<keyof Weights, readonly [start: number, lower: number, upper: number]>> = {
  level: [0.3, 0.0001, 0.9999],
  // The slope's weight is a fraction of the level's weight. The season's weight is a fraction of the rest. This is the usual admissible
  // region.
  slope: [0.1, 0.0001, 0.9999],
  season: [0.1, 0.0001, 0.9999],
  damping: [0.95, 0.8, 0.98],
}

const evaluationsPerWeight = 40
const rowsOfFirstLine = 10

/** The initial state: the shape of the season, and the line through the first deseasonalised values. */
const startOf = (values: Values, { trend, season: kind }: EtsForm, season: number): State => {
  const multiplicative = kind === 'multiplicative'
  const shape = kind === 'none' ? new Float64Array(1).fill(0) : seasonShape(values, season, multiplicative)
  const plain = values.map((value, t) => {
    if (kind === 'none') return value
    return multiplicative ? value / shape[t % season]! : value - shape[t % season]!
  })
  const count = Math.min(values.length, Math.max(rowsOfFirstLine, 2 * season))
  const { start, slope } = lineThrough(plain, count)
  if (trend !== 'none') return { level: start - slope, slope, shape, place: 0 }
  const mean = plain.subarray(0, count).reduce((sum, value) => sum + value, 0) / count
  return { level: mean, slope: 0, shape, place: 0 }
}

/** Updates a state with one value; returns the forecast's error for that value, relative for a multiplicative season. */
const step = (state: State, weights: Weights, multiplicative: boolean, value: number): number => {
  const { shape, place } = state
  const trend = weights.damping * state.slope
  const base = state.level + trend
  const ofSeason = shape[place]!
  let error = 0
  if (multiplicative) {
    error = Number.isNaN(value) ? 0 : value / (base * ofSeason) - 1
    state.level = base * (1 + weights.level * error)
    state.slope = trend + weights.slope * base * error
    shape[place] = ofSeason * (1 + weights.season * error)
  } else {
    error = Number.isNaN(value) ? 0 : value - base - ofSeason
    state.level = base + weights.level * error
    state.slope = trend + weights.slope * error
    shape[place] = ofSeason + weights.season * error
  }
  state.place = place + 1 === shape.length ? 0 : place + 1
  return error
}

/** -2 log likelihood up to a constant, on the scale of the values, so that additive and multiplicative errors are comparable. */
const misfit = (values: Values, state: State, weights: Weights, multiplicative: boolean, floor: number): number => {
  let [squares, logs, count] = [0, 0, 0]
  for (let t = 0; t < values.length; t++) {
    const known = !Number.isNaN(values[t])
    if (multiplicative) {
      const expected = (state.level + weights.damping * state.slope) * state.shape[state.place]!
      if (!(expected > 0)) return Infinity
      if (known) logs += Math.log(expected)
    }
    const error = step(state, weights, multiplicative, values[t]!)
    squares += error * error
    if (known) count++
  }
  return count * Math.log(squares / count + floor) + 2 * logs
}

const copyOf = (state: State): State => ({ ...state, shape: state.shape.slice() })

/** Resets a state to another one without allocating. */
const begin = (state: State, start: State): void => {
  state.shape.set(start.shape)
  state.level = start.level
  state.slope = start.slope
  state.place = start.place
}

/** The weights of a form, in the optimiser's order. */
const freeWeights = ({ trend, season }: EtsForm): (keyof Weights)[] => [
  'level',
  ...(trend === 'none' ? [] : (['slope'] as const)),
  ...(season === 'none' ? [] : (['season'] as const)),
  ...(trend === 'damped' ? (['damping'] as const) : []),
]

const weightsAt = (free: readonly (keyof Weights)[], at: Float64Array, trend: Trend): Weights => {
  const weights: Weights = { level: 0, slope: 0, season: 0, damping: trend === 'none' ? 0 : 1 }
  free.forEach((name, i) => (weights[name] = at[i]!))
  weights.slope *= weights.level
  weights.season *= 1 - weights.level
  return weights
}

const forecasterOf = (state: State, weights: Weights, multiplicative: boolean): Forecaster => ({
  update(value) {
    step(state, weights, multiplicative, value)
  },
  forecast(into) {
    let [slope, base, place] = [state.slope, state.level, state.place]
    for (let h = 0; h < into.length; h++) {
      slope *= weights.damping
      base += slope
      into[h] = multiplicative ? base * state.shape[place]! : base + state.shape[place]!
      place = place + 1 === state.shape.length ? 0 : place + 1
    }
  },
})

/** A fitted form: its AICc, `criterion`, compares the forms of one series. */
export type FittedEts = { form: EtsForm; criterion: number; forecaster: Forecaster }

/**
 * Fits one form of exponential smoothing. Errors are additive, or relative with a multiplicative season, which needs positive values. For a
 * missing value, the state follows its own forecast.
 */
export const fitEts = (values: Values, form: EtsForm, season: number): FittedEts => {
  const multiplicative = form.season === 'multiplicative'
  const start = startOf(filled(values), form, season)
  const free = freeWeights(form)
  // A series that fits exactly has no likelihood: errors below a billionth of its size count as zero.
  const size = values.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0)
  const floor = multiplicative ? 1e-18 : (size * size || 1) * 1e-18
  const scratch = copyOf(start)
  const score = (at: Float64Array) => {
    begin(scratch, start)
    return misfit(values, scratch, weightsAt(free, at, form.trend), multiplicative, floor)
  }
  const [starts, lower, upper] = [0, 1, 2].map((i) => free.map((name) => bounds[name][i]!)) as [number[], number[], number[]]
  const found = minimise(score, starts, lower, upper, evaluationsPerWeight * free.length)
  const weights = weightsAt(free, found.at, form.trend)
  const state = copyOf(start)
  for (const value of values) step(state, weights, multiplicative, value)
  const count = values.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : 1), 0)
  const parameters = free.length + (form.trend === 'none' ? 2 : 3)
  const spare = Math.max(count - parameters - 1, 1)
  const criterion = found.value + 2 * parameters + (2 * parameters * (parameters + 1)) / spare
  return { form, criterion, forecaster: forecasterOf(state, weights, multiplicative) }
}

/** The form with the lowest AICc among the given trends and kinds of season. */
export const bestEts = (values: Values, trends: readonly Trend[], kinds: readonly SeasonKind[], season: number): FittedEts => {
  const fitted = kinds.flatMap((kind) => trends.map((trend) => fitEts(values, { trend, season: kind }, season)))
  return fitted.reduce((one, other) => (other.criterion < one.criterion ? other : one))
}
