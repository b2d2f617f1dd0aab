import type { Projection } from './contract/projection.js'

/**
 * Runs of jobs: how each began, and how it ended. Rows are only added, so that the rows up to a position show the knowledge at that
 * position. A run without an end is still under way or was interrupted; the service records an interruption at its next start.
 */
export const jobRuns: Projection = {
  name: 'job_runs',
  canHandle: ['JobRunStarted', 'JobRunFinished'],
  init: `
    CREATE TABLE ledger.job_runs_started (
      position BIGINT NOT NULL, actor VARCHAR NOT NULL, job VARCHAR NOT NULL, run VARCHAR NOT NULL, due_at TIMESTAMP NOT NULL,
      started_at TIMESTAMP NOT NULL
    );
    CREATE TABLE ledger.job_runs_finished (
      position BIGINT NOT NULL, finished_at TIMESTAMP NOT NULL, job VARCHAR NOT NULL, run VARCHAR NOT NULL, outcome VARCHAR NOT NULL,
      error VARCHAR, statements JSON NOT NULL
    )`,
  evolve: [
    `INSERT INTO ledger.job_runs_started
    SELECT position, actor, stream, data->>'$.run', data->>'$.due_at', data->>'$.started_at' FROM batch WHERE type = 'JobRunStarted'`,
    `INSERT INTO ledger.job_runs_finished
    SELECT position, recorded_at, stream, data->>'$.run', data->>'$.outcome', data->>'$.error', data->'$.statements'
    FROM batch WHERE type = 'JobRunFinished'`,
  ],
}
