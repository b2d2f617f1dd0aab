import { history } from './history.js'
import { column, nocase, upTo } from './relation.js'

/** Every content that files had. Each can still be read: `files.name AT (VERSION => VALID_FROM)`. */
export const filesHistory = history({
  name: 'files_history',
  about: 'Files with every content there ever was; each is read by files.name AT (VERSION => VALID_FROM).',
  kind: 'SYSTEM VIEW',
  columns: [
    column('NAME', 'VARCHAR', 'Name of the file; compared without case.'),
    column('VERSION', 'BIGINT', 'Which content of the file it is, from 1.'),
    column('ROW_COUNT', 'BIGINT', 'Number of rows.'),
    column('BYTES', 'BIGINT', 'Size of the stored content.'),
    column('COLUMNS', 'VARCHAR', 'Columns as JSON text: name and type.'),
    column('CONTENT', 'VARCHAR', 'SHA-256 of the stored content.'),
    column('ORIGINAL_NAME', 'VARCHAR', 'Name it was uploaded under.'),
  ],
  items: `${nocase('r.name')} AS "NAME", row_number() OVER (PARTITION BY r.stream ORDER BY r.valid_from) AS "VERSION", r.row_count AS "ROW_COUNT",
    r.bytes AS "BYTES", CAST(r.columns AS VARCHAR) AS "COLUMNS", r.content AS "CONTENT", r.original_name AS "ORIGINAL_NAME"`,
  rows: upTo('files'),
})
