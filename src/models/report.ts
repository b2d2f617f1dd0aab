import type { FineTuned } from './fine-tuning.js'
import type { Fitted, Prepared } from './fit.js'
import { importancesOf, type Importances } from './importances.js'
import { intervalMethod } from './interval.js'
import type { Model } from './artefact.js'
import { classMetrics, regressionMetrics, type Metrics } from './metrics.js'
import type { ClassLabel, Exclusion, Task } from './task.js'
import type { ColumnType } from './values.js'
import type { Warning } from './warnings.js'

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
  /** What each input counts for, one an input, largest first; they add up to 1 (see `importancesOf`). */
  importances: Importances
  /** `null` for classes, whose confidence is the predicted class's probability. */
  interval: { method: string; about: string; confidence: number; exponent: number } | null
  /** Whole-number targets of some spread are predicted in whole numbers. */
  rounded: boolean
  /** For a version that goes on from another one: which, and how many rows are its and how many new. */
  fine_tuned?: FineTuned
}

/** The plan as it was carried out; without trees, what is said of them is 0. */
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

const roleOf = (type: ColumnType) => (type === 'text' ? 'category' : type === 'date' || type === 'timestamp' ? 'date' : 'number')

/** What is to be told of a training that is over, in plain JSON. */
export const reportOf = (engine: TrainReport['engine'], prepared: Prepared, fitted: Fitted, model: Model): TrainReport => {
  const { task, plan, seed, folds } = prepared
  const { boosting, rounds, trees, weight, predictions } = fitted
  const metrics =
    task.kind === 'regression' ? regressionMetrics(predictions, task.labels) : classMetrics(predictions, task.labels, task.classes.length)
  return {
    engine,
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
      learningRate: boosting?.learningRate ?? 0,
      leaves: boosting?.leaves ?? 0,
      minRows: boosting?.minRows ?? 0,
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
