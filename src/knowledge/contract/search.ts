/** Room: requests to knowledge bases, and their answers. It imports only events, log/contract, commands and llm/contract. */

import type { Json, JsonObject } from '../../../events/common.js'
import type { SearchPurpose } from '../../../events/records/searches.js'
import type { ChatExchange, OnSent, TokenUsage } from '../../llm/contract/language-model.js'
import type { AnyResource } from '../../log/contract/lookups.js'
import type { Origin } from '../../log/contract/log.js'

/** A comparison of the metadata of a chunk, or of its `id`, `chunk_id` or `chunk_content`. */
export type MetadataComparison = {
  column: string
  op: '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in' | 'like' | 'not like'
  value: Json
}

/** A condition on a chunk: a comparison, or several conditions of which one or all must hold. A chunk must pass all filters. */
export type MetadataFilter = MetadataComparison | { any: readonly MetadataFilter[] } | { all: readonly MetadataFilter[] }

/**
 * The question of a search. `alpha` weighs vectors against words: 1 uses only vectors, 0 only words. By default it is 1, and 0 where the
 * knowledge base has no embedding model.
 */
export type KnowledgeQuery = {
  content: string
  limit: number
  minRelevance?: number
  alpha?: number
  filters?: readonly MetadataFilter[]
  /** The log position of the past state to search; the current state by default. */
  asOf?: number
  /**
   * Whether the reranking model sorts the results. By default it does if there is one. With `scores` it only rates their relevance, and
   * their order stays.
   */
  reranking?: boolean | 'scores'
}

/**
 * A chunk in the result of a search. `relevance` is from 0 to 1; the best comes first. Documents with the same id may have chunks with the
 * same `chunk_id`; only the `key` is of one chunk alone, at one position of the log.
 */
export type KnowledgeChunk = {
  key: number
  id: string
  chunk_id: string
  content: string
  metadata: JsonObject
  relevance: number
  distance: number | null
}

/** The model that sorted the results, and its tokens; null if its provider does not report them. */
export type RerankerUse = { model: string; host: string; input_tokens: number | null; output_tokens: number | null }

/** The models of a search: one makes a vector of the question, the other reranks the results. */
export type ModelRole = 'embedding' | 'reranking'

/**
 * A model that a search is about to ask. `estimate`: the tokens that it will read and write, by estimate; `most`: those that it may use if
 * it thinks for as long as it can. `documents`: the ids of those whose passages it will read.
 */
export type WantedModel = {
  provider: string
  model: string
  host: string
  estimate: number
  most?: number
  documents?: readonly string[]
}

/**
 * What a use of a model reports: the tokens of each of its answers, even if the search fails afterwards, and each request before it goes
 * out. `untold` estimates the tokens of an answer that its provider did not report. The function that `onSent` returns is called once it is
 * certain that no model answers the request. `onExchange` gets each exchange
 * with a language model before its request goes out: its response grows with what the model says.
 */
export type ModelReports = {
  onUsed: (tokens: TokenUsage, untold?: number) => void
  onSent: OnSent
  onExchange: (exchange: ChatExchange) => void
}

/**
 * A function around each use of a model by a search. `use` asks the model, and gets the number of tokens that it may use.
 *
 * @example const asking: ModelInterceptor = (_, model, use) => use({ onUsed: ({ input }) => console.log(model.host, input), onSent, onExchange }, 9_000)
 * @throws Problem of the search, or of the function itself, which may refuse to ask the model
 */
export type ModelInterceptor = <T>(
  role: ModelRole,
  model: WantedModel,
  use: (reports: ModelReports, tokens: number) => Promise<T>,
) => Promise<T>

/** The results of a search, and the log position up to which it searched. */
export type KnowledgeResult = { chunks: KnowledgeChunk[]; position: number; reranked?: RerankerUse }

/**
 * Searches a knowledge base for a caller that records the use of its models itself.
 *
 * @throws Problem when the knowledge base cannot be searched
 */
export type SearchKnowledge = (
  knowledgeBase: Pick<AnyResource, 'stream' | 'version'>,
  query: KnowledgeQuery,
  options: { signal?: AbortSignal | undefined; asking: ModelInterceptor },
) => Promise<KnowledgeResult>

/** The origin of a search, and its purpose. `answer`: the answer of an agent whose query it belongs to. */
export type SearchFor = { origin: Origin; purpose: SearchPurpose; answer?: string | undefined; signal?: AbortSignal | undefined }

/**
 * Searches a knowledge base. If a provider's model was called, this is recorded before the answer is returned, even if the search failed.
 *
 * @throws Problem when the knowledge base cannot be searched, or the search not recorded
 */
export type SearchOnRecord = (
  knowledgeBase: Pick<AnyResource, 'stream' | 'version'>,
  query: KnowledgeQuery,
  searchFor: SearchFor,
) => Promise<KnowledgeResult>
