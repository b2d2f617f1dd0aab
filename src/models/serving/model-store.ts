import { LRUCache } from 'lru-cache'
import { Problem } from '../../basics/errors.js'
import type { BlobStore } from '../../files/blob-store.js'
import { limits } from '../../basics/limits.js'
import { loadModel } from '../engines/load.js'
import { isRemote, type AnyPredictor } from '../engines/contract/remote.js'

/** `release` frees the artefact's file, which the process of an imported model reads. */
type LoadedModel = { predictor: AnyPredictor; release: () => void }

/**
 * A cache of trained models, by the hash of their artefact. Each model is read once, and stays in memory until other models need its place.
 *
 * @example const predictor = await store.predictor(version.result.artefact)
 */
export class ModelStore {
  readonly #loaded = new LRUCache<string, LoadedModel>({ max: limits.loadedModelsMax, dispose: ({ release }) => release() })
  readonly #loading = new Map<string, Promise<AnyPredictor>>()

  constructor(private readonly blobs: BlobStore) {}

  /** @throws Problem when the artefact is gone */
  async predictor(artefact: string): Promise<AnyPredictor> {
    const loaded = this.#loaded.get(artefact)
    if (loaded) return loaded.predictor
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
      throw new Problem('not_ready', 'Model is not ready', `the artefact ${artefact} of this model is not in ${this.blobs.place}`, {
        hint: 'Restore the blob from a backup, or RETRAIN the model.',
      })
    const { file, release } = await this.blobs.hold(artefact)
    let isNeeded = false
    try {
      const predictor = loadModel(await this.blobs.read(artefact), file)
      isNeeded = isRemote(predictor)
      this.#loaded.set(artefact, { predictor, release: isNeeded ? release : () => undefined })
      return predictor
    } finally {
      if (!isNeeded) release()
    }
  }
}
