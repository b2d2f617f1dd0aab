import type { Projection } from '../contract/projection.js'

/** The events of a source that served predictions, with the fields that the rows of a payload need. */
export const servedFrom = (source: string): string => `CREATE OR REPLACE TEMP TABLE predictions_served AS
    SELECT position, recorded_at, actor, source, request, data->>'$.model' AS model, (data->>'$.version')::INTEGER AS version,
      (data->>'$.rows')::BIGINT AS rows, data->>'$.statement' AS statement, (data->>'$.read_at')::BIGINT AS read_at,
      data->>'$.payload' AS payload, from_json(data->'$.requests', '[{"request":"VARCHAR","rows":"BIGINT"}]') AS requests
    FROM ${source} WHERE type = 'PredictionsServed'`

/**
 * One row for each predicted row of those events. If rows are unreadable, the event still has their number and their requests. Both kinds
 * come in one INSERT: see docs/decisions/projections/one-insert.md.
 */
export const keepRows: readonly string[] = [
  `CREATE OR REPLACE TEMP TABLE predictions_kept AS
    SELECT s.*, CASE WHEN json_valid(p.body) AND json_array_length(p.body) = s.rows THEN p.body END AS body
    FROM predictions_served AS s LEFT JOIN batch_payloads AS p ON p.hash = s.payload WHERE s.payload IS NOT NULL`,
  `INSERT INTO ledger.predictions
    SELECT position, recorded_at, actor, source, kept->>'$.request', model, version, try_cast(kept->>'$.row' AS INTEGER),
      kept->'$.input', kept->'$.output', coalesce(kept->>'$.erased' <> 'true', true)
    FROM (SELECT *, unnest(from_json(body, '["JSON"]')) AS kept FROM predictions_kept WHERE body IS NOT NULL)
    UNION ALL
    SELECT position, recorded_at, actor, source, place.request, model, version, place.row, NULL, NULL, false
    FROM (
      SELECT *, unnest(range(rows)) AS n,
        unnest(flatten(list_transform(requests, lambda r: list_transform(range(r.rows), lambda i: {request: r.request, row: i})))) AS place
      FROM predictions_kept WHERE body IS NULL
    ) WHERE n IS NOT NULL`,
]

/**
 * Answered predictions: a receipt per event, and one row per recorded row of its payload. If a payload is gone, or is not a JSON array of
 * as many rows as the event counted, there are this many rows with `readable` false.
 */
export const predictions: Projection = {
  name: 'predictions',
  canHandle: ['PredictionsServed'],
  init: `
    CREATE TABLE ledger.prediction_receipts (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      model VARCHAR NOT NULL, version INTEGER NOT NULL, rows BIGINT NOT NULL, statement VARCHAR, read_at BIGINT NOT NULL, payload VARCHAR
    );
    CREATE TABLE ledger.predictions (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      model VARCHAR NOT NULL, version INTEGER NOT NULL, row INTEGER, input JSON, output JSON, readable BOOLEAN NOT NULL
    )`,
  evolve: [
    servedFrom('batch'),
    `INSERT INTO ledger.prediction_receipts
    SELECT position, recorded_at, actor, source, request, model, version, rows, statement, read_at, payload FROM predictions_served`,
    ...keepRows,
  ],
}

/** The events of a source that reported outcomes, with the fields that the rows of a payload need. */
export const reportedFrom = (source: string): string => `CREATE OR REPLACE TEMP TABLE outcomes_reported AS
    SELECT r.*, CASE WHEN json_valid(p.body) AND json_array_length(p.body) = r.rows THEN p.body END AS body
    FROM (
      SELECT position, recorded_at, actor, source, request, data->>'$.model' AS model, (data->>'$.rows')::BIGINT AS rows, data->>'$.payload' AS payload,
        from_json(data->'$.predictions', '[{"position":"BIGINT","version":"INTEGER","request":"VARCHAR","rows":["INTEGER"]}]') AS predictions
      FROM ${source} WHERE type = 'OutcomesReported'
    ) AS r LEFT JOIN batch_payloads AS p ON p.hash = r.payload`

/** One row for each reported true value. If the value is unreadable, the event still names its row. */
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
 * The true values of predicted rows: one row for each report of a value. So the knowledge at a position differs from the knowledge of
 * today. `prediction`, `prediction_request` and `row` are the row of `ledger.predictions`.
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
