import type { Filter, Scan, ScanOrder, TableColumn } from '../contract/requests.js'
import type { Dialect } from './dialect.js'
import { columnOf, printAggregate, printFilter, printOrder, type Columns } from './print-parts.js'

/** A statement has at most this many constants: DuckDB compares a long list faster, and the statement stays short enough for its record. */
const constantsMax = 500

/**
 * Whether a filter means the same in a database as in DuckDB, so that it can be sent there.
 *
 * @example canPush({ compare: '>', column: 'id', with: { type: 'INTEGER', value: '5' } }, columns, postgresDialect) // true
 */
export const canPush = (filter: Filter, columns: readonly TableColumn[], dialect: Dialect): boolean =>
  printFilter(filter, { columns, dialect, quoted: dialect.quote }, []) !== undefined

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
  (scan.aggregates ?? []).every((aggregate) => printAggregate(aggregate, columns, dialect, dialect.quote) !== undefined)

/** Whether the database takes the same first rows of an order as DuckDB. Among rows that are equal in it, any are the first. */
export const canOrder = (order: readonly ScanOrder[], columns: readonly TableColumn[], dialect: Dialect): boolean =>
  printOrder(order, columns, dialect) !== undefined

/** Whether the types of the table's columns must be known before a scan can be printed. */
export const needsColumns = ({ filters = [], aggregates = [], order = [] }: Scan): boolean =>
  filters.length + aggregates.length + order.length > 0
