import type { ColumnVector } from '../tables/encode.js'
import type { Predictor } from '../tables/predictor.js'

/**
 * A model that runs in a process of its own, so that its numbers come later. It gives the numbers that `predictBatch` of a
 * `Predictor` gives, in the same places; what a model does not know (bounds, a confidence) is NaN, and it is `partial`
 * then. Rows and columns give the same bits.
 */
export type RemotePredictor = Pick<Predictor, 'kind' | 'inputs' | 'target' | 'outputWidth' | 'partial' | 'nameOf'> & {
  /** `outputWidth` numbers a row. @throws Problem that names the row and the column, or says why the model could not be run */
  predictRows: (rows: readonly Readonly<Record<string, unknown>>[]) => Promise<Float64Array>
  /** The same for the first `rows` values of vectors, one for each input; `undefined` where an input is not there. */
  predictColumns: (columns: readonly (ColumnVector | undefined)[], rows: number) => Promise<Float64Array>
}

/** A model in memory, or in a process of its own. */
export type AnyPredictor = Predictor | RemotePredictor

/** @example isRemote(loadModel(artefact)) // false for what was trained here */
export const isRemote = <Remote extends Pick<RemotePredictor, 'predictColumns'>>(model: object | Remote): model is Remote =>
  'predictColumns' in model

/** A model that is in memory. @throws TypeError for one that runs elsewhere */
export const inMemory = (model: AnyPredictor): Predictor => {
  if (isRemote(model)) throw new TypeError('this model runs in a process of its own')
  return model
}
