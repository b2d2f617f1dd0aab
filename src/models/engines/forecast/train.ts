/**
 * Room: the engine for series. It imports only basics, catalogue, files/tables, models/numerics, models/data, models/engines/tabular and
 * models/engines/contract.
 */

import { wrong } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { OnProgress } from '../tabular/fit.js'
import { checkLevel } from '../contract/confidence-level.js'
import type { Matrix } from '../../data/matrix.js'
import { readOptions } from '../../../catalogue/engine-options.js'
import type { TrainedModel, TrainOptions } from '../tabular/train.js'
import { encodeForecast, type ForecastModel } from './artefact.js'
import { inferFrequency, type Frequency } from './frequency.js'
import { stepsTo } from './grid.js'
import { forecastName, forecastOptions, type SeriesRequest } from '../../../catalogue/forecast-options.js'
import { readPanel, type Panel, type Series } from './panel.js'
import { reportOf, type LearnedSeries } from './report.js'
import { modelSeries, type SeriesModel, type SeriesRules } from './series-model.js'
import { withoutOutliers } from './outliers.js'
import { errorQuantiles } from './prediction-interval.js'

/** Raised whenever the same data would give a different artefact. */
export const forecastVersion = '1.2.3'

/** A series with fewer values cannot be forecast. */
const leastRows = 10
/** The limits of forecasts times steps from the past: over all series, and for one. */
const workOfAll = 20_000_000
const workOfOne = 100_000

const requestOf = ({ target, seed: _, ...said }: TrainOptions): SeriesRequest => {
  const read = readOptions(forecastName, forecastOptions, said)
  return {
    target,
    orderBy: read.order_by,
    groupBy: read.group_by ?? [],
    window: read.window ?? null,
    horizon: read.horizon,
    season: read.season ?? null,
    confidence: checkLevel(read.confidence ?? 0.9),
  }
}

/** The series that are long enough; if there are none, a problem with their lengths. */
const longEnough = ({ series, target }: Panel, { window }: SeriesRequest): Series[] => {
  const least = Math.max(leastRows, window ?? 0)
  const kept = series.filter(({ values }) => values.length >= least)
  if (kept.length > 0) return kept
  const longest = series.reduce((most, { values }) => Math.max(most, values.length), 0)
  const why = least === leastRows ? `at least ${least} are needed` : `WINDOW asks for ${least}`
  throw wrong(
    series.length > 1
      ? `No series is long enough: the longest has ${longest} rows with a value of "${target.name}", ${why}`
      : `Only ${longest} rows have a value of "${target.name}", ${why}`,
    series.length > 1 ? 'Select more of the past, or GROUP BY fewer columns.' : 'Select more of the past.',
  )
}

/** The last values of a series on the grid, NaN for gaps. */
const onGrid = ({ times, values }: Series, { grid, day }: Frequency): Float64Array => {
  const end = { time: times.at(-1)!, day }
  const places = times.map((time) => -stepsTo(grid, end, time))
  const first = places.findIndex((place) => place < limits.forecastMaxPoints)
  const length = places[first]! + 1
  const out = new Float64Array(length).fill(NaN)
  for (let row = first; row < values.length; row++) out[length - 1 - places[row]!] = values[row]!
  return out
}

const refitsFor = (values: number): number => (values <= 20_000 ? 4 : values <= 200_000 ? 2 : 1)

const rulesFor = (kept: readonly Series[], { seasons }: Frequency, { horizon, season }: SeriesRequest): Omit<SeriesRules, 'least'> => ({
  horizon,
  seasons,
  ...(season !== null && { season }),
  work: Math.min(workOfOne, Math.floor(workOfAll / kept.length)),
  refits: refitsFor(kept.reduce((sum, { values }) => sum + values.length, 0)),
})

const leastOf = (values: Float64Array): number => (values.some((value) => value < 0) ? -Infinity : 0)

const artefactOf = ({ panel, kept, frequency, request, models }: LearnedSeries, least: readonly number[]): ForecastModel => {
  const { horizon, confidence } = request
  const forecasts = new Float64Array(models.length * horizon)
  const spreads = new Float64Array(models.length * horizon)
  models.forEach((model, i) => {
    forecasts.set(model.forecasts, i * horizon)
    spreads.set(model.spreads, i * horizon)
  })
  // Forecasts of several steps from neighbouring times have correlated errors.
  const independent = models.reduce((sum, { normalised, origins }) => sum + normalised.length / Math.min(horizon, origins), 0)
  return {
    engineVersion: forecastVersion,
    target: panel.target,
    order: panel.order,
    keys: panel.keys,
    grid: frequency.grid,
    frequency: frequency.name,
    day: frequency.day,
    horizon,
    confidence,
    codes: Int32Array.from(kept.flatMap(({ codes }) => codes)),
    last: Float64Array.from(kept, ({ times }) => times.at(-1)!),
    least: Float64Array.from(least),
    forecasts,
    spreads,
    quantiles: errorQuantiles(
      models.flatMap(({ normalised }) => normalised),
      independent,
    ),
  }
}

const checkSize = (series: number, horizon: number): void => {
  if (series * horizon > limits.forecastMaxRows)
    throw wrong(
      `${series} series with a horizon of ${horizon} are ${series * horizon} forecasts, at most ${limits.forecastMaxRows} are made`,
      'Take a shorter HORIZON, or make several models, each of some of the series.',
    )
}

/**
 * Trains a model that knows the next `horizon` values of each series. The result does not depend on the clock, on chance or on the
 * platform. Problems (`wrong_arguments`): unknown or unusable columns, irregular times, two rows for one time, too few rows, too many
 * forecasts; `query_limit` for too many series.
 *
 * @example trainForecast(matrix, { target: 'passengers', order_by: 'month', horizon: 12 }, show).report.metrics.mase
 */
export const trainForecast = (matrix: Matrix, options: TrainOptions, onProgress: OnProgress): TrainedModel => {
  const request = requestOf(options)
  onProgress({ phase: 'prepare', done: 0, total: 1 })
  const panel = readPanel(matrix, request)
  const kept = longEnough(panel, request)
  checkSize(kept.length, request.horizon)
  const frequency = inferFrequency(
    panel.order.name,
    kept.map(({ times }) => times),
    panel.order.type,
  )
  const rules = rulesFor(kept, frequency, request)
  onProgress({ phase: 'prepare', done: 1, total: 1 })
  // Each series is fitted to parts of its past, and once to all of it.
  const fitsOfOne = rules.refits + 1
  const total = kept.length * fitsOfOne
  const models: SeriesModel[] = []
  const grids = kept.map((series) => onGrid(series, frequency))
  const least = kept.map(({ values }) => leastOf(values))
  const seasons = request.season === null ? frequency.seasons : [request.season]
  const usual = grids.map((values) => withoutOutliers(values, seasons))
  for (const [i, values] of usual.entries()) {
    let done = i * fitsOfOne
    onProgress({ phase: 'series', done, total })
    models.push(modelSeries(values, { ...rules, least: least[i]! }, () => onProgress({ phase: 'series', done: ++done, total })))
  }
  onProgress({ phase: 'series', done: total, total })
  const learned = { panel, kept, frequency, request, models, grids, usual, refits: rules.refits }
  return { artefact: encodeForecast(artefactOf(learned, least)), report: reportOf(learned, matrix, forecastVersion) }
}
