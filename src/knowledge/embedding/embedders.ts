/**
 * Room: models that make vectors from texts. It imports only events, basics, log/contract, files, models/engines/onnx, llm/contract and
 * knowledge/index.
 */

import { LRUCache } from 'lru-cache'
import type { JsonObject } from '../../../events/common.js'
import type { ModelFiles } from '../../../events/records/contents.js'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { BlobStore } from '../../files/blob-store.js'
import type { EmbeddingModel } from '../../llm/contract/language-model.js'
import type { Log } from '../../log/contract/log.js'
import { normalised } from '../index/vectors.js'
import { OnnxEmbedder, readOnnxEmbedding } from './onnx-embedder.js'

/** Makes the embedding model that the settings name, from a provider over HTTP; the secrets in the settings are sealed. */
export type EmbeddingOverHttp = (settings: JsonObject) => Promise<EmbeddingModel | undefined>

type Options = { log: Pick<Log, 'resources'>; blobs: BlobStore; overHttp: EmbeddingOverHttp }

const atOnceMax = 4

/** The embedding models of knowledge bases: providers over HTTP, and uploaded ones that run here. */
export class Embedders {
  readonly #onnx = new LRUCache<string, Promise<OnnxEmbedder>>({
    max: atOnceMax,
    dispose: (opening) => void opening.then((embedder) => (this.#isStopped ? embedder.end() : embedder.retire())).catch(() => undefined),
  })
  #isStopped = false

  constructor(private readonly options: Options) {}

  /**
   * The model that settings name. `made` are the files of the uploaded model whose vectors are there already: they are opened again, even
   * if other files have been uploaded under their names.
   *
   * @throws Problem of the model, of its provider, or of files that are gone
   */
  async of(settings: JsonObject, made?: ModelFiles): Promise<EmbeddingModel> {
    if (settings['provider'] === 'onnx') return this.#onnxOf(settings, made)
    const model = await this.options.overHttp(settings)
    if (model) return model
    throw new Problem('llm_failed', 'No embedder', 'the knowledge base names no embedding model', {
      hint: 'ALTER its embedding_model: {"provider": "openai", "model_name": "…", "api_key": "…"}.',
    })
  }

  /** The vectors of texts, each of length 1. @throws Problem llm_failed when the model does not return one for each text */
  async embed(model: EmbeddingModel, texts: readonly string[], options: Parameters<EmbeddingModel['embed']>[1]): Promise<Float32Array[]> {
    const vectors: Float32Array[] = []
    for (let from = 0; from < texts.length; from += limits.knowledgeEmbedMaxTexts) {
      const asked = texts.slice(from, from + limits.knowledgeEmbedMaxTexts)
      const given = (await model.embed(asked, options)).map(normalised)
      const dimensions = (vectors[0] ?? given[0])?.length ?? 0
      if (given.length !== asked.length || dimensions === 0 || given.some(({ length }) => length !== dimensions))
        throw new Problem('llm_failed', 'Unusable embeddings', `the embedding model ${model.model} did not give one vector for each text`)
      if (given.some((vector) => !vector.every(Number.isFinite)))
        throw new Problem('llm_failed', 'Unusable embeddings', `the embedding model ${model.model} gave numbers that are not finite`)
      vectors.push(...given)
    }
    return vectors
  }

  stop(): void {
    this.#isStopped = true
    this.#onnx.clear()
  }

  /** A file that was uploaded again counts as another model. */
  async #onnxOf(settings: JsonObject, made: ModelFiles | undefined): Promise<OnnxEmbedder> {
    const { log, blobs } = this.options
    const { file, tokenizer, maxTokens } = readOnnxEmbedding(settings)
    const contentOf = async (name: string) => (await log.resources.one('file', name))?.state.content ?? ''
    const contents = made ? [made.model, made.tokenizer] : await Promise.all([file, tokenizer].map(contentOf))
    const key = JSON.stringify([file, maxTokens, ...contents])
    const known = this.#onnx.get(key)
    if (known) return known
    // Concurrent callers wait for the same model: a second one would end the first, which may already be in use.
    const opening = OnnxEmbedder.open(settings, { resources: log.resources, blobs }, made)
    this.#onnx.set(key, opening)
    opening.catch(() => this.#onnx.delete(key))
    return opening
  }
}
