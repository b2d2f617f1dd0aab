import type { LeadingWords, Cursor } from './cursor.js'
import { takeIfExists, takeIfNotExists, takeName } from './names.js'
import type { ResourceKind, StatementOf } from './statement.js'
import { takeSettings } from './values.js'

/** SKILL, AGENT, CHATBOT or KNOWLEDGE_BASE, as the word that the grammar took. */
const resourceOf = ({ noun }: LeadingWords): ResourceKind => noun.toLowerCase().replace(' ', '_') as ResourceKind

/** `CREATE SKILL|AGENT|CHATBOT|KNOWLEDGE_BASE`, these words already taken. */
export const takeCreateResource = (cursor: Cursor, begun: LeadingWords): StatementOf<'create_resource'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const target = takeName(cursor)
  const resource = resourceOf(begun)
  // A knowledge base needs no settings.
  if (resource === 'knowledge_base' && cursor.done) return { kind: 'create_resource', resource, target, ifNotExists, using: {} }
  cursor.needWords('USING')
  return { kind: 'create_resource', resource, target, ifNotExists, using: takeSettings(cursor) }
}

/** `UPDATE … SET k = v` and `ALTER … USING k = v` have the same meaning; both verbs accept both words. */
export const takeUpdateResource = (cursor: Cursor, begun: LeadingWords): StatementOf<'update_resource'> => {
  const target = takeName(cursor)
  if (cursor.takeOneOf('SET', 'USING') === undefined) cursor.fail()
  return { kind: 'update_resource', resource: resourceOf(begun), target, set: takeSettings(cursor) }
}

/** `EVALUATE AGENT [p.]a USING test_table = '…'`, the words `EVALUATE AGENT` already taken. */
export const takeEvaluateAgent = (cursor: Cursor): StatementOf<'evaluate_agent'> => {
  const target = takeName(cursor, 'an agent')
  cursor.needWords('USING')
  return { kind: 'evaluate_agent', target, using: takeSettings(cursor) }
}

/** `DROP SKILL|AGENT|CHATBOT|KNOWLEDGE_BASE [IF EXISTS] [project.]name`, the words before IF already taken. */
export const takeDropResource = (cursor: Cursor, begun: LeadingWords): StatementOf<'drop_resource'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_resource', resource: resourceOf(begun), target: takeName(cursor), ifExists }
}
