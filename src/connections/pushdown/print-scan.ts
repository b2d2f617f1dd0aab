import { wrong } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'
import type { Filter, Scan, TableColumn } from '../contract/requests.js'
import type { AnswerColumn } from '../contract/types.js'
import type { Dialect } from './dialect.js'

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

type Binder = (value: string) => string

const columnOf = (columns: Columns, name: string): TableColumn | undefined => columns?.find((column) => column.name === name)

const filterSql = (filter: Filter, columns: Columns, dialect: Dialect, bind: Binder): string | undefined => {
  const all = (filters: readonly Filter[], word: string): string | undefined => {
    const printed = filters.map((each) => filterSql(each, columns, dialect, bind))
    const whole = printed.filter((each) => each !== undefined)
    return whole.length === filters.length && whole.length > 0 ? `(${whole.join(` ${word} `)})` : undefined
  }
  if ('and' in filter) return all(filter.and, 'AND')
  if ('or' in filter) return all(filter.or, 'OR')
  if ('not' in filter) {
    const inner = filterSql(filter.not, columns, dialect, bind)
    return inner === undefined ? undefined : `NOT (${inner})`
  }
  const isNull = 'isNull' in filter
  if (isNull || 'isNotNull' in filter) {
    const column = columnOf(columns, isNull ? filter.isNull : filter.isNotNull)
    return column && dialect.canAskNull(column) ? `${dialect.quote(column.name)} IS ${isNull ? '' : 'NOT '}NULL` : undefined
  }
  const column = columnOf(columns, filter.column)
  if (!column) return undefined
  const quoted = dialect.quote(column.name)
  if ('like' in filter) return dialect.like(column, filter.like, bind)
  if ('in' in filter)
    return all(
      filter.in.map((constant) => ({ compare: '=', column: filter.column, with: constant })),
      'OR',
    )
  const comparison = dialect.compare(column, filter.compare, filter.with)
  return comparison?.(quoted, dialect.constant(filter.with, bind))
}

/** Prints a filter. If it cannot be printed, its bound values are removed again. */
const tryFilter = (filter: Filter, columns: Columns, dialect: Dialect, values: string[]): string | undefined => {
  const before = values.length
  const sql = filterSql(filter, columns, dialect, (value) => `$${values.push(value)}`)
  if (sql === undefined) values.length = before
  return sql
}

/**
 * Whether a filter means the same in a database as in DuckDB, so that it can be sent there.
 *
 * @example canPush({ compare: '>', column: 'id', with: { type: 'INTEGER', value: '5' } }, columns, postgresDialect) // true
 */
export const canPush = (filter: Filter, columns: readonly TableColumn[], dialect: Dialect): boolean =>
  tryFilter(filter, columns, dialect, []) !== undefined

type Condition = Exclude<Filter, { and: readonly Filter[] } | { or: readonly Filter[] } | { not: Filter }>

const conditionsIn = (filter: Filter): Condition[] => {
  if ('and' in filter) return filter.and.flatMap(conditionsIn)
  if ('or' in filter) return filter.or.flatMap(conditionsIn)
  return 'not' in filter ? conditionsIn(filter.not) : [filter]
}

/** The columns whose values a filter compares with constants. @example comparedIn({ like: 'a%', column: 'word' }) // ['word'] */
export const comparedIn = (filter: Filter): string[] =>
  conditionsIn(filter).flatMap((condition) => ('column' in condition ? [condition.column] : []))

/** The number of constants in a filter. @example constantsIn({ in: [one, two], column: 'id' }) // 2 */
export const constantsIn = (filter: Filter): number =>
  conditionsIn(filter).reduce((sum, condition) => sum + ('in' in condition ? condition.in.length : 1), 0)

const nameIn = (condition: Condition): string =>
  'isNull' in condition ? condition.isNull : 'isNotNull' in condition ? condition.isNotNull : condition.column

/**
 * Whether a filter that is sent keeps the same rows in the database as in DuckDB, and none besides.
 *
 * @example keepsSame({ compare: '<', column: 'day', with: { type: 'DATE', value: '2026-01-01' } }, columns, mysqlDialect) // false
 */
export const keepsSame = (filter: Filter, columns: readonly TableColumn[], { keepsMore }: Dialect): boolean =>
  conditionsIn(filter).every((condition) => {
    const column = columnOf(columns, nameIn(condition))
    return column !== undefined && keepsMore?.(column) !== true
  })

/** Whether the database can compute all aggregates of a scan, their groups and its filters. */
export const canAggregate = (scan: Scan, columns: readonly TableColumn[], dialect: Dialect): boolean =>
  (scan.filters ?? []).every((filter) => canPush(filter, columns, dialect) && keepsSame(filter, columns, dialect)) &&
  scan.columns.every((name) => {
    const column = columnOf(columns, name)
    return column !== undefined && dialect.canGroup(column)
  }) &&
  (scan.aggregates ?? []).every((aggregate) => {
    const column = aggregate.column === undefined ? undefined : columnOf(columns, aggregate.column)
    if (aggregate.column !== undefined && !column) return false
    return dialect.aggregate(aggregate.function, column, '') !== undefined
  })

const unknownColumn = (name: string, columns: readonly TableColumn[]) =>
  wrong(
    `The table has no column "${name}"`,
    `Did you mean "${nearest(
      name,
      columns.map((column) => column.name),
    )}"?`,
  )

/** Whether the types of the table's columns must be known before a scan can be printed. */
export const needsColumns = ({ filters = [], aggregates = [] }: Scan): boolean => filters.length > 0 || aggregates.length > 0

/**
 * Prints a scan: the columns that are used, the filters that mean the same there, the limit if nothing was left out, aggregates with
 * their groups. Names are quoted, and constants are bound where the dialect binds.
 *
 * @example printScan({ table: 'homes', columns: ['id'], limit: 10 }, undefined, postgresDialect).sql // SELECT "id" FROM "homes" LIMIT 10
 * @throws Problem wrong_arguments for a column that is not there, and for aggregates that cannot be asked
 */
export const printScan = (scan: Scan, columns: Columns, dialect: Dialect): PrintedScan => {
  const { quote } = dialect
  const { filters = [], aggregates = [], limit } = scan
  if (columns) for (const name of scan.columns) if (!columnOf(columns, name)) throw unknownColumn(name, columns)
  if (aggregates.length > 0 && !canAggregate(scan, columns ?? [], dialect))
    throw wrong('These aggregates do not mean the same in the database', 'The table may have changed just now: try again.')
  const values: string[] = []
  const conditions = filters.flatMap((filter) => tryFilter(filter, columns, dialect, values) ?? [])
  const types = new Map<string, AnswerColumn['type']>()
  const printed = aggregates.flatMap(({ function: name, column, as }) => {
    const expression = dialect.aggregate(name, column === undefined ? undefined : columnOf(columns, column), quote(column ?? ''))
    if (expression) types.set(as, expression.type)
    return expression ? [`${expression.sql} AS ${quote(as)}`] : []
  })
  const groups = scan.columns.map(quote)
  const read = scan.columns.map((name) => {
    const column = columnOf(columns, name)
    const expression = column && aggregates.length === 0 ? dialect.read?.(column, quote(name)) : undefined
    if (!expression) return quote(name)
    types.set(name, expression.type)
    return `${expression.sql} AS ${quote(name)}`
  })
  const list = [...read, ...printed]
  const table = tableName(dialect, scan.table, scan.schema)
  const isSame = filters.every((filter) => keepsSame(filter, columns ?? [], dialect))
  const hasLimit = limit !== undefined && conditions.length === filters.length && isSame
  const sql = [
    `SELECT ${list.length === 0 ? '1' : list.join(', ')} FROM ${table}`,
    ...(conditions.length > 0 ? [`WHERE ${conditions.join(' AND ')}`] : []),
    ...(aggregates.length > 0 && groups.length > 0 ? [`GROUP BY ${groups.join(', ')}`] : []),
    ...(hasLimit ? [`LIMIT ${Math.max(0, Math.trunc(limit))}`] : []),
  ].join(' ')
  return { sql, values, types }
}
