import type pg from 'pg'
import { errorCode } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { noComments, type Table, type TableColumn, type TableComments, type Tables } from '../../contract/requests.js'
import { run } from './run.js'
import type { OwnType } from './types.js'

/** The code of a statement that was cancelled, or took longer than its server lets it. */
export const queryCancelled = '57014'

/** A boolean as text. */
export const isTrue = (text: string | null | undefined): boolean => text === 't' || text === 'true'

/** The tables and views `c` of the schema `n`, which is the first parameter, or of all schemas except the server's own. */
export const userTables = `c.relkind IN ('r', 'v', 'm', 'f', 'p')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'crdb_internal', 'pg_extension') AND n.nspname NOT LIKE 'pg\\_%'
  AND ($1::text IS NULL OR n.nspname = $1)`

const tablesSql = `
SELECT n.nspname, c.relname, CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END, pg_catalog.pg_table_is_visible(c.oid)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE ${userTables}
ORDER BY 1, 2 LIMIT ${limits.connectionTablesMax + 1}`

/** The tables and views of one schema, or of all schemas except the server's own. */
export const listTables = async (client: pg.Client, schema: string | undefined): Promise<Tables> => {
  const found = await run(client, tablesSql, [schema ?? null])
  const tables = found.slice(0, limits.connectionTablesMax).map(([space, name, type, isVisible]): Table => ({
    ...{ schema: space ?? '', name: name ?? '', isUsual: isTrue(isVisible) },
    type: type === 'view' ? 'view' : 'table',
  }))
  return { tables, isCut: found.length > tables.length }
}

/** What the catalogue says of a column. */
export type DeclaredColumn = Omit<TableColumn, 'type'> & { dimensions: number }

/** A column of which the catalogue says nothing. */
export const undeclared: Omit<DeclaredColumn, 'name'> = { remote: '', nullable: true, exactText: false, dimensions: 0 }

/**
 * Whether PostgreSQL does not check for all rows of the table, which is the first parameter, that a column is NOT NULL: not for a foreign
 * table, for tables that inherit, and for a constraint that is NOT VALID. Each partition is checked, unless it is a foreign table.
 */
const uncheckedSql = `(
  WITH RECURSIVE below AS (
    SELECT $1::regclass::oid AS id UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN below ON below.id = i.inhparent
  )
  SELECT bool_or(c.relkind NOT IN ('r', 'p') OR (c.relkind = 'r' AND i.inhrelid IS NOT NULL) OR k.oid IS NOT NULL)
  FROM below JOIN pg_catalog.pg_class c ON c.oid = below.id LEFT JOIN pg_catalog.pg_inherits i ON i.inhparent = c.oid
  LEFT JOIN pg_catalog.pg_constraint k ON k.conrelid = c.oid AND k.contype = 'n' AND NOT k.convalidated
)`

// PostgreSQL 12 and newer mark collations for which different bytes can be equal; before, there were none. Other servers may have any.
const exactSql = 'coalesce(l.collisdeterministic, true)'
const oldExactSql = `version() LIKE 'PostgreSQL%' AND version() NOT LIKE '%Redshift%'`

/** Whether texts are exact and NOT NULL is unchecked, in the SQL of PostgreSQL and of servers that have less in their catalogue. */
const forms = [
  { exact: exactSql, unchecked: uncheckedSql },
  // PostgreSQL 11 and earlier.
  { exact: oldExactSql, unchecked: uncheckedSql },
  { exact: exactSql, unchecked: 'true' },
  { exact: oldExactSql, unchecked: 'true' },
]

const columnsSql = ({ exact, unchecked }: (typeof forms)[number]) => `
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attndims, ${exact},
  current_setting('server_encoding'), (SELECT typtype = 'e' FROM pg_catalog.pg_type WHERE oid = a.atttypid), l.oid,
  a.attnotnull AND ${unchecked}
FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

/** The declarations of a table's columns; nothing if the server has no such catalogue. */
export const declaredColumns = async (client: pg.Client, quoted: string): Promise<DeclaredColumn[]> => {
  for (const form of forms)
    try {
      const found = await run(client, columnsSql(form), [quoted])
      return found.map(([name, remote, notNull, dimensions, isExact, encoding, isEnum, collation, isUnchecked]) => ({
        name: name ?? '',
        remote: remote ?? '',
        nullable: !isTrue(notNull),
        dimensions: Number(dimensions),
        exactText: isTrue(isExact) && encoding === 'UTF8',
        ...(isTrue(isUnchecked) && { nullUnchecked: true }),
        ...(typeof collation === 'string' && { collation }),
        ...(isTrue(isEnum) && encoding === 'UTF8' && { isEnum: true }),
      }))
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  return []
}

/** The names of the columns of a table that the user may read, in their order; nothing if the server cannot tell. */
export const readableColumns = async (client: pg.Client, quoted: string): Promise<string[]> => {
  try {
    const found = await run(
      client,
      `SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
       AND pg_catalog.has_column_privilege(attrelid, attnum, 'SELECT') ORDER BY attnum`,
      [quoted],
    )
    return found.map(([name]) => name ?? '')
  } catch (error) {
    if (!isRefusal(error)) throw error
    return []
  }
}

const commentsSql = `
SELECT NULL, left(pg_catalog.obj_description($1::regclass, 'pg_class'), $2::int)
UNION ALL
SELECT a.attname, left(pg_catalog.col_description(a.attrelid, a.attnum), $2::int)
FROM pg_catalog.pg_attribute a WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped`

/** The comments (COMMENT ON) on a table and its columns; nothing if the server has no such catalogue. */
export const tableComments = async (client: pg.Client, quoted: string): Promise<TableComments> => {
  try {
    const found = await run(client, commentsSql, [quoted, limits.connectionCommentMaxChars])
    const said = found.flatMap(([name = null, comment]) => (comment ? [{ name, comment }] : []))
    return {
      table: said.find(({ name }) => name === null)?.comment ?? null,
      columns: said.flatMap(({ name, comment }) => (name === null ? [] : [{ name, comment }])),
    }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return noComments
  }
}

/** Whether the server refused a statement. Then another one may do, unlike after a lost connection or a cancellation. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && typeof Reflect.get(error, 'severity') === 'string' && errorCode(error) !== queryCancelled

/** Looks up types that are not built in. A domain never occurs: answers name the type below it. */
export const lookUpTypes = async (client: pg.Client, oids: readonly number[]): Promise<Map<number, OwnType>> => {
  const known = new Map<number, OwnType>(oids.map((oid) => [oid, { text: true }]))
  const found = await run(
    client,
    `SELECT t.oid, CASE WHEN e.typtype = 'd' THEN e.typbasetype ELSE t.typelem END, t.typdelim
     FROM pg_catalog.pg_type t JOIN pg_catalog.pg_type e ON e.oid = t.typelem
     WHERE t.oid = ANY ($1::oid[]) AND t.typcategory = 'A'`,
    [`{${oids.join(',')}}`],
  )
  for (const [oid, item, delimiter] of found) known.set(Number(oid), { array: { of: Number(item), delimiter: delimiter ?? ',' } })
  return known
}
