import type { Matrix } from '../../data/matrix.js'
import type { TrainReport } from '../tabular/report.js'
import type { Warning } from '../../data/warnings.js'
import type { Frequency } from './frequency.js'
import { aboutMethods, methods } from './methods.js'
import type { SeriesRequest } from '../../../catalogue/forecast-options.js'
import type { Panel, Series } from './panel.js'
import { seriesMetrics } from './scores.js'
import type { SeriesModel } from './series-model.js'
import type { SeriesReport } from '../tabular/series-report.js'
import { timeText } from './times.js'

/**
 * The result of learning series, and its data: `grids` has the values at every time of the grid, NaN for gaps; `usual` has the same values
 * without outliers.
 */
export type LearnedSeries = {
  panel: Panel
  kept: readonly Series[]
  frequency: Frequency
  request: SeriesRequest
  models: readonly SeriesModel[]
  grids: readonly Float64Array[]
  usual: readonly Float64Array[]
  refits: number
}

const seriesInterval = {
  name: 'rolling-origin',
  about: 'Errors of forecasts from past times, by step and by the spread of each series, no exact finite-sample guarantee',
} as const

const counted = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

const isMissing = (value: number): boolean => Number.isNaN(value)

const missingIn = (series: readonly Float64Array[]): number => series.reduce((sum, values) => sum + values.filter(isMissing).length, 0)

/** The number of times between the first and the last used time that have no row. */
const gapsOf = ({ grids }: LearnedSeries): number => missingIn(grids)

/** The number of series of which only the last rows were used. */
const cutOf = ({ kept, grids }: LearnedSeries): number =>
  grids.filter((values, i) => values.length - values.filter(isMissing).length < kept[i]!.values.length).length

const measuredSteps = (models: readonly SeriesModel[]): number =>
  models.reduce((least, { misses }) => Math.min(least, misses.step.reduce((most, step) => Math.max(most, step), -1) + 1), Infinity)

const warningsOf = (learned: LearnedSeries, gaps: number, measured: number): Warning[] => {
  const { panel, kept, request } = learned
  const short = panel.series.length - kept.length
  const cut = cutOf(learned)
  const spikes = missingIn(learned.usual) - gaps
  const said: [boolean, Warning['kind'], string][] = [
    [panel.withoutTarget > 0, 'missing_target', `${panel.withoutTarget} rows have no value of "${panel.target.name}" and were left out`],
    [panel.withoutTime > 0, 'missing_time', `${panel.withoutTime} rows have no "${panel.order.name}" and were left out`],
    [short > 0, 'short_series', `${short} of ${panel.series.length} series have too few rows and are not forecast`],
    [gaps > 0, 'gaps', `${gaps} times between the first and the last of their series have no row; the smoothing goes on over them`],
    [spikes > 0, 'spikes', `${spikes} values stand alone, far from those before and after them, and were taken as unknown`],
    [cut > 0, 'long_series', `${cut} series are longer than what is learned from: only their last rows were used`],
    [
      measured < request.horizon,
      'unmeasured_steps',
      `The past of every series can tell of ${measured} steps ahead only; intervals of later steps grow with the root of the step`,
    ],
  ]
  return said.flatMap(([holds, kind, detail]) => (holds ? [{ kind, detail }] : []))
}

const aboutOf = (picked: Readonly<Record<string, number>>): Record<string, string> =>
  Object.fromEntries(methods.filter((name) => picked[name]).map((name) => [name, aboutMethods[name]]))

const seriesReport = ({ panel, kept, frequency, request, models }: LearnedSeries, gaps: number, measured: number): SeriesReport => {
  const picked = counted(models.map(({ method }) => methods[method] ?? ''))
  const lengths = kept.map(({ values }) => values.length)
  const ends = kept.map(({ times }) => times.at(-1)!)
  const text = (time: number) => timeText(panel.order.type, time)
  const least = (numbers: readonly number[]) => numbers.reduce((one, other) => Math.min(one, other), Infinity)
  const most = (numbers: readonly number[]) => numbers.reduce((one, other) => Math.max(one, other), -Infinity)
  return {
    order_by: panel.order.name,
    group_by: panel.keys.map(({ name }) => name),
    window: request.window,
    horizon: request.horizon,
    frequency: frequency.name,
    seasons: counted(models.map(({ season }) => String(season))),
    methods: picked,
    about: aboutOf(picked),
    series: kept.length,
    shortest: least(lengths),
    longest: most(lengths),
    first: text(least(kept.map(({ times }) => times[0]!))),
    last: [text(least(ends)), text(most(ends))],
    gaps,
    measured_steps: measured,
  }
}

/** The report of a finished training on series, in plain JSON. */
export const reportOf = (learned: LearnedSeries, matrix: Matrix, version: string): TrainReport => {
  const { panel, request, models, refits } = learned
  const gaps = gapsOf(learned)
  const measured = measuredSteps(models)
  return {
    engine: { name: 'forecast', version },
    task: 'regression',
    target: panel.target,
    classes: [],
    rows: matrix.rows - panel.withoutTarget - panel.withoutTime,
    inputs: [
      { name: panel.order.name, type: panel.order.type, role: panel.order.type === 'integer' ? 'number' : 'date' },
      ...panel.keys.map(({ name, type }) => ({ name, type, role: 'category' as const })),
    ],
    excluded: panel.others.map(({ name, type }) => ({ name, type, reason: 'a series is forecast from its own past alone' })),
    warnings: warningsOf(learned, gaps, measured),
    plan: {
      preset: null,
      folds: 0,
      rows: matrix.rows,
      learningRate: 0,
      leaves: 0,
      minRows: 0,
      rounds: 0,
      trees: 0,
      members: 0,
      linearWeight: 0,
      origins: models.reduce((sum, { origins }) => sum + origins, 0),
      refits,
    },
    dealt: { by: 'rolling_origin' },
    seed: matrix.seed,
    metrics: seriesMetrics(models),
    importances: [],
    interval: { method: seriesInterval.name, about: seriesInterval.about, confidence: request.confidence, exponent: 0 },
    rounded: false,
    series: seriesReport(learned, gaps, measured),
  }
}
