/**
 * A query for recorded answers: another query names them in its first column, by id or by position. That query becomes part of a SELECT, so
 * that it can only read.
 *
 * @example chosenAnswers("SELECT answer_id FROM log.answers WHERE verdict = 'bad'", 101)
 */
export const chosenAnswers = (query: string, limit: number): string =>
  `WITH ledger_chosen AS (SELECT DISTINCT CAST(ref AS VARCHAR) AS ref FROM (\n${query.trim().replace(/;\s*$/, '')}\n) AS chosen(ref))
  SELECT answer_id, position, project_id, agent_id FROM log.answers
  WHERE answer_id IN (SELECT ref FROM ledger_chosen) OR CAST(position AS VARCHAR) IN (SELECT ref FROM ledger_chosen)
  ORDER BY position LIMIT ${limit}`
