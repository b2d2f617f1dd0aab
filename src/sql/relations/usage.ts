import { cost, joinPrices, prices } from './prices.js'
import { column, heldAt, nocase, type Relation } from './relation.js'

/**
 * The tokens for vectors of documents. An uploaded model runs inside this service, and early events do not have the provider of the model.
 */
const inserted = `
      SELECT position, recorded_at, NULL, knowledge_base, embedding_provider, embedding_model, 'complete', embedding_input_tokens, NULL, 'insert'
      FROM ledger.knowledge_contents WHERE embedding_provider <> 'onnx'`

/** The tokens of searches, for one of their two models. */
const searched = (role: 'embedding' | 'reranking'): string => `
      SELECT position, recorded_at, NULL, knowledge_base, ${role}_provider, ${role}_model, outcome, ${role}_input_tokens, ${role}_output_tokens, 'search'
      FROM ledger.knowledge_searches WHERE ${role}_model IS NOT NULL`

/** The tokens of the models that searches of agents asked. */
const searchedByAgents = `
      SELECT s.position, a.recorded_at, a.agent, NULL, s.asked.provider, s.asked.model, s.outcome, s.asked.input_tokens, s.asked.output_tokens,
        'search'
      FROM (
        SELECT position, outcome, unnest(from_json(models, '[{"provider":"VARCHAR","model":"VARCHAR","input_tokens":"BIGINT",
          "output_tokens":"BIGINT"}]')) AS asked
        FROM ledger.answer_steps WHERE models IS NOT NULL
      ) AS s JOIN ledger.answers AS a ON a.position = s.position`

export const usage: Relation = {
  name: 'usage',
  about:
    'Tokens and cost of the answers of agents and of their searches, of judges in evaluations, of vectors for documents, and of other searches, by day, agent or knowledge base, and model. Costs use the prices at the time of use (llm_prices of PUT /api/config).',
  kind: 'BASE TABLE',
  columns: [
    column('day', 'DATE', 'Day on which the answers were recorded (UTC).'),
    column('project', 'VARCHAR', 'Project of the agent or the knowledge base, by its last name on that day.'),
    column('agent', 'VARCHAR', 'Name of the agent, by its last name on that day.'),
    column('agent_id', 'VARCHAR', 'Stream of the agent.'),
    column(
      'knowledge_base',
      'VARCHAR',
      'Name of the knowledge base that got documents, or was searched by others than agents; empty for tokens of agents.',
    ),
    column('knowledge_base_id', 'VARCHAR', 'Stream of the knowledge base.'),
    column('provider', 'VARCHAR', 'Provider of the model.'),
    column('model', 'VARCHAR', 'Name of the model.'),
    column('answers', 'BIGINT', 'Number of questions to the agent.'),
    column('searches', 'BIGINT', 'How many searches of the knowledge base, or of the agent, used the model.'),
    column('inserts', 'BIGINT', 'How many events of inserted documents have vectors of the model.'),
    column('failed', 'BIGINT', 'How many of the answers and searches failed or were aborted.'),
    column('input_tokens', 'BIGINT', 'Tokens that the model read, where its provider says.'),
    column('output_tokens', 'BIGINT', 'Tokens that the model wrote.'),
    column('cost', 'DOUBLE', 'Price of the tokens, in the currency of llm_prices; only of tokens whose price is known.'),
    column(
      'unpriced',
      'BIGINT',
      'How many answers, evaluations, searches and inserts used tokens without a known price, or do not say how many they used.',
    ),
  ],
  sql: `
    WITH ${prices}, ledger_own_used AS (
      SELECT position, recorded_at, agent, CAST(NULL AS VARCHAR) AS knowledge_base, provider, model, outcome, input_tokens, output_tokens,
        'answer' AS what FROM ledger.answers
      UNION ALL
      SELECT position, recorded_at, agent, NULL, judge_provider, judge_model, 'answered', judge_input_tokens, judge_output_tokens, 'evaluation'
      FROM ledger.evaluations WHERE judge_model IS NOT NULL
      UNION ALL ${searched('embedding')}
      UNION ALL ${searched('reranking')}
      UNION ALL ${searchedByAgents}
      UNION ALL ${inserted}
    ), ledger_own_priced AS (
      SELECT e.position, CAST(e.recorded_at AS DATE) AS day, p.name AS project_name, g.name AS agent_name, e.agent, k.name AS base_name,
        e.knowledge_base, e.provider, e.model, e.outcome, e.what, e.input_tokens, e.output_tokens, ${cost} AS cost
      FROM ledger_own_used AS e
      LEFT JOIN ledger.agents_history AS g ON g.stream = e.agent AND ${heldAt('g', 'e.position')}
      LEFT JOIN ledger.knowledge_bases_history AS k ON k.stream = e.knowledge_base AND ${heldAt('k', 'e.position')}
      LEFT JOIN ledger.projects_history AS p ON p.stream = coalesce(g.project, k.project) AND ${heldAt('p', 'e.position')}${joinPrices}
      WHERE e.position <= $position
    )
    SELECT day, ${nocase('arg_max(project_name, position)')} AS project, ${nocase('arg_max(agent_name, position)')} AS agent, agent AS agent_id,
      ${nocase('arg_max(base_name, position)')} AS knowledge_base, knowledge_base AS knowledge_base_id, provider, model,
      count(*) FILTER (what = 'answer') AS answers, count(*) FILTER (what = 'search') AS searches,
      count(*) FILTER (what = 'insert') AS inserts, count(*) FILTER (outcome IN ('failed', 'aborted')) AS failed, CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
      CAST(sum(output_tokens) AS BIGINT) AS output_tokens, sum(cost) AS cost, count(*) FILTER (cost IS NULL) AS unpriced
    FROM ledger_own_priced GROUP BY day, agent, knowledge_base, provider, model ORDER BY day, min(position)`,
}
