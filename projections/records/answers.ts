import { withPayload } from '../payloads/payload-text.js'
import type { Projection } from '../contract/projection.js'

/** The events of a source that gave answers, each with its payload if that can be read: a JSON object, an `AnswerRecord`. */
export const answersFrom = (source: string): string =>
  `CREATE OR REPLACE TEMP TABLE answers_given AS ${withPayload(
    `
      SELECT position, recorded_at, actor, source, request, data->>'$.agent' AS agent, (data->>'$.version')::INTEGER AS version,
        data->>'$.answer' AS answer, data->>'$.purpose' AS purpose, data->>'$.conversation' AS conversation, data->'$.skills' AS skills,
        data->'$.models' AS models, data->'$.knowledge_bases' AS knowledge_bases, data->>'$.provider' AS provider, data->>'$.model' AS model,
        data->>'$.host' AS host, (data->>'$.read_at')::BIGINT AS read_at, data->>'$.outcome' AS outcome, data->>'$.error' AS error,
        (data->>'$.input_tokens')::BIGINT AS input_tokens, (data->>'$.output_tokens')::BIGINT AS output_tokens,
        (data->>'$.first_token_ms')::DOUBLE AS first_token_ms, (data->>'$.duration_ms')::DOUBLE AS duration_ms, data->>'$.payload' AS payload,
        from_json(data->'$.steps', '[{"kind":"VARCHAR","name":"VARCHAR","outcome":"VARCHAR","duration_ms":"DOUBLE","rows":"BIGINT",
          "input_tokens":"BIGINT","output_tokens":"BIGINT","models":"JSON"}]') AS steps
      FROM ${source} WHERE type = 'AgentAnswered'`,
    'OBJECT',
  )}`

/**
 * The tokens of the language model alone. The event has the tokens of all steps together; events of earlier releases do not tell the models
 * of searches apart.
 */
const ofLanguageModel = (count: 'input_tokens' | 'output_tokens'): string => `
      CASE WHEN len(list_filter(a.steps, lambda s: s.models IS NOT NULL)) > 0
        THEN TRY_CAST(list_sum(list_transform(list_filter(a.steps, lambda s: s.kind = 'model'), lambda s: s.${count})) AS BIGINT)
        ELSE a.${count} END`

/** The items of one list in the payloads, one row for each item, numbered from 1. */
const itemsOf = (member: string, isModel: boolean): string => `
      SELECT position, ${isModel} AS is_model, unnest(range(1, len(items) + 1)) AS nth, unnest(items) AS item
      FROM (SELECT position, from_json(body->'$.${member}', '["JSON"]') AS items FROM answers_given WHERE body IS NOT NULL)`

/**
 * One row for each answer, and one for each of its steps. The steps stand in the event. The texts of the nth step that asked the language
 * model are in the nth exchange of the payload; the texts of the nth other step are in its nth use of a tool, with the exchanges of a search
 * with its reranking model.
 */
export const keepAnswers: readonly string[] = [
  `CREATE OR REPLACE TEMP TABLE answer_steps_taken AS
    SELECT s.position, s.n, s.step, s.is_readable, i.item
    FROM (
      SELECT *, step.kind = 'model' AS is_model, row_number() OVER (PARTITION BY position, step.kind = 'model' ORDER BY n) AS nth
      FROM (
        SELECT position, body IS NOT NULL AS is_readable, unnest(range(1, len(steps) + 1)) AS n, unnest(steps) AS step FROM answers_given
      )
    ) AS s LEFT JOIN (${itemsOf('exchanges', true)}
      UNION ALL ${itemsOf('tools', false)}
    ) AS i ON i.position = s.position AND i.is_model = s.is_model AND i.nth = s.nth`,
  `INSERT INTO ledger.answer_steps
    SELECT position, n, step.kind, step.name, step.outcome, step.duration_ms, step.rows, step.input_tokens, step.output_tokens, step.models,
      CASE WHEN step.kind = 'model' THEN item->>'$.new' ELSE item->>'$.call.input' END,
      CASE WHEN step.kind <> 'model' THEN item->>'$.output' WHEN item->>'$.response.remarks' IS NULL THEN item->>'$.response.text'
        ELSE concat(item->>'$.response.remarks', chr(10), item->>'$.response.text') END,
      CASE WHEN step.kind <> 'model' THEN item->>'$.sql' END, CASE WHEN step.kind <> 'model' THEN item->>'$.exchanges' END, is_readable
    FROM answer_steps_taken`,
  `INSERT INTO ledger.answers
    SELECT a.position, a.recorded_at, a.actor, a.source, a.request, a.agent, a.version, a.answer, a.purpose, a.conversation, a.skills, a.models,
      a.knowledge_bases, a.provider, a.model, a.host, a.read_at, a.outcome, a.error, ${ofLanguageModel('input_tokens')},
      ${ofLanguageModel('output_tokens')}, a.first_token_ms, a.duration_ms, a.body->>'$.question', a.body->>'$.answer', q.sql, q.rows,
      len(a.steps), a.body->>'$.failure.detail', a.body IS NOT NULL, a.payload
    FROM answers_given AS a LEFT JOIN (
      SELECT position, arg_max(item->>'$.sql', n) AS sql, arg_max(step.rows, n) AS rows
      FROM answer_steps_taken WHERE step.kind = 'sql' AND step.outcome = 'complete' GROUP BY position
    ) AS q ON q.position = a.position`,
]

/**
 * Answers of agents: the fields of each event, with the question, the answer and the texts of each step from its payload. If a payload is
 * erased, or is no JSON object, these are null and `readable` is false.
 */
export const answers: Projection = {
  name: 'answers',
  canHandle: ['AgentAnswered'],
  init: `
    CREATE TABLE ledger.answers (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      agent VARCHAR NOT NULL, version INTEGER NOT NULL, answer VARCHAR NOT NULL, purpose VARCHAR NOT NULL, conversation VARCHAR,
      skills JSON NOT NULL, models JSON NOT NULL, knowledge_bases JSON NOT NULL, provider VARCHAR NOT NULL, model VARCHAR NOT NULL,
      host VARCHAR NOT NULL, read_at BIGINT NOT NULL, outcome VARCHAR NOT NULL, error VARCHAR, input_tokens BIGINT, output_tokens BIGINT,
      first_token_ms DOUBLE, duration_ms DOUBLE NOT NULL, question VARCHAR, content VARCHAR, sql VARCHAR, rows BIGINT, steps BIGINT NOT NULL,
      error_detail VARCHAR, readable BOOLEAN NOT NULL, payload VARCHAR NOT NULL
    );
    CREATE TABLE ledger.answer_steps (
      position BIGINT NOT NULL, step INTEGER NOT NULL, kind VARCHAR NOT NULL, name VARCHAR NOT NULL, outcome VARCHAR NOT NULL,
      duration_ms DOUBLE NOT NULL, rows BIGINT, input_tokens BIGINT, output_tokens BIGINT, models JSON, input VARCHAR, output VARCHAR,
      sql VARCHAR, exchanges VARCHAR, readable BOOLEAN NOT NULL
    )`,
  evolve: [answersFrom('batch'), ...keepAnswers],
}
