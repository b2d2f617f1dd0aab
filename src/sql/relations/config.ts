import { addedColumns, addedItems, joinedEvents } from './history.js'
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

const added = addedColumns(config.columns)

/** The same with its past. */
export const configHistory: Relation = {
  name: 'config_history',
  about: 'Defaults set while the service runs. With every state there ever was.',
  kind: 'BASE TABLE',
  columns: [...config.columns, ...added],
  sql: `SELECT ${shown}${addedItems(added)} FROM ${upTo('configs')} AS r${joinedEvents} ORDER BY r.id, r.valid_from`,
}
