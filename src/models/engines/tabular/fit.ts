import { defineFeatures, featureValues, type Feature } from '../../data/features.js'
import { splitFolds } from '../../data/fold-split.js'
import { allRows, classSizes, predictedRows, type Folds } from '../../data/folds.js'
import { selectRows } from '../../data/matrix.js'
import type { Task } from '../../data/task.js'
import { Random } from '../../numerics/random.js'
import { binFeature, binTable, type BinnedTable } from './boosting/bins.js'
import { crossFit, refit, type BoostingData, type CrossFit } from './boosting/cross-fit.js'
import { flatten, type Forest } from './boosting/forest.js'
import { lossOf, type Loss } from './boosting/loss.js'
import type { Tree } from './boosting/tree.js'
import { WorkerPool } from './boosting/worker-pool.js'
import { coefficientsOf, makeDesign, type LinearTerm } from './linear/design.js'
import { crossFitLogistic } from './linear/logistic.js'
import { crossFitRidge } from './linear/ridge.js'
import { makePlan, refitFactor, type Boosting, type Plan, type Preset } from './plan.js'
import { mixed, probabilitiesOf } from './predictor.js'
import { foldsShare, TimeLimit } from './time-limit.js'

/** The progress of a training: `done` of `total` steps of a phase. A phase may end before its total. */
export type Progress = { phase: 'prepare' | 'series' | 'folds' | 'linear' | 'interval' | 'refit'; done: number; total: number }
export type OnProgress = (progress: Progress) => void

/** The models to train: trees, a linear one, or a blend of both. */
export type Learners = 'trees' | 'linear' | 'both'

/**
 * The options of a training besides its data. `split` assigns each row to a fold; by default the seed determines a random split. `threads`
 * is by default the number of threads that the machine runs at once; it affects only the time.
 */
export type Approach = {
  learners: Learners
  preset?: Preset | undefined
  split?: (task: Task, folds: number) => Folds
  threads?: number | undefined
  limit?: TimeLimit
}

/** A task prepared for fitting. */
export type PreparedTask = {
  task: Task
  learners: Learners
  seed: number
  plan: Plan
  features: readonly Feature[]
  columns: readonly Float64Array[]
  table: BinnedTable
  folds: Folds
  loss: Loss
  /** The threads that work on the folds; to be closed when everything is fitted. */
  pool: WorkerPool
  limit: TimeLimit
}

export type FittedModel = {
  /** Undefined without trees. */
  boosting: Boosting | undefined
  rounds: number
  trees: readonly Tree[]
  forest: Forest | undefined
  linear: { terms: readonly LinearTerm[]; weights: Float64Array } | undefined
  weight: number
  /**
   * The blend's out-of-fold predictions: values for regression, otherwise the probabilities of all classes row by row. They are meaningless
   * for rows that no fold predicts (see `predictedRows`).
   */
  predictions: Float64Array
}

const smallestClass = ({ labels, classes }: Task): number =>
  classSizes(labels, classes.length).reduce((smallest, size) => Math.min(smallest, size), labels.length)

/** The first rows of a shuffled matrix are a fair sample of it. */
const sampled = (task: Task, rows: number): Task => {
  if (rows === task.matrix.rows) return task
  const matrix = selectRows(task.matrix, allRows(rows))
  const names = new Set(task.inputs.map(({ name }) => name))
  const detail = `${rows} of ${task.matrix.rows} rows took part, drawn by the seed: the table is larger than training can use`
  return {
    ...task,
    matrix,
    labels: task.labels.slice(0, rows),
    inputs: matrix.columns.filter(({ name }) => names.has(name)),
    warnings: [...task.warnings, { kind: 'sampled', detail }],
  }
}

/** Plans the training of a task and bins its features. */
export const prepare = (
  whole: Task,
  seed: number,
  approach: Approach = { learners: 'both' },
  onProgress: OnProgress = () => undefined,
): PreparedTask => {
  const { learners, preset, split, threads, limit = new TimeLimit(undefined, undefined) } = approach
  const features = defineFeatures(whole.inputs)
  const plan = makePlan(
    {
      rows: whole.matrix.rows,
      features: features.length,
      classes: whole.classes.length,
      smallestClass: smallestClass(whole),
      coefficients: features.reduce((sum, feature) => sum + coefficientsOf(feature), 0),
    },
    preset,
  )
  const task = sampled(whole, plan.rows)
  const columns = features.map((feature) => featureValues(feature, task.inputs[feature.input]!))
  const table = binTable(
    plan.rows,
    features.map((feature, index) => {
      onProgress({ phase: 'prepare', done: index, total: features.length })
      return binFeature(feature, columns[index]!)
    }),
  )
  onProgress({ phase: 'prepare', done: features.length, total: features.length })
  const folds = split?.(task, plan.folds) ?? splitFolds(task.labels, task.classes.length, plan.folds, new Random(seed, 1))
  const pool = new WorkerPool(threads)
  return { task, learners, seed, plan, features, columns, table, folds, loss: lossOf(task.classes.length), pool, limit }
}

const boostingData = ({ table, task, loss, seed }: PreparedTask): BoostingData => ({ table, labels: task.labels, loss, seed })

/**
 * Boosts in the folds, with the first setting of the plan whose limit of rounds is sufficient. If the time limit interrupts a later
 * setting, the previous setting is used, because all its rounds are complete.
 */
const boostFolds = (prepared: PreparedTask, onProgress: OnProgress): { boosting: Boosting; fit: CrossFit } => {
  const { pool, limit, plan, folds } = prepared
  const share = foldsShare({ folds: folds.count, members: plan.members, threads: pool.threads })
  let found: { boosting: Boosting; fit: CrossFit } | undefined
  let before = 0
  for (const boosting of plan.boosting) {
    const [earlier, total] = [before, boosting.mostRounds]
    const goesOn = (done: number) => limit.goesOn('folds', earlier + done, share)
    const progress = (done: number) => onProgress({ phase: 'folds', done, total })
    const fit = crossFit(boostingData(prepared), folds, boosting, { most: total, patience: boosting.patience, goesOn, pool }, progress)
    const isStopped = limit.stopped.folds !== undefined
    if (!found || !isStopped) found = { boosting, fit }
    if (!fit.capped || isStopped) break
    before += total
  }
  if (!found) throw new Error('a plan has at least one way to boost')
  return found
}

const fitLinear = (prepared: PreparedTask, onProgress: OnProgress) => {
  const { plan, features, columns, task, folds, loss, learners } = prepared
  if (!plan.linear || learners === 'trees') return undefined
  const total = folds.count + 1
  onProgress({ phase: 'linear', done: 0, total })
  const design = makeDesign(features, columns, task.labels.length)
  const onFit = (done: number) => onProgress({ phase: 'linear', done, total })
  const fit =
    task.kind === 'regression'
      ? crossFitRidge(design, task.labels, folds, onFit)
      : crossFitLogistic(design, task.labels, folds, loss.outputs, onFit)
  return { ...fit, terms: design.terms }
}

/** Turns scores (output by output) into predictions: values, or probabilities of all classes row by row. */
const predictionsOf = (scores: Float64Array, { labels, classes }: Task): Float64Array => {
  if (classes.length === 0) return scores
  const predictions = new Float64Array(labels.length * classes.length)
  for (let row = 0; row < labels.length; row++)
    probabilitiesOf(scores, row, labels.length, classes.length, predictions, row * classes.length)
  return predictions
}

const blendLoss = (predictions: Float64Array, { labels, classes }: Task, rows: Int32Array): number => {
  let loss = 0
  for (const row of rows) {
    const label = labels[row]!
    if (classes.length === 0) loss += (predictions[row]! - label) * (predictions[row]! - label)
    else loss -= Math.log(Math.max(predictions[row * classes.length + label]!, 1e-15))
  }
  return loss
}

/** Fits a linear model alone. */
const fitLinearAlone = (prepared: PreparedTask, onProgress: OnProgress): FittedModel => {
  const linear = fitLinear(prepared, onProgress)
  if (!linear) throw new Error('the plan has no linear model')
  const predictions = predictionsOf(linear.scores, prepared.task)
  return { boosting: undefined, rounds: 0, trees: [], forest: undefined, linear, weight: 1, predictions }
}

/** The weights of the linear model that are tried. */
const blendWeights = [0, 0.25, 0.5, 0.75, 1]
/** A blend must lower the loss by at least this share. Otherwise the trees alone are used. */
const leastImprovement = 0.002

/**
 * The weight of the linear model that minimises the loss of the blended out-of-fold predictions.
 *
 * @example chooseWeight((weight) => lossOf(blendedWith(weight))) // 0.25
 */
const chooseWeight = (lossOf: (weight: number) => number): number => {
  const losses = blendWeights.map(lossOf)
  const best = losses.reduce((least, loss, index) => (loss < losses[least]! ? index : least), 0)
  return losses[best]! < losses[0]! * (1 - leastImprovement) ? blendWeights[best]! : 0
}

/** Fits trees and a linear model in the folds, chooses the blend by their out-of-fold predictions, and fits both on all rows. */
export const fitModel = (prepared: PreparedTask, onProgress: OnProgress): FittedModel => {
  const { task, table } = prepared
  if (prepared.learners === 'linear') return fitLinearAlone(prepared, onProgress)
  const { boosting, fit } = boostFolds(prepared, onProgress)
  const linear = fitLinear(prepared, onProgress)
  const ofTrees = predictionsOf(fit.scores, task)
  const ofLinear = linear && predictionsOf(linear.scores, task)
  const blended = (weight: number) => (ofLinear ? ofTrees.map((value, at) => mixed(value, ofLinear[at]!, weight)) : ofTrees)
  const predicted = predictedRows(prepared.folds)
  const weight = ofLinear ? chooseWeight((each) => blendLoss(blended(each), task, predicted)) : 0
  const rounds = Math.max(1, Math.round(fit.best * refitFactor))
  const { members } = prepared.plan
  const total = rounds * members
  const onRound = (done: number) => onProgress({ phase: 'refit', done, total })
  const { start, trees } = refit(boostingData(prepared), boosting, { rounds, members, onRound })
  return {
    boosting,
    rounds,
    trees,
    forest: flatten(start, trees, table.features),
    linear: weight > 0 ? linear : undefined,
    weight,
    predictions: blended(weight),
  }
}
