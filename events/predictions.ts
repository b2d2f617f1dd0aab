import type { Event } from '@event-driven-io/emmett'
import { z } from 'zod'
import { sha256, streamId, text, type SchemasOf, type StreamId } from './common.js'

/**
 * Predictions that were answered. Of rows sent one request at a time the inputs and outputs are kept, as a payload;
 * of a scoring inside a query only this receipt.
 */
export type PredictionsServed = {
  model: StreamId
  version: number
  rows: number
  requests: { request: string; rows: number }[]
  payload: string | null
  statement: string | null
  read_at: number
}

export type PredictionsEvent = Event<'PredictionsServed', PredictionsServed>

/** One kept row of a payload, which is a JSON array of these. `output` has the keys value, confidence, min, max. */
export type PredictionRow = { request: string; row: number; input: object; output: object }

export const predictionsSchemas: SchemasOf<PredictionsEvent> = {
  PredictionsServed: z
    .strictObject({
      model: streamId,
      version: z.int().positive(),
      rows: z.int().nonnegative(),
      requests: z.array(z.strictObject({ request: text, rows: z.int().nonnegative() })),
      payload: sha256.nullable(),
      statement: text.nullable(),
      read_at: z.int().nonnegative(),
    })
    .describe('A version of a model answered; the rows are a payload that can be erased, or were only counted.'),
}

/** Predictions have a stream of their own beside the model's, so that answering never changes the model's version. */
export const predictionsStream = (model: StreamId): string => `${model}/predictions`
