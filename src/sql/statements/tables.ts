import { queryFollows, spanOf, takeAnyQuery, takeSource } from './clauses.js'
import { limits } from '../../basics/limits.js'
import type { Token } from '../../dialect/lexer.js'
import type { LeadingWords, Cursor } from './cursor.js'
import type { Topic } from './forms.js'
import { nameFollows, takeIfExists, takeIfNotExists, takeName, takeNames, takePart, takeTable } from './names.js'
import type { ColumnDefinition, StatementOf } from './statement.js'

/** `CREATE [OR REPLACE] VIEW [IF NOT EXISTS] [project.]view [FROM database] [AS] (SELECT …)`, the words before IF already taken. */
const takeCreateView = (cursor: Cursor, { replace }: LeadingWords): StatementOf<'create_view'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const target = takeName(cursor, 'a view')
  return { kind: 'create_view', target, ifNotExists, replace, source: takeSource(cursor) }
}

/** `ALTER VIEW [project.]view [FROM database] [AS] (SELECT …)`, the first two words already taken. */
const takeAlterView = (cursor: Cursor): StatementOf<'alter_view'> => ({
  kind: 'alter_view',
  target: takeName(cursor, 'a view'),
  source: takeSource(cursor),
})

/** `a, b`: each name is one command, and all are in one transaction, so their number has a limit. */
const takeDropped = <T>(cursor: Cursor, take: () => T): T[] => {
  const targets: T[] = []
  do {
    if (targets.length === limits.dropMaxNames)
      cursor.refuse(cursor.peek(), `at most ${limits.dropMaxNames} names are taken here (dropMaxNames)`, 'Send several statements.')
    targets.push(take())
  } while (cursor.takeSymbol(','))
  return targets
}

/** `DROP VIEW [IF EXISTS] a, b`, the words before IF already taken. Each name may follow its project. */
const takeDropView = (cursor: Cursor): StatementOf<'drop_view'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_view', targets: takeDropped(cursor, () => takeName(cursor, 'a view')), ifExists }
}

const constraintWords = [
  'PRIMARY',
  'UNIQUE',
  'CHECK',
  'FOREIGN',
  'REFERENCES',
  'DEFAULT',
  'GENERATED',
  'CONSTRAINT',
  'AUTO_INCREMENT',
  'NOT',
  'COLLATE',
]

/** `name TYPE`: the type extends to the next comma. */
const takeColumn = (cursor: Cursor): ColumnDefinition => {
  if (['PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN', 'CONSTRAINT'].some((word) => cursor.isWord(word) && !cursor.isSymbol(',', 1)))
    cursor.refuse(cursor.peek(), 'a file keeps rows, and no constraints')
  const name = takePart(cursor, 'a column')
  const type: Token[] = []
  for (let depth = 0; depth > 0 || !(cursor.isSymbol(',') || cursor.isSymbol(')'));) {
    if (depth === 0 && constraintWords.some((word) => cursor.isWord(word)))
      cursor.refuse(cursor.peek(), 'a file keeps rows, and no constraints or defaults')
    if (cursor.isSymbol('(')) depth += 1
    if (cursor.isSymbol(')')) depth -= 1
    if (depth === 0 && cursor.isWord('NULL')) cursor.next()
    else type.push(cursor.next())
  }
  if (type.length === 0) {
    cursor.expect('a type')
    cursor.fail()
  }
  return { name, type: cursor.textOf(type), span: spanOf(type) }
}

/** Words that may stand behind the first word of a type. */
const afterType = [...constraintWords, 'NULL', 'PRECISION', 'VARYING', 'WITH', 'WITHOUT']

/**
 * Whether `(column TYPE, …)` follows. The name of a column may be a word that also begins a query, `(table VARCHAR, …)`. A query goes on
 * otherwise behind the next word, except that `(SUMMARIZE homes)` is a query and `(table VARCHAR)` is a column.
 */
const columnsFollow = (cursor: Cursor): boolean => {
  if (!cursor.isSymbol('(') || cursor.isSymbol('(', 1)) return false
  if (!queryFollows(cursor, 1)) return true
  if (!nameFollows(cursor, 1) || !nameFollows(cursor, 2) || queryFollows(cursor, 2)) return false
  if (cursor.isSymbol(')', 3)) return !cursor.isWord('SUMMARIZE', 1)
  return [',', '(', '['].some((sign) => cursor.isSymbol(sign, 3)) || afterType.some((word) => cursor.isWord(word, 3))
}

const takeColumns = (cursor: Cursor): ColumnDefinition[] => {
  cursor.needSymbol('(')
  const columns: ColumnDefinition[] = []
  do columns.push(takeColumn(cursor))
  while (cursor.takeSymbol(','))
  cursor.needSymbol(')')
  return columns
}

/** `CREATE [OR REPLACE] TABLE [IF NOT EXISTS] db.t [AS] (SELECT …)`, where the brackets may be missing; or `(column TYPE, …)`. */
const takeCreateTable = (cursor: Cursor, { replace }: LeadingWords): StatementOf<'create_table'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const target = takeTable(cursor)
  cursor.takeWords('AS')
  return { kind: 'create_table', target, ifNotExists, replace, rows: columnsFollow(cursor) ? takeColumns(cursor) : takeAnyQuery(cursor) }
}

/** `INSERT INTO db.t [(columns)] SELECT …`, `VALUES (…)` or `(SELECT …)`. */
const takeInsert = (cursor: Cursor): StatementOf<'insert'> => {
  const target = takeTable(cursor)
  let columns: string[] | null = null
  if (cursor.isSymbol('(') && !queryFollows(cursor, 1) && !cursor.isSymbol('(', 1)) {
    cursor.next()
    columns = takeNames(cursor, 'a column')
    cursor.needSymbol(')')
  }
  if (!queryFollows(cursor) && !cursor.isSymbol('(')) {
    cursor.expect('VALUES (…) or a query')
    cursor.fail()
  }
  return { kind: 'insert', target, columns, rows: takeAnyQuery(cursor) }
}

/** `DROP TABLE [IF EXISTS] a, b`, the words before IF already taken. Each name may follow its database. */
const takeDropTable = (cursor: Cursor): StatementOf<'drop_table'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_table', targets: takeDropped(cursor, () => takeTable(cursor)), ifExists }
}

/** Rows of files never change in place. Documents of a knowledge base are deleted by the condition, which is read later. */
const takeTableWrite = (cursor: Cursor, verb: 'update' | 'delete'): StatementOf<'table_write'> => {
  const target = takeTable(cursor)
  // Clients also send UPDATE t ON key FROM (SELECT …).
  if (verb === 'update' && !cursor.takeWords('ON')) cursor.needWords('SET')
  const isNarrowed = verb === 'delete' && cursor.takeWords('WHERE')
  const rest = cursor.takeRest()
  return { kind: 'table_write', verb, target, where: isNarrowed ? cursor.boundTextOf(rest) : '' }
}

export const tables = {
  create_view: {
    effect: 'writes',
    forms: [
      {
        verb: 'CREATE',
        orReplace: true,
        nouns: { VIEW: 'CREATE VIEW [IF NOT EXISTS] [project.]name [FROM database] AS (SELECT …)' },
        take: takeCreateView,
      },
    ],
  },
  alter_view: {
    effect: 'writes',
    forms: [{ verb: 'ALTER', nouns: { VIEW: 'ALTER VIEW [project.]name [FROM database] AS (SELECT …)' }, take: takeAlterView }],
  },
  drop_view: {
    effect: 'writes',
    forms: [{ verb: 'DROP', nouns: { VIEW: 'DROP VIEW [IF EXISTS] [project.]name, …' }, take: takeDropView }],
  },
  create_table: {
    effect: 'writes',
    forms: [
      {
        verb: 'CREATE',
        orReplace: true,
        nouns: { TABLE: 'CREATE [OR REPLACE] TABLE [IF NOT EXISTS] files.name (SELECT …)' },
        take: takeCreateTable,
      },
    ],
  },
  drop_table: {
    effect: 'writes',
    forms: [{ verb: 'DROP', nouns: { TABLE: 'DROP TABLE [IF EXISTS] files.name', DATASET: null }, take: takeDropTable }],
  },
  insert: {
    effect: 'writes',
    forms: [{ verb: 'INSERT', nouns: { INTO: 'INSERT INTO files.name [(columns)] VALUES (…)' }, take: takeInsert }],
  },
  table_write: {
    effect: 'writes',
    forms: [
      { verb: 'UPDATE', usages: {}, take: (cursor) => takeTableWrite(cursor, 'update') },
      {
        verb: 'DELETE',
        nouns: { FROM: 'DELETE FROM database.table WHERE condition' },
        take: (cursor) => takeTableWrite(cursor, 'delete'),
      },
    ],
  },
} satisfies Topic
