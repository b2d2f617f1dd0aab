import { at, column, masked, nocase, upTo, type Relation } from './relation.js'

const name = column('NAME', 'VARCHAR', 'default_llm, default_embedding_model or default_reranking_model.')
const value = column('VALUE', 'VARCHAR', 'What was set, as JSON text; secrets show as ******.')
const shown = `${nocase('r.name')} AS "NAME", ${masked('r.value')} AS "VALUE"`

/** The defaults that PUT /api/config sets. */
export const config: Relation = {
  name: 'config',
  about: 'Defaults set while the service runs, for all projects.',
  kind: 'SYSTEM VIEW',
  columns: [name, value],
  sql: `SELECT ${shown} FROM ${at('configs')} AS r ORDER BY r.id`,
}

/** The same with its past. */
export const configHistory: Relation = {
  name: 'config_history',
  about: 'Defaults set while the service runs. With every state there ever was.',
  kind: 'BASE TABLE',
  columns: [
    name,
    value,
    column('VALID_FROM', 'BIGINT', 'Log position from which the row holds.'),
    column('VALID_TO', 'BIGINT', 'Log position from which it no longer holds; empty while it does.'),
    column('CHANGED_AT', 'TIMESTAMP', 'When the row came to hold (UTC).'),
    column('CHANGED_BY', 'VARCHAR', 'Who did it.'),
    column('CHANGE', 'VARCHAR', 'Event that made the row.'),
    column('REQUEST', 'VARCHAR', 'Request that caused the event.'),
  ],
  sql: `
    SELECT ${shown}, r.valid_from AS "VALID_FROM", r.valid_to AS "VALID_TO", r.changed_at AS "CHANGED_AT", r.changed_by AS "CHANGED_BY",
      r.change AS "CHANGE", r.request AS "REQUEST"
    FROM ${upTo('configs')} AS r ORDER BY r.id, r.valid_from`,
}
