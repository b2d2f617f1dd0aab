/** Room: the interface of an engine whose models run in another process. It imports only events, basics and models/engines/tabular. */

import type { ColumnVector } from '../tabular/encode.js'
import type { Predictor } from '../tabular/predictor.js'

/**
 * A model that runs in a process of its own, so its results are asynchronous. It returns the same numbers as `predictBatch` of a
 * `Predictor`, in the same places. Numbers that the model does not know (bounds, a confidence) are NaN; it is `partial` then. Rows and
 * columns give the same bits.
 */
export type RemotePredictor = Pick<Predictor, 'kind' | 'inputs' | 'target' | 'outputWidth' | 'partial' | 'nameOf'> & {
  /** `outputWidth` numbers per row. @throws Problem that names the row and the column, or says why the model could not run */
  predictRows: (rows: readonly Readonly<Record<string, unknown>>[]) => Promise<Float64Array>
  /** The same for the first `rows` values of vectors, one for each input; `undefined` for an absent input. */
  predictColumns: (columns: readonly (ColumnVector | undefined)[], rows: number) => Promise<Float64Array>
}

/** A model in memory or in a process of its own. */
export type AnyPredictor = Predictor | RemotePredictor

/** @example isRemote(loadModel(artefact)) // false for a model that was trained here */
export const isRemote = <Remote extends Pick<RemotePredictor, 'predictColumns'>>(model: object | Remote): model is Remote =>
  'predictColumns' in model
