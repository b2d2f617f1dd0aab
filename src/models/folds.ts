import type { Random } from './random.js'
import { shuffle } from './random.js'

/** The fold (0…count-1) of every row. */
export type Folds = { count: number; of: Uint8Array }

/**
 * Deals the rows into folds by the seed. With classes, each class is dealt in turn, so that every fold has its share
 * of every class; the dealing goes on where the last class ended, which keeps the folds equally large.
 */
export const dealFolds = (labels: Float64Array, classes: number, count: number, random: Random): Folds => {
  const order = Int32Array.from({ length: labels.length }, (_, row) => row)
  shuffle(order, random)
  if (classes > 0) order.sort((one, other) => labels[one]! - labels[other]!)
  const of = new Uint8Array(labels.length)
  order.forEach((row, place) => (of[row] = place % count))
  return { count, of }
}

/** The rows that a fold's model learns from, ascending. */
export const rowsOutside = ({ of }: Folds, fold: number): Int32Array => allRows(of.length).filter((row) => of[row] !== fold)

/** The rows that a fold's model does not learn from, ascending. */
export const rowsInside = ({ of }: Folds, fold: number): Int32Array => allRows(of.length).filter((row) => of[row] === fold)

/** 0…rows-1. */
export const allRows = (rows: number): Int32Array => Int32Array.from({ length: rows }, (_, row) => row)

/** How many rows each class has. */
export const classSizes = (labels: Float64Array, classes: number): Int32Array => {
  const sizes = new Int32Array(classes)
  if (classes > 0) for (const label of labels) sizes[label] = sizes[label]! + 1
  return sizes
}
