import { allRows, predictedRows, rowsOutside, type Folds } from '../../../data/folds.js'
import { dot, outOfFold, type Design } from './design.js'
import { minimise } from './minimise.js'

/** The factor of half the squared weights that are added to the summed loss. */
const penalty = 1

/** Fills one row's scores: output k's weights start at k × (coefficients + 1), with its intercept last. */
const scoreRow = (design: Design, row: number, weights: Float64Array, outputs: number, into: Float64Array): void => {
  const size = design.coefficients + 1
  for (let output = 0; output < outputs; output++)
    into[output] = weights[output * size + design.coefficients]! + dot(design, row, weights, output * size)
}

/** Turns one row's scores into errors (probability - truth) and returns the row's loss. */
const missOf = (scores: Float64Array, label: number): number => {
  if (scores.length === 1) {
    const score = scores[0]!
    scores[0] = 1 / (1 + Math.exp(-score)) - label
    const margin = label === 1 ? score : -score
    return margin > 0 ? Math.log1p(Math.exp(-margin)) : Math.log1p(Math.exp(margin)) - margin
  }
  const largest = scores.reduce((one, other) => Math.max(one, other), -Infinity)
  const own = scores[label]!
  let sum = 0
  for (let output = 0; output < scores.length; output++) sum += scores[output] = Math.exp(scores[output]! - largest)
  for (let output = 0; output < scores.length; output++) scores[output] = scores[output]! / sum - (output === label ? 1 : 0)
  return largest + Math.log(sum) - own
}

const addRow = (design: Design, row: number, misses: Float64Array, gradient: Float64Array): void => {
  const { features, indexes, values, coefficients } = design
  const size = coefficients + 1
  for (let output = 0; output < misses.length; output++) {
    const miss = misses[output]!
    const base = output * size
    for (let pair = row * features; pair < (row + 1) * features; pair++) {
      const at = base + indexes[pair]!
      gradient[at] = gradient[at]! + miss * values[pair]!
    }
    gradient[base + coefficients] = gradient[base + coefficients]! + miss
  }
}

const fit = (design: Design, labels: Float64Array, rows: Int32Array, outputs: number, onStep: () => void): Float64Array => {
  const size = design.coefficients + 1
  const scores = new Float64Array(outputs)
  return minimise(size * outputs, (weights, gradient) => {
    let loss = 0
    for (let at = 0; at < weights.length; at++) {
      const penalised = at % size === design.coefficients ? 0 : penalty * weights[at]!
      gradient[at] = penalised
      loss += (penalised * weights[at]!) / 2
    }
    for (const row of rows) {
      scoreRow(design, row, weights, outputs, scores)
      loss += missOf(scores, labels[row]!)
      addRow(design, row, scores, gradient)
    }
    onStep()
    return loss
  })
}

/**
 * Logistic regression (softmax above two classes) in the given folds. `scores` holds every row's scores by its fold's fit, output by
 * output, 0 for rows that no fold predicts; `weights` is the fit on all rows, for each output its coefficients and then its intercept.
 * `onFit` is called with the number of finished fits at every step of the next one.
 */
export const crossFitLogistic = (
  design: Design,
  labels: Float64Array,
  folds: Folds,
  outputs: number,
  onFit: (done: number) => void,
): { scores: Float64Array; weights: Float64Array } => {
  const fitted = Array.from({ length: folds.count }, (_, fold) => {
    const weights = fit(design, labels, rowsOutside(folds, fold), outputs, () => onFit(fold))
    onFit(fold + 1)
    return weights
  })
  const scores = new Float64Array(design.rows * outputs)
  const own = new Float64Array(outputs)
  const heldOut = outOfFold(design, folds)
  for (const row of predictedRows(folds)) {
    scoreRow(heldOut, row, fitted[folds.of[row]!]!, outputs, own)
    own.forEach((score, output) => (scores[output * design.rows + row] = score))
  }
  const weights = fit(design, labels, allRows(design.rows), outputs, () => onFit(folds.count))
  onFit(folds.count + 1)
  return { scores, weights }
}
