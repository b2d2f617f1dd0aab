import { mask } from '../../basics/shown.js'
import type { Constant, TableColumn } from '../contract/requests.js'
import { decimal, decimalMaxDigits, plain } from '../contract/types.js'
import { isAlike, isExactNumber, isExactTime, isInteger, isNumber, isTime, type Dialect } from './dialect.js'
import { backQuoteName } from '../../dialect/strings.js'

/** A text of MySQL without quotes or escapes, whose meaning depends on modes of the server. The mask of a secret stays readable. */
const hexText = (value: string): string =>
  value === '' || value === mask ? `'${value}'` : `CONVERT(0x${Buffer.from(value).toString('hex')} USING utf8mb4)`

/** MySQL reads a number of two digits beside a YEAR as a year of this century or the last one. */
const isYear = ({ remote }: TableColumn): boolean => /^year\b/i.test(remote)

/** The least and the greatest bits may come as digits under the type of bits, whose values are bytes. */
const isBits = ({ remote }: TableColumn): boolean => /^bit\b/i.test(remote)

/** A number with more declared digits than an exact type has gets its type here by the digits that its values use. */
const isOpen = ({ type, remote }: TableColumn): boolean =>
  type.type === 'DECIMAL' && !(Number(/^decimal\((\d+)/i.exec(remote)?.[1]) <= decimalMaxDigits)

const isText = ({ type, remote, exactText }: TableColumn): boolean =>
  exactText && type.type === 'VARCHAR' && /^(?:(?:var)?char|enum)\(|text$/.test(remote)

const bytesOf = (sql: string): string => `CAST(CONVERT(${sql} USING utf8mb4) AS BINARY)`

/**
 * The comparison that finds the rows of a text by an index. A constant would have the default collation, and MySQL refuses two of one
 * character set, so it gets the column's. MySQL itself converts nothing to or from UTF-16, UTF-32 and UCS-2.
 */
const byIndex = ({ collation = '' }: TableColumn, quoted: string, value: string): string => {
  if (/^(?:utf(?:16|32)|ucs2)/.test(collation)) return ''
  const own = /^utf8mb4_\w+$/.test(collation) && value !== "''" ? ` COLLATE ${collation}` : ''
  return `${quoted} = ${value}${own} AND `
}

const isSafe = ({ type, value }: Constant): boolean => type === 'VARCHAR' && value.isWellFormed()

const holdsTimes = ({ type }: TableColumn): boolean => isTime(type)

/** Points in time that the server writes in a zone of its own, where an hour may come twice. */
const isOfZone = ({ type, remote }: TableColumn): boolean => type.type === 'TIMESTAMP' && /^timestamp/i.test(remote)

/** A session has no zone but UTC. */
const isOfUtc = ({ type, value }: Constant): boolean => type !== 'TIMESTAMP WITH TIME ZONE' || /\+00(?::00)?$/.test(value)

const timeText = ({ type, value }: Constant): string =>
  type === 'DATE' ? `DATE'${value}'` : `TIMESTAMP'${value.replace(/\+00(?::00)?$/, '')}'`

/**
 * MySQL and MariaDB. There a collation decides whether texts are equal, so their bytes are compared as well. Days that do not exist are
 * NULL here, but values there.
 */
export const mysqlDialect: Dialect = {
  quote: backQuoteName,
  constant: (constant) => {
    if (isExactTime(constant)) return timeText(constant)
    return constant.type === 'VARCHAR' ? hexText(constant.value) : constant.value
  },
  compare: (column, operator, constant) => {
    if (isNumber(column) && !isYear(column) && isExactNumber(constant)) return (quoted, value) => `${quoted} ${operator} ${value}`
    if (holdsTimes(column) && !isOfZone(column) && constant.type === column.type.type && isExactTime(constant) && isOfUtc(constant))
      return (quoted, value) => `${quoted} ${operator} ${value}`
    if (!isText(column) || !isSafe(constant)) return undefined
    if (operator === '=') return (quoted, value) => `(${byIndex(column, quoted, value)}${bytesOf(quoted)} = CAST(${value} AS BINARY))`
    if (operator === '<>') return (quoted, value) => `${bytesOf(quoted)} <> CAST(${value} AS BINARY)`
    return undefined
  },
  // MySQL compares bytes here, where "_" means one byte and not one character, so a pattern with "_" is not sent. LIKE of DuckDB has no
  // escape character. MySQL needs one, so it gets "|", and a pattern with "|" is not sent.
  like: (column, quoted, pattern) =>
    isText(column) && !/[_|]/.test(pattern) && pattern.isWellFormed()
      ? `${bytesOf(quoted)} LIKE CAST(${hexText(pattern)} AS BINARY) ESCAPE '|'`
      : undefined,
  keepsMore: holdsTimes,
  // MySQL writes six digits of a FLOAT, and all of a DOUBLE.
  read: ({ type }, quoted) => (type.type === 'FLOAT' ? { sql: `${quoted} + 0e0`, type } : undefined),
  canAskNull: (column) => !holdsTimes(column),
  canOrder: (column) => isNumber(column) && !isOpen(column),
  // There NULL is less than every value.
  order: (quoted, { nullable }, { isDescending, nullsFirst }) => {
    const ordered = `${quoted}${isDescending ? ' DESC' : ''}`
    return nullable && isDescending === nullsFirst ? `${quoted} IS ${nullsFirst ? 'NOT ' : ''}NULL, ${ordered}` : ordered
  },
  canGroup: (column) => isNumber(column) && !isOpen(column),
  // MySQL would join texts that are equal by their collation, and days by their digits even if they are NULL here.
  canJoin: (left, right) => isAlike(left, right) && [left, right].every((column) => mysqlDialect.canGroup(column) && !isYear(column)),
  aggregate: (name, column, quoted) => {
    if (name === 'count' && !column) return { sql: 'count(*)', type: plain('BIGINT') }
    if (!column || !isNumber(column)) return undefined
    if (name === 'count') return { sql: `count(${quoted})`, type: plain('BIGINT') }
    if (isOpen(column)) return undefined
    if (name !== 'sum') return isBits(column) ? undefined : { sql: `${name}(${quoted})`, type: column.type }
    if (isInteger(column.type)) return { sql: `sum(${quoted})`, type: plain('HUGEINT') }
    if (column.type.type !== 'DECIMAL') return undefined
    return { sql: `sum(${quoted})`, type: decimal(decimalMaxDigits, column.type.scale) }
  },
}

/** PlanetScale, whose tables may lie on several servers: it refuses some joins, groups and orders that one server computes. */
export const planetscaleDialect: Dialect = { ...mysqlDialect, canJoin: () => false, canOrder: () => false }
