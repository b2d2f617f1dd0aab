import { nameText, select } from '../../api/sql.js'
import { loadConnectedTables, tableParts } from '../../basics/connected-tables.js'

type Listed = { db: string; table: string }

/** The schemas of the tables of a database, by the names that lists show; none while a connection does not answer. */
const schemasOf = async (db: string, signal: AbortSignal): Promise<ReadonlyMap<string, string | undefined>> => {
  const entries = await loadConnectedTables(db, signal).catch(() => [])
  return new Map(entries.map(({ name, schema }) => [name, schema]))
}

/**
 * Tables that a model can learn from, by their full names: files, views, and tables of connections. A list shows the schema before a name,
 * with a dot, and names may have dots, too.
 *
 * @example await loadTables(signal) // ['files.homes', 'shop_db.sales.orders', 'shop_db.`a.b`']
 * @throws ApiError
 */
export const loadTables = async (signal: AbortSignal): Promise<string[]> => {
  const listed = await select<Listed>({
    query: `SELECT TABLE_SCHEMA AS db, TABLE_NAME AS "table" FROM information_schema.tables
      WHERE TABLE_SCHEMA NOT IN ('information_schema', 'log', 'mysql', 'performance_schema', 'sys') AND (TABLE_TYPE = 'VIEW' OR TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME <> 'models')
      ORDER BY 1, 2 LIMIT 5000`,
    signal,
  })
  const isDotted = ({ table }: Listed): boolean => table.includes('.')
  const dotted = [...new Set(listed.filter(isDotted).map(({ db }) => db))]
  const schemas = new Map(await Promise.all(dotted.map(async (db) => [db, await schemasOf(db, signal)] as const)))
  return listed.map((one) => {
    const { db, table } = one
    const schema = isDotted(one) ? schemas.get(db)?.get(table) : undefined
    return nameText(tableParts(db, { name: table, ...(schema !== undefined && { schema }) }))
  })
}
