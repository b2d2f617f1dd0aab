/**
 * Room: the engine for tables: it blends boosted trees and linear models. It imports only events, basics, catalogue, models/numerics,
 * models/data, models/engines/tabular/boosting and models/engines/tabular/linear.
 */

import type { Json } from '../../../../events/common.js'
import { Problem, wrong } from '../../../basics/errors.js'
import { readOptions, tableOptions, type OptionsSchema } from '../../../catalogue/engine-options.js'
import type { Feature } from '../../data/features.js'
import { foldSplitterOf } from '../../data/fold-split.js'
import { classSizes } from '../../data/folds.js'
import type { Matrix } from '../../data/matrix.js'
import { defineTask, type Target, type Task } from '../../data/task.js'
import { encodeArtefact, type TabularModel, type ModelInput } from './artefact.js'
import { flatten } from './boosting/forest.js'
import { fitModel, prepare, type FittedModel, type Learners, type OnProgress, type PreparedTask } from './fit.js'
import { coefficientsOf } from './linear/design.js'
import { fitInterval, intervalRounds, type PredictionInterval } from './prediction-interval.js'
import { reportOf, type TrainReport } from './report.js'
import { intervalShare, TimeLimit, type StoppedRounds } from './time-limit.js'

export type { EffectivePlan, TrainReport } from './report.js'

/** Raised whenever the same data and seed would give another artefact. */
export const engineVersion = '1.1.2'

/** The options of a training. All but the target and the seed come from USING, and only the engine interprets them. */
export type TrainOptions = {
  /** The column to predict. */
  target: string
  /** An integer of 0…2³²-1; the same data and seed give the same bytes. */
  seed?: number
  /** The rounds at which a time limit stopped an earlier training: this training stops at the same rounds, whatever the time. */
  stopped?: StoppedRounds
  [option: string]: Json | undefined
}

/** The result of a training: the artefact and its report. */
export type TrainedModel = { artefact: Uint8Array; report: TrainReport }

/** The settings of an engine that is built from this folder. `none` is a linear model without inputs: a constant. */
export type EngineSettings = { engine: string; learners: Learners | 'none'; options: OptionsSchema }

/** Rounding to whole numbers adds noise of variance 1/12: negligible with a standard deviation of 10. */
const leastDeviationToRound = 10

const roundsOff = ({ kind, target, labels }: Task): boolean => {
  if (kind !== 'regression' || target.type !== 'integer') return false
  const mean = labels.reduce((sum, label) => sum + label, 0) / labels.length
  const squares = labels.reduce((sum, label) => sum + (label - mean) * (label - mean), 0)
  return Math.sqrt(squares / labels.length) >= leastDeviationToRound
}

/** The user's class weights: the cost of a missed row of each class. */
type ClassWeights = 'balanced' | Readonly<Record<string, number>>

const weightsByName = ({ target, classes }: Target, given: Readonly<Record<string, number>>): Float64Array => {
  const names = classes.map(String)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw wrong(
      `class_weights names "${unknown}", which is no class of "${target.name}"`,
      `Its classes: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ' …' : ''}.`,
    )
  return Float64Array.from(names, (name) => (Object.hasOwn(given, name) ? given[name]! : 1))
}

/**
 * One weight per class, in the order of the classes; undefined when none are asked for. `balanced` weighs each class by how much rarer it
 * is than the average one. Problems (`wrong_arguments`): a regression, an unknown class.
 *
 * @example classWeights(task, 'balanced') // two classes of 90 and 10 rows: [.56, 5]
 */
const classWeights = (task: Target, asked: ClassWeights | undefined): Float64Array | undefined => {
  if (asked === undefined) return undefined
  if (task.kind === 'regression')
    throw wrong(
      `class_weights are for classes, and "${task.target.name}" is predicted as a number`,
      "task = 'classification' makes its values classes.",
    )
  if (asked !== 'balanced') return weightsByName(task, asked)
  const sizes = classSizes(task.labels, task.classes.length)
  return Float64Array.from(sizes, (size) => task.labels.length / (size * sizes.length))
}

/** All columns of the model; the features then refer to these instead of only the used ones. */
const namedInputs = ({ task, features }: PreparedTask): { inputs: ModelInput[]; features: Feature[] } => {
  const columns = task.matrix.columns.filter(({ name }) => name !== task.target.name)
  const used = task.inputs.map(({ name }) => columns.findIndex((column) => column.name === name))
  return {
    inputs: columns.map(({ name, type }, index) => ({ name, type, used: used.includes(index) })),
    features: features.map((feature) => ({ ...feature, input: used[feature.input]! })),
  }
}

const fitResiduals = (
  prepared: PreparedTask,
  fitted: FittedModel,
  level: number,
  onProgress: OnProgress,
): ReturnType<typeof fitInterval> | undefined => {
  const { task, table, folds, plan, seed, pool, limit } = prepared
  if (task.kind !== 'regression') return undefined
  const residuals = fitted.predictions.map((predicted, row) => Math.abs(predicted - task.labels[row]!))
  const onRound = (done: number) => onProgress({ phase: 'interval', done, total: intervalRounds(plan.scale) })
  const goesOn = (done: number) => limit.goesOn('interval', done, intervalShare)
  return fitInterval(table, residuals, folds, plan.scale, { seed, level, pool, goesOn, onRound })
}

type Parts = {
  prepared: PreparedTask
  fitted: FittedModel
  interval: PredictionInterval | undefined
  confidence: number
  weights: Float64Array | undefined
}

const modelOf = ({ prepared, fitted, interval, confidence, weights }: Parts): TabularModel => {
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
    rounded: roundsOff(task),
    classWeights: weights && [...weights],
    weight: fitted.weight,
    edges: table.features.map(({ edges }) => edges),
    trees: fitted.weight < 1 ? fitted.forest : undefined,
    covers: fitted.weight < 1 ? Uint32Array.from(fitted.trees.flatMap(({ covers }) => [...covers])) : undefined,
    linear: fitted.linear,
    interval: interval && { ...interval, scale },
  }
}

const checkSeed = (seed: number): number => {
  if (Number.isInteger(seed) && seed >= 0 && seed <= 0xffffffff) return seed
  throw wrong(`"seed" is ${seed}, expected an integer between 0 and 4294967295`)
}

/**
 * A linear model with many coefficients or rows would take hours. Other engines leave it out in that case, but here the user chose it by
 * name.
 */
const requireLinear = ({ plan, features, learners }: PreparedTask): void => {
  if (learners !== 'linear' || plan.linear) return
  const coefficients = features.reduce((sum, feature) => sum + coefficientsOf(feature), 0)
  throw new Problem(
    'query_limit',
    'Too much for a linear model',
    `A linear model of ${coefficients} coefficients on ${plan.rows} rows takes too long`,
    { hint: 'Leave out text columns of many values (exclude), select fewer rows, or take the engine auto.' },
  )
}

/**
 * Trains a model: plans from the table's shape, boosts trees in seeded folds, blends them with a linear model, learns intervals from
 * out-of-fold residuals and fits everything again on all rows. The clock, the platform and the number of threads only affect the time.
 * Problems (`wrong_arguments`): a target that does not exist or cannot be predicted, too little data, a bad seed or option.
 *
 * @example trainTable({ engine: 'linear', learners: 'linear', options: tableOptions }, matrix, { target: 'rental_price' }, show).report
 */
export const trainTable = (
  { engine, learners, options }: EngineSettings,
  matrix: Matrix,
  { target, seed: givenSeed = 0, stopped, ...said }: TrainOptions,
  onProgress: OnProgress,
  threads?: number,
): TrainedModel => {
  const seed = checkSeed(givenSeed)
  const asked = tableOptions.parse(readOptions(engine, options, said))
  const limit = new TimeLimit(asked.time_limit, stopped)
  onProgress({ phase: 'prepare', done: 0, total: 1 })
  const constant = learners === 'none'
  const splitter = foldSplitterOf(asked, seed)
  const task = defineTask(matrix, target, { ...asked, withoutInputs: constant })
  const weights = classWeights(task, asked.class_weights)
  const { preset = 'balanced' } = asked
  const approach = {
    learners: constant ? ('linear' as const) : learners,
    preset,
    threads,
    limit,
    ...(splitter && { split: splitter.split }),
  }
  const prepared = prepare(task, seed, approach, onProgress)
  try {
    requireLinear(prepared)
    const fitted = fitModel(prepared, onProgress)
    const confidence = asked.confidence ?? 0.9
    const { interval, coverage } = fitResiduals(prepared, fitted, confidence, onProgress) ?? {}
    const model = modelOf({ prepared, fitted, interval, confidence, weights })
    const report = reportOf({
      engine: { name: engine, version: engineVersion },
      prepared,
      fitted,
      model,
      coverage,
      preset,
      weights,
      splitter,
    })
    return { artefact: encodeArtefact(model), report }
  } finally {
    prepared.pool.close()
  }
}
