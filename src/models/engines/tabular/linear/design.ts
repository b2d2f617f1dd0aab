import type { Feature } from '../../../data/features.js'
import { rowsInside, rowsOutside, type Folds } from '../../../data/folds.js'

/**
 * The place of a feature in a linear model. Each row has exactly one pair (coefficient, value) per feature: for a number its standardised
 * value at `at`, for a category 1 at `at` + its index, for a missing value 1 at `missing`.
 */
export type LinearTerm =
  | { kind: 'number'; at: number; missing: number; mean: number; deviation: number; low: number; high: number }
  | { kind: 'category'; at: number; missing: number }

/** A training table as pairs: the coefficient and value of row r's feature f are at r × features + f. */
export type Design = {
  rows: number
  features: number
  coefficients: number
  indexes: Int32Array
  values: Float64Array
  terms: readonly LinearTerm[]
}

/** The number of coefficients of one feature, including the one for missing values. */
export const coefficientsOf = (feature: Feature): number =>
  feature.kind === 'number' ? 2 : feature.categories.length + (feature.rest ? 1 : 0) + 1

/** The squares of larger numbers, summed over all rows, would not stay finite: larger numbers are clipped to this one. */
const largest = 1e100

const numberTerm = (column: Float64Array, at: number): LinearTerm => {
  const values = column.map((value) => Math.min(Math.max(value, -largest), largest))
  let [sum, count, low, high] = [0, 0, Infinity, -Infinity]
  for (const value of values) {
    if (Number.isNaN(value)) continue
    sum += value
    count++
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  const mean = count === 0 ? 0 : sum / count
  const squares = values.reduce((total, value) => total + (Number.isNaN(value) ? 0 : (value - mean) * (value - mean)), 0)
  const deviation = count === 0 || squares === 0 ? 1 : Math.sqrt(squares / count)
  return { kind: 'number', at, missing: at + 1, mean, deviation, low: count === 0 ? 0 : low, high: count === 0 ? 0 : high }
}

/** The index of the coefficient for a value of this feature. */
export const indexOf = (term: LinearTerm, value: number): number =>
  Number.isNaN(value) ? term.missing : term.kind === 'number' ? term.at : term.at + value

/** The factor of the coefficient. A linear model does not extrapolate: values outside the range of the training data are clipped to it. */
export const valueOf = (term: LinearTerm, value: number): number => {
  if (term.kind === 'category' || Number.isNaN(value)) return 1
  return ((value < term.low ? term.low : value > term.high ? term.high : value) - term.mean) / term.deviation
}

/** Builds the pairs of a training table; `columns` has one number per row for each feature (NaN is missing). */
export const makeDesign = (features: readonly Feature[], columns: readonly Float64Array[], rows: number): Design => {
  let coefficients = 0
  const terms = features.map((feature, index): LinearTerm => {
    const at = coefficients
    coefficients += coefficientsOf(feature)
    return feature.kind === 'number' ? numberTerm(columns[index]!, at) : { kind: 'category', at, missing: coefficients - 1 }
  })
  const indexes = new Int32Array(rows * features.length)
  const values = new Float64Array(rows * features.length)
  terms.forEach((term, feature) => {
    const column = columns[feature]!
    for (let row = 0; row < rows; row++) {
      indexes[row * terms.length + feature] = indexOf(term, column[row]!)
      values[row * terms.length + feature] = valueOf(term, column[row]!)
    }
  })
  return { rows, features: features.length, coefficients, indexes, values, terms }
}

/** The smallest and the largest value of a number among some rows; unbounded if it is missing in all of them. */
const rangeOf = ({ features, indexes, values }: Design, feature: number, at: number, rows: Int32Array): [low: number, high: number] => {
  let [low, high] = [Infinity, -Infinity]
  for (const row of rows) {
    const pair = row * features + feature
    if (indexes[pair] !== at) continue
    low = Math.min(low, values[pair]!)
    high = Math.max(high, values[pair]!)
  }
  return low > high ? [-Infinity, Infinity] : [low, high]
}

/**
 * The design for the predictions in the folds. A fit clips values to the range of the rows that it learned from (see `valueOf`). With
 * rolling folds this is the past of each fold. Without clipping, a trend would be extrapolated here, which the final model never does.
 */
export const outOfFold = (design: Design, folds: Folds): Design => {
  if (!folds.rolling) return design
  const { features, indexes, terms } = design
  const values = design.values.slice()
  for (let fold = 0; fold < folds.count; fold++) {
    const [learned, predicted] = [rowsOutside(folds, fold), rowsInside(folds, fold)]
    terms.forEach((term, feature) => {
      if (term.kind === 'category') return
      const [low, high] = rangeOf(design, feature, term.at, learned)
      for (const row of predicted) {
        const pair = row * features + feature
        if (indexes[pair] === term.at) values[pair] = Math.min(Math.max(values[pair]!, low), high)
      }
    })
  }
  return { ...design, values }
}

/** The weighted sum of one training row. */
export const dot = (design: Design, row: number, weights: Float64Array, offset = 0): number => {
  const end = (row + 1) * design.features
  let sum = 0
  for (let pair = row * design.features; pair < end; pair++) sum += weights[offset + design.indexes[pair]!]! * design.values[pair]!
  return sum
}
