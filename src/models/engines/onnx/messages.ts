import type { TensorData, TensorType, ValueMetadata } from './runtime.js'

/** An input of a model: a tensor with a row for each row, and one or more columns in it; `flat` has no second dimension. */
export type InputTensor = { name: string; type: TensorType; columns: number; flat: boolean }

/** Values of a column, row by row: numbers (booleans are 0 and 1), or texts. */
export type Column = Float64Array | string[]

/**
 * Rows for a model. It is given `batch` rows at a time, the last one again where there are fewer: the same shape each time,
 * so that a row's numbers do not depend on how many rows came with it. `columns` are in the order of the tensors' columns.
 */
export type Run = { tensors: readonly InputTensor[]; columns: readonly Column[]; rows: number; batch: number; outputs: readonly string[] }

/** What an output gave for `rows` rows, and its dimensions for one batch. */
export type Output = { name: string; type: string; dims: readonly number[]; data: TensorData }

/** A model of which the first `offset` bytes of the file are not part. */
export type ModelFile = { file: string; offset: number }

export type ToProcess = { load: ModelFile } | { run: Run }

export type Signature = { inputs: readonly ValueMetadata[]; outputs: readonly ValueMetadata[]; runtime: string }

export type FromProcess =
  | { loaded: Signature }
  | { ran: readonly Output[] }
  | { failed: string }
  | { problem: { code: string; title: string; detail: string; hint?: string } }
