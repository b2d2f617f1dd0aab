import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { sha256, streamId, text, type SchemasOf, type StreamId } from '../common.js'

/**
 * Why a knowledge base was searched: for a search request, for the rows of a query, for a training, for a query of an agent’s language
 * model, or for an evaluation of the knowledge base.
 */
export const searchPurposes = ['search', 'query', 'training', 'skill', 'evaluation'] as const
export type SearchPurpose = (typeof searchPurposes)[number]

/** A model that a search used, and its tokens. Counts are null if its provider does not report them. */
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
 * A search in a knowledge base used models of a provider. The question, and what was said to a reranking model and by it, are an erasable
 * payload, a `SearchRecord`. A search without such a model is no event. A search in a step of an agent's answer is part of the event of
 * that answer; one in a query of an answer names the answer.
 */
export type KnowledgeSearched = {
  knowledge_base: StreamId
  version: number
  purpose: SearchPurpose
  /** The log position of the documents that were searched; null if the search failed earlier. */
  read_at: number | null
  embedding: SearchModel | null
  reranking: SearchModel | null
  chunks: number
  outcome: 'complete' | 'failed'
  /** Why it failed, without what was said. */
  error: string | null
  duration_ms: number
  /** Tokens that the providers did not report, by estimate; none if it is missing. */
  estimated_tokens?: number
  /** The id of the agent's answer whose query searched. */
  answer?: string
  /** Missing in events of earlier releases, and if data was erased while the search was under way. */
  payload?: string
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
      estimated_tokens: count.exactOptional(),
      answer: z.uuid().exactOptional().describe('The id of the answer of an agent whose query searched.'),
      payload: sha256.exactOptional(),
    })
    .describe(
      'A search in a knowledge base used models of a provider. The question, and what was said to a reranking model and by it, are a ' +
        'payload that can be erased; the results are not kept.',
    ),
}

/** The payloads of searches: the question, and the exchanges with a reranking model. */
export const searchesPayloads = { KnowledgeSearched: ['payload'] } as const

/** Searches have a stream of their own beside the knowledge base's, so that a search never changes the version of its settings. */
export const searchesStream = (knowledgeBase: StreamId): string => `${knowledgeBase}/searches`
