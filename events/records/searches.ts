import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { streamId, text, type SchemasOf, type StreamId } from '../common.js'

/**
 * Why a knowledge base was searched: by a request of its own, for the rows of a query, for a training, by a query of an agent’s language
 * model, or to evaluate how well it finds.
 */
export const searchPurposes = ['search', 'query', 'training', 'skill', 'evaluation'] as const
export type SearchPurpose = (typeof searchPurposes)[number]

/** A model that a search asked, and what it used. Counts are null where its provider does not say. */
export type SearchModel = {
  provider: string
  model: string
  host: string
  input_tokens: number | null
  output_tokens: number | null
  /** Milliseconds from the first question to the end of the last answer. */
  duration_ms: number
}

/**
 * A knowledge base was searched, and models of a provider were asked for it. What was searched for and what was found are not kept. A
 * search that asks nobody is no event, and one that is a step of an agent's answer stands in that.
 */
export type KnowledgeSearched = {
  knowledge_base: StreamId
  version: number
  purpose: SearchPurpose
  /** The log position up to which was looked; null where it failed before. */
  read_at: number | null
  embedding: SearchModel | null
  reranking: SearchModel | null
  chunks: number
  outcome: 'complete' | 'failed'
  /** Why it failed, without what was said. */
  error: string | null
  duration_ms: number
}

export type SearchesEvent = Event<'KnowledgeSearched', KnowledgeSearched>

const count = z.int().nonnegative()
const milliseconds = z.number().nonnegative()
const asked = z
  .strictObject({
    provider: text,
    model: text,
    host: text,
    input_tokens: count.nullable(),
    output_tokens: count.nullable(),
    duration_ms: milliseconds,
  })
  .nullable()

export const searchesSchemas: SchemasOf<SearchesEvent> = {
  KnowledgeSearched: z
    .strictObject({
      knowledge_base: streamId,
      version: z.int().positive(),
      purpose: z.enum(searchPurposes),
      read_at: count.nullable(),
      embedding: asked,
      reranking: asked,
      chunks: count,
      outcome: z.enum(['complete', 'failed']),
      error: text.nullable(),
      duration_ms: milliseconds,
    })
    .describe('A search of a knowledge base asked models of a provider; what was searched for and what was found are not kept.'),
}

/** Searches have a stream of their own beside the knowledge base's, so that searching never changes the version of its settings. */
export const searchesStream = (knowledgeBase: StreamId): string => `${knowledgeBase}/searches`
