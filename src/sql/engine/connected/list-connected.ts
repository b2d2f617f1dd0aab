import { isProblem } from '../../../basics/errors.js'
import { inTime } from '../../../basics/concurrency/in-time.js'
import { limits } from '../../../basics/limits.js'
import { sqlType } from '../../../connections/contract/types.js'
import type { TableColumn } from '../../../connections/contract/requests.js'
import { foldName } from '../../../../events/common.js'
import type { AstNode } from '../ast/json.js'
import { isConnected } from '../resolve/connections.js'
import type { DatabaseEntry } from '../resolve/directory.js'
import type { Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { filtersOn } from './filters.js'

type TableRow = { schema: string; place: number; name: string; kind: string; about: string }
type ColumnRow = { schema: string; table: string; place: number; name: string; type: string; about: string }

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
  const { tables } = await answers.tablesOf(stream)
  return tables.map((table, place) => ({
    ...{ schema, place, name: table.name, kind: table.type === 'view' ? 'VIEW' : 'BASE TABLE' },
    about: `In ${engine}${table.schema === null ? '' : `, schema ${table.schema}`}.`,
  }))
}

/** The columns of the tables of a name, whatever its case, in all schemas. */
const columnRowsOf = async ({ answers }: Session, { name: database, stream }: DatabaseEntry, named: string): Promise<ColumnRow[]> => {
  const { tables } = await answers.tablesOf(stream)
  const rows: ColumnRow[] = []
  for (const { name: table, schema } of tables.filter(({ name }) => foldName(name) === foldName(named)))
    for (const [i, { name, type, remote }] of (await answers.columnsOf(stream, table, schema ?? undefined)).entries())
      rows.push({ schema: database, table, place: i + 1, name, type: sqlType(type), about: `${remote} there.` })
  return rows
}

/** The columns of all tables come in one list, however many tables there are. */
const columnRows = async (session: Session, database: DatabaseEntry, table: string | undefined): Promise<ColumnRow[]> => {
  if (table !== undefined) return columnRowsOf(session, database, table)
  const { listed } = await session.answers.everyColumn(database.stream)
  let place = 0
  return listed.map(({ schema, table, name, type, remote }, i) => {
    const before = listed[i - 1]
    place = before?.table === table && before.schema === schema ? place + 1 : 1
    return { schema: database.name, table, place, name, type: sqlType(type), about: `${remote} there.` }
  })
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
