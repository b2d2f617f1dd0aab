import type { Json } from '../../../events/common.js'
import { wrong, type Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { MetadataComparison, MetadataFilter } from '../contract/search.js'

/** A condition in SQLite's SQL on the documents `d` and the chunks `c`, with the values of its parameters. */
export type Condition = { sql: string; values: (string | number)[] }

/** Columns that every chunk has. */
const own: Readonly<Record<string, string>> = {
  id: 'd.id',
  chunk_id: "(d.id || ':' || c.number || 'of' || c.total || ':' || c.start || 'to' || c.finish)",
  chunk_content: 'c.content',
}

/** The names of these columns. */
export const ownColumns: readonly string[] = Object.keys(own)

const operators = { '=': '=', '!=': '<>', '<': '<', '<=': '<=', '>': '>', '>=': '>=' } as const
type Comparison = keyof typeof operators

/** Joins conditions as a balanced tree, because SQLite refuses an expression with more than a thousand levels. */
const tree = (parts: readonly string[], word: 'AND' | 'OR'): string => {
  const middle = parts.length >> 1
  return parts.length < 2 ? (parts[0] ?? '') : `(${tree(parts.slice(0, middle), word)} ${word} ${tree(parts.slice(middle), word)})`
}

const isNumeric = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))

/** The SQL expressions for a JSON value and for its type. */
type JsonPlace = { value: string; type: string }

const isNumber = "IN ('integer', 'real')"

/** The number in a JSON text, else NULL. Numbers that would lose digits are kept as texts. */
const numberInText = ({ value, type }: JsonPlace): string =>
  `CASE WHEN ${type} = 'text' AND json_valid(${value}) THEN CASE WHEN json_type(${value}) ${isNumber} THEN CAST(${value} AS REAL) END END`

const comparedNumber = (place: JsonPlace, op: Comparison, value: number): Condition => ({
  sql: `(${place.value} ${operators[op]} ? AND ${place.type} ${isNumber})`,
  values: [value],
})

/**
 * Compares a JSON value with a constant; a constant or a value that is the text of a number is also compared with numbers. The value is
 * tested before its type: few values are equal, so most documents need only one test.
 */
const comparedJson = (place: JsonPlace, op: Comparison, value: Json): Condition => {
  if (op === '!=') {
    const { sql, values } = comparedJson(place, '=', value)
    return { sql: `(${place.type} <> 'null' AND NOT ${sql})`, values }
  }
  const is = `${place.value} ${operators[op]} ?`
  switch (typeof value) {
    case 'number':
      return {
        sql: `(${comparedNumber(place, op, value).sql} OR coalesce(${numberInText(place)} ${operators[op]} ?, 0))`,
        values: [value, value],
      }
    case 'boolean':
      return { sql: `(${is} AND ${place.type} IN ('true', 'false'))`, values: [value ? 1 : 0] }
    case 'string': {
      const asText: Condition = { sql: `(${is} AND ${place.type} = 'text')`, values: [value] }
      if (!isNumeric(value)) return asText
      const asNumber = comparedNumber(place, op, Number(value))
      return { sql: `(${asText.sql} OR ${asNumber.sql})`, values: [...asText.values, ...asNumber.values] }
    }
    default:
      throw unlike()
  }
}

const textIn = (value: Json): string => {
  if (typeof value === 'object') throw wrong('a column is compared with a text, a number, true or false')
  return String(value)
}

/** How to compare a value in the index with a constant, and with several constants of which one must be equal. */
type ComparedValue = { with: (op: Comparison, value: Json) => Condition; among: (values: readonly Json[]) => Condition; text: string }

/** The most bytes of a pattern that SQLite accepts. */
const patternMaxBytes = 50_000

const like = (place: string, value: Json): Condition => {
  const pattern = textIn(value)
  if (Buffer.byteLength(pattern) > patternMaxBytes) throw wrong(`a pattern of LIKE has at most ${patternMaxBytes} bytes`)
  return { sql: `${place} LIKE ?`, values: [pattern] }
}

/** Whether an expression equals one of several values. All values are in one parameter, however many they are. */
const among = (expression: string, values: readonly Json[]): Condition => ({
  sql: `${expression} IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(values)],
})

const listedIn = (value: Json): readonly Json[] => {
  const listed = Array.isArray(value) ? value : [value]
  if (listed.length > limits.knowledgeFilterMaxValues)
    throw wrong(`a condition has ${listed.length} values; at most ${limits.knowledgeFilterMaxValues} are taken`)
  return listed
}

const notThe = ({ sql, values }: Condition): Condition => ({ sql: `NOT (${sql})`, values })

const conditionOn = ({ op, value }: MetadataComparison, compared: ComparedValue): Condition => {
  switch (op) {
    case 'in':
      return compared.among(listedIn(value))
    case 'not in':
      return notThe(compared.among(listedIn(value)))
    case 'like':
      return like(compared.text, value)
    case 'not like':
      return notThe(like(compared.text, value))
    default:
      return compared.with(op, value)
  }
}

const unlike = (): Problem => wrong('metadata is compared with a text, a number, true or false')

/** Whether a JSON value equals one of several constants. */
const amongJson = (place: JsonPlace, values: readonly Json[]): Condition => {
  if (values.some((value) => typeof value === 'object')) throw unlike()
  const texts = values.filter((value) => typeof value === 'string')
  const numbers = values.filter((value) => typeof value === 'number')
  const truths = values.filter((value) => typeof value === 'boolean').map(Number)
  const kinds = [
    { value: place.value, types: "= 'text'", of: texts },
    { value: place.value, types: isNumber, of: [...numbers, ...texts.filter(isNumeric).map(Number)] },
    { value: numberInText(place), types: "= 'text'", of: numbers },
    { value: place.value, types: "IN ('true', 'false')", of: truths },
  ].filter(({ of }) => of.length > 0)
  const lists = kinds.map(({ value, of }) => among(`(${value})`, of))
  const sql = kinds.map(({ types }, i) => `(coalesce(${lists[i]?.sql ?? ''}, 0) AND ${place.type} ${types})`).join(' OR ')
  return { sql: sql === '' ? '0' : `(${sql})`, values: lists.flatMap((list) => list.values) }
}

const jsonAt = (place: JsonPlace): ComparedValue => ({
  with: (op, value) => comparedJson(place, op, value),
  among: (values) => amongJson(place, values),
  text: `CASE ${place.type} WHEN 'text' THEN ${place.value} END`,
})

/** Names that a JSON path can contain as they are: a path cannot escape a quote. */
const plainName = /^[\p{L}\p{N}_ -]+$/u

/** Reads a value by its path if its name allows a path; this takes half the time of a search through all members. */
const ofMetadata = (filter: MetadataComparison): Condition => {
  const { column } = filter
  if (plainName.test(column)) {
    const of = `(d.metadata, '$."${column}"')`
    const place = { value: `json_extract${of}`, type: `json_type${of}` }
    const { sql, values } = conditionOn(filter, jsonAt(place))
    return { sql: `(${sql} AND ${place.type} <> 'null')`, values }
  }
  const { sql, values } = conditionOn(filter, jsonAt({ value: 'm.value', type: 'm.type' }))
  return {
    sql: `EXISTS (SELECT 1 FROM json_each(d.metadata) AS m WHERE m.key = ? AND ${sql} AND m.type <> 'null')`,
    values: [column, ...values],
  }
}

const ofColumn = (filter: MetadataComparison, expression: string): Condition =>
  conditionOn(filter, {
    with: (op, value) => {
      if (typeof value === 'number' && op !== '=' && op !== '!=')
        throw wrong(`${filter.column} is a text, which is not ${op} a number`, `Compare it with a text: ${filter.column} ${op} '${value}'.`)
      return { sql: `${expression} ${operators[op]} ?`, values: [textIn(value)] }
    },
    among: (values) => among(expression, values.map(textIn)),
    text: expression,
  })

const joined = (filters: readonly MetadataFilter[], word: 'AND' | 'OR'): Condition => {
  const parts = filters.map(ofFilter)
  const sql = parts.map((part) => part.sql)
  return { sql: sql.length === 0 ? String(word === 'AND') : tree(sql, word), values: parts.flatMap(({ values }) => values) }
}

const ofFilter = (filter: MetadataFilter): Condition => {
  if ('any' in filter) return joined(filter.any, 'OR')
  if ('all' in filter) return joined(filter.all, 'AND')
  const expression = Object.hasOwn(own, filter.column) ? own[filter.column] : undefined
  return expression === undefined ? ofMetadata(filter) : ofColumn(filter, expression)
}

/** The number of comparisons in filters. */
const comparisonsIn = (filters: readonly MetadataFilter[]): number =>
  filters.reduce((sum, one) => sum + ('any' in one ? comparisonsIn(one.any) : 'all' in one ? comparisonsIn(one.all) : 1), 0)

/**
 * All filters as one condition. A document without the metadata of a comparison does not pass it, not even one with NOT.
 *
 * @example conditionOf([{ column: 'year', op: '>', value: 2000 }]).values // ['year', 2000]
 * @throws Problem wrong_arguments
 */
export const conditionOf = (filters: readonly MetadataFilter[]): Condition => {
  const comparisons = comparisonsIn(filters)
  if (comparisons > limits.knowledgeFilterMaxValues)
    throw wrong(`there are ${comparisons} conditions on metadata; at most ${limits.knowledgeFilterMaxValues} are taken`)
  if (filters.length === 0) return { sql: '', values: [] }
  const { sql, values } = joined(filters, 'AND')
  return { sql: ` AND ${sql}`, values }
}
