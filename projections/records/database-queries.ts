import type { Projection } from '../contract/projection.js'

/** Queries to connected databases: one row for each. Rows are only added. */
export const databaseQueries: Projection = {
  name: 'database_queries',
  canHandle: ['DatabaseQueried'],
  init: `
    CREATE TABLE ledger.database_queries (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      connection VARCHAR NOT NULL, version INTEGER NOT NULL, purpose VARCHAR NOT NULL, statement VARCHAR NOT NULL, rows BIGINT NOT NULL,
      bytes BIGINT NOT NULL, duration_ms DOUBLE NOT NULL, outcome VARCHAR NOT NULL, asked_by VARCHAR,
      model VARCHAR, model_version INTEGER
    )`,
  evolve: [
    `INSERT INTO ledger.database_queries
    SELECT position, recorded_at, actor, source, request, data->>'$.connection', (data->>'$.version')::INTEGER, data->>'$.purpose',
      data->>'$.statement', (data->>'$.rows')::BIGINT, (data->>'$.bytes')::BIGINT, (data->>'$.duration_ms')::DOUBLE, data->>'$.outcome',
      data->>'$.user', data->>'$.training.model', (data->>'$.training.version')::INTEGER
    FROM batch WHERE type = 'DatabaseQueried'`,
  ],
}
