import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { streamId, text, type SchemasOf, type StreamId, type UpcastersOf } from '../common.js'

/** Why a connected database got a query: for an answer, for a training, or from an agent’s language model. */
export const queryPurposes = ['query', 'training', 'skill'] as const
export type QueryPurpose = (typeof queryPurposes)[number]

/**
 * How an answer ended. `failed`: the database refused the statement or broke off. `cut`: its reader left, or a limit ended it. `lost`: the
 * process that talked to the database ended, so nobody knows whether the statement finished.
 */
export const queryOutcomes = ['complete', 'failed', 'cut', 'lost'] as const
export type QueryOutcome = (typeof queryOutcomes)[number]

/** A version of a model that learns from the rows. */
export type TrainedVersion = { model: StreamId; version: number }

/** A statement that a connected database got, and the size of its answer. `statement` is the text that it got, without secrets. */
export type DatabaseQueried = {
  connection: StreamId
  version: number
  purpose: QueryPurpose
  statement: string
  rows: number
  bytes: number
  /** Milliseconds from the question to the end of the answer. */
  duration_ms: number
  outcome: QueryOutcome
  /** The sender of the query. The service itself is the sender for a training. */
  user: string | null
  /** The version that was trained with the rows; null for other purposes, and for the check before a training is requested. */
  training: TrainedVersion | null
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
      outcome: z.enum(queryOutcomes),
      user: text.nullable(),
      training: z.strictObject({ model: streamId, version: z.int().positive() }).nullable(),
    })
    .describe('A connected database got a statement, which may also have failed; the rows of its answer are not kept.'),
}

export const queriesUpcasters: UpcastersOf<QueriesEvent> = {
  // Version 1 also used `cut` for failures, and did not have the version of the trained model.
  DatabaseQueried: [(data) => ({ ...data, training: null })],
}

/** Queries have a stream of their own beside the connection's, so that a query never changes the connection's version. */
export const queriesStream = (connection: StreamId): string => `${connection}/queries`
