import { LRUCache } from 'lru-cache'
import { Problem } from '../../basics/errors.js'
import type { Blobs } from '../../files/blobs.js'
import { limits } from '../../basics/limits.js'
import { loadModel } from '../engines/load.js'
import type { AnyPredictor } from '../engines/contract/remote.js'

/**
 * A cache of trained models, by the hash of their artefact: each is read once and stays in memory until others displace it.
 *
 * @example const predictor = await store.predictor(version.result.artefact)
 */
export class ModelStore {
  readonly #loaded = new LRUCache<string, AnyPredictor>({ max: limits.loadedModelsMax })
  readonly #loading = new Map<string, Promise<AnyPredictor>>()

  constructor(private readonly blobs: Blobs) {}

  /** @throws Problem when the artefact is gone */
  async predictor(artefact: string): Promise<AnyPredictor> {
    const loaded = this.#loaded.get(artefact)
    if (loaded) return loaded
    const loading = this.#loading.get(artefact) ?? this.#load(artefact)
    this.#loading.set(artefact, loading)
    try {
      return await loading
    } finally {
      this.#loading.delete(artefact)
    }
  }

  async #load(artefact: string): Promise<AnyPredictor> {
    if (!(await this.blobs.has(artefact)))
      throw new Problem('not_ready', 'Model is not ready', `the artefact ${artefact} of this model is not in the data directory`, {
        hint: 'Restore the blob from a backup, or RETRAIN the model.',
      })
    const predictor = loadModel(await this.blobs.read(artefact), this.blobs.path(artefact))
    this.#loaded.set(artefact, predictor)
    return predictor
  }
}
