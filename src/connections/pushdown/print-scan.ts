import { wrong } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'
import type { Aggregate, Filter, Scan, ScanOrder, TableColumn } from '../contract/requests.js'
import type { AnswerColumn } from '../contract/types.js'
import type { Dialect, Expression, OrderOf } from './dialect.js'

/** A scan as a database gets it. */
export type PrintedScan = {
  sql: string
  values: readonly string[]
  /** The types that the columns must have here, if they differ from those of the database. */
  types: ReadonlyMap<string, AnswerColumn['type']>
}

/** The known columns of a table; undefined if they were not looked up. */
export type Columns = readonly TableColumn[] | undefined

/** The name of a table as a statement has it. @example tableName(postgresDialect, 'homes', 'shop') // "shop"."homes" */
export const tableName = ({ quote }: Dialect, table: string, schema: string | undefined): string =>
  schema === undefined ? quote(table) : `${quote(schema)}.${quote(table)}`

const columnOf = (columns: Columns, name: string): TableColumn | undefined => columns?.find((column) => column.name === name)

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

/** The names of columns as a statement has them. */
type Quote = (name: string) => string

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

/** A statement has at most this many constants: DuckDB compares a long list faster, and the statement stays short enough for its record. */
const constantsMax = 500

type Binder = (value: string) => string

/** How filters of a scan are written: its columns, their names, and the SQL around them. */
type Writing = { columns: Columns; dialect: Dialect; quoted: Quote; bind: Binder }

const filterSql = (filter: Filter, writing: Writing): string | undefined => {
  const { columns, dialect, bind } = writing
  const all = (filters: readonly Filter[], word: string): string | undefined => {
    const printed = filters.map((each) => filterSql(each, writing))
    const whole = printed.filter((each) => each !== undefined)
    return whole.length === filters.length && whole.length > 0 ? `(${whole.join(` ${word} `)})` : undefined
  }
  if ('and' in filter) return all(filter.and, 'AND')
  if ('or' in filter) return all(filter.or, 'OR')
  if ('not' in filter) {
    const inner = filterSql(filter.not, writing)
    return inner === undefined ? undefined : `NOT (${inner})`
  }
  const isNull = 'isNull' in filter
  if (isNull || 'isNotNull' in filter) {
    const column = columnOf(columns, isNull ? filter.isNull : filter.isNotNull)
    return column && dialect.canAskNull(column) ? `${writing.quoted(column.name)} IS ${isNull ? '' : 'NOT '}NULL` : undefined
  }
  const column = columnOf(columns, filter.column)
  if (!column) return undefined
  const quoted = writing.quoted(column.name)
  if ('like' in filter) return dialect.like(column, quoted, filter.like, bind)
  if ('in' in filter) {
    const [first, ...others] = filter.in.map((constant) => dialect.compare(column, '=', constant))
    const list = first && others.every((each) => each !== undefined) ? dialect.list?.(filter.in) : undefined
    if (first && list) return first(quoted, list(bind))
    return all(
      filter.in.map((constant) => ({ compare: '=', column: filter.column, with: constant })),
      'OR',
    )
  }
  const comparison = dialect.compare(column, filter.compare, filter.with)
  return comparison?.(quoted, dialect.constant(filter.with, bind))
}

/** Prints a filter. If it cannot be printed, its bound values are removed again. */
const tryFilter = (filter: Filter, writing: Omit<Writing, 'bind'>, values: string[]): string | undefined => {
  const before = values.length
  const sql = filterSql(filter, { ...writing, bind: (value) => `$${values.push(value)}` })
  if (sql === undefined) values.length = before
  return sql
}

/**
 * Whether a filter means the same in a database as in DuckDB, so that it can be sent there.
 *
 * @example canPush({ compare: '>', column: 'id', with: { type: 'INTEGER', value: '5' } }, columns, postgresDialect) // true
 */
export const canPush = (filter: Filter, columns: readonly TableColumn[], dialect: Dialect): boolean =>
  tryFilter(filter, { columns, dialect, quoted: dialect.quote }, []) !== undefined

type Condition = Exclude<Filter, { and: readonly Filter[] } | { or: readonly Filter[] } | { not: Filter }>

const conditionsIn = (filter: Filter): Condition[] => {
  if ('and' in filter) return filter.and.flatMap(conditionsIn)
  if ('or' in filter) return filter.or.flatMap(conditionsIn)
  return 'not' in filter ? conditionsIn(filter.not) : [filter]
}

const nameIn = (condition: Condition): string =>
  'isNull' in condition ? condition.isNull : 'isNotNull' in condition ? condition.isNotNull : condition.column

/** The columns whose values a filter compares with constants. @example comparedIn({ like: 'a%', column: 'word' }) // ['word'] */
export const comparedIn = (filter: Filter): string[] =>
  conditionsIn(filter).flatMap((condition) => ('column' in condition ? [condition.column] : []))

/** The columns that a filter names. @example namesIn({ isNull: 'rent' }) // ['rent'] */
export const namesIn = (filter: Filter): string[] => conditionsIn(filter).map(nameIn)

/** The constants that a statement has for a filter. Those of a list may be one value. */
const constantsIn = (filter: Filter, { list }: Dialect): number =>
  conditionsIn(filter).reduce((sum, condition) => {
    const isOne = !('in' in condition) || list?.(condition.in) !== undefined
    return sum + (isOne ? 1 : condition.in.length)
  }, 0)

/** The filters, in their order, whose constants a statement may have. @example shortEnough(filters, mysqlDialect) */
export const shortEnough = (filters: readonly Filter[], dialect: Dialect): Filter[] => {
  let left = constantsMax
  return filters.filter((filter) => {
    const count = constantsIn(filter, dialect)
    if (count > left) return false
    left -= count
    return true
  })
}

/**
 * Whether a filter that is sent keeps exactly the same rows in the database as in DuckDB.
 *
 * @example keepsSame({ compare: '<', column: 'day', with: { type: 'DATE', value: '2026-01-01' } }, columns, mysqlDialect) // false
 */
export const keepsSame = (filter: Filter, columns: readonly TableColumn[], { keepsMore }: Dialect): boolean =>
  conditionsIn(filter).every((condition) => {
    const column = columnOf(columns, nameIn(condition))
    return column !== undefined && keepsMore?.(column) !== true
  })

const aggregateOf = (aggregate: Aggregate, columns: Columns, dialect: Dialect, quoted: Quote): Expression | undefined => {
  const { function: name, column: of, isDistinct } = aggregate
  const column = of === undefined ? undefined : columnOf(columns, of)
  if (of !== undefined && !column) return undefined
  const written = quoted(of ?? '')
  if (isDistinct !== true) return dialect.aggregate(name, column, written)
  // Values are different there exactly if they are in different groups.
  return name === 'count' && column && dialect.canGroup(column) ? dialect.aggregate(name, column, `DISTINCT ${written}`) : undefined
}

const canJoin = ({ join }: Scan, columns: Columns, dialect: Dialect): boolean =>
  (join?.tables ?? []).every(
    ({ on }) =>
      on.length > 0 &&
      on.every(([left, right]) => {
        const pair = [columnOf(columns, left), columnOf(columns, right)]
        return pair[0] !== undefined && pair[1] !== undefined && dialect.canJoin(pair[0], pair[1])
      }),
  )

/** Whether the database can compute all aggregates of a scan, their groups, its filters and its joins. */
export const canAggregate = (scan: Scan, columns: readonly TableColumn[], dialect: Dialect): boolean =>
  canJoin(scan, columns, dialect) &&
  (scan.filters ?? []).every((filter) => canPush(filter, columns, dialect) && keepsSame(filter, columns, dialect)) &&
  scan.columns.every((name) => {
    const column = columnOf(columns, name)
    return column !== undefined && dialect.canGroup(column)
  }) &&
  (scan.aggregates ?? []).every((aggregate) => aggregateOf(aggregate, columns, dialect, dialect.quote) !== undefined)

const standardOrder: OrderOf = (quoted, { nullable, nullUnchecked = false }, { isDescending, nullsFirst }) =>
  `${quoted}${isDescending ? ' DESC' : ''}${nullable || nullUnchecked ? ` NULLS ${nullsFirst ? 'FIRST' : 'LAST'}` : ''}`

/** The columns of ORDER BY; undefined if the database has another order for one of them. */
const orderSql = (order: readonly ScanOrder[], columns: Columns, dialect: Dialect): string | undefined => {
  const write = dialect.order ?? standardOrder
  const places = order.map((place) => {
    const column = columnOf(columns, place.column)
    return column && dialect.canOrder(column) ? write(dialect.quote(column.name), column, place) : undefined
  })
  return places.every((place) => place !== undefined) ? places.join(', ') : undefined
}

/** Whether the database takes the same first rows of an order as DuckDB. Among rows that are equal in it, any are the first. */
export const canOrder = (order: readonly ScanOrder[], columns: readonly TableColumn[], dialect: Dialect): boolean =>
  orderSql(order, columns, dialect) !== undefined

const unknownColumn = (name: string, columns: readonly TableColumn[]) =>
  wrong(
    `The table has no column "${name}"`,
    `Did you mean "${nearest(
      name,
      columns.map((column) => column.name),
    )}"?`,
  )

/** Whether the types of the table's columns must be known before a scan can be printed. */
export const needsColumns = ({ filters = [], aggregates = [], order = [] }: Scan): boolean =>
  filters.length + aggregates.length + order.length > 0

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
  const conditions = filters.flatMap((filter) => tryFilter(filter, { columns, dialect, quoted }, values) ?? [])
  const types = new Map<string, AnswerColumn['type']>()
  const printed = aggregates.flatMap((aggregate) => {
    const expression = aggregateOf(aggregate, columns, dialect, quoted)
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
  const ordered = orderSql(order, columns, dialect)
  const hasLimit = limit !== undefined && ordered !== undefined && conditions.length === filters.length && isSame
  const sql = [
    `SELECT ${list.length === 0 ? '1' : list.join(', ')} FROM ${fromSql(scan, dialect, quoted)}`,
    ...(conditions.length > 0 ? [`WHERE ${conditions.join(' AND ')}`] : []),
    ...(aggregates.length > 0 && groups.length > 0 ? [`GROUP BY ${groups.join(', ')}`] : []),
    ...(hasLimit && ordered !== '' ? [`ORDER BY ${ordered}`] : []),
    ...(hasLimit ? [`LIMIT ${Math.max(0, Math.trunc(limit))}`] : []),
  ].join(' ')
  return { sql, values, types }
}
