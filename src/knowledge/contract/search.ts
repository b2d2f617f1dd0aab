/** Room: requests to knowledge bases, and their answers. It imports events, log/contract and commands alone. */

import type { Json, JsonObject } from '../../../events/common.js'
import type { SearchPurpose } from '../../../events/records/searches.js'
import type { AnyResource } from '../../log/contract/lookups.js'
import type { Origin } from '../../log/contract/log.js'

/** A comparison of the metadata of a chunk, or of its `id`, `chunk_id` or `chunk_content`. */
export type MetadataComparison = {
  column: string
  op: '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in' | 'like' | 'not like'
  value: Json
}

/** A condition on a chunk: a comparison, or conditions of which one holds, or all do. All of several filters hold. */
export type MetadataFilter = MetadataComparison | { any: readonly MetadataFilter[] } | { all: readonly MetadataFilter[] }

/**
 * The question of a search. `alpha` weighs vectors against words: 1 is vectors alone, 0 words alone; without it the default of the
 * knowledge base.
 */
export type KnowledgeQuery = {
  content: string
  limit: number
  minRelevance?: number
  alpha?: number
  filters?: readonly MetadataFilter[]
  /** The log position of a past to search; now unless it is said. */
  asOf?: number
  /**
   * Whether the reranking model orders what is found; it does where there is one, unless this is false. With `scores` it tells the relevance
   * of what is found, which stays in its order.
   */
  reranking?: boolean | 'scores'
}

/** A chunk that was found. `relevance` is from 0 to 1, the best first. */
export type KnowledgeChunk = {
  id: string
  chunk_id: string
  content: string
  metadata: JsonObject
  relevance: number
  distance: number | null
}

/** The model that ordered what was found, and the tokens that it used; null where its provider does not say. */
export type RerankerUse = { model: string; host: string; input_tokens: number | null; output_tokens: number | null }

/** The tokens of one exchange of a search with a model; null where its provider does not say. */
export type SearchTokens = { input: number | null; output: number | null }

/** The models of a search: the one that makes a vector of the question, and the one that reranks the finds. */
export type ModelRole = 'embedding' | 'reranking'

/**
 * Stands around each use of a model by a search. `use` tells the tokens of each exchange whose provider says them, once it has ended, also if
 * the search fails afterwards.
 *
 * @example const asking: ModelInterceptor = (_, model, use) => use(({ input }) => console.log(model.host, input))
 */
export type ModelInterceptor = <T>(
  role: ModelRole,
  model: { provider: string; model: string; host: string },
  use: (onUsed: (tokens: SearchTokens) => void) => Promise<T>,
) => Promise<T>

/** The finds of a search, and the log position up to which it searched. */
export type KnowledgeResult = { chunks: KnowledgeChunk[]; position: number; reranked?: RerankerUse }

/**
 * Searches a knowledge base, for one who keeps what its models used on a record of its own.
 *
 * @throws Problem when the knowledge base cannot be searched
 */
export type SearchKnowledge = (
  knowledgeBase: Pick<AnyResource, 'stream' | 'version'>,
  query: KnowledgeQuery,
  options: { signal?: AbortSignal | undefined; asking: ModelInterceptor },
) => Promise<KnowledgeResult>

/** In whose name a knowledge base is searched, and why. */
export type SearchFor = { origin: Origin; purpose: SearchPurpose; signal?: AbortSignal | undefined }

/**
 * Searches a knowledge base. Where a model of a provider was asked, this is on record before anything is given, also if the search failed.
 *
 * @throws Problem when the knowledge base cannot be searched, or the search not recorded
 */
export type SearchOnRecord = (
  knowledgeBase: Pick<AnyResource, 'stream' | 'version'>,
  query: KnowledgeQuery,
  searchFor: SearchFor,
) => Promise<KnowledgeResult>
