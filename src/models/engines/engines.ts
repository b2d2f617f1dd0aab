/** Room: the engines for training and for prediction. It imports only basics, catalogue and models. */

import { defaultEngine, engineNamed, unknownEngine } from '../../catalogue/engines.js'
import { onnxVersion, refuseToTrain } from '../../catalogue/onnx-import.js'
import { forecastVersion, trainForecast } from './forecast/train.js'
import type { OnProgress } from './tabular/fit.js'
import type { Matrix } from '../data/matrix.js'
import { engineVersion, trainTable, type EngineSettings, type TrainedModel, type TrainOptions } from './tabular/train.js'

/** An engine that learns from a matrix. Its artefacts begin with a magic text of their own (`load.ts`). */
export type TrainingEngine = {
  name: string
  /** Stored with each model: another version may give other bytes for the same data and seed. */
  version: string
  /** Trains a model; runs in a process of its own. Problems say which data or options cannot be used. */
  train: (matrix: Matrix, options: TrainOptions, onProgress: OnProgress) => Promise<TrainedModel> | TrainedModel
}

/** The options of an engine in USING, from the catalogue. */
const optionsOf = (name: string) => {
  const info = engineNamed(name)
  if (info) return info.options
  throw unknownEngine(name)
}

const learnsFromTables = (name: string, learners: EngineSettings['learners']): TrainingEngine => ({
  name,
  version: engineVersion,
  train: (matrix, said, onProgress) => trainTable({ engine: name, learners, options: optionsOf(name) }, matrix, said, onProgress),
})

/** The training function of each engine in the catalogue. The engine for ONNX imports a file instead, see `importOnnx`. */
const engines: ReadonlyMap<string, TrainingEngine> = new Map(
  [
    learnsFromTables('auto', 'both'),
    learnsFromTables('boosted_trees', 'trees'),
    learnsFromTables('linear', 'linear'),
    { name: 'forecast', version: forecastVersion, train: trainForecast },
    { name: 'onnx', version: onnxVersion, train: refuseToTrain },
    learnsFromTables('constant', 'none'),
  ].map((engine) => [engine.name, engine]),
)

/** The current version of an engine, by name; undefined for an unknown name. */
export const engineVersionOf = (name: string): string | undefined => engines.get(engineNamed(name)?.name ?? '')?.version

/**
 * The engine with a name (compared without case); an unknown name is a `not_found` problem that lists the known ones.
 *
 * @example findEngine('lightwood').name // 'auto'
 */
export const findEngine = (name = defaultEngine): TrainingEngine => {
  const engine = engines.get(engineNamed(name)?.name ?? '')
  if (engine) return engine
  throw unknownEngine(name)
}
