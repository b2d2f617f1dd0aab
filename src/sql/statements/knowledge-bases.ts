import type { Cursor } from './cursor.js'
import { takeName } from './names.js'
import type { StatementOf } from './statement.js'
import { takeSettings } from './values.js'

/** `EVALUATE KNOWLEDGE_BASE name USING test_table = …`, the words before the name already taken. */
export const takeEvaluateKnowledge = (cursor: Cursor): StatementOf<'evaluate_knowledge_base'> => {
  const target = takeName(cursor, 'a knowledge base')
  cursor.needWords('USING')
  return { kind: 'evaluate_knowledge_base', target, using: takeSettings(cursor) }
}
