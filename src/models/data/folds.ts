/**
 * The fold (0…count-1) of every row: that fold's model predicts the row, and learns from the rows of all other folds. With `rolling` it
 * only learns from earlier folds, and the first rows, which no fold predicts, have the fold -1.
 */
export type Folds = { count: number; of: Int8Array; rolling?: true }

/** The fold of rows that are only learned from. */
export const unpredicted = -1

/** Whether a fold's model learns from the rows of another fold. */
export const learnsFrom = ({ rolling }: Folds, fold: number, other: number): boolean =>
  rolling ? other < fold : other !== fold && other !== unpredicted

/** The rows that a fold's model learns from, ascending. */
export const rowsOutside = (folds: Folds, fold: number): Int32Array =>
  allRows(folds.of.length).filter((row) => learnsFrom(folds, fold, folds.of[row]!))

/** The rows that a fold's model predicts, ascending. */
export const rowsInside = ({ of }: Folds, fold: number): Int32Array => allRows(of.length).filter((row) => of[row] === fold)

/** The rows that are predicted out of fold, ascending: all of them, unless the folds are rolling. */
export const predictedRows = ({ of }: Folds): Int32Array => allRows(of.length).filter((row) => of[row] !== unpredicted)

/** 0…rows-1. */
export const allRows = (rows: number): Int32Array => Int32Array.from({ length: rows }, (_, row) => row)

/** The number of rows of each class. */
export const classSizes = (labels: Float64Array, classes: number): Int32Array => {
  const sizes = new Int32Array(classes)
  if (classes > 0) for (const label of labels) sizes[label] = sizes[label]! + 1
  return sizes
}
