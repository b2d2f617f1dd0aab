import type { Json, JsonObject } from '../../../events/common.js'
import type { AnyFound } from '../../log/contract/lookups.js'

/** A comparison of the metadata of a chunk, or of its `id`, `chunk_id` or `chunk_content`. */
export type MetadataComparison = {
  column: string
  op: '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in' | 'like' | 'not like'
  value: Json
}

/** A condition on a chunk: a comparison, or conditions of which one holds, or all do. All of several filters hold. */
export type MetadataFilter = MetadataComparison | { any: readonly MetadataFilter[] } | { all: readonly MetadataFilter[] }

/** What is searched for. `alpha` weighs vectors against words: 1 is vectors alone, 0 words alone; without it the default of the knowledge base. */
export type KnowledgeQuery = {
  content: string
  limit: number
  minRelevance?: number
  alpha?: number
  filters?: readonly MetadataFilter[]
  /** The log position of a past to search; now unless it is said. */
  asOf?: number
  /** Whether the reranking model orders what is found; it does where there is one, unless this is false. */
  reranking?: boolean
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
export type Reranked = { model: string; host: string; input_tokens: number | null; output_tokens: number | null }

/** The tokens of one exchange of a search with a model; null where its provider does not say. */
export type SearchTokens = { input: number | null; output: number | null }

/** What a search found, and up to which log position it looked. */
export type KnowledgeResult = { chunks: KnowledgeChunk[]; position: number; reranked?: Reranked }

/**
 * Searches a knowledge base. `onUsed` is told the tokens of each exchange with its embedding and reranking models once it has ended, also if
 * the search fails afterwards.
 *
 * @throws Problem when the knowledge base cannot be searched
 */
export type SearchKnowledge = (
  knowledgeBase: Pick<AnyFound, 'stream' | 'version'>,
  query: KnowledgeQuery,
  options: { signal?: AbortSignal; onUsed?: (tokens: SearchTokens) => void },
) => Promise<KnowledgeResult>
