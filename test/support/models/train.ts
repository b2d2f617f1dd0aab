import { defaultEngine } from '../../../src/catalogue/engines.js'
import type { OnProgress } from '../../../src/models/engines/tabular/fit.js'
import type { Matrix } from '../../../src/models/data/matrix.js'
import { tableOptions } from '../../../src/catalogue/engine-options.js'
import { trainTable, type TrainedModel, type TrainOptions } from '../../../src/models/engines/tabular/train.js'

/**
 * Trains with the default engine, synchronously in this process.
 *
 * @example train(matrix, { target: 'rental_price', seed: 7 }).report.metrics // { r2: .99, rmse: 32, mae: 21 }
 */
export const train = (matrix: Matrix, options: TrainOptions, onProgress: OnProgress = () => undefined, threads?: number): TrainedModel =>
  trainTable({ engine: defaultEngine, learners: 'both', options: tableOptions }, matrix, options, onProgress, threads)
