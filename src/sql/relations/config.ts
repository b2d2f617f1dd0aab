import { at, column, history, masked, nocase, upTo, type Relation } from './relation.js'

const columns = [
  column('NAME', 'VARCHAR', 'default_llm, default_embedding_model, default_reranking_model or llm_prices.'),
  column('VALUE', 'VARCHAR', 'The value, as JSON text; secrets show as ******.'),
]

const items = `${nocase('r.name')} AS "NAME", ${masked('r.value')} AS "VALUE"`

/** The defaults that PUT /api/config sets. */
export const config: Relation = {
  name: 'config',
  about: 'Defaults for all projects, as PUT /api/config sets them.',
  kind: 'SYSTEM VIEW',
  columns,
  sql: `SELECT ${items} FROM ${at('configs')} AS r ORDER BY r.id`,
}

/** The same with its history. */
export const configHistory = history({
  name: 'config_history',
  about: 'Defaults for all projects, as PUT /api/config sets them. With all past states.',
  kind: 'BASE TABLE',
  columns,
  items,
  rows: upTo('configs'),
})
