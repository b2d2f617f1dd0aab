import { isProblem } from '../../../basics/errors.js'
import { inTime } from '../../../basics/concurrency/in-time.js'
import { limits } from '../../../basics/limits.js'
import { sqlType } from '../../../connections/contract/types.js'
import { nameThere, type ListedColumn, type TableColumn } from '../../../connections/contract/requests.js'
import { foldName } from '../../../../events/common.js'
import type { AstNode } from '../ast/json.js'
import { isConnected } from '../resolve/connections.js'
import type { DatabaseEntry } from '../resolve/directory.js'
import type { Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { filtersOn } from './filters.js'

type TableRow = { schema: string; place: number; name: string; kind: string; about: string }
type ColumnRow = { schema: string; table: string; place: number; name: string; type: string; nullable: string; about: string }

const nameColumn = { type: { type: 'VARCHAR' }, remote: '', nullable: true, exactText: true } as const
const ownColumns: readonly TableColumn[] = [
  { name: 'TABLE_SCHEMA', ...nameColumn },
  { name: 'TABLE_NAME', ...nameColumn },
]

/** The schema and the table that the WHERE of a query over information_schema names. */
const wantedIn = (select: AstNode | undefined, ref: AstNode): { schema?: string; table?: string } => {
  const wanted: { schema?: string; table?: string } = {}
  for (const filter of select ? filtersOn(select, ref, ownColumns).filters : [])
    if ('compare' in filter && filter.compare === '=') wanted[filter.column === 'TABLE_SCHEMA' ? 'schema' : 'table'] = filter.with.value
  return wanted
}

const tableRows = async ({ answers }: Session, { name: schema, stream, engine }: DatabaseEntry): Promise<TableRow[]> => {
  const { tables, isCut } = await answers.tablesOf(stream)
  const rows = tables.map((table, place) => ({
    ...{ schema, place, name: nameThere(table), kind: table.type === 'view' ? 'VIEW' : 'BASE TABLE' },
    about: `In ${engine}${table.schema === null ? '' : `, schema ${table.schema}`}.`,
  }))
  return isCut ? endOfList(rows, `It has more tables than connectionTablesMax, which are not listed.`) : rows
}

/** The rows of a list that was cut: the last one says so. */
const endOfList = <T extends { about: string }>(rows: readonly T[], said: string): T[] =>
  rows.map((row, i) => (i === rows.length - 1 ? { ...row, about: `${row.about} The list ends here: ${said}` } : row))

type OwnColumn = Pick<ListedColumn, 'name' | 'type' | 'remote' | 'nullable'>

const columnRow = ({ name, type, remote, nullable }: OwnColumn, place: number) => ({
  ...{ place, name, type: sqlType(type), nullable: nullable ? 'YES' : 'NO' },
  about: `${remote} there.`,
})

/** Where a table may be that is listed under a name, as `orders` or `shop.orders`. A name that is not listed is asked for as it is. */
const placesOf = async ({ answers }: Session, { stream }: DatabaseEntry, table: string): Promise<{ table: string; schema?: string }[]> => {
  const { tables } = await answers.tablesOf(stream)
  const places = tables.filter((each) => foldName(nameThere(each)) === foldName(table))
  if (places.length === 0) return [{ table }]
  return places.map(({ name, schema, isUsual }) => ({ table: name, ...(!isUsual && schema !== null && { schema }) }))
}

const columnRowsOf = async (session: Session, database: DatabaseEntry, wanted: string): Promise<ColumnRow[]> => {
  const rows: ColumnRow[] = []
  for (const { table, schema } of await placesOf(session, database, wanted)) {
    const columns = await session.answers.columnsOf(database.stream, table, schema)
    const own = { schema: database.name, table: schema === undefined ? table : `${schema}.${table}` }
    rows.push(...columns.map((column, i) => ({ ...own, ...columnRow(column, i + 1) })))
  }
  return rows
}

/** The columns of all tables come in one list, however many tables there are. */
const columnRows = async (session: Session, database: DatabaseEntry, table: string | undefined): Promise<ColumnRow[]> => {
  if (table !== undefined) return columnRowsOf(session, database, table)
  const { listed, isCut } = await session.answers.everyColumn(database.stream)
  let place = 0
  const rows = listed.map((column, i) => {
    const before = listed[i - 1]
    place = before?.table === column.table && before.schema === column.schema ? place + 1 : 1
    return { schema: database.name, table: nameThere({ ...column, name: column.table }), ...columnRow(column, place) }
  })
  return isCut ? endOfList(rows, 'There are more columns than connectionColumnsMax, which are not listed.') : rows
}

/** What one of many databases says soon; nothing when it fails or says nothing, so that it does not delay the others. */
const soon = <T>(rows: Promise<T[]>): Promise<T[]> =>
  inTime(
    rows.catch(() => []),
    limits.connectionListedWaitMs,
    [],
  )

/**
 * The tables or columns of connected databases for a query over information_schema, as JSON text. A database that the query names must
 * answer; where it names none, those that do not answer soon are missing.
 */
export const listConnected = async (
  session: Session,
  what: 'tables' | 'columns',
  { position, select }: Scope,
  ref: AstNode,
): Promise<string> => {
  if (position !== session.head) return '[]'
  const databases = (await session.directory.databases(position)).filter(isConnected)
  if (databases.length === 0) return '[]'
  session.keep = false
  const { schema, table } = wantedIn(select, ref)
  const rowsOf = (database: DatabaseEntry): Promise<(TableRow | ColumnRow)[]> =>
    what === 'tables' ? tableRows(session, database) : columnRows(session, database, table)
  if (schema === undefined) return JSON.stringify((await Promise.all(databases.map((each) => soon(rowsOf(each))))).flat())
  const database = databases.find(({ name }) => foldName(name) === foldName(schema))
  return JSON.stringify(database ? await rowsOf(database).catch(unlessUnknownTable) : [])
}

/** A table that is not there has no columns; whoever asked says so in words of its own. */
const unlessUnknownTable = (error: unknown): [] => {
  if (isProblem(error) && error.code === 'not_found') return []
  throw error
}
