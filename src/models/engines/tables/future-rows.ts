import type { ColumnType } from '../../data/values.js'

/** The rows that a model of series answers for: those after the last one of each series. */
export type FutureRows = {
  /** The column that orders rows, and those that tell series apart, under the model's names. */
  readonly order: { name: string; type: 'date' | 'timestamp' | 'integer' }
  readonly keys: readonly { name: string; type: ColumnType }[]
  /** The rows one after the other: the time as a cell, and the keys' values. */
  each: () => Generator<{ cell: number; keys: readonly (string | number | null)[] }>
}
