import { answersFrom, keepAnswers } from './records/answers.js'
import { evaluatedFrom, keepEvaluations } from './records/evaluations.js'
import { judgedFrom, keepJudgements } from './records/judgements.js'
import { keepSearches, searchedFrom } from './records/knowledge-searches.js'
import { keepMessages, messagesFrom } from './conversations.js'
import { keepOutcomes, keepRows, reportedFrom, servedFrom } from './records/predictions.js'
import type { Projection } from './contract/projection.js'

/** The events that an erased payload belongs to, by their names in this table of the ledger. */
const erasedFrom = (table: string): string => `(
      SELECT * FROM ledger.events WHERE position IN (
        SELECT position FROM ledger.${table}
        WHERE payload IN (SELECT unnest(data->>'$.payloads[*].hash') FROM batch WHERE type = 'DataErased')
      )
    )`

const remove = (table: string, events: string): string => `DELETE FROM ledger.${table} WHERE position IN (SELECT position FROM ${events})`

/**
 * Erased payloads: the rows of their predictions, outcomes, answers and searches are made again from the payloads that are still readable.
 * The result equals a replay from the first event, which also finds the payload erased. It runs after the projections whose rows it makes.
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
    servedFrom(erasedFrom('prediction_receipts')),
    remove('predictions', 'predictions_served'),
    ...keepRows,
    reportedFrom(erasedFrom('outcomes')),
    remove('outcomes', 'outcomes_reported'),
    keepOutcomes,
    answersFrom(erasedFrom('answers')),
    remove('answers', 'answers_given'),
    remove('answer_steps', 'answers_given'),
    ...keepAnswers,
    judgedFrom(erasedFrom('answer_judgements')),
    remove('answer_judgements', 'answers_judged'),
    keepJudgements,
    evaluatedFrom(erasedFrom('evaluations')),
    remove('evaluations', 'agents_evaluated'),
    remove('evaluation_cases', 'agents_evaluated'),
    ...keepEvaluations,
    messagesFrom(erasedFrom('messages')),
    remove('messages', 'messages_said'),
    keepMessages,
    searchedFrom(erasedFrom('knowledge_searches')),
    remove('knowledge_searches', 'bases_searched'),
    keepSearches,
  ],
}
