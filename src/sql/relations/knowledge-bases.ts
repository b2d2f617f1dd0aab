import { column, heldAt, masked, nocase, projectColumn } from './relation.js'
import { nameOf, type ResourceRelation } from './resource.js'

/** Knowledge bases, with their inserted contents. */
export const knowledgeBases: ResourceRelation = {
  name: 'knowledge_bases',
  table: 'knowledge_bases',
  about: 'Knowledge bases: documents that are found by their words or their meaning.',
  columns: [
    nameOf('knowledge base'),
    projectColumn,
    column(
      'EMBEDDING_MODEL',
      'VARCHAR',
      'Model that embeds texts, as JSON text; secrets show as ******. Empty if searches compare only words.',
    ),
    column('RERANKING_MODEL', 'VARCHAR', 'Model that orders the results of a search, as JSON text; empty if there is none.'),
    column('STORAGE', 'VARCHAR', 'Table for the vectors, as JSON text; it is stored, but not used.'),
    column('METADATA_COLUMNS', 'VARCHAR', 'Columns of metadata, as a JSON array; empty: all columns except id and content.'),
    column('CONTENT_COLUMNS', 'VARCHAR', 'Columns of content, as a JSON array; empty: content.'),
    column('ID_COLUMN', 'VARCHAR', 'Column that identifies a document; empty: id.'),
    column('PARAMS', 'VARCHAR', 'Settings as JSON text; secrets show as ******.'),
    column('INSERT_STARTED_AT', 'TIMESTAMP', 'When the last insert was recorded (UTC).'),
    column('INSERT_FINISHED_AT', 'TIMESTAMP', 'When the last insert was recorded (UTC): an insert has ended when it is recorded.'),
    column('PROCESSED_ROWS', 'BIGINT', 'Number of documents that were ever inserted.'),
    column('ERROR', 'VARCHAR', 'Always empty: an insert that fails says so in its answer.'),
    column('QUERY_ID', 'BIGINT', 'Always empty: no insert runs in the background.'),
  ],
  select: (rows, moment, more, joins) => `
    SELECT ${nocase('r.name')} AS "NAME", ${nocase('p.name')} AS "PROJECT", ${masked('r.embedding_model')} AS "EMBEDDING_MODEL",
      ${masked('r.reranking_model')} AS "RERANKING_MODEL", ${masked('r.storage')} AS "STORAGE",
      CAST(r.metadata_columns AS VARCHAR) AS "METADATA_COLUMNS", CAST(r.content_columns AS VARCHAR) AS "CONTENT_COLUMNS",
      r.id_column AS "ID_COLUMN", ${masked('r.params')} AS "PARAMS", c.last AS "INSERT_STARTED_AT", c.last AS "INSERT_FINISHED_AT",
      coalesce(c.documents, 0) AS "PROCESSED_ROWS", CAST(NULL AS VARCHAR) AS "ERROR", CAST(NULL AS BIGINT) AS "QUERY_ID"${more}
    FROM ${rows} AS r${joins} LEFT JOIN ledger.projects_history AS p
      ON p.stream = r.project AND ${heldAt('p', moment)}
    LEFT JOIN LATERAL (
      SELECT max(k.recorded_at) AS last, CAST(sum(k.documents) AS BIGINT) AS documents
      FROM ledger.knowledge_contents AS k
      WHERE k.knowledge_base = r.stream AND k.change = 'KnowledgeInserted' AND k.position <= $position
        AND (r.valid_to IS NULL OR k.position < r.valid_to)
    ) AS c ON true
    WHERE $project IS NULL OR r.project = $project
    ORDER BY r.id, r.valid_from`,
}
