import { readFile } from 'node:fs/promises'
import type { DuckDBInstance } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { perInstance } from '../duckdb-connection/duckdb-connection.js'
import type { AnyModel } from './scoring-model.js'

/** Makes an artefact's bytes, which are in a file, ready to score. */
export type LoadModel = (artefact: Uint8Array, file: string) => AnyModel

const cacheOf = perInstance(() => new LRUCache<string, Promise<AnyModel>>({ max: limits.loadedModelsMax }))

const readModel = async (file: string, load: LoadModel): Promise<AnyModel> => {
  try {
    return load(await readFile(file), file)
  } catch {
    throw new Problem('query_failed', 'The model cannot be read', 'The stored model cannot be read; retrain it')
  }
}

/** Loads a model by its hash, from its file. The most recently used models stay in memory, up to the limit. */
export const loadCachedModel = (
  instance: DuckDBInstance,
  { artefact, file }: { artefact: string; file: string },
  load: LoadModel,
): Promise<AnyModel> => {
  const cache = cacheOf(instance)
  const known = cache.get(artefact)
  if (known) return known
  const model = readModel(file, load)
  cache.set(artefact, model)
  model.catch(() => cache.delete(artefact))
  return model
}
