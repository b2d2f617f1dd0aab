import type { LeadingWords, Cursor } from './cursor.js'
import { sameUsage, type Nouns, type Topic } from './forms.js'
import { nameFollows, takeIfExists, takeIfNotExists, takeName } from './names.js'
import type { ResourceKind, StatementOf } from './statement.js'
import { takeSettings } from './values.js'

/** SKILL, AGENT, CHATBOT or KNOWLEDGE_BASE, as the word that the grammar took. */
const resourceOf = ({ noun }: LeadingWords): ResourceKind => noun.toLowerCase().replace(' ', '_') as ResourceKind

/** `CREATE SKILL|AGENT|CHATBOT|KNOWLEDGE_BASE`, these words already taken. */
const takeCreateResource = (cursor: Cursor, begun: LeadingWords): StatementOf<'create_resource'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const target = takeName(cursor)
  const resource = resourceOf(begun)
  // A knowledge base needs no settings.
  if (resource === 'knowledge_base' && cursor.done) return { kind: 'create_resource', resource, target, ifNotExists, using: {} }
  cursor.needWords('USING')
  return { kind: 'create_resource', resource, target, ifNotExists, using: takeSettings(cursor) }
}

/** `UPDATE … SET k = v` and `ALTER … USING k = v` have the same meaning; both verbs accept both words. */
const takeUpdateResource = (cursor: Cursor, begun: LeadingWords): StatementOf<'update_resource'> => {
  const target = takeName(cursor)
  if (cursor.takeOneOf('SET', 'USING') === undefined) cursor.fail()
  return { kind: 'update_resource', resource: resourceOf(begun), target, set: takeSettings(cursor) }
}

/** `EVALUATE AGENT [p.]a USING test_table = '…'`, the words `EVALUATE AGENT` already taken. */
const takeEvaluateAgent = (cursor: Cursor): StatementOf<'evaluate_agent'> => {
  const target = takeName(cursor, 'an agent')
  cursor.needWords('USING')
  return { kind: 'evaluate_agent', target, using: takeSettings(cursor) }
}

/** `DROP SKILL|AGENT|CHATBOT|KNOWLEDGE_BASE [IF EXISTS] [project.]name`, the words before IF already taken. */
const takeDropResource = (cursor: Cursor, begun: LeadingWords): StatementOf<'drop_resource'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_resource', resource: resourceOf(begun), target: takeName(cursor), ifExists }
}

export const agents = {
  // It records its answers and their scores.
  evaluate_agent: {
    effect: 'writes',
    forms: [
      {
        verb: 'EVALUATE',
        nouns: {
          AGENT:
            "EVALUATE AGENT [project.]name USING test_table = 'database.table' [, version = n] [, metrics = 'exact,result_set,judge'] [, judge = {…}]",
        },
        when: (cursor) => !cursor.isWord('FROM', 1),
        take: takeEvaluateAgent,
      },
    ],
  },
} satisfies Topic

const allAlike = (usage: (noun: string) => string): Nouns => ({
  ...sameUsage(['SKILL', 'AGENT', 'CHATBOT', 'KNOWLEDGE_BASE'], usage),
  'KNOWLEDGE BASE': null,
})

export const resources = {
  create_resource: {
    effect: 'writes',
    forms: [
      {
        verb: 'CREATE',
        nouns: {
          SKILL: "CREATE SKILL [IF NOT EXISTS] [project.]name USING type = 'type', key = value, …",
          AGENT: "CREATE AGENT [IF NOT EXISTS] [project.]name USING model = 'model', skills = ['skill'], key = value, …",
          CHATBOT: "CREATE CHATBOT [project.]name USING database = 'database', agent = 'agent', key = value, …",
          KNOWLEDGE_BASE: 'CREATE KNOWLEDGE_BASE [IF NOT EXISTS] [project.]name [USING embedding_model = {…}, key = value, …]',
          'KNOWLEDGE BASE': null,
        },
        take: takeCreateResource,
      },
    ],
  },
  update_resource: {
    effect: 'writes',
    forms: [
      {
        verb: 'UPDATE',
        nouns: allAlike((noun) => `UPDATE ${noun} [project.]name SET key = value, …`),
        // `UPDATE agent SET a = 1` writes to a table with that name; `UPDATE AGENT agent SET a = 1` does not.
        when: (cursor) => nameFollows(cursor, 1),
        take: takeUpdateResource,
      },
      { verb: 'ALTER', nouns: allAlike((noun) => `ALTER ${noun} [project.]name USING key = value, …`), take: takeUpdateResource },
    ],
  },
  drop_resource: {
    effect: 'writes',
    forms: [{ verb: 'DROP', nouns: allAlike((noun) => `DROP ${noun} [IF EXISTS] [project.]name`), take: takeDropResource }],
  },
} satisfies Topic
