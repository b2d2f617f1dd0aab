import { column, nocase, upTo, type Relation } from './relation.js'

/** Every content that files had. Each can still be read: `files.name AT (VERSION => VALID_FROM)`. */
export const filesHistory: Relation = {
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
    column('VALID_FROM', 'BIGINT', 'Log position from which the row holds.'),
    column('VALID_TO', 'BIGINT', 'Log position from which it no longer holds; empty while it does.'),
    column('CHANGED_AT', 'TIMESTAMP', 'When the row came to hold (UTC).'),
    column('CHANGED_BY', 'VARCHAR', 'Who did it.'),
    column('CHANGE', 'VARCHAR', 'Event that made the row.'),
    column('REQUEST', 'VARCHAR', 'Request that caused the event.'),
  ],
  sql: `
    SELECT ${nocase('f.name')} AS "NAME", row_number() OVER (PARTITION BY f.stream ORDER BY f.valid_from) AS "VERSION", f.row_count AS "ROW_COUNT",
      f.bytes AS "BYTES", CAST(f.columns AS VARCHAR) AS "COLUMNS", f.content AS "CONTENT", f.valid_from AS "VALID_FROM", f.valid_to AS "VALID_TO",
      f.changed_at AS "CHANGED_AT", f.changed_by AS "CHANGED_BY", f.change AS "CHANGE", f.request AS "REQUEST"
    FROM ${upTo('files')} AS f ORDER BY f.id, f.valid_from`,
}
