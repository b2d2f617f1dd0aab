/** Room: linear models: ridge and logistic regression. It imports only models/data. */

import { learnsFrom, predictedRows, unpredicted, type Folds } from '../../../data/folds.js'
import { dot, outOfFold, type Design } from './design.js'

/** Sums of products over some rows: of the coefficients with each other and with the target; the intercept comes last. */
type Products = { gram: Float64Array; target: Float64Array }

const penalties = [0.1, 1, 10, 100, 1000]

const emptyProducts = (size: number): Products => ({ gram: new Float64Array(size * size), target: new Float64Array(size) })

const addRow = ({ gram, target }: Products, design: Design, row: number, label: number): void => {
  const { features, indexes, values, coefficients } = design
  const size = coefficients + 1
  for (let one = row * features; one < (row + 1) * features; one++) {
    const value = values[one]!
    const base = indexes[one]! * size
    for (let other = row * features; other < (row + 1) * features; other++) {
      const at = base + indexes[other]!
      gram[at] = gram[at]! + value * values[other]!
    }
    gram[base + coefficients] = gram[base + coefficients]! + value
    target[indexes[one]!] = target[indexes[one]!]! + value * label
  }
  gram[size * size - 1] = gram[size * size - 1]! + 1
  target[coefficients] = target[coefficients]! + label
}

const sumProducts = (parts: readonly Products[], size: number): Products => {
  const sum = emptyProducts(size)
  for (const { gram, target } of parts) {
    gram.forEach((value, at) => (sum.gram[at] = sum.gram[at]! + value))
    target.forEach((value, at) => (sum.target[at] = sum.target[at]! + value))
  }
  return sum
}

/** Solves (gram + penalty) × weights = target by Cholesky. The intercept has almost no penalty. */
const solve = ({ gram, target }: Products, penalty: number): Float64Array => {
  const size = target.length
  const lower = new Float64Array(size * size)
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      // The lower triangle: the intercept's products are kept in the last column, which mirrors the last row.
      let sum = gram[column * size + row]!
      if (row === column) sum += row === size - 1 ? 1e-9 : penalty
      for (let inner = 0; inner < column; inner++) sum -= lower[row * size + inner]! * lower[column * size + inner]!
      lower[row * size + column] = row === column ? Math.sqrt(Math.max(sum, 1e-12)) : sum / lower[column * size + column]!
    }
  }
  const weights = Float64Array.from(target)
  for (let row = 0; row < size; row++) {
    for (let inner = 0; inner < row; inner++) weights[row] = weights[row]! - lower[row * size + inner]! * weights[inner]!
    weights[row] = weights[row]! / lower[row * size + row]!
  }
  for (let row = size - 1; row >= 0; row--) {
    for (let inner = row + 1; inner < size; inner++) weights[row] = weights[row]! - lower[inner * size + row]! * weights[inner]!
    weights[row] = weights[row]! / lower[row * size + row]!
  }
  return weights
}

/**
 * Ridge regression in the given folds. `scores` holds every row's prediction by its fold's fit (0 for rows that no fold predicts), with the
 * best penalty on them; `weights` is the fit on all rows, with the intercept last. `onFit` is called with the number of finished fits.
 */
export const crossFitRidge = (
  design: Design,
  labels: Float64Array,
  folds: Folds,
  onFit: (done: number) => void = () => undefined,
): { scores: Float64Array; weights: Float64Array } => {
  const size = design.coefficients + 1
  const center = labels.reduce((sum, label) => sum + label, 0) / design.rows
  // The first part is for rows without a fold.
  const parts = Array.from({ length: folds.count + 1 }, () => emptyProducts(size))
  for (let row = 0; row < design.rows; row++) addRow(parts[folds.of[row]! - unpredicted]!, design, row, labels[row]! - center)
  const learned = Array.from({ length: folds.count }, (_, fold) =>
    sumProducts(
      parts.filter((_part, part) => learnsFrom(folds, fold, part + unpredicted)),
      size,
    ),
  )
  const [predicted, heldOut] = [predictedRows(folds), outOfFold(design, folds)]
  const fits = penalties.map((penalty) => {
    const weights = learned.map((products, fold) => {
      const solved = solve(products, penalty)
      // A fold is finished with the last penalty; for the earlier ones the call only reports activity.
      onFit(penalty === penalties.at(-1) ? fold + 1 : 0)
      return solved
    })
    const scores = new Float64Array(design.rows)
    for (const row of predicted) {
      const own = weights[folds.of[row]!]!
      scores[row] = center + own[design.coefficients]! + dot(heldOut, row, own)
    }
    return { penalty, scores, loss: predicted.reduce((sum, row) => sum + (scores[row]! - labels[row]!) * (scores[row]! - labels[row]!), 0) }
  })
  const best = fits.reduce((one, other) => (other.loss < one.loss ? other : one))
  const weights = solve(sumProducts(parts, size), best.penalty)
  weights[design.coefficients] = weights[design.coefficients]! + center
  onFit(folds.count + 1)
  return { scores: best.scores, weights }
}
