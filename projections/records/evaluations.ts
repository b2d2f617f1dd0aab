import { withPayload } from '../payloads/payload-text.js'
import type { Projection } from '../contract/projection.js'

/**
 * The events of a source that evaluated agents, each with its cases if they are readable: a JSON array with as many cases as the event
 * counted.
 */
export const evaluatedFrom = (source: string): string => `CREATE OR REPLACE TEMP TABLE agents_evaluated AS
    SELECT * EXCLUDE (body),
      CASE WHEN body IS NOT NULL THEN CASE WHEN json_array_length(body) = cases THEN from_json(body, '["JSON"]') END END AS items
    FROM (${withPayload(
      `
        SELECT position, recorded_at, actor, source, request, data->>'$.agent' AS agent, (data->>'$.version')::INTEGER AS version,
          data->>'$.test' AS test, data->>'$.replayed' AS replayed, data->>'$.model' AS model, (data->>'$.cases')::BIGINT AS cases,
          (data->>'$.failed')::BIGINT AS failed, data->'$.metrics' AS metrics, (data->>'$.input_tokens')::BIGINT AS input_tokens,
          (data->>'$.output_tokens')::BIGINT AS output_tokens, data->>'$.judge.provider' AS judge_provider,
          data->>'$.judge.model' AS judge_model, (data->>'$.judge.input_tokens')::BIGINT AS judge_input_tokens,
          (data->>'$.judge.output_tokens')::BIGINT AS judge_output_tokens, (data->>'$.duration_ms')::DOUBLE AS duration_ms, data->>'$.payload' AS payload
        FROM ${source} WHERE type = 'AgentEvaluated'`,
      'ARRAY',
    )}
    )`

/** One row for each evaluation, and one for each of its cases that can be read. */
export const keepEvaluations: readonly string[] = [
  `INSERT INTO ledger.evaluations
    SELECT position, recorded_at, actor, source, request, agent, version, test, replayed, model, cases, failed, metrics, input_tokens,
      output_tokens, judge_provider, judge_model, judge_input_tokens, judge_output_tokens, duration_ms, items IS NOT NULL, payload
    FROM agents_evaluated`,
  `INSERT INTO ledger.evaluation_cases
    SELECT position, n, item->>'$.question', item->>'$.expected', item->>'$.answer', item->>'$.of.answer', item->>'$.gave.answer',
      item->'$.scores', item->>'$.judgement.reason', item->>'$.judged.new', item->>'$.judged.response.text',
      item->>'$.note'
    FROM (SELECT position, unnest(range(1, len(items) + 1)) AS n, unnest(items) AS item FROM agents_evaluated WHERE items IS NOT NULL)`,
]

/** Evaluations of agents. If its payload is erased, an evaluation has no rows for cases; the event still has their number. */
export const evaluations: Projection = {
  name: 'evaluations',
  canHandle: ['AgentEvaluated'],
  init: `
    CREATE TABLE ledger.evaluations (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      agent VARCHAR NOT NULL, version INTEGER NOT NULL, test VARCHAR NOT NULL, replayed VARCHAR NOT NULL, model VARCHAR NOT NULL,
      cases BIGINT NOT NULL, failed BIGINT NOT NULL, metrics JSON NOT NULL, input_tokens BIGINT, output_tokens BIGINT,
      judge_provider VARCHAR, judge_model VARCHAR, judge_input_tokens BIGINT, judge_output_tokens BIGINT, duration_ms DOUBLE NOT NULL, readable BOOLEAN NOT NULL, payload VARCHAR NOT NULL
    );
    CREATE TABLE ledger.evaluation_cases (
      position BIGINT NOT NULL, n INTEGER NOT NULL, question VARCHAR, expected VARCHAR, answer VARCHAR, recorded VARCHAR, given VARCHAR,
      scores JSON, judge_reason VARCHAR, judge_input VARCHAR, judge_output VARCHAR, note VARCHAR
    )`,
  evolve: [evaluatedFrom('batch'), ...keepEvaluations],
}
