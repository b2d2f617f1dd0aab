import type { Constant, TableColumn } from '../contract/requests.js'
import { decimal, decimalMaxDigits, plain } from '../contract/types.js'
import { isAlike, isExactNumber, isExactTime, isNumber, isTime, type Dialect } from './dialect.js'

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

const isText = ({ type, exactText }: TableColumn): boolean => type.type === 'VARCHAR' && exactText

const isSame = (column: TableColumn, constant: Constant): boolean =>
  (isNumber(column) && isExactNumber(constant)) ||
  (column.type.type === constant.type && isExactTime(constant)) ||
  (isText(column) && constant.type === 'VARCHAR' && !constant.value.includes('\0'))

/** DuckDB itself, where everything means the same as here. Conditions that are not needed are left out all the same. */
export const duckdbDialect: Dialect = {
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  constant: (constant) => (isExactNumber(constant) ? constant.value : `${text(constant.value)}::${constant.type}`),
  compare: (column, operator, constant) => (isSame(column, constant) ? (quoted, value) => `${quoted} ${operator} ${value}` : undefined),
  like: (column, quoted, pattern) => (isText(column) && !pattern.includes('\0') ? `${quoted} LIKE ${text(pattern)}` : undefined),
  canAskNull: () => true,
  canOrder: (column) => isNumber(column) || isTime(column.type),
  canGroup: (column) => isNumber(column) || column.type.type === 'DATE' || isText(column),
  canJoin: (left, right) => isAlike(left, right) && duckdbDialect.canGroup(left) && duckdbDialect.canGroup(right),
  aggregate: (name, column, quoted) => {
    if (name === 'count') return { sql: column ? `count(${quoted})` : 'count(*)', type: plain('BIGINT') }
    if (!column || !isNumber(column)) return undefined
    if (name !== 'sum') return { sql: `${name}(${quoted})`, type: column.type }
    if (column.type.type === 'DECIMAL') return { sql: `sum(${quoted})`, type: decimal(decimalMaxDigits, column.type.scale) }
    return column.type.type === 'HUGEINT' ? undefined : { sql: `sum(${quoted})`, type: plain('HUGEINT') }
  },
}
