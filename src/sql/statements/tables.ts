import { queryFollows, takeAnyQuery, takeSource } from './clauses.js'
import type { Cursor } from './cursor.js'
import { takeIfExists, takeIfNotExists, takeName, takeTable } from './names.js'
import type { Name, StatementOf, TableName } from './statement.js'

export const takeCreateView = (cursor: Cursor, replace: boolean): StatementOf<'create_view'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const target = takeName(cursor, 'a view')
  return { kind: 'create_view', target, ifNotExists, replace, source: takeSource(cursor) }
}

export const takeAlterView = (cursor: Cursor): StatementOf<'alter_view'> => ({
  kind: 'alter_view',
  target: takeName(cursor, 'a view'),
  source: takeSource(cursor),
})

export const takeDropView = (cursor: Cursor): StatementOf<'drop_view'> => {
  const ifExists = takeIfExists(cursor)
  const targets: Name[] = []
  do targets.push(takeName(cursor, 'a view'))
  while (cursor.takeSymbol(','))
  return { kind: 'drop_view', targets, ifExists }
}

/** `CREATE [OR REPLACE] TABLE [IF NOT EXISTS] db.t [AS] (SELECT …)`; the brackets may be missing. */
export const takeCreateTable = (cursor: Cursor, replace: boolean): StatementOf<'create_table'> | StatementOf<'unavailable'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const target = takeTable(cursor)
  cursor.takeWords('AS')
  const columns = cursor.isSymbol('(') && !queryFollows(cursor, 1) && !cursor.isSymbol('(', 1)
  const query = takeAnyQuery(cursor)
  if (columns)
    return { kind: 'unavailable', what: 'CREATE TABLE with columns', instead: 'CREATE TABLE files.name (SELECT …), or upload a file' }
  return { kind: 'create_table', target, ifNotExists, replace, query }
}

export const takeDropTable = (cursor: Cursor): StatementOf<'drop_table'> => {
  const ifExists = takeIfExists(cursor)
  const targets: TableName[] = []
  do targets.push(takeTable(cursor))
  while (cursor.takeSymbol(','))
  return { kind: 'drop_table', targets, ifExists }
}

/** What is written to tables is only recognised: the rest of the statement is not read. */
export const takeTableWrite = (cursor: Cursor, verb: 'insert' | 'update' | 'delete'): StatementOf<'table_write'> => {
  const target = takeTable(cursor)
  if (verb === 'update') cursor.needWords('SET')
  if (verb === 'insert' && cursor.done) {
    cursor.expect('VALUES (…) or a query')
    cursor.fail()
  }
  cursor.takeRest()
  return { kind: 'table_write', verb, target }
}
