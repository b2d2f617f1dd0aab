/** Room: models as functions of DuckDB. It imports only events, basics, dialect, sql/encode, models and sql/engine/duckdb-connection. */

import type { StreamId } from '../../../../events/common.js'

/** Values of one input for the rows of a chunk; `valid` returns whether a row has a value. */
export type InputVector = { values: ArrayLike<unknown>; valid?: ArrayLike<number | boolean> }

export type ScoringInput = { name: string; type: 'number' | 'integer' | 'boolean' | 'text' | 'date' | 'timestamp' }

type SeriesInput = Pick<ScoringInput, 'name'>

/**
 * The rows of a model of series: each with a time as its column holds it (days or milliseconds since 1970, or a whole number) and key
 * values.
 */
export type FutureRows = {
  order: SeriesInput & { type: 'date' | 'timestamp' | 'integer' }
  keys: readonly ScoringInput[]
  each: () => Iterable<{ cell: number; keys: readonly (string | number | null)[] }>
}

/** The properties of a model that SQL needs. */
type ModelSignature = {
  inputs: readonly ScoringInput[]
  target: { name: string; classes?: readonly (string | number | boolean)[] }
  outputWidth: number
  /** True if numbers may be NaN because the model does not know them: SQL then shows NULL. */
  partial?: true
  /** For a model that cannot answer some rows: a number behind the bounds gives the reason, and the other numbers are NaN. */
  reasons?: readonly string[]
  /** For a model of series: the column that orders rows, the columns that identify a series, and the rows that it answers. */
  future?: FutureRows
}

/**
 * The interface of a model in memory for SQL: its inputs, and numbers for rows of features. `predictBatch` gives `outputWidth` numbers a
 * row: the value (or the index of the class), the confidence, the lower and the upper bound (NaN for classes), and for classes one
 * probability each.
 */
export type ScoringModel = ModelSignature & {
  /** The number of features of a row. */
  width: number
  encodeColumns: (columns: readonly (InputVector | undefined)[], rows: number, into: Float64Array) => void
  encodeRow: (row: Readonly<Record<string, unknown>>, rowIndex: number, into: Float64Array, offset: number) => void
  predictBatch: (features: Float64Array, rows: number, out: Float64Array, level?: number) => void
  /** The same without the bounds of a regression. The bounds have separate trees, and are NaN here. */
  predictPoints: (features: Float64Array, rows: number, out: Float64Array) => void
}

/**
 * A model that runs in a separate process: its numbers come later. A function of DuckDB cannot wait for them, so its rows are always scored
 * before the query.
 */
export type RemoteModel = ModelSignature & {
  predictRows: (rows: readonly Readonly<Record<string, unknown>>[]) => Promise<Float64Array>
  predictColumns: (columns: readonly (InputVector | undefined)[], rows: number) => Promise<Float64Array>
}

export type AnyModel = ScoringModel | RemoteModel

/** A model's version in a query; `artefact` is the hash of its bytes, `level` the level of the intervals if it is not the model's own. */
export type BoundModel = { model: AnyModel; artefact: string; stream: StreamId; version: number; label: string; level?: number }

/**
 * The outputs of a model that a query shows: `points` are values with their confidence, `all` adds the bounds and the probabilities of all
 * classes.
 */
export type Extent = 'points' | 'all'

/** The fields of the reserved column, in the order of a model's numbers. It has only the fields that the query shows. */
export const fieldsOf = (model: AnyModel, extent: Extent): string[] =>
  extent === 'points'
    ? ['value', 'confidence']
    : [
        'value',
        'confidence',
        'min',
        'max',
        ...(model.target.classes ?? []).map((_, index) => `p${index}`),
        ...(model.reasons ? ['reason'] : []),
      ]

/** The form in which an input's values reach the model: numbers unchanged, or texts. */
export type ArgumentKind = 'number' | 'text'
