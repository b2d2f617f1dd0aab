import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { streamId, text, type SchemasOf, type StreamId, type UpcastersOf } from '../common.js'

/** Why a connected database was asked: for an answer, for a training, or by an agent’s language model. */
export const queryPurposes = ['query', 'training', 'skill'] as const
export type QueryPurpose = (typeof queryPurposes)[number]

/**
 * How an answer ended. `failed`: the database refused the statement or broke off. `cut`: its reader left, or a limit ended it. `lost`: the
 * process that talked to the database ended, so it is not known what became of the statement.
 */
export const queryOutcomes = ['complete', 'failed', 'cut', 'lost'] as const
export type QueryOutcome = (typeof queryOutcomes)[number]

/** A version of a model that learns from the rows. */
export type TrainedVersion = { model: StreamId; version: number }

/** What a connected database was sent, and how much it answered. `statement` is the text that it got, without secrets. */
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
  /** Who asked: the events of a training are the service's own. */
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
    .describe('A statement was sent to a connected database, whatever came of it; the rows of its answer are not kept.'),
}

export const queriesUpcasters: UpcastersOf<QueriesEvent> = {
  // Version 1 called `cut` what failed as well, and did not say which version of a model was trained.
  DatabaseQueried: [(data) => ({ ...data, training: null })],
}

/** Queries have a stream of their own beside the connection's, so that asking never changes the connection's version. */
export const queriesStream = (connection: StreamId): string => `${connection}/queries`
