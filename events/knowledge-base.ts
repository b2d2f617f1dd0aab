import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { jsonObject, nothing, resourceName, streamId, text, unreachable, type JsonObject, type SchemasOf, type StreamId } from './common.js'
import type { ResourceKind } from './kind.js'

/** How texts are cut into chunks: their length and their overlap, in characters. */
export type Chunking = { size: number; overlap: number }

/**
 * The settings that say which columns make a document, and how a search finds it. Without an embedding model, a search finds documents by
 * their words.
 */
export type KnowledgeSettings = {
  embedding_model: JsonObject | null
  reranking_model: JsonObject | null
  storage: JsonObject | null
  /** The columns of a row that are the content of its document; empty: `content`. */
  content_columns: string[]
  /** The columns that are its metadata; empty: all others. */
  metadata_columns: string[]
  /** The column that is its id; null: `id`. */
  id_column: string | null
  chunking: Chunking
  params: JsonObject
}

/** Documents that are searched by their words, or by their meaning. The documents themselves are in a stream of their own. */
export type KnowledgeBase = { project: StreamId; name: string } & KnowledgeSettings

export type KnowledgeBaseEvent =
  | Event<'KnowledgeBaseCreated', KnowledgeBase>
  | Event<'KnowledgeBaseUpdated', Partial<KnowledgeSettings>> // the values that result, already merged
  | Event<'KnowledgeBaseRenamed', { name: string }>
  | Event<'KnowledgeBaseDeleted', Record<string, never>>

export const chunkingSchema = z.strictObject({ size: z.int().positive(), overlap: z.int().nonnegative() })

const settings = {
  embedding_model: jsonObject.nullable(),
  reranking_model: jsonObject.nullable(),
  storage: jsonObject.nullable(),
  content_columns: z.array(text),
  metadata_columns: z.array(text),
  id_column: text.nullable(),
  chunking: chunkingSchema,
  params: jsonObject,
}
const some = {
  embedding_model: settings.embedding_model.exactOptional(),
  reranking_model: settings.reranking_model.exactOptional(),
  storage: settings.storage.exactOptional(),
  content_columns: settings.content_columns.exactOptional(),
  metadata_columns: settings.metadata_columns.exactOptional(),
  id_column: settings.id_column.exactOptional(),
  chunking: settings.chunking.exactOptional(),
  params: settings.params.exactOptional(),
}

const schemas: SchemasOf<KnowledgeBaseEvent> = {
  KnowledgeBaseCreated: z.strictObject({ project: streamId, name: resourceName, ...settings }).describe('A knowledge base was created.'),
  KnowledgeBaseUpdated: z
    .strictObject(some)
    .describe('A knowledge base got other settings; each value is the new value. Its documents stay as they are.'),
  KnowledgeBaseRenamed: z.strictObject({ name: resourceName }).describe('A knowledge base got another name.'),
  KnowledgeBaseDeleted: nothing.describe('A knowledge base was deleted; its documents stay as history until they are erased.'),
}

const evolve = (base: KnowledgeBase | undefined, event: KnowledgeBaseEvent): KnowledgeBase | undefined => {
  switch (event.type) {
    case 'KnowledgeBaseCreated':
      return event.data
    case 'KnowledgeBaseUpdated':
    case 'KnowledgeBaseRenamed':
      return base && { ...base, ...event.data }
    case 'KnowledgeBaseDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const knowledgeBaseKind: ResourceKind<KnowledgeBase, KnowledgeBaseEvent> = {
  plural: 'knowledge_bases',
  inProject: true,
  schemas,
  evolve,
}
