import type { Projection } from './projection.js'

/** The events of a source that reported outcomes, with what a payload's rows need. */
export const reportedFrom = (source: string): string => `CREATE OR REPLACE TEMP TABLE outcomes_reported AS
    SELECT r.*, CASE WHEN json_valid(p.body) AND json_array_length(p.body) = r.rows THEN p.body END AS body
    FROM (
      SELECT position, recorded_at, actor, source, request, data->>'$.model' AS model, (data->>'$.rows')::BIGINT AS rows, data->>'$.payload' AS payload,
        from_json(data->'$.predictions', '[{"position":"BIGINT","version":"INTEGER","request":"VARCHAR","rows":["INTEGER"]}]') AS predictions
      FROM ${source} WHERE type = 'OutcomesReported'
    ) AS r LEFT JOIN batch_payloads AS p ON p.hash = r.payload`

/** One row for each truth that those events reported. If it cannot be read, the event still says which row it is about. */
export const keepOutcomes = `INSERT INTO ledger.outcomes
    SELECT position, recorded_at, actor, source, request, model, place.version, place.position, place.request, place.row,
      kept->'$.truth', try_cast(kept->>'$.probability' AS DOUBLE), kept IS NOT NULL AND coalesce(kept->>'$.erased' <> 'true', true), payload
    FROM (
      SELECT *, unnest(flatten(list_transform(predictions, lambda p:
          list_transform(p.rows, lambda r: {position: p.position, version: p.version, request: p.request, row: r})))) AS place,
        unnest(from_json(body, '["JSON"]')) AS kept
      FROM outcomes_reported
    )`

/**
 * What became true of predicted rows: one row per report of a truth, so that what was known at a position can be told from what is
 * known now. `prediction`, `prediction_request` and `row` are the row of `ledger.predictions`.
 */
export const outcomes: Projection = {
  name: 'outcomes',
  canHandle: ['OutcomesReported'],
  init: `
    CREATE TABLE ledger.outcomes (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      model VARCHAR NOT NULL, version INTEGER NOT NULL, prediction BIGINT NOT NULL, prediction_request VARCHAR NOT NULL, row INTEGER NOT NULL,
      truth JSON, probability DOUBLE, readable BOOLEAN NOT NULL, payload VARCHAR NOT NULL
    )`,
  evolve: [reportedFrom('batch'), keepOutcomes],
}
