import type { JsonObject } from '../../events/common.js'
import { Problem } from '../errors.js'
import { defaultEngine } from './engine-names.js'
import type { OnProgress } from './fit.js'
import { forecastName, forecastOptions, seriesOptions } from './forecast/options.js'
import { forecastVersion, trainForecast } from './forecast/train.js'
import type { Matrix } from './matrix.js'
import { onnxName, onnxVersion, refuseToTrain } from './onnx/about.js'
import { onnxOptions } from './onnx/options.js'
import { constantOptions, readOptions, tableOptions, usableOptions, type OptionsSchema } from './options.js'
import { engineVersion, trainTable, type Learning, type Trained, type TrainOptions } from './train.js'

/** A way to learn from a matrix. What it learned is an artefact, which begins with a magic text of its own (`load.ts`). */
export type Engine = {
  name: string
  /** Stored with each model: another version may give other bytes for the same data and seed. */
  version: string
  /** What USING may say to it. */
  options: OptionsSchema
  /** Options that say what the model is: another version has them, too, unless it says otherwise. */
  lasting?: readonly string[]
  /** Trains a model; runs in a process of its own. Problems say what of the data or the options cannot be learned from. */
  train: (matrix: Matrix, options: TrainOptions, onProgress: OnProgress) => Promise<Trained> | Trained
}

const learnsFromTables = (name: string, learners: Learning['learners'], options: OptionsSchema = tableOptions): Engine => ({
  name,
  version: engineVersion,
  options,
  train: (matrix, said, onProgress) => trainTable({ engine: name, learners, options }, matrix, said, onProgress),
})

const forecast: Engine = {
  name: forecastName,
  version: forecastVersion,
  options: forecastOptions,
  lasting: seriesOptions,
  train: trainForecast,
}

const auto = learnsFromTables('auto', 'both')

/** Imports a file instead of learning from rows: `importOnnx` does. */
const onnx: Engine = { name: onnxName, version: onnxVersion, options: onnxOptions, train: refuseToTrain }

/** The engines by the names that users write; `engine-names.ts` says what they are. Existing clients ask for `lightwood`. */
export const engines: ReadonlyMap<string, Engine> = new Map([
  ['auto', auto],
  ['boosted_trees', learnsFromTables('boosted_trees', 'trees')],
  ['linear', learnsFromTables('linear', 'linear')],
  ['forecast', forecast],
  [onnx.name, onnx],
  ['constant', learnsFromTables('constant', 'none', constantOptions)],
  ['lightwood', auto],
])

/** The engine that has a name (compared without case) by itself. */
export const engineNamed = (name: string): Engine | undefined => engines.get(name.toLowerCase())

/** The refusal of a name that no engine has. */
export const unknownEngine = (name: string): Problem =>
  new Problem('not_found', 'ML engine not found', `There is no engine "${name}"; the engines are ${[...engines.keys()].join(', ')}`, {
    hint: `CREATE ML_ENGINE ${name} FROM ${defaultEngine} makes it a name of an engine there is; SHOW ML_ENGINES lists them all.`,
  })

/**
 * The engine of a name (compared without case); an unknown name is a `not_found` problem that lists the known ones.
 *
 * @example findEngine('lightwood').name // 'auto'
 */
export const findEngine = (name = defaultEngine): Engine => {
  const engine = engineNamed(name)
  if (engine) return engine
  throw unknownEngine(name)
}

/** @throws Problem when an engine does not have one of the options, or cannot use its value */
export const checkOptions = ({ name, options }: Engine, said: JsonObject): void => {
  readOptions(name, options, said)
}

/** What of the options of an earlier version an engine can use. */
export const optionsTakenOver = ({ options }: Engine, said: JsonObject): JsonObject => usableOptions(options, said)

/** Those of an earlier version's options that stay where others are said. */
export const lastingOptions = ({ lasting = [] }: Engine, said: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(said).filter(([name]) => lasting.includes(name)))
