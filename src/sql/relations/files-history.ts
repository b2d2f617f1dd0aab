import { column, history, nocase, upTo } from './relation.js'

/** Every content of a file, past or present. Contents that were not erased can still be read: `files.name AT (VERSION => VALID_FROM)`. */
export const filesHistory = history({
  name: 'files_history',
  about: 'Files with all past contents. The query files.name AT (VERSION => VALID_FROM) reads the content of a row.',
  kind: 'SYSTEM VIEW',
  columns: [
    column('NAME', 'VARCHAR', 'Name of the file; compared without case.'),
    column('VERSION', 'BIGINT', 'Number of the content in the history of the file, from 1.'),
    column('ROW_COUNT', 'BIGINT', 'Number of rows.'),
    column('BYTES', 'BIGINT', 'Size of the stored content.'),
    column('COLUMNS', 'VARCHAR', 'Columns as JSON text: name and type.'),
    column('CONTENT', 'VARCHAR', 'SHA-256 of the stored content.'),
    column('ORIGINAL_NAME', 'VARCHAR', 'Name under which the file was uploaded; empty if there was none.'),
    column(
      'ERASED_AT',
      'TIMESTAMP',
      'When the rows of the content were erased (UTC), so that AT cannot read them; empty while they exist.',
    ),
  ],
  items: `${nocase('r.name')} AS "NAME", row_number() OVER (PARTITION BY r.stream ORDER BY r.valid_from) AS "VERSION", r.row_count AS "ROW_COUNT",
    r.bytes AS "BYTES", CAST(r.columns AS VARCHAR) AS "COLUMNS", r.content AS "CONTENT", r.original_name AS "ORIGINAL_NAME", x.erased_at AS "ERASED_AT"`,
  rows: upTo('files'),
  joins: `LEFT JOIN (
      SELECT content, max(recorded_at) AS erased_at
      FROM (SELECT unnest(blobs) AS content, position, recorded_at FROM ledger.erasures) AS e
      WHERE NOT EXISTS (SELECT 1 FROM ledger.files_history AS again WHERE again.content = e.content AND again.valid_from > e.position)
      GROUP BY content
    ) AS x ON x.content = r.content`,
})
