import { nameText, select } from '../../api/sql.js'
import { loadConnectedTables, tableParts } from '../../basics/connected-tables.js'
import type { Found, SearchOptions } from '../../lists/choices.js'

type Listed = { db: string; table: string }

type Schemas = ReadonlyMap<string, string | undefined>

/** The schemas of the tables of a database, by the names that lists show; none while a connection does not answer. */
const schemasOf = async (db: string): Promise<Schemas> => {
  const entries = await loadConnectedTables(db, new AbortController().signal).catch(() => [])
  return new Map(entries.map(({ name, schema }) => [name, schema]))
}

const query = `SELECT db, "table", count(*) OVER () AS all_tables FROM (
    SELECT TABLE_SCHEMA AS db, TABLE_NAME AS "table" FROM information_schema.tables
    WHERE TABLE_SCHEMA NOT IN ('information_schema', 'log', 'mysql', 'performance_schema', 'sys')
      AND (TABLE_TYPE = 'VIEW' OR TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME <> 'models')
  ) AS listed WHERE contains(lower(concat_ws('.', db, "table")), :sought) ORDER BY db, "table"`

const isDotted = ({ table }: Listed): boolean => table.includes('.')

/**
 * The search in the tables that a model can learn from, by their full names: files, views, and tables of connections. A list shows the
 * schema before a name, with a dot, and names may have dots, too. The schemas of a connection are asked for once.
 *
 * @example await tableSearch()('homes', 50, signal) // { options: [{ value: 'files.homes', text: 'files.homes' }], all: 1 }
 */
export const tableSearch = (): SearchOptions => {
  const known = new Map<string, Promise<Schemas>>()
  const schemasIn = (db: string): Promise<Schemas> => {
    const schemas = known.get(db) ?? schemasOf(db)
    known.set(db, schemas)
    return schemas
  }
  const nameOf = async (one: Listed): Promise<string> => {
    const { db, table } = one
    const schema = isDotted(one) ? (await schemasIn(db)).get(table) : undefined
    return nameText(tableParts(db, { name: table, ...(schema !== undefined && { schema }) }))
  }
  return async (sought, most, signal): Promise<Found> => {
    const listed = await select<Listed & { all_tables: number }>({
      query: `${query} LIMIT ${most}`,
      params: { sought: sought.toLowerCase() },
      signal,
    })
    const names = await Promise.all(listed.map(nameOf))
    return { options: names.map((name) => ({ value: name, text: name })), all: listed[0]?.all_tables ?? 0 }
  }
}
