import { cost, joinPrices, prices } from './prices.js'
import { column, heldAt, nocase, type Relation } from './relation.js'

/** The column with the position of the event that a row comes from. */
export const place = column('position', 'BIGINT', 'Position of the event in the log, from 1, without gaps.')
export const whence = [
  column('recorded_at', 'TIMESTAMP', 'When the event was recorded (UTC).'),
  column('actor', 'VARCHAR', 'Who caused the event.'),
  column('source', 'VARCHAR', 'Source of the event: rest, sql, mcp, cli or system.'),
  column('request', 'VARCHAR', 'Request that caused the event.'),
]

/** The columns of every row about its event. */
export const recorded = [place, ...whence]

const ofAgent = [
  column('project', 'VARCHAR', 'Project of the agent, by its name at that time.'),
  column('agent', 'VARCHAR', 'Name of the agent at that time.'),
  column('agent_id', 'VARCHAR', 'Stream of the agent.'),
  column('project_id', 'VARCHAR', 'Stream of the project.'),
]

const named = `${nocase('p.name')} AS project, ${nocase('g.name')} AS agent, e.agent AS agent_id, g.project AS project_id`
const recordedItems = `e.position, e.recorded_at, e.actor, e.source, e.request, ${named}`

/** The agent and its project in their state when the event `e` was recorded. */
const joinAgent = `
    LEFT JOIN ledger.agents_history AS g ON g.stream = e.agent AND ${heldAt('g', 'e.position')}
    LEFT JOIN ledger.projects_history AS p ON p.stream = g.project AND ${heldAt('p', 'e.position')}`

const answerId = column('answer_id', 'VARCHAR', 'Id of the answer; clients know it as trace_id.')
const readable = column('readable', 'BOOLEAN', 'False if the data of the row was erased.')

/** The last verdict of each actor on each answer, up to `$position`. */
const verdicts = `ledger_own_verdicts AS (
      SELECT answered_at, arg_max(verdict, position) AS verdict, count(*) FILTER (verdict = 'good') AS good, count(*) FILTER (verdict = 'bad') AS bad
      FROM (
        SELECT * FROM ledger.answer_judgements WHERE position <= $position
        QUALIFY row_number() OVER (PARTITION BY answered_at, actor ORDER BY position DESC) = 1
      ) AS j GROUP BY answered_at
    )`

const answers: Relation = {
  name: 'answers',
  about: 'Answers of agents, one row for each question: the versions that were used, the question, the answer and its cost.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    ...ofAgent,
    column('version', 'INTEGER', 'Version of the agent that answered.'),
    answerId,
    column('purpose', 'VARCHAR', 'Where the question came from: completion, sql, conversation, tool, evaluation or rerun.'),
    column('conversation', 'VARCHAR', 'Stream of the conversation that the answer belongs to.'),
    column('provider', 'VARCHAR', 'Provider of the language model.'),
    column('model', 'VARCHAR', 'Name of the language model.'),
    column('host', 'VARCHAR', 'Host that was called for the language model.'),
    column('outcome', 'VARCHAR', 'answered, unanswered (the agent said that it has no answer), failed or aborted.'),
    column('error', 'VARCHAR', 'Why the answer failed.'),
    column('error_detail', 'VARCHAR', 'Why the answer failed, as its client was told; it may repeat words of the provider.'),
    column('question', 'VARCHAR', 'The question; only its beginning if the whole record is long (256 KiB). REST has all of it.'),
    column('answer', 'VARCHAR', 'The answer; only its beginning if the whole record is long (256 KiB). REST has all of it.'),
    column('sql', 'VARCHAR', 'Last query that the agent ran without an error; log.answer_steps has all of them.'),
    column('rows', 'BIGINT', 'How many rows the last query returned.'),
    column('steps', 'BIGINT', 'How many steps the answer took.'),
    column('input_tokens', 'BIGINT', 'Tokens that the language model read, where its provider says.'),
    column('output_tokens', 'BIGINT', 'Tokens that the language model wrote.'),
    column('cost', 'DOUBLE', 'Price of the tokens at that time (llm_prices of PUT /api/config); empty if it was not known.'),
    column('first_token_ms', 'DOUBLE', 'Milliseconds until the first part of the answer.'),
    column('duration_ms', 'DOUBLE', 'Milliseconds until the end of the answer.'),
    column('read_at', 'BIGINT', 'Log position at which the agent, its skills and its data were read.'),
    column('skills', 'VARCHAR', 'Skills in force as JSON text: stream and version of each.'),
    column('models', 'VARCHAR', 'Models of this service that were tools, as JSON text: stream and version of each.'),
    column('knowledge_bases', 'VARCHAR', 'Knowledge bases as JSON text: stream, version and the position that was searched.'),
    column('verdict', 'VARCHAR', 'Last verdict: good or bad; empty if there is none.'),
    column('good', 'BIGINT', 'How many actors rated the answer good; only the last verdict of each counts.'),
    column('bad', 'BIGINT', 'How many actors rated the answer bad; only the last verdict of each counts.'),
    readable,
  ],
  sql: `
    WITH ${verdicts}, ${prices}
    SELECT ${recordedItems}, e.version, e.answer AS answer_id, e.purpose, e.conversation, e.provider, e.model, e.host, e.outcome, e.error,
      e.error_detail, e.question, e.content AS answer, e.sql, e.rows, e.steps, e.input_tokens, e.output_tokens, ${cost} AS cost, e.first_token_ms,
      e.duration_ms, e.read_at,
      CAST(e.skills AS VARCHAR) AS skills, CAST(e.models AS VARCHAR) AS models, CAST(e.knowledge_bases AS VARCHAR) AS knowledge_bases,
      v.verdict, coalesce(v.good, 0) AS good, coalesce(v.bad, 0) AS bad, e.readable
    FROM ledger.answers AS e${joinAgent}
    LEFT JOIN ledger_own_verdicts AS v ON v.answered_at = e.position${joinPrices}
    WHERE e.position <= $position`,
}

const steps: Relation = {
  name: 'answer_steps',
  about:
    'Steps of the answers of agents: each exchange with a language model, and each use of a tool; long texts are cut as in log.answers.',
  kind: 'BASE TABLE',
  columns: [
    column('position', 'BIGINT', 'Position of the answer in log.answers.'),
    column('recorded_at', 'TIMESTAMP', 'When the answer was recorded (UTC).'),
    ...ofAgent,
    answerId,
    column('step', 'INTEGER', 'Place of the step in its answer, from 1.'),
    column('kind', 'VARCHAR', 'model, sql, search, predict or other.'),
    column('name', 'VARCHAR', 'Name of the language model or of the tool.'),
    column(
      'outcome',
      'VARCHAR',
      'complete or failed; aborted if a tool was cut off, because the client had left, the time was over, or the service stopped.',
    ),
    column('duration_ms', 'DOUBLE', 'Milliseconds that the step took.'),
    column('rows', 'BIGINT', 'Rows that a query returned, or passages that a search found.'),
    column('input_tokens', 'BIGINT', 'Tokens that the language model read; for a search, those of its models.'),
    column('output_tokens', 'BIGINT', 'Tokens that the language model wrote; for a search, those of its models.'),
    column(
      'models',
      'VARCHAR',
      'Models of providers that a search used, as JSON text: role (embedding or reranking), provider, model, host and tokens of each.',
    ),
    column('input', 'VARCHAR', 'The request: the new messages as JSON text, or the input of the tool.'),
    column(
      'output',
      'VARCHAR',
      'The result: the text of the language model, after what it took back with a remark, or the output of the tool for it.',
    ),
    column('sql', 'VARCHAR', 'Query that the step ran.'),
    column(
      'exchanges',
      'VARCHAR',
      'Exchanges of a search with its reranking model as JSON text: the messages of each (new), and the response.',
    ),
    readable,
  ],
  sql: `
    SELECT s.position, e.recorded_at, ${named}, e.answer AS answer_id, s.step, s.kind, s.name, s.outcome, s.duration_ms, s.rows,
      s.input_tokens, s.output_tokens, CAST(s.models AS VARCHAR) AS models, s.input, s.output, s.sql, s.exchanges,
      s.readable
    FROM ledger.answer_steps AS s JOIN ledger.answers AS e ON e.position = s.position${joinAgent}
    WHERE s.position <= $position`,
}

const answerJudgements: Relation = {
  name: 'answer_judgements',
  about: 'Verdicts on answers of agents, one row for each.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    ...ofAgent,
    answerId,
    column('answered_at', 'BIGINT', 'Position of the answer in log.answers.'),
    column('verdict', 'VARCHAR', 'good or bad.'),
    column('comment', 'VARCHAR', 'The comment on the verdict.'),
    readable,
    column('replaced_by', 'BIGINT', 'Position of the next verdict of the same actor on the answer; empty for the one that counts.'),
  ],
  sql: `
    SELECT ${recordedItems}, e.answer AS answer_id, e.answered_at, e.verdict, e.comment, e.readable,
      lead(e.position) OVER (PARTITION BY e.answered_at, e.actor ORDER BY e.position) AS replaced_by
    FROM ledger.answer_judgements AS e${joinAgent}
    WHERE e.position <= $position`,
}

const evaluations: Relation = {
  name: 'evaluations',
  about: 'Evaluations of agents, by reruns of recorded questions or by the questions of a table, with the mean scores.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    ...ofAgent,
    column('version', 'INTEGER', 'Version of the agent that was evaluated.'),
    column('test', 'VARCHAR', 'rerun (of recorded answers) or table (of questions).'),
    column('replayed', 'VARCHAR', 'The replayed part: exchanges, tools or nothing.'),
    column('model', 'VARCHAR', 'Language model that answered.'),
    column('cases', 'BIGINT', 'Number of questions.'),
    column('failed', 'BIGINT', 'How many of the questions got no answer.'),
    column('metrics', 'VARCHAR', 'Means over the cases as JSON text: name and value of each.'),
    column('input_tokens', 'BIGINT', 'Tokens that were read for the answers, those of their searches included.'),
    column('output_tokens', 'BIGINT', 'Tokens that were written for the answers.'),
    column('judge_model', 'VARCHAR', 'Language model that judged the answers, if one did.'),
    column('judge_input_tokens', 'BIGINT', 'Tokens that the judge read.'),
    column('judge_output_tokens', 'BIGINT', 'Tokens that the judge wrote.'),
    column('duration_ms', 'DOUBLE', 'Milliseconds that the evaluation took.'),
    readable,
  ],
  sql: `
    SELECT ${recordedItems}, e.version, e.test, e.replayed, e.model, e.cases, e.failed, CAST(e.metrics AS VARCHAR) AS metrics,
      e.input_tokens, e.output_tokens, e.judge_model, e.judge_input_tokens, e.judge_output_tokens, e.duration_ms, e.readable
    FROM ledger.evaluations AS e${joinAgent}
    WHERE e.position <= $position`,
}

const evaluationCases: Relation = {
  name: 'evaluation_cases',
  about: 'Cases of the evaluations of agents; the cases of an erased evaluation are missing.',
  kind: 'BASE TABLE',
  columns: [
    column('position', 'BIGINT', 'Position of the evaluation in log.evaluations.'),
    column('n', 'INTEGER', 'Place of the case in the evaluation, from 1.'),
    column('question', 'VARCHAR', 'The question.'),
    column('expected', 'VARCHAR', 'The expected answer in the table of questions.'),
    column('answer', 'VARCHAR', 'The new answer.'),
    column('recorded_answer_id', 'VARCHAR', 'Id of the recorded answer, if the evaluation is a rerun.'),
    column('answer_id', 'VARCHAR', 'Id of the new answer, if it was recorded.'),
    column('scores', 'VARCHAR', 'Scores of the case as a JSON object.'),
    column('judge_reason', 'VARCHAR', 'The reason of the judge for its verdict.'),
    column('judge_input', 'VARCHAR', 'What was said to the judge: the messages as JSON text.'),
    column('judge_output', 'VARCHAR', 'What the judge answered, also without a verdict.'),
    column('note', 'VARCHAR', 'Why a metric has no score, as the client was told; it may repeat words of a provider.'),
  ],
  sql: `
    SELECT c.position, c.n, c.question, c.expected, c.answer, c.recorded AS recorded_answer_id, c.given AS answer_id,
      CAST(c.scores AS VARCHAR) AS scores, c.judge_reason, c.judge_input, c.judge_output, c.note
    FROM ledger.evaluation_cases AS c WHERE c.position <= $position`,
}

/** The table of language model calls for clients of MindsDB. */
export const languageModelCalls: Relation = {
  name: 'llm_log',
  about:
    'Calls of the language models of agents, in the columns of MindsDB; log.answer_steps has more about each, and log.knowledge_searches and log.evaluation_cases what was said to reranking models and judges.',
  kind: 'SYSTEM VIEW',
  columns: [
    column('api_key', 'VARCHAR', 'Always empty: keys are secrets.'),
    column('model_name', 'VARCHAR', 'Model that was called.'),
    column('input', 'VARCHAR', 'The sent messages, as JSON text, without those of earlier calls for the same answer.'),
    column('output', 'VARCHAR', 'What the model returned.'),
    column('start_time', 'TIMESTAMP', 'When the answer that the call belongs to began (UTC).'),
    column('end_time', 'TIMESTAMP', 'When the answer that the call belongs to was recorded (UTC).'),
    column('prompt_tokens', 'BIGINT', 'Tokens that were sent.'),
    column('completion_tokens', 'BIGINT', 'Tokens that were returned.'),
    column('total_tokens', 'BIGINT', 'Tokens that were sent and returned.'),
    column('success', 'BOOLEAN', 'Whether the call succeeded.'),
  ],
  sql: `
    SELECT CAST(NULL AS VARCHAR) AS api_key, s.name AS model_name, s.input, s.output,
      e.recorded_at - to_milliseconds(CAST(e.duration_ms AS BIGINT)) AS start_time, e.recorded_at AS end_time, s.input_tokens AS prompt_tokens,
      s.output_tokens AS completion_tokens, s.input_tokens + s.output_tokens AS total_tokens, s.outcome = 'complete' AS success
    FROM ledger.answer_steps AS s JOIN ledger.answers AS e ON e.position = s.position
    WHERE s.kind = 'model' AND s.position <= $position`,
}

/** The tables of agents' records. */
export const answerRelations: readonly Relation[] = [answers, steps, answerJudgements, evaluations, evaluationCases]
