import { defaultEngine } from '../../src/models/engine-names.js'
import type { OnProgress } from '../../src/models/fit.js'
import type { Matrix } from '../../src/models/matrix.js'
import { tableOptions } from '../../src/models/options.js'
import { trainTable, type Trained, type TrainOptions } from '../../src/models/train.js'

/**
 * Trains with the default engine, in this process and at once.
 *
 * @example train(matrix, { target: 'rental_price', seed: 7 }).report.metrics // { r2: .99, rmse: 32, mae: 21 }
 */
export const train = (matrix: Matrix, options: TrainOptions, onProgress: OnProgress = () => undefined, threads?: number): Trained =>
  trainTable({ engine: defaultEngine, learners: 'both', options: tableOptions }, matrix, options, onProgress, threads)
