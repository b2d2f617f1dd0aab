import { isObject, type Json, type JsonObject } from '../../events/common.js'
import { wrong } from '../basics/errors.js'
import { engineNamed, isEngineName } from './engines.js'

/** Increase this number whenever the same file and options would give another artefact, or other predictions. */
export const onnxVersion = '1.0.0'

/** The name of the predicted column if the statement gives none. */
export const usualTarget = 'prediction'

const example = "CREATE MODEL rent PREDICT price USING engine = 'onnx', file = 'rent'"

/** @throws Problem always: this engine cannot be trained */
export const refuseToTrain = (): never => {
  throw wrong('engine onnx imports a file; it does not learn from rows', `Leave out FROM: ${example}`)
}

/** Whether a name (compared without case) is the name of an engine that imports files. */
export const importsFile = (engine: unknown): boolean => typeof engine === 'string' && engineNamed(engine)?.importsFile === true

/** Whether a name may stand for that engine: it is the engine's name, or a name that users gave. Only the log knows those. */
export const mayImport = (engine: Json | undefined): boolean => typeof engine === 'string' && (importsFile(engine) || !isEngineName(engine))

/** Whether a version was imported from a file, under any name of the engine. */
export const wasImported = ({ report: { engine } }: { report: JsonObject }): boolean => isObject(engine) && importsFile(engine['name'])
