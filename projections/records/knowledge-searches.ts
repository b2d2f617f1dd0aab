import type { Projection } from '../contract/projection.js'

const model = (name: string): string => `data->>'$.${name}.provider', data->>'$.${name}.model', data->>'$.${name}.host',
      (data->>'$.${name}.input_tokens')::BIGINT, (data->>'$.${name}.output_tokens')::BIGINT, (data->>'$.${name}.duration_ms')::DOUBLE`

/** Searches in knowledge bases that used a model: one row for each. Rows are only added. */
export const knowledgeSearches: Projection = {
  name: 'knowledge_searches',
  canHandle: ['KnowledgeSearched'],
  init: `
    CREATE TABLE ledger.knowledge_searches (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, source VARCHAR NOT NULL, request VARCHAR,
      knowledge_base VARCHAR NOT NULL, version INTEGER NOT NULL, purpose VARCHAR NOT NULL, read_at BIGINT, embedding_provider VARCHAR,
      embedding_model VARCHAR, embedding_host VARCHAR, embedding_input_tokens BIGINT, embedding_output_tokens BIGINT, embedding_ms DOUBLE,
      reranking_provider VARCHAR, reranking_model VARCHAR, reranking_host VARCHAR, reranking_input_tokens BIGINT,
      reranking_output_tokens BIGINT, reranking_ms DOUBLE, chunks BIGINT NOT NULL, outcome VARCHAR NOT NULL, error VARCHAR,
      duration_ms DOUBLE NOT NULL
    )`,
  evolve: [
    `INSERT INTO ledger.knowledge_searches
    SELECT position, recorded_at, actor, source, request, data->>'$.knowledge_base', (data->>'$.version')::INTEGER, data->>'$.purpose',
      (data->>'$.read_at')::BIGINT, ${model('embedding')}, ${model('reranking')}, (data->>'$.chunks')::BIGINT, data->>'$.outcome',
      data->>'$.error', (data->>'$.duration_ms')::DOUBLE
    FROM batch WHERE type = 'KnowledgeSearched'`,
  ],
}
