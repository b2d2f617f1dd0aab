import type { JsonObject } from '../../../events/common.js'
import type { ContentsSource } from '../../../events/records/contents.js'
import type { Execution } from '../../commands/ledger.js'
import type { Resource, Origin } from '../../log/contract/log.js'
import type { KnowledgeChunk, KnowledgeQuery, KnowledgeResult, MetadataFilter, SearchFor, SearchOnRecord } from './search.js'

/** A chunk that nothing was searched for. */
export type ListedChunk = Omit<KnowledgeChunk, 'relevance' | 'distance'>

/**
 * What is listed of a knowledge base, in the order of insertion: the chunks behind one that was listed before. With `metadata` they have
 * these columns of metadata only, and no text.
 */
export type ListQuery = { limit: number; filters?: readonly MetadataFilter[]; asOf?: number; after?: number; metadata?: readonly string[] }

/** Chunks, fewer than wanted where they are large, and the key of the last one: more are listed `after` it. Without a key there are no more. */
export type ChunkList = { chunks: ListedChunk[]; last: number | null }

/** A column of metadata, and the types of JSON that its values have. */
export type MetadataColumn = { name: string; types: readonly ('text' | 'integer' | 'real' | 'boolean' | 'json')[] }

/** The contents of a knowledge base. */
export type KnowledgeFacts = { columns: readonly MetadataColumn[]; documents: number; chunks: number; dimensions: number | null }

/** What becomes of a document whose id is there: it takes the place of that one, stands beside it, or is left out. */
export type InsertMode = 'replace' | 'add' | 'skip'

/** Rows that become documents. `isAtomic`: all of them are inserted, or none; they are held in memory for it. */
export type Insertion = {
  knowledgeBase: Resource<'knowledge_base'>
  source: ContentsSource
  rows: AsyncIterable<JsonObject> | Iterable<JsonObject>
  isAtomic: boolean
  mode?: InsertMode
  /** Settings of this insert that differ from those of the knowledge base. */
  preprocessing?: JsonObject
  origin: Origin
  execution?: Execution
  signal?: AbortSignal
}

/** The result of an insert. `skipped` counts documents that were there, with `mode` skip. */
export type InsertResult = { documents: number; replaced: number; skipped: number; chunks: number; positions: number[] }

export type Removal = {
  knowledgeBase: Resource<'knowledge_base'>
  filters: readonly MetadataFilter[]
  origin: Origin
  execution?: Execution
}

/** Knowledge bases as the rest of the service uses them. All methods throw a Problem. */
export interface KnowledgeStore {
  search: SearchOnRecord
  list(knowledgeBase: { stream: string }, query: ListQuery): Promise<ChunkList & { position: number }>
  facts(knowledgeBase: { stream: string }): Promise<KnowledgeFacts>
  insert(insertion: Insertion): Promise<InsertResult>
  /** Answers a query's request to a knowledge base. */
  answer(question: KnowledgeQuestion, searchFor: SearchFor): Promise<KnowledgeAnswer>
  /** Web pages as rows to insert. */
  pages(urls: readonly string[], knowledgeBase: Resource<'knowledge_base'>, signal: AbortSignal): Promise<JsonObject[]>
  /** Takes out the documents that pass all filters. */
  remove(removal: Removal): Promise<{ documents: number; positions: number[] }>
}

/** What the SQL process asks about a knowledge base while it answers a query. */
export type KnowledgeQuestion = { knowledgeBase: string } & ({ facts: true } | { search: KnowledgeQuery } | { list: ListQuery })

/** The answer of the server. */
export type KnowledgeAnswer = { facts: KnowledgeFacts } | { found: KnowledgeResult } | { listed: ChunkList }
