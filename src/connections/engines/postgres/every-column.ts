import type pg from 'pg'
import { limits } from '../../../basics/limits.js'
import type { ListedColumns } from '../../contract/requests.js'
import { isTrue, userTables } from './metadata.js'
import { run } from './run.js'
import { readingOf, type OwnType } from './types.js'

const columnsSql = `
SELECT n.nspname, c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.atttypid, a.atttypmod, a.attndims, a.attnotnull,
  pg_catalog.pg_table_is_visible(c.oid)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE ${userTables}
ORDER BY n.nspname, c.relname, a.attnum LIMIT ${limits.connectionColumnsMax + 1}`

const domainsSql = "SELECT oid, typbasetype, typtypmod FROM pg_catalog.pg_type WHERE typtype = 'd'"

/** A type with its declared length or scale; an answer names the type below a domain. */
type DeclaredType = { oid: number; typmod: number }

const below = (domains: ReadonlyMap<number, DeclaredType>, { oid, typmod }: DeclaredType): DeclaredType => {
  const base = domains.get(oid)
  return base ? below(domains, { oid: base.oid, typmod: typmod === -1 ? base.typmod : typmod }) : { oid, typmod }
}

/**
 * The columns of all tables and views of one schema, or of all schemas except the server's own, in one query.
 *
 * @param learn looks up types that are not built in, and keeps them in `own`
 */
export const listColumns = async (
  client: pg.Client,
  schema: string | undefined,
  own: ReadonlyMap<number, OwnType>,
  learn: (oids: readonly number[]) => Promise<void>,
): Promise<ListedColumns> => {
  const domains = new Map(
    (await run(client, domainsSql)).map(([oid, base, typmod]) => [Number(oid), { oid: Number(base), typmod: Number(typmod) }]),
  )
  const found = (await run(client, columnsSql, [schema ?? null])).map(
    ([space, table, name, remote, oid, typmod, dimensions, notNull, isVisible]) => ({
      ...{ schema: space ?? '', table: table ?? '', name: name ?? '', remote: remote ?? '', dimensions: Number(dimensions) },
      ...{ nullable: !isTrue(notNull), isUsual: isTrue(isVisible) },
      declared: below(domains, { oid: Number(oid), typmod: Number(typmod) }),
    }),
  )
  const listed = found.slice(0, limits.connectionColumnsMax)
  await learn([...new Set(listed.map(({ declared }) => declared.oid))])
  return {
    listed: listed.map(({ declared, dimensions, ...column }) => {
      const reading = readingOf(declared.oid, declared.typmod, own, dimensions)
      return { ...column, type: ('settle' in reading ? reading.settle([]) : reading).type }
    }),
    isCut: found.length > listed.length,
  }
}
