import { withPayload } from '../payloads/payload-text.js'
import type { Projection } from '../contract/projection.js'

/** The events of a source that judged answers, each with its comment if it is readable. */
export const judgedFrom = (source: string): string =>
  `CREATE OR REPLACE TEMP TABLE answers_judged AS ${withPayload(
    `
      SELECT position, recorded_at, actor, source, request, data->>'$.agent' AS agent, data->>'$.answer' AS answer,
        (data->>'$.answered_at')::BIGINT AS answered_at, data->>'$.verdict' AS verdict, data->>'$.payload' AS payload
      FROM ${source} WHERE type = 'AnswerJudged'`,
    'OBJECT',
  )}`

/** One row for each judgement. A judgement without a comment has no erasable data. */
export const keepJudgements = `INSERT INTO ledger.answer_judgements
    SELECT position, recorded_at, actor, source, request, agent, answer, answered_at, verdict, body->>'$.comment',
      payload IS NULL OR body IS NOT NULL, payload
    FROM answers_judged`

/** Verdicts on answers, one row for each. */
export const judgements: Projection = {
  name: 'answer_judgements',
  canHandle: ['AnswerJudged'],
  init: `
    CREATE TABLE ledger.answer_judgements (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      agent VARCHAR NOT NULL, answer VARCHAR NOT NULL, answered_at BIGINT NOT NULL, verdict VARCHAR NOT NULL, comment VARCHAR,
      readable BOOLEAN NOT NULL, payload VARCHAR
    )`,
  evolve: [judgedFrom('batch'), keepJudgements],
}
