import { recorded } from './answers.js'
import { column, heldAt, nocase, type Relation } from './relation.js'

const ofModel = (role: 'embedding' | 'reranking', what: string) => [
  column(`${role}_provider`, 'VARCHAR', `Provider of the model that ${what}; empty if there was none.`),
  column(`${role}_model`, 'VARCHAR', `Name of the ${role} model.`),
  column(`${role}_host`, 'VARCHAR', `Host of the ${role} model.`),
  column(`${role}_input_tokens`, 'BIGINT', `Tokens that the ${role} model read, where its provider says.`),
  column(`${role}_output_tokens`, 'BIGINT', `Tokens that the ${role} model wrote, where its provider says.`),
  column(`${role}_ms`, 'DOUBLE', `Milliseconds that the ${role} model took.`),
]

const models = [...ofModel('embedding', 'made a vector of the question'), ...ofModel('reranking', 'ordered the results')]

export const knowledgeSearches: Relation = {
  name: 'knowledge_searches',
  about: 'Searches in knowledge bases that used a model of a provider. log.answer_steps has the searches of agents.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    column('project', 'VARCHAR', 'Project of the knowledge base, by its name at that time.'),
    column('knowledge_base', 'VARCHAR', 'Name of the knowledge base at that time.'),
    column('knowledge_base_id', 'VARCHAR', 'Stream of the knowledge base.'),
    column('version', 'INTEGER', 'Version of the knowledge base whose settings were used.'),
    column(
      'purpose',
      'VARCHAR',
      'Purpose of the search: search (REST, MCP), query (SQL), training, skill (a query of an agent) or evaluation.',
    ),
    column('read_at', 'BIGINT', 'Log position up to which the search read; empty if it failed before.'),
    ...models,
    column('chunks', 'BIGINT', 'Number of chunks that the search returned.'),
    column('outcome', 'VARCHAR', 'complete or failed.'),
    column('error', 'VARCHAR', 'Why the search failed.'),
    column('duration_ms', 'DOUBLE', 'Milliseconds of the whole search.'),
    column('answer_id', 'VARCHAR', 'Id of the answer of an agent whose query searched.'),
    column(
      'question',
      'VARCHAR',
      'The question; only its beginning if the whole record is long (256 KiB). Earlier releases did not keep it.',
    ),
    column('exchanges', 'VARCHAR', 'Exchanges with the reranking model as JSON text: the messages of each (new), and the response.'),
    column('error_detail', 'VARCHAR', 'Why the search failed, as its client was told; it may repeat words of the provider.'),
    column('readable', 'BOOLEAN', 'False if the question and the exchanges were erased.'),
  ],
  sql: `
    SELECT s.position, s.recorded_at, s.actor, s.source, s.request, ${nocase('p.name')} AS project, ${nocase('k.name')} AS knowledge_base,
      s.knowledge_base AS knowledge_base_id, s.version, s.purpose, s.read_at,
      ${models.map(({ name }) => `s.${name}`).join(', ')},
      s.chunks, s.outcome, s.error, s.duration_ms, s.answer AS answer_id, s.question, s.exchanges, s.error_detail, s.readable
    FROM ledger.knowledge_searches AS s
    LEFT JOIN ledger.knowledge_bases_history AS k ON k.stream = s.knowledge_base AND ${heldAt('k', 's.position')}
    LEFT JOIN ledger.projects_history AS p ON p.stream = k.project AND ${heldAt('p', 's.position')}
    WHERE s.position <= $position`,
}
