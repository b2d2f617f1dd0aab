import type { ChatExchange } from '../../llm/contract/language-model.js'

/**
 * Every erasable part of a search that asked a model of a provider: the payload of `KnowledgeSearched`. An embedding model gets the
 * question alone. `documents` are the ids of those whose passages the reranking model got: an erasure of one of them takes the payload.
 * `failure` is why the search failed, as its client was told; the detail may repeat words of the provider.
 */
export type SearchRecord = {
  question: string
  documents: readonly string[]
  exchanges: readonly ChatExchange[]
  failure?: { code: string; title: string; detail: string }
}
