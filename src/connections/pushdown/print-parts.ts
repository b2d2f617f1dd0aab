import type { Aggregate, Filter, ScanOrder, TableColumn } from '../contract/requests.js'
import type { Dialect, Expression, OrderOf } from './dialect.js'

/** The known columns of a table; undefined if they were not looked up. */
export type Columns = readonly TableColumn[] | undefined

/** The column with this name, if it is known. */
export const columnOf = (columns: Columns, name: string): TableColumn | undefined => columns?.find((column) => column.name === name)

/** The names of columns as a statement has them. */
export type Quote = (name: string) => string

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

/**
 * Prints a filter, and adds its constants to the bound values. Returns undefined, and adds none, if the filter does not mean the same in the
 * database.
 */
export const printFilter = (filter: Filter, writing: Omit<Writing, 'bind'>, values: string[]): string | undefined => {
  const before = values.length
  const sql = filterSql(filter, { ...writing, bind: (value) => `$${values.push(value)}` })
  if (sql === undefined) values.length = before
  return sql
}

/** Prints an aggregate; undefined if the database computes another one. */
export const printAggregate = (aggregate: Aggregate, columns: Columns, dialect: Dialect, quoted: Quote): Expression | undefined => {
  const { function: name, column: of, isDistinct } = aggregate
  const column = of === undefined ? undefined : columnOf(columns, of)
  if (of !== undefined && !column) return undefined
  const written = quoted(of ?? '')
  if (isDistinct !== true) return dialect.aggregate(name, column, written)
  // Values are different there exactly if they are in different groups.
  return name === 'count' && column && dialect.canGroup(column) ? dialect.aggregate(name, column, `DISTINCT ${written}`) : undefined
}

const standardOrder: OrderOf = (quoted, { nullable, nullUnchecked = false }, { isDescending, nullsFirst }) =>
  `${quoted}${isDescending ? ' DESC' : ''}${nullable || nullUnchecked ? ` NULLS ${nullsFirst ? 'FIRST' : 'LAST'}` : ''}`

/** Prints the columns of ORDER BY; undefined if the database has another order for one of them. */
export const printOrder = (order: readonly ScanOrder[], columns: Columns, dialect: Dialect): string | undefined => {
  const write = dialect.order ?? standardOrder
  const places = order.map((place) => {
    const column = columnOf(columns, place.column)
    return column && dialect.canOrder(column) ? write(dialect.quote(column.name), column, place) : undefined
  })
  return places.every((place) => place !== undefined) ? places.join(', ') : undefined
}
