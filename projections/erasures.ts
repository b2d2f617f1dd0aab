import { keepOutcomes, keepRows, reportedFrom, servedFrom } from './predictions.js'
import type { Projection } from './projection.js'

/**
 * Erased payloads: their rows, of predictions and of outcomes, are made again from what can be read now. The result equals that of a
 * replay from the first event, which finds the payload erased before it reaches the erasure. Applied after `events`, `predictions`
 * and `outcomes`.
 */
export const erasures: Projection = {
  name: 'erasures',
  canHandle: ['DataErased'],
  init: `
    CREATE TABLE ledger.erasures (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      what VARCHAR NOT NULL, subject VARCHAR NOT NULL, reason VARCHAR, payloads VARCHAR[] NOT NULL, blobs VARCHAR[] NOT NULL
    )`,
  evolve: [
    `INSERT INTO ledger.erasures
    SELECT position, recorded_at, actor, source, request, data->>'$.what', data->>'$.subject', data->>'$.reason',
      data->>'$.payloads[*].hash', data->>'$.blobs[*]'
    FROM batch WHERE type = 'DataErased'`,
    servedFrom(`(
      SELECT * FROM ledger.events WHERE position IN (
        SELECT position FROM ledger.prediction_receipts
        WHERE payload IN (SELECT unnest(data->>'$.payloads[*].hash') FROM batch WHERE type = 'DataErased')
      )
    )`),
    `DELETE FROM ledger.predictions WHERE position IN (SELECT position FROM predictions_served)`,
    ...keepRows,
    reportedFrom(`(
      SELECT * FROM ledger.events WHERE position IN (
        SELECT position FROM ledger.outcomes
        WHERE payload IN (SELECT unnest(data->>'$.payloads[*].hash') FROM batch WHERE type = 'DataErased')
      )
    )`),
    `DELETE FROM ledger.outcomes WHERE position IN (SELECT position FROM outcomes_reported)`,
    keepOutcomes,
  ],
}
