import { foldName } from '../../../../events/common.js'
import { Problem, wrong } from '../../../basics/errors.js'
import { losesDigits } from '../../../basics/exact-json.js'
import { limits } from '../../../basics/limits.js'
import type { MetadataComparison, MetadataFilter } from '../../../knowledge/contract/search.js'
import { conjuncts } from '../ast/conditions.js'
import { NumberText, type AstNode } from '../ast/json.js'
import {
  become,
  cast,
  isColumnRef,
  isLiteral,
  isQuery,
  nodeOf,
  nodesOf,
  placeOf,
  textConstant,
  textOf,
  textsOf,
  walk,
} from '../ast/nodes.js'
import { aliasOf } from '../session/describe.js'
import { withPlace } from '../session/sources.js'

/** `column IN (SELECT …)`, and likewise `NOT IN` and `=`. */
export type SubqueryFilter = { column: string; op: 'in' | 'not in'; query: AstNode }

/** The search of a knowledge base in the WHERE of a query. Without `contents`, its chunks are listed. */
export type SearchTerms = {
  contents: string[]
  filters: MetadataFilter[]
  /** Conditions that compare a column with the values of a query. */
  subqueries: SubqueryFilter[]
  minRelevance: number | undefined
  alpha: number | undefined
  isHybrid: boolean
  /** Whether the reranking model orders the results; undefined: the setting of the knowledge base counts. */
  reranking: boolean | undefined
  /** Whether these are all the conditions in WHERE. */
  isAll: boolean
}

/**
 * A knowledge base in a FROM: its name there, whether it is alone, names in double quotes that may be texts, and the spelling of each column
 * by its folded name.
 */
type Place = { alias: string; isAlone: boolean; quoted: ReadonlySet<string>; columns: ReadonlyMap<string, string> }

type Scalar = string | number | boolean
type Operator = MetadataComparison['op']

const operators: Readonly<Record<string, Operator>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '!=',
  COMPARE_LESSTHAN: '<',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHAN: '>',
  COMPARE_GREATERTHANOREQUALTO: '>=',
  COMPARE_IN: 'in',
  COMPARE_NOT_IN: 'not in',
}
const turned: Readonly<Partial<Record<Operator, Operator>>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }
const likes: Readonly<Record<string, Operator>> = { '~~': 'like', '!~~': 'not like' }

/** Names that are options of the search, not columns. */
const settings = new Set(['content', 'hybrid_search', 'hybrid_search_alpha', 'reranking'])

const scalarOf = (node: AstNode): Scalar | undefined => {
  if (textOf(node, 'class') === 'CAST') {
    const child = nodeOf(node, 'child')
    const value = child && scalarOf(child)
    const type = textOf(nodeOf(node, 'cast_type') ?? {}, 'id')
    return type === 'BOOLEAN' && typeof value === 'string' ? /^t/i.test(value) : undefined
  }
  if (!isLiteral(node)) return undefined
  const value = nodeOf(node, 'value')
  const held = value?.['value']
  if (value?.['is_null'] === true || held === undefined) return undefined
  if (held instanceof NumberText) {
    // Only DuckDB compares a number with all its digits.
    if (losesDigits(held.text)) return undefined
    const scale = nodeOf(nodeOf(value ?? {}, 'type') ?? {}, 'type_info')?.['scale']
    const isDecimal = textOf(nodeOf(value ?? {}, 'type') ?? {}, 'id') === 'DECIMAL' && scale instanceof NumberText
    return isDecimal ? Number(held.text) / 10 ** Number(scale.text) : Number(held.text)
  }
  return typeof held === 'string' || typeof held === 'boolean' ? held : undefined
}

const columnOf = ({ alias, isAlone, columns }: Place, node: AstNode): string | undefined => {
  if (!isColumnRef(node)) return undefined
  const names = textsOf(node, 'column_names')
  const [first = '', second] = names
  // The index compares names with case.
  if (names.length === 2 && foldName(first) === foldName(alias)) return columns.get(foldName(second ?? '')) ?? second
  if (names.length !== 1 || !isAlone) return undefined
  return columns.get(foldName(first)) ?? (settings.has(foldName(first)) ? first : undefined)
}

const valueOf = (place: Place, node: AstNode): Scalar | undefined => {
  const scalar = scalarOf(node)
  if (scalar !== undefined) return scalar
  const [name = '', second] = isColumnRef(node) ? textsOf(node, 'column_names') : []
  return second === undefined && place.quoted.has(name) && !place.columns.has(foldName(name)) ? name : undefined
}

type Comparison = { column: string; op: Operator; values: Scalar[] }

/** A condition that compares a column of the knowledge base with constants. */
const comparisonIn = (place: Place, node: AstNode): Comparison | undefined => {
  const type = textOf(node, 'type')
  const isLike = type === 'FUNCTION' && textOf(node, 'function_name') in likes
  const op = isLike ? likes[textOf(node, 'function_name')] : operators[type]
  if (op === undefined) return undefined
  const children = isLike || op === 'in' || op === 'not in' ? nodesOf(node, 'children') : [nodeOf(node, 'left'), nodeOf(node, 'right')]
  const [first, ...others] = children.filter((child) => child !== undefined)
  if (!first) return undefined
  const column = columnOf(place, first)
  const values = others.map((other) => valueOf(place, other))
  if (column !== undefined && values.length > 0 && values.every((value) => value !== undefined)) return { column, op, values }
  const [other] = others
  const [turnedColumn, value] = [other && columnOf(place, other), valueOf(place, first)]
  if (turnedColumn === undefined || value === undefined || isLike || others.length > 1) return undefined
  return { column: turnedColumn, op: turned[op] ?? op, values: [value] }
}

const truth = (): AstNode => cast(textConstant('t'), 'BOOLEAN')

const numberIn = (name: string, value: Scalar | undefined): number => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw wrong(`${name} must be a number`)
  return number
}

const switchIn = (name: string, value: Scalar | undefined): boolean => {
  if (typeof value === 'boolean') return value
  if (/^(true|1)$/i.test(String(value))) return true
  if (/^(false|0)$/i.test(String(value))) return false
  throw wrong(`${name} must be true or false`)
}

const searched = (op: Operator, values: readonly Scalar[]): string[] => {
  if (op === '=' || op === 'in') return values.map(String)
  if (op === 'like') return values.map((value) => String(value).replace(/^%+|(?<!%)%+$/g, ''))
  throw new Problem('bad_statement', 'No such search', `content is what is searched for: ${op.toUpperCase()} cannot be applied to it`, {
    hint: "Write content = '…', content LIKE '…' or content IN ('…', '…'); exclude by metadata, or by chunk_content NOT LIKE '…'.",
  })
}

/**
 * Removes a condition that is an option of the search; false for any other condition. Such a condition must not reach DuckDB, which has no
 * such column.
 */
const takeSetting = ({ column, op, values }: Comparison, terms: SearchTerms): boolean => {
  const name = foldName(column)
  if (!settings.has(name)) return false
  if (name === 'content') {
    takeQuestions(searched(op, values), terms)
    return true
  }
  if (op !== '=') throw wrong(`${name} is compared with = only`)
  if (name === 'hybrid_search') terms.isHybrid = switchIn(name, values[0])
  else if (name === 'hybrid_search_alpha') terms.alpha = numberIn(name, values[0])
  else terms.reranking = switchIn(name, values[0])
  return true
}

const filterOf = ({ column, op, values }: Comparison): MetadataComparison => ({
  column,
  op,
  value: op === 'in' || op === 'not in' ? [...values] : (values[0] ?? null),
})

const isOrder = (op: Operator): boolean => op === '>=' || op === '>'

const opposites: Readonly<Record<Operator, Operator>> = {
  ...{
    '=': '!=',
    '!=': '=',
    '<': '>=',
    '>=': '<',
    '>': '<=',
    '<=': '>',
    in: 'not in',
    'not in': 'in',
    like: 'not like',
    'not like': 'like',
  },
}

/** The negation of a filter, for documents that have the metadata. */
const opposite = (filter: MetadataFilter): MetadataFilter => {
  if ('any' in filter) return { all: filter.any.map(opposite) }
  if ('all' in filter) return { any: filter.all.map(opposite) }
  return { ...filter, op: opposites[filter.op] }
}

/** Columns that only found chunks have, and `metadata`, which holds all metadata as text. */
const madeColumns = new Set(['relevance', 'distance', 'metadata'])

const every = (filters: readonly (MetadataFilter | undefined)[]): MetadataFilter[] | undefined =>
  filters.every((filter) => filter !== undefined) ? [...filters] : undefined

/**
 * A condition that depends only on metadata: comparisons, and their combinations with AND, OR, NOT and BETWEEN; undefined for any other.
 */
const filterIn = (place: Place, node: AstNode): MetadataFilter | undefined => {
  const of = (child: AstNode | undefined) => child && filterIn(place, child)
  switch (textOf(node, 'type')) {
    case 'CONJUNCTION_AND': {
      const all = every(nodesOf(node, 'children').map(of))
      return all && { all }
    }
    case 'CONJUNCTION_OR': {
      const any = every(nodesOf(node, 'children').map(of))
      return any && { any }
    }
    case 'OPERATOR_NOT': {
      const inner = of(nodesOf(node, 'children')[0])
      return inner && opposite(inner)
    }
    case 'COMPARE_BETWEEN': {
      const [input, lower, upper] = [nodeOf(node, 'input'), nodeOf(node, 'lower'), nodeOf(node, 'upper')]
      const column = input && columnOf(place, input)
      const [from, to] = [lower && valueOf(place, lower), upper && valueOf(place, upper)]
      if (column === undefined || from === undefined || to === undefined || isMade(column)) return undefined
      return { all: [filterOf({ column, op: '>=', values: [from] }), filterOf({ column, op: '<=', values: [to] })] }
    }
    default: {
      const comparison = comparisonIn(place, node)
      return comparison && !isMade(comparison.column) ? filterOf(comparison) : undefined
    }
  }
}

const isMade = (column: string): boolean => settings.has(foldName(column)) || madeColumns.has(foldName(column))

const queryIn = (node: AstNode | undefined, type: string): AstNode | undefined =>
  node && textOf(node, 'subquery_type') === type ? nodeOf(nodeOf(node, 'subquery') ?? {}, 'node') : undefined

/** A condition that compares a column of the knowledge base with a query: `id IN (SELECT …)`, `id NOT IN (…)`, `id = (SELECT …)`. */
const subqueryIn = (place: Place, node: AstNode): SubqueryFilter | undefined => {
  const [negated] = textOf(node, 'type') === 'OPERATOR_NOT' ? nodesOf(node, 'children') : []
  const compared = negated ?? node
  const isEqual = textOf(compared, 'type') === 'COMPARE_EQUAL' && negated === undefined
  const isAny = textOf(compared, 'comparison_type') === 'COMPARE_EQUAL'
  const query = isEqual ? queryIn(nodeOf(compared, 'right'), 'SCALAR') : isAny ? queryIn(compared, 'ANY') : undefined
  const child = nodeOf(compared, isEqual ? 'left' : 'child')
  const column = child && columnOf(place, child)
  if (query === undefined || column === undefined || isMade(column)) return undefined
  return { column, op: negated === undefined ? 'in' : 'not in', query }
}

/** The questions of `content = '…' OR content = '…'`. */
const questionsIn = (place: Place, node: AstNode): string[] | undefined => {
  if (textOf(node, 'type') !== 'CONJUNCTION_OR') return undefined
  const comparisons = nodesOf(node, 'children').map((child) => comparisonIn(place, child))
  if (!comparisons.every((one) => one !== undefined && foldName(one.column) === 'content')) return undefined
  return comparisons.flatMap((one) => (one ? searched(one.op, one.values) : []))
}

/** @throws Problem if a part of a condition is an option of the search: the meaning of such a condition is unclear */
const checkNoSetting = (place: Place, node: AstNode): void => {
  walk(node, (inner) => {
    // In a query, a name without a table is a column of its own tables.
    if (isQuery(inner) && place.isAlone) {
      checkNoSetting({ ...place, isAlone: false }, inner)
      return false
    }
    const column = columnOf(place, inner)
    if (column === undefined || !settings.has(foldName(column)) || place.columns.has(foldName(column))) return true
    throw new Problem('bad_statement', 'No such search', `${column} says what is searched for: it stands in a comparison of its own`, {
      hint:
        foldName(column) === 'content'
          ? "Write content = '…' AND (…); several questions are content IN ('…', '…'); to leave chunks out, chunk_content NOT LIKE '%…%'."
          : `Write ${foldName(column)} = … AND (…).`,
    })
  })
}

const takeQuestions = (questions: readonly string[], terms: SearchTerms): void => {
  if (terms.contents.length > 0)
    throw new Problem('bad_statement', 'Two searches', 'content is compared twice; a search has one question', {
      hint: "Several questions are content IN ('…', '…').",
    })
  terms.contents = [...questions]
}

const readCondition = (place: Place, node: AstNode, terms: SearchTerms): void => {
  const comparison = comparisonIn(place, node)
  const questions = questionsIn(place, node)
  if (questions) {
    takeQuestions(questions, terms)
    become(node, { ...truth(), ...placeOf(node) })
  } else if (comparison && takeSetting(comparison, terms)) become(node, { ...truth(), ...placeOf(node) })
  else if (comparison && foldName(comparison.column) === 'relevance' && isOrder(comparison.op)) {
    const least = numberIn('relevance', comparison.values[0])
    terms.minRelevance = Math.max(terms.minRelevance ?? -Infinity, least)
  } else {
    const filter = filterIn(place, node)
    const subquery = subqueryIn(place, node)
    if (filter) terms.filters.push(filter)
    else {
      checkNoSetting(place, node)
      if (subquery) terms.subqueries.push(subquery)
      else terms.isAll = false
    }
  }
}

/**
 * Reads the conditions in WHERE on a knowledge base. Removes the question and the options of the search, which are no conditions on
 * columns. Conditions on metadata stay, and DuckDB checks them again.
 *
 * @example takeSearchTerms(select, ref, { columns, quoted }).contents // ['how do I return a parcel']
 * @throws Problem if a comparison of `content` is no search
 */
export const takeSearchTerms = (
  select: AstNode | undefined,
  ref: AstNode,
  { columns, quoted }: { columns: readonly string[]; quoted: ReadonlySet<string> },
): SearchTerms => {
  const terms: SearchTerms = {
    contents: [],
    filters: [],
    subqueries: [],
    minRelevance: undefined,
    alpha: undefined,
    isHybrid: false,
    reranking: undefined,
    isAll: true,
  }
  if (!select) return { ...terms, isAll: false }
  const isAlone = nodeOf(select, 'from_table') === ref
  const place: Place = { alias: aliasOf(ref), isAlone, quoted, columns: new Map(columns.map((name) => [foldName(name), name])) }
  for (const condition of conjuncts(nodeOf(select, 'where_clause'))) withPlace(condition, () => readCondition(place, condition, terms))
  if (terms.contents.length > limits.knowledgeQueriesMax)
    throw wrong(`content IN has ${terms.contents.length} questions; at most ${limits.knowledgeQueriesMax} are searched for at once`)
  return terms
}
