import type { ListedColumns } from '../../connections/contract/requests.js'
import { sqlType } from '../../connections/contract/types.js'
import { limits } from '../../basics/limits.js'
import { nameKey } from '../../dialect/names.js'
import type { Resource } from '../../log/contract/log.js'
import type { Queries } from '../queries/queries.js'
import type { ScopeTable } from '../scope/tables-in.js'

/** The columns of all tables of a connection. @throws Problem of the database */
export type ListColumns = (connection: Resource<'database'>) => Promise<ListedColumns>

/** The keys by which the table of a listed column is found: without its schema if that is the usual one, and with it. */
export const tableKeys = ({ schema, table, isUsual }: ListedColumns['listed'][number]): string[] => [
  ...(isUsual ? [nameKey([table])] : []),
  ...(schema === null ? [] : [nameKey([schema, table])]),
]

/** The columns of a table, without its rows: a slow query is planned for them, and not run. @throws Problem of the table's source */
export const columnsOf = async (
  { path, columns, connection }: ScopeTable,
  name: string,
  queries: Queries,
  listColumns: ListColumns,
): Promise<readonly { name: string; type: string }[]> => {
  if (columns) return columns
  if (connection) {
    const key = nameKey(path.slice(1))
    const { listed } = await listColumns(connection)
    return listed.filter((one) => tableKeys(one).includes(key)).map((column) => ({ name: column.name, type: sqlType(column.type) }))
  }
  const bounds = { db: path[0] ?? '', only: [path], maxRows: 1, timeoutMs: limits.agentSampleTimeoutMs }
  return (await queries.run({ ...bounds, sql: `SELECT * FROM ${name} LIMIT 0` })).columns
}
