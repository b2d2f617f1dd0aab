import { isProblem } from '../../../basics/errors.js'
import { inTime } from '../../../basics/concurrency/bounded-waits.js'
import { someAtOnce } from '../../../basics/concurrency/some-at-once.js'
import { limits } from '../../../basics/limits.js'
import { sqlType } from '../../../connections/contract/types.js'
import { nameThere, type ListedColumn, type TableColumn } from '../../../connections/contract/requests.js'
import { foldName } from '../../../../events/common.js'
import type { AstNode } from '../ast/json.js'
import { isConnected } from '../resolve/connections.js'
import type { DatabaseEntry } from '../resolve/directory.js'
import type { Scope } from '../session/scope.js'
import type { Session, WantedTables } from '../session/session.js'
import { filtersOn } from './pushed-conditions.js'

type TableRow = { schema: string; place: number; name: string; kind: string; about: string }
type ColumnRow = { schema: string; table: string; place: number; name: string; type: string; nullable: string; about: string }

const nameColumn = { type: { type: 'VARCHAR' }, remote: '', nullable: true, exactText: true } as const
const ownColumns: readonly TableColumn[] = [
  { name: 'TABLE_SCHEMA', ...nameColumn },
  { name: 'TABLE_NAME', ...nameColumn },
]

/** The schemas and the table in the WHERE of a query over information_schema. */
export const wantedIn = (select: AstNode | undefined, ref: AstNode): WantedTables => {
  const wanted: WantedTables = {}
  for (const filter of select ? filtersOn(select, ref, ownColumns).filters : []) {
    const isSchema = 'column' in filter && filter.column === 'TABLE_SCHEMA'
    if (isSchema && 'in' in filter) wanted.schemas = filter.in.map(({ value }) => foldName(value))
    else if ('compare' in filter && filter.compare === '=' && isSchema) wanted.schemas = [foldName(filter.with.value)]
    else if ('compare' in filter && filter.compare === '=') wanted.table = filter.with.value
  }
  return wanted
}

const tableRows = async ({ answers }: Session, { name: schema, stream, engine }: DatabaseEntry, soon: boolean): Promise<TableRow[]> => {
  const { tables, isCut } = await answers.tablesOf(stream, soon)
  const rows = tables.map((table, place) => ({
    ...{ schema, place, name: nameThere(table), kind: table.type === 'view' ? 'VIEW' : 'BASE TABLE' },
    about: `In ${engine}${table.schema === null ? '' : `, schema ${table.schema}`}.`,
  }))
  return isCut ? endOfList(rows, `It has more tables than connectionTablesMax, which are not listed.`) : rows
}

/** The rows of a list that was cut: the last row tells that the list is cut. */
const endOfList = <T extends { about: string }>(rows: readonly T[], said: string): T[] =>
  rows.map((row, i) => (i === rows.length - 1 ? { ...row, about: `${row.about} The list ends here: ${said}` } : row))

type OwnColumn = Pick<ListedColumn, 'name' | 'type' | 'remote' | 'nullable'>

const columnRow = ({ name, type, remote, nullable }: OwnColumn, place: number) => ({
  ...{ place, name, type: sqlType(type), nullable: nullable ? 'YES' : 'NO' },
  about: `${remote} there.`,
})

/** A request for the columns of the table with this name. With `soon`, a database that does not answer fails soon. */
type ColumnsRequest = { table: string; soon: boolean }

/** The places where a listed name such as `orders` or `shop.orders` may be. A name that is not listed is requested unchanged. */
const placesOf = async (
  { answers }: Session,
  { stream }: DatabaseEntry,
  { table, soon }: ColumnsRequest,
): Promise<{ table: string; schema?: string }[]> => {
  const { tables } = await answers.tablesOf(stream, soon)
  const places = tables.filter((each) => foldName(nameThere(each)) === foldName(table))
  if (places.length === 0) return [{ table }]
  return places.map(({ name, schema, isUsual }) => ({ table: name, ...(!isUsual && schema !== null && { schema }) }))
}

const columnRowsOf = async (session: Session, database: DatabaseEntry, wanted: ColumnsRequest): Promise<ColumnRow[]> => {
  const rows: ColumnRow[] = []
  for (const { table, schema } of await placesOf(session, database, wanted)) {
    const columns = await session.answers.columnsOf(database.stream, table, schema)
    const own = { schema: database.name, table: schema === undefined ? table : `${schema}.${table}` }
    rows.push(...columns.map((column, i) => ({ ...own, ...columnRow(column, i + 1) })))
  }
  return rows
}

/** The columns of all tables come in one list, even for many tables. */
const columnRows = async (session: Session, database: DatabaseEntry, table: string | undefined, soon: boolean): Promise<ColumnRow[]> => {
  if (table !== undefined) return columnRowsOf(session, database, { table, soon })
  const { listed, isCut } = await session.answers.everyColumn(database.stream, soon)
  let place = 0
  const rows = listed.map((column, i) => {
    const before = listed[i - 1]
    place = before?.table === column.table && before.schema === column.schema ? place + 1 : 1
    return { schema: database.name, table: nameThere({ ...column, name: column.table }), ...columnRow(column, place) }
  })
  return isCut ? endOfList(rows, 'There are more columns than connectionColumnsMax, which are not listed.') : rows
}

/**
 * The answer of one of many databases within a short time; nothing when it fails or does not answer, so that it does not delay the others.
 */
const inWait = <T>(rows: Promise<T[]>): Promise<T[]> =>
  inTime(
    rows.catch(() => []),
    limits.connectionListedWaitMs,
    [],
  )

/**
 * The tables or columns of connected databases for a query over information_schema, as JSON text. A database that the query names must
 * answer. If the query names no database, the list lacks the databases that do not answer soon.
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
  const { schemas, table } = wantedIn(select, ref)
  const isNamed = schemas !== undefined
  const rowsOf = (database: DatabaseEntry): Promise<(TableRow | ColumnRow)[]> =>
    what === 'tables' ? tableRows(session, database, !isNamed) : columnRows(session, database, table, !isNamed)
  const asked = isNamed ? databases.filter(({ name }) => schemas.includes(foldName(name))) : databases
  const rows = await someAtOnce(asked, limits.connectionsListedAtOnce, (each) =>
    isNamed ? rowsOf(each).catch(unlessUnknownTable) : inWait(rowsOf(each)),
  )
  return JSON.stringify(rows.flat())
}

/** A table that does not exist has no columns. The caller writes its own error message. */
const unlessUnknownTable = (error: unknown): [] => {
  if (isProblem(error) && error.code === 'not_found') return []
  throw error
}
