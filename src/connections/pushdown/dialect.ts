/**
 * Room: the work that connected databases do in the place of DuckDB, and the SQL of each for it. It imports only basics, dialect, catalogue
 * and connections/contract.
 */

import type { ComparisonOperator, Constant, ScanOrder, TableColumn } from '../contract/requests.js'
import type { AnswerColumn } from '../contract/types.js'

/**
 * The SQL of one kind of database for a scan, and the conditions that may be sent to it: only those with the same meaning as in DuckDB, for
 * every value of the column. In doubt a condition is not sent, because DuckDB filters again anyway.
 */
export type Dialect = {
  quote: (name: string) => string
  /** A constant in a statement; `bind` takes a value that is sent beside the text, and returns its placeholder. */
  constant: (constant: Constant, bind: (value: string) => string) => string
  /** The condition, or undefined if it may not be sent. */
  compare: (column: TableColumn, operator: ComparisonOperator, constant: Constant) => ComparisonOf | undefined
  /**
   * Writes what a column is compared with to equal one of these constants, all bound as one value. Undefined if they have to be bound one
   * by one.
   */
  list?: (constants: readonly Constant[]) => ((bind: (value: string) => string) => string) | undefined
  like: (column: TableColumn, quoted: string, pattern: string, bind: (value: string) => string) => string | undefined
  /**
   * Whether a condition on the column may keep rows in the database that DuckDB drops, because their values are NULL here. Such a condition
   * only saves rows; groups and LIMIT must not follow it.
   */
  keepsMore?: (column: TableColumn) => boolean
  /** The expression that reads a column, if its name alone does not, and the type of its values. */
  read?: (column: TableColumn, quoted: string) => Expression | undefined
  canAskNull: (column: TableColumn) => boolean
  /** Whether the values of a column have the same order in the database as in DuckDB. */
  canOrder: (column: TableColumn) => boolean
  /** Writes a column in ORDER BY, if the database has no NULLS FIRST and NULLS LAST. */
  order?: OrderOf
  /** Whether the database only groups values together that DuckDB also groups together. */
  canGroup: (column: TableColumn) => boolean
  /** Whether two values of two columns are equal in the database exactly if they are equal in DuckDB. */
  canJoin: (left: TableColumn, right: TableColumn) => boolean
  /** The expression of an aggregate, and the type of its result in DuckDB. */
  aggregate: (name: 'count' | 'min' | 'max' | 'sum', column: TableColumn | undefined, quoted: string) => Expression | undefined
}

/** Writes a quoted column in ORDER BY. Where no value can be NULL it writes nothing about NULL, so that more indexes have this order. */
export type OrderOf = (quoted: string, column: TableColumn, order: Omit<ScanOrder, 'column'>) => string

export type Expression = { sql: string; type: AnswerColumn['type'] }

/** Writes a comparison of a quoted column with a constant in its original notation. */
export type ComparisonOf = (column: string, constant: string) => string

const integers: readonly string[] = ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT', 'HUGEINT']

/** Whether a column or a constant is a whole number. */
export const isInteger = ({ type }: { type: string }): boolean => integers.includes(type)

/** Whether a column holds exact numbers: whole ones or decimals, not doubles. */
export const isNumber = ({ type }: TableColumn): boolean => isInteger(type) || type.type === 'DECIMAL'

/** Whether two columns hold whole numbers, or values of one type. */
export const isAlike = ({ type: left }: TableColumn, { type: right }: TableColumn): boolean => {
  if (left.type === 'DECIMAL' && right.type === 'DECIMAL') return left.width === right.width && left.scale === right.scale
  return left.type === right.type || (isInteger(left) && isInteger(right))
}

const times: readonly string[] = ['DATE', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE']

/** Whether a column or a constant is a date or a timestamp. @example isTime({ type: 'DATE' }) // true */
export const isTime = ({ type }: { type: string }): boolean => times.includes(type)

/** Whether a constant is written as a whole or decimal number, without an exponent. */
export const isExactNumber = ({ type, value }: Constant): boolean =>
  (isInteger({ type }) && /^-?\d{1,38}$/.test(value)) || (type === 'DECIMAL' && /^-?\d{1,38}(?:\.\d{1,38})?$/.test(value))

const day = String.raw`(\d{4})-(\d{2})-(\d{2})`
const clock = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?`
const zone = String.raw`[+-](?:0\d|1[0-5])(?::[0-5]\d)?`

const fullTimes: Readonly<Partial<Record<Constant['type'], RegExp>>> = {
  DATE: new RegExp(`^${day}$`),
  TIMESTAMP: new RegExp(`^${day} ${clock}$`),
  'TIMESTAMP WITH TIME ZONE': new RegExp(`^${day} ${clock}${zone}$`),
}

/** Whether the calendar has a day. It repeats itself after 400 years, and the databases know no year 0. */
const isDay = (year: number, month: number, dayOfMonth: number): boolean =>
  year > 0 && month >= 1 && month <= 12 && dayOfMonth >= 1 && dayOfMonth <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()

/** Whether a constant of a time is written in full, with a day that every database knows. */
export const isExactTime = ({ type, value }: Constant): boolean => {
  const [, year, month, dayOfMonth] = fullTimes[type]?.exec(value) ?? []
  return isDay(Number(year), Number(month), Number(dayOfMonth))
}
