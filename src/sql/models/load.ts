import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBInstance } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { Problem } from '../../errors.js'
import { limits } from '../../limits.js'
import { perInstance } from '../per-instance.js'
import type { ScoringModel } from './scoring-model.js'

/** Makes an artefact's bytes ready to score. */
export type LoadModel = (artefact: Uint8Array) => ScoringModel

const cacheOf = perInstance(() => new LRUCache<string, Promise<ScoringModel>>({ max: limits.loadedModelsMax }))

const readModel = async (blobsDirectory: string, artefact: string, load: LoadModel): Promise<ScoringModel> => {
  try {
    return load(await readFile(join(blobsDirectory, artefact)))
  } catch {
    throw new Problem('query_failed', 'The model cannot be read', 'The stored model cannot be read; retrain it')
  }
}

/** Loads models by their hash; the last used stay in memory, as many as the limit says. */
export const modelLoader = (
  instance: DuckDBInstance,
  blobsDirectory: string,
  load: LoadModel,
): ((artefact: string) => Promise<ScoringModel>) => {
  const cache = cacheOf(instance)
  return (artefact) => {
    const known = cache.get(artefact)
    if (known) return known
    const model = readModel(blobsDirectory, artefact, load)
    cache.set(artefact, model)
    model.catch(() => cache.delete(artefact))
    return model
  }
}
