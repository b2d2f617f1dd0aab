import { withPayload } from '../payloads/payload-text.js'
import type { Projection } from '../contract/projection.js'

const model = (name: string): string => `data->>'$.${name}.provider' AS ${name}_provider, data->>'$.${name}.model' AS ${name}_model,
        data->>'$.${name}.host' AS ${name}_host, (data->>'$.${name}.input_tokens')::BIGINT AS ${name}_input_tokens,
        (data->>'$.${name}.output_tokens')::BIGINT AS ${name}_output_tokens, (data->>'$.${name}.duration_ms')::DOUBLE AS ${name}_ms`

/** The events of a source that searched with models, each with its payload if that can be read: a JSON object, a `SearchRecord`. */
export const searchedFrom = (source: string): string =>
  `CREATE OR REPLACE TEMP TABLE bases_searched AS ${withPayload(
    `
      SELECT position, recorded_at, actor, source, request, data->>'$.knowledge_base' AS knowledge_base,
        (data->>'$.version')::INTEGER AS version, data->>'$.purpose' AS purpose, (data->>'$.read_at')::BIGINT AS read_at,
        ${model('embedding')},
        ${model('reranking')},
        (data->>'$.chunks')::BIGINT AS chunks, data->>'$.outcome' AS outcome, data->>'$.error' AS error,
        (data->>'$.duration_ms')::DOUBLE AS duration_ms, data->>'$.answer' AS answer, data->>'$.payload' AS payload
      FROM ${source} WHERE type = 'KnowledgeSearched'`,
    'OBJECT',
  )}`

const kept = (name: string): string =>
  ['provider', 'model', 'host', 'input_tokens', 'output_tokens', 'ms'].map((what) => `${name}_${what}`).join(', ')

/** One row for each search. A search without a payload has no erasable data. */
export const keepSearches = `INSERT INTO ledger.knowledge_searches
    SELECT position, recorded_at, actor, source, request, knowledge_base, version, purpose, read_at, ${kept('embedding')},
      ${kept('reranking')}, chunks, outcome, error, duration_ms, answer, body->>'$.question', body->>'$.exchanges', body->>'$.failure.detail',
      payload IS NULL OR body IS NOT NULL, payload
    FROM bases_searched`

/**
 * Searches in knowledge bases that used a model: the fields of each event, with the question and the exchanges from its payload. If the
 * payload is erased, these are null and `readable` is false.
 */
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
      duration_ms DOUBLE NOT NULL, answer VARCHAR, question VARCHAR, exchanges VARCHAR, error_detail VARCHAR, readable BOOLEAN NOT NULL,
      payload VARCHAR
    )`,
  evolve: [searchedFrom('batch'), keepSearches],
}
