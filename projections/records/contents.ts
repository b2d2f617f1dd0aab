import type { Projection } from '../contract/projection.js'

/** Inserts into knowledge bases and removals, one row for each event. The documents are payloads, and never in these tables. */
export const contents: Projection = {
  name: 'contents',
  canHandle: ['KnowledgeInserted', 'KnowledgeRemoved'],
  init: `
    CREATE TABLE ledger.knowledge_contents (
      position BIGINT NOT NULL, recorded_at TIMESTAMP NOT NULL, actor VARCHAR NOT NULL, request VARCHAR, knowledge_base VARCHAR NOT NULL,
      change VARCHAR NOT NULL, source VARCHAR, documents BIGINT NOT NULL, replaced BIGINT NOT NULL, chunks BIGINT, bytes BIGINT,
      embedding_provider VARCHAR, embedding_model VARCHAR, embedding_input_tokens BIGINT
    )`,
  evolve: [
    `INSERT INTO ledger.knowledge_contents
    SELECT position, recorded_at, actor, request, data->>'$.knowledge_base', type, data->>'$.source', (data->>'$.documents')::BIGINT,
      coalesce(len(flatten(from_json(data->'$.replaces[*].rows', '[["BIGINT"]]'))), 0), (data->>'$.chunks')::BIGINT, (data->>'$.bytes')::BIGINT,
      data->>'$.embedding.provider', data->>'$.embedding.model', (data->>'$.embedding.input_tokens')::BIGINT
    FROM batch WHERE type IN ('KnowledgeInserted', 'KnowledgeRemoved')`,
  ],
}
