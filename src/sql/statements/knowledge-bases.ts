import type { Cursor, LeadingWords } from './cursor.js'
import type { Topic } from './forms.js'
import { takeIfExists, takeIfNotExists, takeName } from './names.js'
import type { StatementOf } from './statement.js'
import { takeSettings } from './values.js'

/** `EVALUATE KNOWLEDGE_BASE name USING test_table = …`, the words before the name already taken. */
const takeEvaluateKnowledge = (cursor: Cursor): StatementOf<'evaluate_knowledge_base'> => {
  const target = takeName(cursor, 'a knowledge base')
  cursor.needWords('USING')
  return { kind: 'evaluate_knowledge_base', target, using: takeSettings(cursor) }
}

/**
 * `CREATE INDEX ON KNOWLEDGE_BASE name WITH (…)` and `DROP INDEX ON KNOWLEDGE_BASE name`, the words before the name already taken. Settings
 * are those of an index that this service does not have.
 */
const takeKnowledgeIndex = (cursor: Cursor, { verb }: LeadingWords): StatementOf<'index_knowledge_base'> => {
  const isDrop = verb === 'DROP'
  const hasCondition = isDrop ? takeIfExists(cursor) : takeIfNotExists(cursor)
  const target = takeName(cursor, 'a knowledge base')
  if (cursor.isWord('WITH') || cursor.isWord('USING')) cursor.takeRest()
  return { kind: 'index_knowledge_base', target, ifExists: isDrop && hasCondition }
}

export const knowledgeBases = {
  evaluate_knowledge_base: {
    effect: 'reads',
    forms: [
      {
        verb: 'EVALUATE',
        nouns: {
          KNOWLEDGE_BASE: "EVALUATE KNOWLEDGE_BASE [project.]name USING test_table = 'database.table' [, version = 'doc_id']",
          'KNOWLEDGE BASE': null,
        },
        take: takeEvaluateKnowledge,
      },
    ],
  },
  index_knowledge_base: {
    effect: 'writes',
    forms: [
      {
        verb: 'CREATE',
        nouns: {
          'INDEX ON KNOWLEDGE_BASE': 'CREATE INDEX ON KNOWLEDGE_BASE [IF NOT EXISTS] [project.]name [WITH (…)]',
          'INDEX ON KNOWLEDGE BASE': null,
        },
        take: takeKnowledgeIndex,
      },
      {
        verb: 'DROP',
        nouns: {
          'INDEX ON KNOWLEDGE_BASE': 'DROP INDEX ON KNOWLEDGE_BASE [IF EXISTS] [project.]name',
          'INDEX ON KNOWLEDGE BASE': null,
        },
        take: takeKnowledgeIndex,
      },
    ],
  },
} satisfies Topic
