import { loadModel } from '../../../src/models/engines/load.js'
import { isRemote } from '../../../src/models/engines/contract/remote.js'
import type { Predictor } from '../../../src/models/engines/tabular/predictor.js'

/** Loads a model that runs in memory. @throws TypeError for one that runs in a process of its own */
export const loadInMemory = (artefact: Uint8Array): Predictor => {
  const model = loadModel(artefact)
  if (isRemote(model)) throw new TypeError('this model runs in a process of its own')
  return model
}
