import type { Json } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { MetadataComparison, MetadataFilter } from '../contract/search.js'

/** A condition in SQLite's SQL over the documents `d` and the chunks `c`, and the values of its parameters. */
export type Condition = { sql: string; values: (string | number)[] }

/** Columns that every chunk has. */
const own: Readonly<Record<string, string>> = {
  id: 'd.id',
  chunk_id: "(d.id || ':' || c.number || 'of' || c.total || ':' || c.start || 'to' || c.finish)",
  chunk_content: 'c.content',
}

const operators = { '=': '=', '!=': '<>', '<': '<', '<=': '<=', '>': '>', '>=': '>=' } as const
type Comparison = keyof typeof operators

const isNumeric = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))

/** A comparison of a value of JSON `m`, which has a type, with a constant; a text that is a number compares with numbers as well. */
const comparedJson = (op: Comparison, value: Json): Condition => {
  if (op === '!=') {
    const { sql, values } = comparedJson('=', value)
    return { sql: `(m.type <> 'null' AND NOT ${sql})`, values }
  }
  const sign = operators[op]
  switch (typeof value) {
    case 'number':
      return { sql: `(m.type IN ('integer', 'real') AND m.value ${sign} ?)`, values: [value] }
    case 'boolean':
      return { sql: `(m.type IN ('true', 'false') AND m.value ${sign} ?)`, values: [value ? 1 : 0] }
    case 'string': {
      const asText: Condition = { sql: `(m.type = 'text' AND m.value ${sign} ?)`, values: [value] }
      if (!isNumeric(value)) return asText
      const asNumber = comparedJson(op, Number(value))
      return { sql: `(${asText.sql} OR ${asNumber.sql})`, values: [...asText.values, ...asNumber.values] }
    }
    default:
      throw wrong('metadata is compared with a text, a number, true or false')
  }
}

const textIn = (value: Json): string => {
  if (typeof value === 'object') throw wrong('a column is compared with a text, a number, true or false')
  return String(value)
}

/** One comparison on the place that `of` makes SQL of. */
type Compare = (op: Comparison, value: Json) => Condition

const like = (place: string, value: Json): Condition => ({ sql: `${place} LIKE ?`, values: [textIn(value)] })

const anyOf = (compare: Compare, value: Json): Condition => {
  const listed = Array.isArray(value) ? value : [value]
  if (listed.length === 0) return { sql: '0', values: [] }
  if (listed.length > limits.knowledgeFilterMaxValues)
    throw wrong(`a condition has ${listed.length} values; at most ${limits.knowledgeFilterMaxValues} are taken`)
  const parts = listed.map((one) => compare('=', one))
  return { sql: `(${parts.map(({ sql }) => sql).join(' OR ')})`, values: parts.flatMap(({ values }) => values) }
}

const notThe = ({ sql, values }: Condition): Condition => ({ sql: `NOT ${sql}`, values })

const conditionOn = ({ op, value }: MetadataComparison, compare: Compare, text: string): Condition => {
  switch (op) {
    case 'in':
      return anyOf(compare, value)
    case 'not in':
      return notThe(anyOf(compare, value))
    case 'like':
      return like(text, value)
    case 'not like':
      return notThe({ ...like(text, value), sql: `(${like(text, value).sql})` })
    default:
      return compare(op, value)
  }
}

const ofMetadata = (filter: MetadataComparison): Condition => {
  const { sql, values } = conditionOn(filter, comparedJson, "CASE m.type WHEN 'text' THEN m.value END")
  return {
    sql: `EXISTS (SELECT 1 FROM json_each(d.metadata) AS m WHERE m.key = ? AND m.type <> 'null' AND ${sql})`,
    values: [filter.column, ...values],
  }
}

const ofColumn = (filter: MetadataComparison, expression: string): Condition =>
  conditionOn(filter, (op, value) => ({ sql: `${expression} ${operators[op]} ?`, values: [textIn(value)] }), expression)

const joined = (filters: readonly MetadataFilter[], word: 'AND' | 'OR'): Condition => {
  const parts = filters.map(ofFilter)
  const sql = parts.length === 0 ? String(word === 'AND') : parts.map((part) => part.sql).join(` ${word} `)
  return { sql: `(${sql})`, values: parts.flatMap(({ values }) => values) }
}

const ofFilter = (filter: MetadataFilter): Condition => {
  if ('any' in filter) return joined(filter.any, 'OR')
  if ('all' in filter) return joined(filter.all, 'AND')
  const expression = Object.hasOwn(own, filter.column) ? own[filter.column] : undefined
  return expression === undefined ? ofMetadata(filter) : ofColumn(filter, expression)
}

/** How many comparisons there are in filters. */
const comparisonsIn = (filters: readonly MetadataFilter[]): number =>
  filters.reduce((sum, one) => sum + ('any' in one ? comparisonsIn(one.any) : 'all' in one ? comparisonsIn(one.all) : 1), 0)

/**
 * All filters as one condition. Metadata that a document does not have passes no comparison, also not one with NOT.
 *
 * @example conditionOf([{ column: 'year', op: '>', value: 2000 }]).values // ['year', 2000]
 * @throws Problem wrong_arguments
 */
export const conditionOf = (filters: readonly MetadataFilter[]): Condition => {
  const comparisons = comparisonsIn(filters)
  if (comparisons > limits.knowledgeFilterMaxValues)
    throw wrong(`there are ${comparisons} conditions on metadata; at most ${limits.knowledgeFilterMaxValues} are taken`)
  const parts = filters.map(ofFilter)
  return { sql: parts.map(({ sql }) => ` AND ${sql}`).join(''), values: parts.flatMap(({ values }) => values) }
}
