import type { FineTuningRows } from '../../data/fine-tuning.js'
import type { FoldSplitter, SplitReport } from '../../data/fold-split.js'
import { predictedRows, rowsInside, unpredicted } from '../../data/folds.js'
import type { ClassLabel, Exclusion, Task } from '../../data/task.js'
import type { ColumnType } from '../../data/values.js'
import type { Warning } from '../../data/warnings.js'
import type { Metrics } from '../../numerics/metrics.js'
import type { TabularModel } from './artefact.js'
import { evaluateRows, type CalibrationBin, type ConfusionCell, type ClassMetrics, type ResidualBin } from './evaluation.js'
import type { FittedModel, PreparedTask } from './fit.js'
import { indexOf, valueOf } from './linear/design.js'
import type { Preset } from './plan.js'
import { intervalMethod, type Coverage } from './prediction-interval.js'
import type { SeriesReport } from './series-report.js'
import type { StoppedRounds } from './time-limit.js'

type Importances = readonly { name: string; importance: number }[]

/** The summed gain of all splits on each feature. */
const gainsOf = ({ trees }: FittedModel, { features }: PreparedTask): Float64Array => {
  const gains = new Float64Array(features.length)
  for (const { nodes } of trees) for (const { feature, gain } of nodes) gains[feature] = gains[feature]! + gain
  return gains
}

/** The standard deviation over the training rows of a feature's contribution to the linear scores, summed over the scores. */
const spreadsOf = ({ linear }: FittedModel, { columns, loss }: PreparedTask): Float64Array => {
  const spreads = new Float64Array(columns.length)
  if (!linear) return spreads
  const size = linear.weights.length / loss.outputs
  linear.terms.forEach((term, feature) => {
    const column = columns[feature]!
    for (let output = 0; output < loss.outputs; output++) {
      let [sum, squares] = [0, 0]
      for (const value of column) {
        const part = linear.weights[output * size + indexOf(term, value)]! * valueOf(term, value)
        sum += part
        squares += part * part
      }
      const mean = sum / column.length
      spreads[feature] = spreads[feature]! + Math.sqrt(Math.max(0, squares / column.length - mean * mean))
    }
  })
  return spreads
}

const sharesOf = (amounts: Float64Array): Float64Array => {
  const total = amounts.reduce((sum, amount) => sum + amount, 0)
  return amounts.map((amount) => (total > 0 ? amount / total : 0))
}

/**
 * The importance of each input, largest first: for trees its share of the gain of all splits, for a linear model its share of the spread of
 * the inputs' contributions, for a blend both by their weights.
 *
 * @example importancesOf(fitted, prepared)[0] // { name: 'sqft', importance: .81 }
 */
const importancesOf = (fitted: FittedModel, prepared: PreparedTask): Importances => {
  const { weight } = fitted
  const [ofTrees, ofLinear] = [sharesOf(gainsOf(fitted, prepared)), sharesOf(spreadsOf(fitted, prepared))]
  const importances = prepared.task.inputs.map(({ name }) => ({ name, importance: 0 }))
  prepared.features.forEach(({ input }, feature) => {
    importances[input]!.importance += (1 - weight) * ofTrees[feature]! + weight * ofLinear[feature]!
  })
  return importances.sort((one, other) => other.importance - one.importance)
}

/** The report of a trained model, as plain JSON. Metrics are out of fold. */
export type TrainReport = {
  /** `asked` is the engine's name in the statement, if it is another one. */
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
  /** For numbers: means of predictions and truths, in groups of rows. */
  residuals?: readonly ResidualBin[]
  /** For classes: predicted against actual classes, precision and recall of each class, and the calibration of the confidence. */
  confusion?: readonly ConfusionCell[]
  by_class?: readonly ClassMetrics[]
  calibration?: readonly CalibrationBin[]
  /** The class weights of the decision, if the user set them. */
  class_weights?: readonly { class: ClassLabel; weight: number }[]
  /**
   * The split of rows into folds. Blocks of time have metrics of their own; those of the first block are null, because it is only learned
   * from.
   */
  dealt: DealtReport
  /** The importance of each input, largest first; they add up to 1 (see `importancesOf`). */
  importances: Importances
  /** `null` for classes, whose confidence is the predicted class's probability. */
  interval: { method: string; about: string; confidence: number; exponent: number } | null
  /** For numbers: the share of truths within intervals of some levels; absent with a single fold. */
  coverage?: readonly Coverage[]
  /** Whether predictions are rounded: for integer targets with enough spread. */
  rounded: boolean
  /** For a fine-tuned version: its base version, and the numbers of kept and new rows. */
  fine_tuned?: FineTuningRows
  /** For a series model: its order and keys, and how each series was forecast. */
  series?: SeriesReport
}

type TimeBlocks = Extract<SplitReport, { by: 'time_column' }>
export type DealtReport =
  // For series: each series is forecast from times in its own past.
  | { by: 'rolling_origin' }
  | Exclude<SplitReport, TimeBlocks>
  | (Omit<TimeBlocks, 'blocks'> & { blocks: readonly (Omit<TimeBlocks['blocks'][number], 'fold'> & { metrics: Metrics | null })[] })

/** The plan as it was carried out. Without trees, the numbers of trees are 0; series have no preset. */
export type EffectivePlan = {
  /** The rounds after which the time limit ended a phase; absent if it never did. */
  stopped?: StoppedRounds
  preset: Preset | null
  folds: number
  rows: number
  learningRate: number
  leaves: number
  minRows: number
  rounds: number
  trees: number
  /**
   * The number of times that the final model was fitted on all rows; the prediction is the mean. Metrics and intervals are those of one
   * fit.
   */
  members: number
  /** The weight of the linear model in the blend with the trees. */
  linearWeight: number
  /** For series: the number of past times from which each series was forecast, and how often it was fitted for that. */
  origins?: number
  refits?: number
}

const roleOf = (type: ColumnType) => (type === 'text' ? 'category' : type === 'date' || type === 'timestamp' ? 'date' : 'number')

/** A finished training. */
export type FinishedTraining = {
  engine: TrainReport['engine']
  prepared: PreparedTask
  fitted: FittedModel
  model: TabularModel
  coverage: readonly Coverage[] | undefined
  preset: Preset
  weights: Float64Array | undefined
  splitter: FoldSplitter | undefined
}

const dealtReport = ({ prepared: { task, folds }, fitted: { predictions }, weights, splitter }: FinishedTraining): DealtReport => {
  const dealt = splitter?.report(task, folds) ?? { by: 'chance' }
  if (dealt.by !== 'time_column') return dealt
  const blocks = dealt.blocks.map(({ fold, ...block }) => ({
    ...block,
    metrics: fold === unpredicted ? null : evaluateRows(task, { predictions, weights }, rowsInside(folds, fold)).metrics,
  }))
  return { ...dealt, blocks }
}

const cutOff = (stopped: StoppedRounds): Warning => {
  const phases = Object.entries(stopped).map(([phase, rounds]) => `${phase} after ${rounds} rounds`)
  return { kind: 'time_limit', detail: `The time limit ended ${phases.join(' and ')}: more time may give a better model` }
}

/** The report of a finished training, in plain JSON. */
export const reportOf = (trained: FinishedTraining): TrainReport => {
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
    ...(trained.coverage && { coverage: trained.coverage }),
    rounded: model.rounded,
  }
}
