import type { FoldSplitter, SplitReport } from '../../data/fold-split.js'
import type { FineTuned } from '../../data/fine-tuning.js'
import type { Fitted, Prepared } from './fit.js'
import { predictedRows, rowsInside, unpredicted } from '../../data/folds.js'
import type { SeriesReport } from './series-report.js'
import { importancesOf, type Importances } from './importances.js'
import { intervalMethod } from './interval.js'
import type { Model } from './artefact.js'
import { evaluateRows, type CalibrationBin, type Confused, type OfClass } from './evaluation.js'
import type { Metrics } from '../../numerics/metrics.js'
import type { Preset } from './plan.js'
import type { ClassLabel, Exclusion, Task } from '../../data/task.js'
import type { ColumnType } from '../../data/values.js'
import type { Stopped } from './time-limit.js'
import type { Warning } from '../../data/warnings.js'

/** What is to be known of a trained model; plain JSON. Metrics are out of fold. */
export type TrainReport = {
  /** `asked` is the name that the statement used, when it is another one. */
  engine: { name: string; version: string; asked?: string }
  task: Task['kind']
  target: Task['target']
  classes: readonly ClassLabel[]
  rows: number
  inputs: readonly { name: string; type: ColumnType; role: 'number' | 'category' | 'date' }[]
  excluded: readonly Exclusion[]
  warnings: readonly Warning[]
  plan: EffectivePlan
  seed: number
  metrics: Metrics
  /** Of classes: what was answered for what, what was right of each class, and how sure the model was when it was right. */
  confusion?: readonly Confused[]
  by_class?: readonly OfClass[]
  calibration?: readonly CalibrationBin[]
  /** What each class weighs where one is chosen, when weights were asked for. */
  class_weights?: readonly { class: ClassLabel; weight: number }[]
  /** How rows were dealt into folds; blocks of time with their own metrics, null for the first, which is only learned from. */
  dealt: DealtReport
  /** What each input counts for, one an input, largest first; they add up to 1 (see `importancesOf`). */
  importances: Importances
  /** `null` for classes, whose confidence is the predicted class's probability. */
  interval: { method: string; about: string; confidence: number; exponent: number } | null
  /** Whole-number targets of some spread are predicted in whole numbers. */
  rounded: boolean
  /** For a version that goes on from another one: which, and how many rows are its and how many new. */
  fine_tuned?: FineTuned
  /** For a model of series: how it orders and divides them, and how each was forecast. */
  series?: SeriesReport
}

type TimeBlocks = Extract<SplitReport, { by: 'time_column' }>
export type DealtReport =
  // Of series: each is forecast from times in its own past.
  | { by: 'rolling_origin' }
  | Exclude<SplitReport, TimeBlocks>
  | (Omit<TimeBlocks, 'blocks'> & { blocks: readonly (Omit<TimeBlocks['blocks'][number], 'fold'> & { metrics: Metrics | null })[] })

/** The plan as it was carried out. Without trees their numbers are 0; series have no preset. */
export type EffectivePlan = {
  /** After how many rounds the time limit ended a phase; absent when it never did. */
  stopped?: Stopped
  preset: Preset | null
  folds: number
  rows: number
  learningRate: number
  leaves: number
  minRows: number
  rounds: number
  trees: number
  /** How often all rows were learned from in the end: what is predicted is the mean. Metrics and intervals are those of one fit. */
  members: number
  /** The weight of the linear model in the blend with the trees. */
  linearWeight: number
  /** For series: the times from which forecasts of the past were judged, and how often each was fitted for that. */
  origins?: number
  refits?: number
}

const roleOf = (type: ColumnType) => (type === 'text' ? 'category' : type === 'date' || type === 'timestamp' ? 'date' : 'number')

/** A training that is over. */
export type TrainingDone = {
  engine: TrainReport['engine']
  prepared: Prepared
  fitted: Fitted
  model: Model
  preset: Preset
  weights: Float64Array | undefined
  dealer: FoldSplitter | undefined
}

const dealtReport = ({ prepared: { task, folds }, fitted: { predictions }, weights, dealer }: TrainingDone): DealtReport => {
  const dealt = dealer?.told(task, folds) ?? { by: 'chance' }
  if (dealt.by !== 'time_column') return dealt
  const blocks = dealt.blocks.map(({ fold, ...block }) => ({
    ...block,
    metrics: fold === unpredicted ? null : evaluateRows(task, { predictions, weights }, rowsInside(folds, fold)).metrics,
  }))
  return { ...dealt, blocks }
}

const cutOff = (stopped: Stopped): Warning => {
  const phases = Object.entries(stopped).map(([phase, rounds]) => `${phase} after ${rounds} rounds`)
  return { kind: 'time_limit', detail: `The time limit ended ${phases.join(' and ')}: more time may give a better model` }
}

/** What is to be told of a training that is over, in plain JSON. */
export const reportOf = (trained: TrainingDone): TrainReport => {
  const { engine, prepared, fitted, model } = trained
  const { task, plan, seed, folds } = prepared
  const { boosting, rounds, trees, weight, predictions } = fitted
  const { weights } = trained
  const { stopped } = prepared.limit
  const isStopped = Object.keys(stopped).length > 0
  return {
    engine,
    task: task.kind,
    target: task.target,
    classes: task.classes,
    rows: task.labels.length,
    inputs: task.inputs.map(({ name, type }) => ({ name, type, role: roleOf(type) })),
    excluded: task.excluded,
    warnings: [...task.warnings, ...(isStopped ? [cutOff(stopped)] : [])],
    plan: {
      ...(isStopped && { stopped }),
      preset: trained.preset,
      folds: folds.count,
      rows: plan.rows,
      learningRate: boosting?.learningRate ?? 0,
      leaves: boosting?.leaves ?? 0,
      minRows: boosting?.minRows ?? 0,
      rounds,
      trees: trees.length,
      members: boosting ? plan.members : 0,
      linearWeight: weight,
    },
    seed,
    ...evaluateRows(task, { predictions, weights }, predictedRows(folds)),
    ...(weights && { class_weights: task.classes.map((label, index) => ({ class: label, weight: weights[index]! })) }),
    dealt: dealtReport(trained),
    importances: importancesOf(fitted, prepared),
    interval: model.interval
      ? { method: intervalMethod.name, about: intervalMethod.about, confidence: model.confidence, exponent: model.interval.exponent / 4 }
      : null,
    rounded: model.rounded,
  }
}
