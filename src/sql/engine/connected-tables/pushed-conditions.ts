import type { ComparisonOperator, Constant, Filter, TableColumn } from '../../../connections/contract/requests.js'
import type { PlainType } from '../../../connections/contract/types.js'
import { conjuncts } from '../ast/conditions.js'
import { NumberText, type AstNode } from '../ast/json.js'
import { isEmpty, isLiteral, nodeOf, nodesOf, textOf } from '../ast/nodes.js'
import { aliasOf } from '../session/describe.js'
import { columnsOf, type FindColumn } from './find-column.js'
import type { FoldedTimes } from './fold-times.js'

/** The columns that conditions may be about, and times that were computed. */
type Known = { find: FindColumn; times: FoldedTimes }

const operators: Readonly<Record<string, ComparisonOperator>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '<>',
  COMPARE_LESSTHAN: '<',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHAN: '>',
  COMPARE_GREATERTHANOREQUALTO: '>=',
}

const turned: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

/** The types of constants that a filter may have, by the names of DuckDB's tree. */
const types: Readonly<Record<string, PlainType>> = {
  ...{ TINYINT: 'INTEGER', SMALLINT: 'INTEGER', INTEGER: 'INTEGER', BIGINT: 'BIGINT', HUGEINT: 'HUGEINT', DOUBLE: 'DOUBLE' },
  ...{
    BOOLEAN: 'BOOLEAN',
    VARCHAR: 'VARCHAR',
    DATE: 'DATE',
    TIMESTAMP: 'TIMESTAMP',
    TIMESTAMP_TZ: 'TIMESTAMP WITH TIME ZONE',
    UUID: 'UUID',
  },
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP WITH TIME ZONE',
}

/** A decimal constant is stored as a whole number and the place of its point: 1250 with two digits is 12.50. */
const decimalText = (whole: string, scale: number): string => {
  if (scale === 0) return whole
  const [sign, digits] = whole.startsWith('-') ? ['-', whole.slice(1)] : ['', whole]
  const padded = digits.padStart(scale + 1, '0')
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`
}

const literalOf = (node: AstNode): Constant | undefined => {
  const value = nodeOf(node, 'value')
  const type = value && nodeOf(value, 'type')
  const held = value?.['value']
  if (!type || value['is_null'] === true || held === undefined) return undefined
  const id = textOf(type, 'id')
  const text = held instanceof NumberText ? held.text : typeof held === 'string' ? held : held === true ? 'true' : 'false'
  if (id === 'DECIMAL') {
    const scale = nodeOf(type, 'type_info')?.['scale']
    return scale instanceof NumberText && /^-?\d+$/.test(text)
      ? { type: 'DECIMAL', value: decimalText(text, Number(scale.text)) }
      : undefined
  }
  const known = types[id]
  return known === undefined || (typeof held === 'object' && !(held instanceof NumberText)) ? undefined : { type: known, value: text }
}

const whole = /^-?\d{1,38}$/

/** Texts that a cast takes unchanged: the cast rounds nothing, cuts nothing off and drops nothing. */
const exactTexts: Readonly<Partial<Record<PlainType, RegExp>>> = {
  ...{ INTEGER: whole, BIGINT: whole, HUGEINT: whole },
  DATE: /^\d{4}-\d{2}-\d{2}$/,
  TIMESTAMP: /^\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?)?$/,
}

/** A constant of the query, a cast of one such as `DATE '2026-01-31'`, or a time that was computed. */
const constantOf = (node: AstNode, times: FoldedTimes): Constant | undefined => {
  const time = times.get(node)
  if (time) return time
  if (isLiteral(node)) return literalOf(node)
  if (textOf(node, 'class') !== 'CAST' || node['try_cast'] === true) return undefined
  const [child, type] = [nodeOf(node, 'child'), nodeOf(node, 'cast_type')]
  const inner = child && constantOf(child, times)
  const to = type && types[textOf(type, 'id')]
  if (!inner || to === undefined || inner.type !== 'VARCHAR' || exactTexts[to]?.test(inner.value) === false) return undefined
  return { type: to, value: to === 'BOOLEAN' ? (inner.value === 't' ? 'true' : inner.value === 'f' ? 'false' : inner.value) : inner.value }
}

/** A number of at most 15 digits is the same double in every database. */
const shortNumber = /^-?(?=[\d.]{1,16}$)\d{1,15}(?:\.\d{1,14})?$/

/** A time as SQL writes it in full: a date means its midnight. */
const fullTime = (value: string): string =>
  /^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value} 00:00:00` : value.replace(/^(\d{4}-\d{2}-\d{2})T/, '$1 ')

/** A time without a zone is in UTC, as in every query of this service. */
const zonedTime = (value: string): string => {
  const full = fullTime(value).replace(/Z$/, '+00')
  return /[+-]\d{2}(?::\d{2})?$/.test(full.slice(10)) ? full : `${full}+00`
}

/** A constant as DuckDB reads it in a comparison with a column: a text as a time, a decimal number as a binary one. */
const asTyped = (constant: Constant, { type }: TableColumn): Constant => {
  const { value } = constant
  if (type.type === 'DOUBLE' && shortNumber.test(value) && constant.type !== 'VARCHAR') return { type: 'DOUBLE', value }
  const isTime = constant.type === 'VARCHAR' || constant.type === 'DATE' || constant.type === 'TIMESTAMP'
  if (type.type === 'TIMESTAMP WITH TIME ZONE' && isTime) return { type: type.type, value: zonedTime(value) }
  if (type.type === 'TIMESTAMP' && isTime) return { type: type.type, value: fullTime(value) }
  if (constant.type !== 'VARCHAR') return constant
  return type.type === 'DATE' || type.type === 'UUID' ? { type: type.type, value } : constant
}

const compared = (known: Known, node: AstNode, operator: ComparisonOperator): Filter | undefined => {
  const [left, right] = [nodeOf(node, 'left'), nodeOf(node, 'right')]
  if (!left || !right) return undefined
  const column = known.find(left)
  const constant = column && constantOf(right, known.times)
  if (column && constant) return { compare: operator, column: column.name, with: asTyped(constant, column) }
  const [other, value] = [known.find(right), constantOf(left, known.times)]
  return other && value && { compare: turned[operator], column: other.name, with: asTyped(value, other) }
}

const everyFilter = (known: Known, nodes: readonly AstNode[]): Filter[] | undefined => {
  const filters = nodes.map((node) => filterOf(known, node))
  return filters.every((filter) => filter !== undefined) && filters.length > 0 ? filters : undefined
}

const listed = (known: Known, node: AstNode): Filter | undefined => {
  const [first, ...rest] = nodesOf(node, 'children')
  const column = first && known.find(first)
  const constants = rest.map((item) => constantOf(item, known.times))
  if (!column || constants.length === 0 || !constants.every((constant) => constant !== undefined)) return undefined
  return { in: constants.map((constant) => asTyped(constant, column)), column: column.name }
}

const between = (known: Known, node: AstNode): Filter | undefined => {
  const [input, lower, upper] = [nodeOf(node, 'input'), nodeOf(node, 'lower'), nodeOf(node, 'upper')]
  const column = input && known.find(input)
  const [from, to] = [lower && constantOf(lower, known.times), upper && constantOf(upper, known.times)]
  if (!column || !from || !to) return undefined
  return {
    and: [
      { compare: '>=', column: column.name, with: asTyped(from, column) },
      { compare: '<=', column: column.name, with: asTyped(to, column) },
    ],
  }
}

const like = (known: Known, node: AstNode): Filter | undefined => {
  const [left, right] = nodesOf(node, 'children')
  const column = left && known.find(left)
  const pattern = right && constantOf(right, known.times)
  return column && pattern?.type === 'VARCHAR' ? { like: pattern.value, column: column.name } : undefined
}

const not = (filter: Filter | undefined): Filter | undefined => filter && { not: filter }

/**
 * A condition as a filter on known columns; undefined for a condition that is about anything else.
 *
 * @example filterOf({ find: columnsOf('h', columns), times: new Map() }, condition) // { isNull: 'rent' } for h.rent IS NULL
 */
export const filterOf = (known: Known, node: AstNode): Filter | undefined => {
  const type = textOf(node, 'type')
  const operator = operators[type]
  if (operator !== undefined) return compared(known, node, operator)
  const [first] = nodesOf(node, 'children')
  switch (type) {
    case 'CONJUNCTION_AND': {
      const and = everyFilter(known, nodesOf(node, 'children'))
      return and && { and }
    }
    case 'CONJUNCTION_OR': {
      const or = everyFilter(known, nodesOf(node, 'children'))
      return or && { or }
    }
    case 'OPERATOR_NOT':
      return first && not(filterOf(known, first))
    case 'OPERATOR_IS_NULL':
    case 'OPERATOR_IS_NOT_NULL': {
      const column = first && known.find(first)
      return column && (type === 'OPERATOR_IS_NULL' ? { isNull: column.name } : { isNotNull: column.name })
    }
    case 'COMPARE_IN':
      return listed(known, node)
    case 'COMPARE_NOT_IN':
      return not(listed(known, node))
    case 'COMPARE_BETWEEN':
      return between(known, node)
    case 'COMPARE_NOT_BETWEEN':
      return not(between(known, node))
    case 'FUNCTION':
      if (textOf(node, 'function_name') === '~~') return like(known, node)
      return textOf(node, 'function_name') === '!~~' ? not(like(known, node)) : undefined
    default: {
      const column = known.find(node)
      return column?.type.type === 'BOOLEAN' ? { compare: '=', column: column.name, with: { type: 'BOOLEAN', value: 'true' } } : undefined
    }
  }
}

/** Whether a FROM keeps the rows of a table until WHERE: no join replaces them with NULL, and no sample is taken of them. */
const reachesWhere = (from: AstNode, ref: AstNode): boolean => {
  if (!isEmpty(from, 'sample')) return false
  if (from === ref) return true
  if (textOf(from, 'type') !== 'JOIN') return false
  const [left, right] = [nodeOf(from, 'left'), nodeOf(from, 'right')]
  if (!['REGULAR', 'CROSS', 'NATURAL'].includes(textOf(from, 'ref_type'))) return false
  const kind = textOf(from, 'join_type')
  if (left && ['INNER', 'LEFT', 'SEMI', 'ANTI'].includes(kind) && reachesWhere(left, ref)) return true
  return right !== undefined && ['INNER', 'RIGHT'].includes(kind) && reachesWhere(right, ref)
}

/** The conditions in WHERE on one table alone: filters that its rows must pass, and whether WHERE has no other conditions. */
export type TableFilters = { filters: readonly Filter[]; isAll: boolean }

/**
 * Finds the conditions in WHERE on one table of the FROM. DuckDB filters again, so a missing filter does not change the answer.
 *
 * @param isAlone whether a name without a table can only be one of its columns
 * @param times the values of expressions that have no column
 * @example filtersOn(select, ref, columns) // { filters: [{ compare: '>', column: 'id', with: { type: 'INTEGER', value: '5' } }], isAll: true }
 */
export const filtersOn = (
  select: AstNode,
  ref: AstNode,
  columns: readonly TableColumn[],
  isAlone = nodeOf(select, 'from_table') === ref,
  times: FoldedTimes = new Map(),
): TableFilters => {
  const from = nodeOf(select, 'from_table')
  const conditions = conjuncts(nodeOf(select, 'where_clause'))
  // DuckDB takes the sample of USING SAMPLE before WHERE.
  if (!from || !isEmpty(select, 'sample') || !reachesWhere(from, ref)) return { filters: [], isAll: conditions.length === 0 }
  const known = { find: columnsOf(aliasOf(ref), columns, isAlone), times }
  const filters = conditions.flatMap((condition) => filterOf(known, condition) ?? [])
  return { filters, isAll: filters.length === conditions.length }
}
