import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { streamId, text, type SchemasOf, type StreamId } from '../common.js'

/** Why a connected database was asked: for an answer, for a training, or by an agent’s language model. */
export const queryPurposes = ['query', 'training', 'skill'] as const
export type QueryPurpose = (typeof queryPurposes)[number]

/** What a connected database was asked, and how much it answered. `statement` is the text that it got, without secrets. */
export type DatabaseQueried = {
  connection: StreamId
  version: number
  purpose: QueryPurpose
  statement: string
  rows: number
  bytes: number
  /** Milliseconds from the question to the end of the answer. */
  duration_ms: number
  /** `cut` when its reader left before its end. */
  outcome: 'complete' | 'cut'
  /** Who asked: the events of a training are the service's own. */
  user: string | null
}

export type QueriesEvent = Event<'DatabaseQueried', DatabaseQueried>

export const queriesSchemas: SchemasOf<QueriesEvent> = {
  DatabaseQueried: z
    .strictObject({
      connection: streamId,
      version: z.int().positive(),
      purpose: z.enum(queryPurposes),
      statement: text,
      rows: z.int().nonnegative(),
      bytes: z.int().nonnegative(),
      duration_ms: z.number().nonnegative(),
      outcome: z.enum(['complete', 'cut']),
      user: text.nullable(),
    })
    .describe('A connected database was asked, with the text that it got; the rows of its answer are not kept.'),
}

/** Queries have a stream of their own beside the connection's, so that asking never changes the connection's version. */
export const queriesStream = (connection: StreamId): string => `${connection}/queries`
