import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { isObject, sha256, streamId, text, type JsonObject, type SchemasOf, type StreamId, type UpcastersOf } from '../common.js'
import { chunkingSchema, type Chunking } from '../knowledge-base.js'

/** Where documents came from. */
export const contentsSources = ['rows', 'file', 'url', 'query', 'connection'] as const
export type ContentsSource = (typeof contentsSources)[number]

/**
 * Documents by the event that inserted them, and their places in its payload. Events do not name documents by id, because an id may be
 * personal.
 */
export type DocumentsAt = { position: number; rows: number[] }

/** The SHA-256 of the two files of an uploaded model: other files under the same names make other vectors. */
export type ModelFiles = { model: string; tokenizer: string }

/**
 * The model that made vectors. Earlier events do not name its provider, nor the files of an uploaded one; tokens are null if the provider
 * does not report them.
 */
export type VectorModel = {
  provider: string | null
  model: string
  host: string
  dimensions: number
  input_tokens: number | null
  files?: ModelFiles
}

/** Documents were inserted into a knowledge base. From here on, searches no longer find the documents that they replace. */
export type KnowledgeInserted = {
  knowledge_base: StreamId
  /** The version of the knowledge base whose settings applied. */
  version: number
  source: ContentsSource
  documents: number
  chunks: number
  /** Bytes of their contents. */
  bytes: number
  chunking: Chunking
  /** The model that made their vectors; null if they have none. */
  embedding: VectorModel | null
  replaces: DocumentsAt[]
  /** A JSON array of `KnowledgeDocument`. */
  payload: string
  /** The vectors of all chunks in order, as 32-bit floating-point numbers (little-endian). */
  vectors: string | null
}

/** Documents were removed from a knowledge base. Their contents stay readable as history until they are erased. */
export type KnowledgeRemoved = { knowledge_base: StreamId; documents: number; removes: DocumentsAt[] }

/** One document of a payload. An erased document keeps only its place. */
export type KnowledgeDocument = { id: string; content: string; metadata: JsonObject }

export type ContentsEvent = Event<'KnowledgeInserted', KnowledgeInserted> | Event<'KnowledgeRemoved', KnowledgeRemoved>

const count = z.int().nonnegative()
const documentsAt = z.array(z.strictObject({ position: z.int().positive(), rows: z.array(count) }))

export const contentsSchemas: SchemasOf<ContentsEvent> = {
  KnowledgeInserted: z
    .strictObject({
      knowledge_base: streamId,
      version: z.int().positive(),
      source: z.enum(contentsSources),
      documents: z.int().positive(),
      chunks: count,
      bytes: count,
      chunking: chunkingSchema,
      embedding: z
        .strictObject({
          provider: text.nullable(),
          model: text,
          host: text,
          dimensions: z.int().positive(),
          input_tokens: count.nullable(),
          files: z.strictObject({ model: sha256, tokenizer: sha256 }).exactOptional(),
        })
        .nullable(),
      replaces: documentsAt,
      payload: sha256,
      vectors: sha256.nullable(),
    })
    .describe(
      'Documents were inserted into a knowledge base; they and their vectors are payloads that can be erased. ' +
        'The event names each replaced document by the event that inserted it and by its place in that payload.',
    ),
  KnowledgeRemoved: z
    .strictObject({ knowledge_base: streamId, documents: z.int().positive(), removes: documentsAt })
    .describe('Documents were removed from a knowledge base; they stay as history until they are erased.'),
}

export const contentsUpcasters: UpcastersOf<ContentsEvent> = {
  // Version 1 did not have the model's provider and tokens.
  KnowledgeInserted: [
    ({ embedding, ...data }) => ({
      ...data,
      embedding: isObject(embedding) ? { provider: null, ...embedding, input_tokens: null } : null,
    }),
  ],
}

/** The payloads of contents: the documents and their vectors. */
export const contentsPayloads = { KnowledgeInserted: ['payload', 'vectors'] } as const

/** Contents have a stream of their own beside the knowledge base's, so that an insert never changes the version of its settings. */
export const contentsStream = (knowledgeBase: StreamId): string => `${knowledgeBase}/contents`
