import type { JsonObject } from '../../../events/common.js'
import type { ContentsSource, ModelFiles } from '../../../events/records/contents.js'
import type { Execution } from '../../commands/ledger.js'
import type { Resource, Origin } from '../../log/contract/log.js'
import type {
  KnowledgeChunk,
  KnowledgeQuery,
  KnowledgeResult,
  MetadataComparison,
  MetadataFilter,
  SearchFor,
  SearchOnRecord,
} from './search.js'

/** A chunk without a relevance, because no question was asked. */
export type ListedChunk = Omit<KnowledgeChunk, 'key' | 'relevance' | 'distance'>

/**
 * A request to list chunks in the order of their insertion, after a chunk that was listed before. With `metadata`, the answer has only
 * these columns of metadata, and no text.
 */
export type ListQuery = { limit: number; filters?: readonly MetadataFilter[]; asOf?: number; after?: number; metadata?: readonly string[] }

/**
 * A page of chunks, which may have fewer than asked for if they are large, and the key of the last one: the next page begins `after` it.
 * Without a key, this is the last page.
 */
export type ChunkList = { chunks: ListedChunk[]; last: number | null }

/** A column of metadata, and the types of JSON that its values have. */
export type MetadataColumn = { name: string; types: readonly ('text' | 'integer' | 'real' | 'boolean' | 'json')[] }

/** The contents of a knowledge base. `files` are those of the uploaded model that made its first vectors. */
export type KnowledgeFacts = {
  columns: readonly MetadataColumn[]
  documents: number
  chunks: number
  dimensions: number | null
  files?: ModelFiles
}

/** The effect of inserting a document whose id exists already: it replaces the existing one, is added as a second one, or is skipped. */
export type InsertMode = 'replace' | 'add' | 'skip'

/** Rows to insert as documents. With `isAtomic`, either all of them are inserted or none, and they are held in memory until then. */
export type Insertion = {
  knowledgeBase: Resource<'knowledge_base'>
  source: ContentsSource
  rows: AsyncIterable<JsonObject> | Iterable<JsonObject>
  isAtomic: boolean
  mode?: InsertMode
  /** Settings of this insert that differ from those of the knowledge base. */
  preprocessing?: JsonObject
  /** How many documents the same request inserted from other sources before. */
  insertedBefore?: number
  origin: Origin
  execution?: Execution
  signal?: AbortSignal
}

/** The result of an insert. `skipped` counts documents that existed already, with `mode` skip. */
export type InsertResult = { documents: number; replaced: number; skipped: number; chunks: number; positions: number[] }

export type Removal = {
  knowledgeBase: Resource<'knowledge_base'>
  /** All of them have to hold. */
  filters: readonly MetadataComparison[]
  origin: Origin
  execution?: Execution
  signal?: AbortSignal
}

/** The interface of knowledge bases for the rest of the service. All methods throw a Problem. */
export interface KnowledgeStore {
  search: SearchOnRecord
  list(knowledgeBase: { stream: string }, query: ListQuery): Promise<ChunkList & { position: number }>
  facts(knowledgeBase: { stream: string }): Promise<KnowledgeFacts>
  insert(insertion: Insertion): Promise<InsertResult>
  /** Answers a query's request to a knowledge base. */
  answer(question: KnowledgeQuestion, searchFor: SearchFor): Promise<KnowledgeAnswer>
  /** Web pages as rows to insert. */
  pages(urls: readonly string[], knowledgeBase: Resource<'knowledge_base'>, signal: AbortSignal): Promise<JsonObject[]>
  /** Removes the documents that pass all filters. */
  remove(removal: Removal): Promise<{ documents: number; positions: number[] }>
}

/** A request of the SQL process to a knowledge base, during a query. */
export type KnowledgeQuestion = { knowledgeBase: string } & ({ facts: true } | { search: KnowledgeQuery } | { list: ListQuery })

/** The server's answer to it. */
export type KnowledgeAnswer = { facts: KnowledgeFacts } | { found: KnowledgeResult } | { listed: ChunkList }
