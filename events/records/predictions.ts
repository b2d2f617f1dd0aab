import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { sha256, streamId, text, type SchemasOf, type StreamId } from '../common.js'

/**
 * A model answered predictions. The inputs and outputs of a request's rows are kept as a payload; a scoring inside a query leaves only this
 * receipt.
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

/**
 * The true values of predicted rows, which somebody reported later. The true values are a payload, because they can be personal data like
 * the rows. The event itself names the rows, so that an erasure of the rows finds it.
 */
export type OutcomesReported = {
  model: StreamId
  rows: number
  /** For each event that kept the predictions: the version and the request of the predictions, and the rows in that request. */
  predictions: { position: number; version: number; request: string; rows: number[] }[]
  payload: string
}

export type PredictionsEvent = Event<'PredictionsServed', PredictionsServed> | Event<'OutcomesReported', OutcomesReported>

/** One kept row of a payload, which is a JSON array of these. `output` has the keys value, confidence, min, max. */
export type PredictionRow = { request: string; row: number; input: object; output: object }

/**
 * One true value of a payload, which is a JSON array of these in the order of the event's rows. `probability` is the model's probability
 * for this class; null if it is unknown, and for numbers.
 */
export type OutcomeRow = { position: number; request: string; row: number; truth: string | number | boolean; probability: number | null }

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
  OutcomesReported: z
    .strictObject({
      model: streamId,
      rows: z.int().positive(),
      predictions: z.array(
        z.strictObject({
          position: z.int().positive(),
          version: z.int().positive(),
          request: text,
          rows: z.array(z.int().nonnegative()),
        }),
      ),
      payload: sha256,
    })
    .describe(
      'Somebody reported the true values of predicted rows; these values are a payload that can be erased. Only the last report of a row counts.',
    ),
}

/** The payloads of predictions and outcomes: their rows. */
export const predictionsPayloads = { PredictionsServed: ['payload'], OutcomesReported: ['payload'] } as const

/** Predictions have a stream of their own beside the model's, so that an answer never changes the model's version. */
export const predictionsStream = (model: StreamId): string => `${model}/predictions`
