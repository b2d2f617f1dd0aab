import { engineInfos } from '../../catalogue/engines.js'
import { quoteText } from '../../dialect/strings.js'
import { at, column, history, masked, nocase, upTo, type Relation } from './relation.js'

const columns = [
  column('NAME', 'VARCHAR', 'Name to write after USING engine.'),
  column('HANDLER', 'VARCHAR', 'Engine that the name stands for.'),
  column('CONNECTION_DATA', 'VARCHAR', 'Parameters of the name, as JSON text; secrets show as ******.'),
]

const items = `${nocase('r.name')} AS "NAME", r.handler AS "HANDLER", ${masked('r.parameters')} AS "CONNECTION_DATA"`

const ownNames = engineInfos
  .map(({ name, standsFor }, place) => `(${place - engineInfos.length}, ${quoteText(name)}, ${quoteText(standsFor ?? name)})`)
  .join(', ')

/** The names of engines: the names of this service, and the names that users gave. */
export const engines: Relation = {
  name: 'ml_engines',
  about: 'Engines that models can be trained with.',
  kind: 'SYSTEM VIEW',
  columns,
  sql: `
    SELECT ${items}
    FROM (
      SELECT id, name, handler, '{}' AS parameters FROM (VALUES ${ownNames}) AS own(id, name, handler)
      UNION ALL SELECT id, name, handler, CAST(parameters AS VARCHAR) FROM ${at('engines')} AS e
    ) AS r ORDER BY r.id, r.name`,
}

/** The names that users gave, with their history. */
export const enginesHistory = history({
  name: 'ml_engines_history',
  about: 'Names that CREATE ML_ENGINE gave to engines. With all past names.',
  kind: 'SYSTEM VIEW',
  columns,
  items,
  rows: upTo('engines'),
})
