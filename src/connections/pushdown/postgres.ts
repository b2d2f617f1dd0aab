import type { Constant, TableColumn } from '../contract/requests.js'
import { decimal, decimalMaxDigits, plain } from '../contract/types.js'
import { isAlike, isExactNumber, isExactTime, isInteger, isTime, type Dialect } from './dialect.js'

const fractionOf = (value: string): number => value.split('.')[1]?.length ?? 0
const isInt8 = (value: string): boolean => /^-?\d{1,19}$/.test(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value)

/** The type of a constant, so that PostgreSQL does not give it the type of the column. */
const castOf = ({ type, value }: Constant): string => {
  // In Redshift a numeric without a scale has no digits behind the point.
  if (type === 'DECIMAL') return `numeric(${decimalMaxDigits},${fractionOf(value)})`
  // An index is used only if the constant is of the column's family.
  if (isInteger({ type })) return isInt8(value) ? 'int8' : `numeric(${decimalMaxDigits},0)`
  if (type === 'DOUBLE') return 'float8'
  if (type === 'BOOLEAN') return 'bool'
  if (type === 'TIMESTAMP WITH TIME ZONE') return 'timestamptz'
  return type === 'VARCHAR' ? 'text' : type.toLowerCase()
}

const isText = ({ remote, exactText }: TableColumn): boolean =>
  exactText && (remote === 'text' || /^character varying(?:\(\d+\))?$/.test(remote))

/** Types without fields. A row of fields is NULL in PostgreSQL as soon as all its fields are, and here only as a whole. */
const typesWithoutFields =
  /^(?:text|character(?: varying)?|"char"|name|citext|json|xml|inet|cidr|macaddr8?|bit(?: varying)?|money|numeric|tsvector|oid)(?:\(.*\))?$/

const isDeclared = ({ remote, type }: TableColumn): boolean => type.type === 'DECIMAL' && /^numeric\(/.test(remote)

const isFinite = (value: string): boolean => /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)
const isUuid = (value: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)

/** Whether a comparison of a constant with a column depends only on the values, which have the same order here and there. */
const isOrdered = ({ type, remote }: TableColumn, constant: Constant): boolean => {
  if (isInteger(type)) return remote !== 'oid' && isExactNumber(constant)
  switch (type.type) {
    case 'DECIMAL':
      return isExactNumber(constant)
    case 'DOUBLE':
      return constant.type === 'DOUBLE' && isFinite(constant.value)
    case 'DATE':
    case 'TIMESTAMP':
    case 'TIMESTAMP WITH TIME ZONE':
      return constant.type === type.type && isExactTime(constant)
    default:
      return false
  }
}

const isPlainText = ({ type, value }: Constant): boolean => type === 'VARCHAR' && !value.includes('\0') && value.isWellFormed()

/** Whether a constant is equal to the same values of a column here and there. */
const isEquatable = (column: TableColumn, { type, value }: Constant): boolean => {
  if (column.type.type === 'BOOLEAN') return type === 'BOOLEAN' && /^(?:true|false)$/.test(value)
  if (column.type.type === 'UUID') return type === 'UUID' && isUuid(value)
  return isText(column) && isPlainText({ type, value })
}

const wholeOf = (value: string): number => value.replace('-', '').split('.')[0]?.length ?? 0

/** The type that all these constants can have; undefined if there is none. */
const typeOfAll = (constants: readonly Constant[]): string | undefined => {
  const [type, ...others] = new Set(constants.map(castOf))
  if (others.length === 0) return type
  if (!constants.every(isExactNumber)) return undefined
  let [whole, fraction] = [0, 0]
  for (const { value } of constants) [whole, fraction] = [Math.max(whole, wholeOf(value)), Math.max(fraction, fractionOf(value))]
  return whole + fraction <= decimalMaxDigits ? `numeric(${decimalMaxDigits},${fraction})` : undefined
}

/** Texts as one array of PostgreSQL. @example arrayOf(['1', 'a"b']) // {"1","a\\"b"} */
const arrayOf = (texts: readonly string[]): string => `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`

const hasOrder = (column: TableColumn): boolean =>
  (isInteger(column.type) && column.remote !== 'oid') || isDeclared(column) || isTime(column.type)

/** PostgreSQL, and databases that do as it does. */
export const postgresDialect: Dialect = {
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  constant: (constant, bind) => `${bind(constant.value)}::${castOf(constant)}`,
  compare: (column, operator, constant) => {
    // A word that the type does not have would be an error as a constant of the type.
    if (column.isEnum === true && (operator === '=' || operator === '<>') && isPlainText(constant))
      return (quoted, value) => `${quoted}::text ${operator} ${value}`
    const isAskable = isOrdered(column, constant) || ((operator === '=' || operator === '<>') && isEquatable(column, constant))
    return isAskable ? (quoted, value) => `${quoted} ${operator} ${value}` : undefined
  },
  list: (constants) => {
    const type = typeOfAll(constants)
    return type === undefined ? undefined : (bind) => `ANY(${bind(arrayOf(constants.map(({ value }) => value)))}::${type}[])`
  },
  // LIKE of DuckDB has no escape character by default. In PostgreSQL it is the backslash, which ESCAPE '' turns off.
  like: (column, quoted, pattern, bind) =>
    isText(column) && !pattern.includes('_') && !pattern.includes('\0') && pattern.isWellFormed()
      ? `${quoted} LIKE ${bind(pattern)}::text ESCAPE ''`
      : undefined,
  canAskNull: (column) => column.type.type !== 'VARCHAR' || column.isEnum === true || typesWithoutFields.test(column.remote),
  canOrder: hasOrder,
  canGroup: (column) =>
    hasOrder(column) || isText(column) || column.isEnum === true || column.type.type === 'BOOLEAN' || column.type.type === 'UUID',
  canJoin: (left, right) => {
    if (!isAlike(left, right) || left.isEnum === true || right.isEnum === true) return false
    // PostgreSQL refuses to compare texts of two collations.
    if (isText(left) && isText(right)) return left.collation !== undefined && left.collation === right.collation
    return [left, right].every((column) => postgresDialect.canGroup(column) && !isText(column))
  },
  aggregate: (name, column, quoted) => {
    if (name === 'count') return { sql: column ? `count(${quoted})` : 'count(*)', type: plain('BIGINT') }
    if (!column || !hasOrder(column)) return undefined
    if (name !== 'sum') return { sql: `${name}(${quoted})`, type: column.type }
    if (isInteger(column.type)) return { sql: `sum(${quoted}::numeric)::numeric(38,0)`, type: plain('HUGEINT') }
    if (column.type.type !== 'DECIMAL') return undefined
    const { scale } = column.type
    return { sql: `sum(${quoted})::numeric(${decimalMaxDigits},${scale})`, type: decimal(decimalMaxDigits, scale) }
  },
}

/** Redshift. It has no arrays. */
export const redshiftDialect: Dialect = { ...postgresDialect, list: () => undefined }

/** CockroachDB. There NaN is less than all other numbers, and the greatest one in PostgreSQL and DuckDB. */
export const cockroachDialect: Dialect = {
  ...postgresDialect,
  compare: (column, operator, constant) =>
    column.type.type === 'DOUBLE' ? undefined : postgresDialect.compare(column, operator, constant),
}
