import { Problem } from '../errors.js'
import { engineName, engineVersion, train, type TrainOptions, type TrainReport } from './train.js'
import type { OnProgress } from './fit.js'
import type { Matrix } from './matrix.js'
import { onnxName, onnxVersion, refuseToTrain } from './onnx/about.js'

/** What a training gives: the bytes that predict, and what is to be known of them. */
export type Trained = { artefact: Uint8Array; report: TrainReport }

/** A way to learn from a matrix. What it learned is an artefact, which begins with a magic text of its own (`load.ts`). */
export type Engine = {
  name: string
  /** Stored with each model: another version may give other bytes for the same data and seed. */
  version: string
  /** Trains a model; runs in a process of its own. Problems say what of the data or the options cannot be learned from. */
  train: (matrix: Matrix, options: TrainOptions, onProgress: OnProgress) => Promise<Trained> | Trained
}

const boostedTrees: Engine = { name: engineName, version: engineVersion, train }

/** Imports a file instead of learning from rows: `importOnnx` does. */
const onnx: Engine = { name: onnxName, version: onnxVersion, train: refuseToTrain }

/** The engines by the names that users write. Existing clients ask for `lightwood`; `auto` leaves the choice to us. */
export const engines: ReadonlyMap<string, Engine> = new Map([
  [boostedTrees.name, boostedTrees],
  ['lightwood', boostedTrees],
  ['auto', boostedTrees],
  [onnx.name, onnx],
])

/** Whether a name (compared without case) is one that an engine has by itself. */
export const isOwnEngine = (name: string): boolean => engines.has(name.toLowerCase())

/** The refusal of a name that no engine has. */
export const unknownEngine = (name: string): Problem =>
  new Problem('not_found', 'ML engine not found', `There is no engine "${name}"; the engines are ${[...engines.keys()].join(', ')}`, {
    hint: `CREATE ML_ENGINE ${name} FROM lightwood makes it a name of the engine there is; SHOW ML_ENGINES lists such names.`,
  })

/**
 * The engine of a name (compared without case); an unknown name is a `not_found` problem that lists the known ones.
 *
 * @example findEngine('lightwood').name // 'boosted_trees'
 */
export const findEngine = (name = 'auto'): Engine => {
  const engine = engines.get(name.toLowerCase())
  if (engine) return engine
  throw unknownEngine(name)
}
