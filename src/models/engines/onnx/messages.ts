import type { TensorData, TensorType, ValueMetadata } from './runtime.js'

/**
 * An input of a model: a tensor whose first dimension is the rows, with one or more columns; `flat` means that it has no second dimension.
 */
export type InputTensor = { name: string; type: TensorType; columns: number; flat: boolean }

/** Values of a column, row by row: numbers (booleans are 0 and 1), or texts. */
export type Column = Float64Array | string[]

/**
 * Rows for a model. The model gets `batch` rows at a time; a short batch is filled by repeating the last row. The shape is always the same,
 * so the result of a row does not depend on the number of rows. `columns` are in the order of the tensors' columns.
 */
export type Run = { tensors: readonly InputTensor[]; columns: readonly Column[]; rows: number; batch: number; outputs: readonly string[] }

/** An output's values for `rows` rows, and its dimensions for one batch. */
export type Output = { name: string; type: string; dims: readonly number[]; data: TensorData }

/** A model that starts after the first `offset` bytes of its file. */
export type ModelFile = { file: string; offset: number }

/** A tokenizer.json, and the name under which it was uploaded. */
export type TokenizerFile = { file: string; name: string }

export type ToProcess = { load: ModelFile } | { run: Run } | { read: TokenizerFile } | { cut: { text: string; maxTokens: number } }

export type Signature = { inputs: readonly ValueMetadata[]; outputs: readonly ValueMetadata[]; runtime: string }

export type FromProcess =
  | { loaded: Signature }
  | { ran: readonly Output[] }
  | { read: true }
  | { parts: readonly (readonly number[])[] }
  | { failed: string }
  | { problem: { code: string; title: string; detail: string; hint?: string } }
