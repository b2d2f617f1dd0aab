import { isObject, type Json, type JsonObject } from '../../events/common.js'
import { wrong } from '../basics/errors.js'
import { isEngineName } from './engines.js'
import { onnxName } from './onnx-options.js'

/** Raised whenever the same file and options would give another artefact, or other predictions. */
export const onnxVersion = '1.0.0'

/** The name of the predicted column where the statement gives none. */
export const usualTarget = 'prediction'

const example = "CREATE MODEL rent PREDICT price USING engine = 'onnx', file = 'rent'"

/** @throws Problem always: this engine cannot be trained */
export const refuseToTrain = (): never => {
  throw wrong('engine onnx imports a file; it does not learn from rows', `Leave out FROM: ${example}`)
}

/** Whether an engine's name (compared without case) is the one that imports files. */
export const importsFile = (engine: unknown): boolean => typeof engine === 'string' && engine.toLowerCase() === onnxName

/** Whether a name may stand for that engine: it is its name, or one that users gave, which only the log can tell. */
export const mayImport = (engine: Json | undefined): boolean => typeof engine === 'string' && (importsFile(engine) || !isEngineName(engine))

/** Whether a version was imported from a file, whichever name of the engine was used. */
export const wasImported = ({ report: { engine } }: { report: JsonObject }): boolean => isObject(engine) && importsFile(engine['name'])
