import type { ColumnType } from '../../data/values.js'

/** The rows that a series model can forecast: those after the last row of each series. */
export type FutureRows = {
  /** The time column and the key columns, under the model's names. */
  readonly order: { name: string; type: 'date' | 'timestamp' | 'integer' }
  readonly keys: readonly { name: string; type: ColumnType }[]
  /** The rows in order: the time as a cell, and the keys' values. */
  each: () => Generator<{ cell: number; keys: readonly (string | number | null)[] }>
}
