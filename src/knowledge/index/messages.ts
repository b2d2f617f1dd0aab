import type { Chunking } from '../../../events/knowledge-base.js'
import type { PageText } from '../documents/page-text.js'
import type { DocumentsAt, ModelFiles } from '../../../events/records/contents.js'
import type { ProblemFields } from '../../basics/errors.js'
import type { ChunkList, KnowledgeFacts } from '../contract/contents.js'
import type { KnowledgeChunk, MetadataFilter } from '../contract/search.js'

/** A document as its payload has it; an erased document has only its place. */
export type StoredDocument = { id: string; content: string; metadata: object } | { erased: true }

/** The effect of an event on the documents. `version` is the event's place in the stream; `vectors` are those of all remaining chunks. */
export type Step = { version: number; position: number } & (
  | {
      inserted: {
        payload: string
        chunking: Chunking
        dimensions: number | null
        /** Those of the uploaded model that made the vectors. */
        files?: ModelFiles
        replaces: readonly DocumentsAt[]
        /** Undefined when the payload is gone. */
        documents: readonly StoredDocument[] | undefined
        vectors: Uint8Array | undefined
      }
    }
  | { removed: readonly DocumentsAt[] }
)

/** A payload of which documents were erased, and the places of its remaining documents. */
export type ErasedDocuments = { payload: string; stays: readonly number[] }

/** The state of an index: the version of its contents, and the position of the last erasure. */
export type IndexState = { version: number; erasedAt: number }

export type SearchRequest = {
  content: string
  vector: Float32Array | null
  alpha: number
  limit: number
  minRelevance: number
  filters: readonly MetadataFilter[]
  asOf: number | null
}

export type ListRequest = {
  limit: number
  filters: readonly MetadataFilter[]
  asOf: number | null
  after: number
  metadata: readonly string[] | null
}

/** One request to an index. */
export type IndexRequest =
  | { open: { logId: string } & IndexState }
  | { apply: readonly Step[] }
  | { erase: readonly ErasedDocuments[]; erasedAt: number }
  | { find: readonly string[] }
  | { matching: readonly MetadataFilter[] }
  | { search: SearchRequest }
  | { list: ListRequest }
  | { facts: true }
  | { page: string }

/** The answer of an index, by the kind of request. */
export type IndexAnswer =
  | { state: IndexState }
  | { places: readonly (readonly [id: string, position: number, row: number])[] }
  | { chunks: readonly KnowledgeChunk[] }
  | { listed: ChunkList }
  | { facts: KnowledgeFacts }
  | { page: PageText }

export type ToIndex = { settings: { directory: string } } | { ask: number; base: string; request: IndexRequest }
/** `notOpen` says why the index has to be opened first. */
export type FromIndex = { answer: number } & ({ done: IndexAnswer } | { problem: ProblemFields } | { notOpen: string })
