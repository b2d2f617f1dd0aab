import { foldName } from '../../../events/common.js'
import type { ListedColumns } from '../../connections/contract/requests.js'
import { sqlType } from '../../connections/contract/types.js'
import { limits } from '../../basics/limits.js'
import type { Resource } from '../../log/contract/log.js'
import type { Queries } from '../queries/queries.js'
import type { ScopeTable } from '../scope/tables-in.js'

/** The columns of all tables of a connection. @throws Problem of the database */
export type ListColumns = (connection: Resource<'database'>) => Promise<ListedColumns>

/** Names are compared without case, as SQL finds a table. */
const isNamed = (name: string | null, written: string | undefined): boolean =>
  name !== null && written !== undefined && foldName(name) === foldName(written)

/** The columns of a table, without its rows: a slow query is planned for them, and not run. @throws Problem of the table's source */
export const columnsOf = async (
  { path, columns, connection }: ScopeTable,
  name: string,
  queries: Queries,
  listColumns: ListColumns,
): Promise<readonly { name: string; type: string }[]> => {
  if (columns) return columns
  if (connection) {
    const [first, second] = path.slice(1)
    const { listed } = await listColumns(connection)
    return listed
      .filter((one) =>
        second === undefined ? one.isUsual && isNamed(one.table, first) : isNamed(one.schema, first) && isNamed(one.table, second),
      )
      .map((column) => ({ name: column.name, type: sqlType(column.type) }))
  }
  const bounds = { db: path[0] ?? '', only: [path], maxRows: 1, timeoutMs: limits.agentSampleTimeoutMs }
  return (await queries.run({ ...bounds, sql: `SELECT * FROM ${name} LIMIT 0` })).columns
}
