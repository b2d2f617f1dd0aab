import { takeQueries } from './clauses.js'
import type { Cursor } from './cursor.js'
import type { Topic } from './forms.js'
import { takeIfExists, takeName, takeNames, takeTable } from './names.js'
import type { StatementOf } from './statement.js'

/** `CREATE TRIGGER t ON db.table [COLUMNS a, b] (q)` */
const takeCreateTrigger = (cursor: Cursor): StatementOf<'create_trigger'> => {
  const target = takeName(cursor, 'a trigger')
  cursor.needWords('ON')
  const table = takeTable(cursor)
  const columns = cursor.takeWords('COLUMNS') ? takeNames(cursor, 'a column') : []
  return { kind: 'create_trigger', target, table, columns, queries: takeQueries(cursor) }
}

/** `DROP TRIGGER [IF EXISTS] [project.]trigger`, the words before IF already taken. */
const takeDropTrigger = (cursor: Cursor): StatementOf<'drop_trigger'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_trigger', target: takeName(cursor, 'a trigger'), ifExists }
}

export const triggers = {
  create_trigger: {
    effect: 'writes',
    forms: [
      {
        verb: 'CREATE',
        nouns: { TRIGGER: 'CREATE TRIGGER [project.]name ON database.table [COLUMNS a, b] (query)' },
        take: takeCreateTrigger,
      },
    ],
  },
  drop_trigger: {
    effect: 'writes',
    forms: [{ verb: 'DROP', nouns: { TRIGGER: 'DROP TRIGGER [IF EXISTS] [project.]name' }, take: takeDropTrigger }],
  },
} satisfies Topic
