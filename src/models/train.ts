import type { FineTuned } from './fine-tuning.js'
import { wrong } from '../errors.js'
import { encodeArtefact, type Model, type ModelInput } from './artefact.js'
import { flatten } from './boosting/forest.js'
import { checkLevel, fitInterval, intervalMethod, type Interval } from './interval.js'
import { fitModel, prepare, type Fitted, type OnProgress, type Prepared } from './fit.js'
import type { Feature } from './features.js'
import type { Matrix } from './matrix.js'
import { classMetrics, regressionMetrics, type Metrics } from './metrics.js'
import { defineTask, type ClassLabel, type Exclusion, type Task } from './task.js'
import type { ColumnType } from './values.js'
import type { Warning } from './warnings.js'

export const engineName = 'boosted_trees'
/** Raised whenever the same data and seed would give another artefact. */
export const engineVersion = '1.1.0'

export type TrainOptions = {
  /** The column to predict. */
  target: string
  /** An integer of 0…2³²-1; the same data and seed give the same bytes. */
  seed?: number
  /** The level of the intervals that are answered by default, .9 unless given. */
  confidence?: number
}

/** What is to be known of a trained model; plain JSON. Metrics are out of fold. */
export type TrainReport = {
  engine: { name: string; version: string }
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
  /** Shares of the summed gain of all splits, one an input, largest first. */
  importances: readonly { name: string; importance: number }[]
  /** `null` for classes, whose confidence is the predicted class's probability. */
  interval: { method: string; about: string; confidence: number; exponent: number } | null
  /** Whole-number targets of some spread are predicted in whole numbers. */
  rounded: boolean
  /** For a version that goes on from another one: which, and how many rows are its and how many new. */
  fine_tuned?: FineTuned
}

/** The plan as it was carried out. */
export type EffectivePlan = {
  folds: number
  rows: number
  learningRate: number
  leaves: number
  minRows: number
  rounds: number
  trees: number
  /** The weight of the linear model in the blend with the trees. */
  linearWeight: number
}

/** Rounding to whole numbers is noise of variance 1/12: nothing beside a deviation of 10. */
const leastDeviationToRound = 10

const roundsOff = ({ kind, target, labels }: Task): boolean => {
  if (kind !== 'regression' || target.type !== 'integer') return false
  const mean = labels.reduce((sum, label) => sum + label, 0) / labels.length
  const squares = labels.reduce((sum, label) => sum + (label - mean) * (label - mean), 0)
  return Math.sqrt(squares / labels.length) >= leastDeviationToRound
}

const importancesOf = (fitted: Fitted, { features, task }: Prepared): TrainReport['importances'] => {
  const gains = task.inputs.map(() => 0)
  for (const { nodes } of fitted.trees) for (const { feature, gain } of nodes) gains[features[feature]!.input]! += gain
  const total = gains.reduce((sum, gain) => sum + gain, 0)
  return task.inputs
    .map(({ name }, index) => ({ name, importance: total > 0 ? gains[index]! / total : 0 }))
    .sort((one, other) => other.importance - one.importance)
}

/** All columns the model will know, with the features pointing into them instead of into the used ones. */
const namedInputs = ({ task, features }: Prepared): { inputs: ModelInput[]; features: Feature[] } => {
  const columns = task.matrix.columns.filter(({ name }) => name !== task.target.name)
  const used = task.inputs.map(({ name }) => columns.findIndex((column) => column.name === name))
  return {
    inputs: columns.map(({ name, type }, index) => ({ name, type, used: used.includes(index) })),
    features: features.map((feature) => ({ ...feature, input: used[feature.input]! })),
  }
}

const fitResiduals = (prepared: Prepared, fitted: Fitted, level: number, onProgress: OnProgress): Interval | undefined => {
  const { task, table, folds, plan, seed } = prepared
  if (task.kind !== 'regression') return undefined
  const residuals = fitted.predictions.map((predicted, row) => Math.abs(predicted - task.labels[row]!))
  const onRound = (done: number) => onProgress({ phase: 'interval', done, total: plan.scale.mostRounds })
  return fitInterval(table, residuals, folds, plan.scale, { seed, level, onRound })
}

const modelOf = (prepared: Prepared, fitted: Fitted, interval: Interval | undefined, confidence: number, rounded: boolean): Model => {
  const { task, table } = prepared
  const { kind, target, classes } = task
  const scale = interval?.scale && flatten(interval.scale.start, interval.scale.trees, table.features)
  return {
    engineVersion,
    kind,
    target,
    classes,
    ...namedInputs(prepared),
    confidence,
    rounded,
    weight: fitted.weight,
    edges: table.features.map(({ edges }) => edges),
    trees: fitted.weight < 1 ? fitted.forest : undefined,
    covers: fitted.weight < 1 ? Uint32Array.from(fitted.trees.flatMap(({ covers }) => [...covers])) : undefined,
    linear: fitted.linear,
    interval: interval && { ...interval, scale },
  }
}

const roleOf = (type: ColumnType) => (type === 'text' ? 'category' : type === 'date' || type === 'timestamp' ? 'date' : 'number')

const reportOf = (prepared: Prepared, fitted: Fitted, model: Model): TrainReport => {
  const { task, plan, seed, folds } = prepared
  const { boosting, rounds, trees, weight, predictions } = fitted
  const metrics =
    task.kind === 'regression' ? regressionMetrics(predictions, task.labels) : classMetrics(predictions, task.labels, task.classes.length)
  return {
    engine: { name: engineName, version: engineVersion },
    task: task.kind,
    target: task.target,
    classes: task.classes,
    rows: task.labels.length,
    inputs: task.inputs.map(({ name, type }) => ({ name, type, role: roleOf(type) })),
    excluded: task.excluded,
    warnings: task.warnings,
    plan: {
      folds: folds.count,
      rows: plan.rows,
      learningRate: boosting.learningRate,
      leaves: boosting.leaves,
      minRows: boosting.minRows,
      rounds,
      trees: trees.length,
      linearWeight: weight,
    },
    seed,
    metrics,
    importances: importancesOf(fitted, prepared),
    interval: model.interval
      ? { method: intervalMethod.name, about: intervalMethod.about, confidence: model.confidence, exponent: model.interval.exponent / 4 }
      : null,
    rounded: model.rounded,
  }
}

const checkSeed = (seed: number): number => {
  if (Number.isInteger(seed) && seed >= 0 && seed <= 0xffffffff) return seed
  throw wrong(`"seed" is ${seed}, expected an integer between 0 and 4294967295`)
}

/**
 * Trains a model: plans from the table's shape, boosts trees in seeded folds, blends them with a linear model, learns
 * intervals from out-of-fold residuals and fits everything again on all rows. Nothing depends on the clock or the platform.
 * Problems (`wrong_arguments`): a target that is not there or cannot be predicted, too little data, a bad seed or level.
 *
 * @example
 * const { artefact, report } = train(matrix, { target: 'rental_price', seed: 7 }, ({ phase, done, total }) => show(phase, done / total))
 * report.metrics // { r2: .99, rmse: 32, mae: 21 }
 */
export const train = (
  matrix: Matrix,
  options: TrainOptions,
  onProgress: OnProgress = () => undefined,
): { artefact: Uint8Array; report: TrainReport } => {
  const seed = checkSeed(options.seed ?? 0)
  const confidence = checkLevel(options.confidence ?? 0.9)
  onProgress({ phase: 'prepare', done: 0, total: 1 })
  const task = defineTask(matrix, options.target)
  const rounded = roundsOff(task)
  const prepared = prepare(task, seed)
  onProgress({ phase: 'prepare', done: 1, total: 1 })
  const fitted = fitModel(prepared, onProgress)
  const interval = fitResiduals(prepared, fitted, confidence, onProgress)
  const model = modelOf(prepared, fitted, interval, confidence, rounded)
  return { artefact: encodeArtefact(model), report: reportOf(prepared, fitted, model) }
}
