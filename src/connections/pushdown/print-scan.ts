import { wrong } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'
import type { Scan, TableColumn } from '../contract/requests.js'
import type { AnswerColumn } from '../contract/types.js'
import { canAggregate, keepsSame } from './can-push.js'
import type { Dialect } from './dialect.js'
import { maskFilter } from './mask-filter.js'
import { columnOf, printAggregate, printFilter, printOrder, type Columns, type Quote } from './print-parts.js'

/** A scan as a database gets it. */
export type PrintedScan = {
  sql: string
  /** The same text for the record, with masks in place of secrets. */
  recorded: string
  values: readonly string[]
  /** The types that the columns must have here, if they differ from those of the database. */
  types: ReadonlyMap<string, AnswerColumn['type']>
}

/** The name of a table as a statement has it. @example tableName(postgresDialect, 'homes', 'shop') // "shop"."homes" */
export const tableName = ({ quote }: Dialect, table: string, schema: string | undefined): string =>
  schema === undefined ? quote(table) : `${quote(schema)}.${quote(table)}`

/**
 * The known columns of a scan, under their names in it. A column that its table does not have is left out.
 *
 * @example await columnsOfScan({ table: 'homes', columns: ['id'] }, (table) => columnsThere(table)) // the columns of homes
 */
export const columnsOfScan = async (
  { table, schema, join }: Scan,
  columnsThere: (table: string, schema: string | undefined) => Promise<readonly TableColumn[]>,
): Promise<readonly TableColumn[]> => {
  const tables = [await columnsThere(table, schema)]
  if (!join) return tables[0] ?? []
  for (const other of join.tables) tables.push(await columnsThere(other.table, other.schema))
  return join.columns.flatMap(({ of, column, as }) => {
    const found = columnOf(tables[of], column)
    return found ? [{ ...found, name: as }] : []
  })
}

/** The name of the table at a place of a join. */
const joinedName = (at: number): string => `t${at + 1}`

const quoteIn = ({ join }: Scan, { quote }: Dialect): Quote => {
  if (!join) return quote
  const written = new Map(join.columns.map(({ of, column, as }) => [as, `${joinedName(of)}.${quote(column)}`]))
  return (name) => written.get(name) ?? quote(name)
}

const fromSql = ({ table, schema, join }: Scan, dialect: Dialect, quoted: Quote): string => {
  const own = tableName(dialect, table, schema)
  if (!join) return own
  const others = join.tables.map(({ table: other, schema: space, isLeft, on }, i) => {
    const pairs = on.map(([left, right]) => `${quoted(left)} = ${quoted(right)}`).join(' AND ')
    return ` ${isLeft ? 'LEFT ' : ''}JOIN ${tableName(dialect, other, space)} AS ${joinedName(i + 1)} ON ${pairs}`
  })
  return `${own} AS ${joinedName(0)}${others.join('')}`
}

const unknownColumn = (name: string, columns: readonly TableColumn[]) =>
  wrong(
    `The table has no column "${name}"`,
    `Did you mean "${nearest(
      name,
      columns.map((column) => column.name),
    )}"?`,
  )

/**
 * Prints a scan: the columns that are used, the filters that mean the same there, the limit and its order if nothing was left out,
 * aggregates with their groups and the join below them. Names are quoted, and constants are bound where the dialect binds.
 *
 * @example printScan({ table: 'homes', columns: ['id'], limit: 10 }, undefined, postgresDialect).sql // SELECT "id" FROM "homes" LIMIT 10
 * @throws Problem wrong_arguments for a column that is not there, and for aggregates that cannot be asked
 */
export const printScan = (scan: Scan, columns: Columns, dialect: Dialect): PrintedScan => {
  const { quote } = dialect
  const quoted = quoteIn(scan, dialect)
  if (scan.join && !scan.aggregates?.length) throw new TypeError('a join is printed with aggregates alone')
  const { filters = [], aggregates = [], order = [], limit } = scan
  if (columns && !scan.join) for (const name of scan.columns) if (!columnOf(columns, name)) throw unknownColumn(name, columns)
  if (aggregates.length > 0 && !canAggregate(scan, columns ?? [], dialect))
    throw wrong('These aggregates do not mean the same in the database', 'The table may have changed just now: try again.')
  const values: string[] = []
  const masks: string[] = []
  const nameThere = (name: string) => scan.join?.columns.find(({ as }) => as === name)?.column ?? name
  const conditions = filters.flatMap((filter) => {
    const writing = { columns, dialect, quoted }
    const sent = printFilter(filter, writing, values)
    return sent === undefined ? [] : [{ sent, recorded: printFilter(maskFilter(filter, nameThere), writing, masks) ?? '' }]
  })
  const types = new Map<string, AnswerColumn['type']>()
  const printed = aggregates.flatMap((aggregate) => {
    const expression = printAggregate(aggregate, columns, dialect, quoted)
    if (expression) types.set(aggregate.as, expression.type)
    return expression ? [`${expression.sql} AS ${quote(aggregate.as)}`] : []
  })
  const groups = scan.columns.map(quoted)
  const read = scan.columns.map((name) => {
    const column = columnOf(columns, name)
    const expression = column && aggregates.length === 0 ? dialect.read?.(column, quote(name)) : undefined
    if (!expression) return scan.join ? `${quoted(name)} AS ${quote(name)}` : quote(name)
    types.set(name, expression.type)
    return `${expression.sql} AS ${quote(name)}`
  })
  const list = [...read, ...printed]
  const isSame = filters.every((filter) => keepsSame(filter, columns ?? [], dialect))
  const ordered = printOrder(order, columns, dialect)
  const hasLimit = limit !== undefined && ordered !== undefined && conditions.length === filters.length && isSame
  const withConditions = (where: readonly string[]): string =>
    [
      `SELECT ${list.length === 0 ? '1' : list.join(', ')} FROM ${fromSql(scan, dialect, quoted)}`,
      ...(where.length > 0 ? [`WHERE ${where.join(' AND ')}`] : []),
      ...(aggregates.length > 0 && groups.length > 0 ? [`GROUP BY ${groups.join(', ')}`] : []),
      ...(hasLimit && ordered !== '' ? [`ORDER BY ${ordered}`] : []),
      ...(hasLimit ? [`LIMIT ${Math.max(0, Math.trunc(limit))}`] : []),
    ].join(' ')
  return {
    sql: withConditions(conditions.map(({ sent }) => sent)),
    recorded: withConditions(conditions.map(({ recorded }) => recorded)),
    values,
    types,
  }
}
