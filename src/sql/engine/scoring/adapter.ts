import { loadModel } from '../../../models/engines/load.js'
import type { LoadModel } from './load.js'

/** The engine's models in SQL: a predictor has all that SQL needs, under the same names. */
export const loadEngineModel: LoadModel = (artefact, file) => loadModel(artefact, file)
