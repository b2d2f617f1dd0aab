/** Room: the tree that DuckDB's parser makes of a text. It imports only basics and dialect. */

import { NumberText, type AstNode, type AstValue } from './json.js'

/** The location of a node whose place DuckDB does not know: 2^64-1. */
const nowhere = new NumberText('18446744073709551615')

/** Whether a value in a tree is a node: an object, not a list, a text or a number. */
export const isNode = (value: AstValue | undefined): value is AstNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText)

/** The text under a key of a node; empty when there is none. */
export const textOf = (node: AstNode, key: string): string => {
  const value = node[key]
  return typeof value === 'string' ? value : ''
}

/** The node under a key of a node; undefined when there is none. */
export const nodeOf = (node: AstNode, key: string): AstNode | undefined => {
  const value = node[key]
  return isNode(value) ? value : undefined
}

/** The list under a key of a node, not a copy; an empty one when there is none. */
export const listOf = (node: AstNode, key: string): AstValue[] => {
  const value = node[key]
  return Array.isArray(value) ? value : []
}

/** The nodes in the list under a key, without its other values. */
export const nodesOf = (node: AstNode, key: string): AstNode[] => listOf(node, key).filter(isNode)

/** The texts in the list under a key, without its other values. */
export const textsOf = (node: AstNode, key: string): string[] => listOf(node, key).filter((item) => typeof item === 'string')

/** The byte offset of a node in its original text, or undefined. */
export const locationOf = (node: AstNode): number | undefined => {
  const value = node['query_location']
  return value instanceof NumberText && value.text !== nowhere.text ? Number(value.text) : undefined
}

const queryTypes = new Set(['SELECT_NODE', 'SET_OPERATION_NODE', 'RECURSIVE_CTE_NODE', 'CTE_NODE'])
const refTypes = new Set(['BASE_TABLE', 'SUBQUERY', 'JOIN', 'TABLE_FUNCTION', 'EXPRESSION_LIST', 'EMPTY', 'PIVOT', 'SHOW_REF'])

/** The place of a node, for the node that replaces it: `{ ...other, ...placeOf(node) }` */
export const placeOf = (node: AstNode): AstNode => ({ query_location: node['query_location'] ?? nowhere })

/** An expression has a class; a query and a table reference have only a type. */
export const isExpression = (node: AstNode): boolean => typeof node['class'] === 'string'
/** Whether a node is a SELECT, a set operation such as UNION, or a query with a WITH around it. */
export const isQuery = (node: AstNode): boolean => !isExpression(node) && queryTypes.has(textOf(node, 'type'))
/** Whether a node belongs in a FROM: a table, a subquery, a join, a table function, and the like. */
export const isReference = (node: AstNode): boolean => !isExpression(node) && refTypes.has(textOf(node, 'type'))
/** Whether an expression is a literal in the text. */
export const isLiteral = (node: AstNode): boolean => textOf(node, 'class') === 'CONSTANT'
/** Whether an expression is the name of a column. */
export const isColumnRef = (node: AstNode): boolean => textOf(node, 'class') === 'COLUMN_REF'

/** Replaces the content of a node in place, so that every holder of the node sees the new content. */
export const become = (node: AstNode, other: AstNode): void => {
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key)
  Object.assign(node, other)
}

const expression = (kind: string, type: string, rest: AstNode): AstNode => ({
  class: kind,
  type,
  alias: '',
  query_location: nowhere,
  ...rest,
})

/** `columnRef('t', 'a')` → the expression `t.a` */
export const columnRef = (...names: string[]): AstNode => expression('COLUMN_REF', 'COLUMN_REF', { column_names: names })

const constant = (id: string, value: AstValue): AstNode =>
  expression('CONSTANT', 'VALUE_CONSTANT', {
    value: { type: { id, type_info: null }, is_null: value === null, ...(value !== null && { value }) },
  })

/** A text as a constant: `'…'`. */
export const textConstant = (value: string): AstNode => constant('VARCHAR', value)
/** A number constant, with the type that DuckDB's parser gives to such a number. */
export const integerConstant = (value: number): AstNode =>
  constant(Math.abs(value) < 2 ** 31 ? 'INTEGER' : 'BIGINT', new NumberText(String(value)))
/** The constant NULL. */
export const nullConstant = (): AstNode => constant('NULL', null)

/** `call('upper', columnRef('a'))` */
export const call = (name: string, ...children: AstNode[]): AstNode =>
  expression('FUNCTION', 'FUNCTION', {
    function_name: name,
    schema: '',
    children,
    filter: null,
    order_bys: { type: 'ORDER_MODIFIER', orders: [] },
    distinct: false,
    is_operator: false,
    export_state: false,
    catalog: '',
  })

/** The same node under a name: `node AS alias`. The given node does not change. */
export const aliased = (alias: string, node: AstNode): AstNode => ({ ...node, alias })

/** `relation.* EXCLUDE (…)`; an empty name means all relations. @example star('t', ['id']) */
export const star = (relation: string, exclude: string[] = []): AstNode =>
  expression('STAR', 'STAR', {
    relation_name: relation,
    exclude_list: exclude,
    replace_list: [],
    columns: false,
    expr: null,
    qualified_exclude_list: [],
    rename_list: [],
  })

/** A query in a FROM: `(query) AS alias(columnAliases)`. @example subqueryRef(selectNode([star('')], table), 's') */
export const subqueryRef = (query: AstNode, alias: string, columnAliases: AstValue[] = [], sample: AstValue = null): AstNode => ({
  type: 'SUBQUERY',
  alias,
  sample,
  query_location: nowhere,
  subquery: { node: query, named_param_map: [] },
  column_name_alias: columnAliases,
})

/** `SELECT selectList FROM from WHERE where`, without grouping and order. @example selectNode([columnRef('a')], emptyRef()) */
export const selectNode = (selectList: AstNode[], from: AstNode, where: AstNode | null = null): AstNode => ({
  type: 'SELECT_NODE',
  modifiers: [],
  cte_map: { map: [] },
  select_list: selectList,
  from_table: from,
  where_clause: where,
  group_expressions: [],
  group_sets: [],
  aggregate_handling: 'STANDARD_HANDLING',
  having: null,
  sample: null,
  qualify: null,
})

/** An empty FROM. */
export const emptyRef = (): AstNode => ({ type: 'EMPTY', alias: '', sample: null, query_location: nowhere })

/** `tableFunction('read_parquet', textConstant(path))` */
export const tableFunction = (name: string, ...parameters: AstNode[]): AstNode => ({
  type: 'TABLE_FUNCTION',
  alias: '',
  sample: null,
  query_location: nowhere,
  function: call(name, ...parameters),
  column_name_alias: [],
  with_ordinality: 'WITHOUT_ORDINALITY',
})

/** All of several conditions, or null for none. */
export const allOf = (conditions: AstNode[]): AstNode | null => {
  const [first, second] = conditions
  if (second === undefined) return first ?? null
  return expression('CONJUNCTION', 'CONJUNCTION_AND', { children: conditions })
}

/** `cast(columnRef('a'), 'DOUBLE')` */
export const cast = (child: AstNode, type: string): AstNode =>
  expression('CAST', 'OPERATOR_CAST', { child, cast_type: { id: type, type_info: null }, try_cast: false })

/** The first of several values that is not NULL. */
export const coalesce = (children: AstNode[]): AstNode => expression('OPERATOR', 'OPERATOR_COALESCE', { children })

/** Whether two values are the same, NULL included. */
export const sameValue = (left: AstNode, right: AstNode): AstNode => expression('COMPARISON', 'COMPARE_NOT_DISTINCT_FROM', { left, right })

/** `left LEFT JOIN right ON condition` */
export const leftJoin = (left: AstNode, right: AstNode, condition: AstNode | null): AstNode => ({
  type: 'JOIN',
  alias: '',
  sample: null,
  query_location: nowhere,
  left,
  right,
  condition,
  join_type: 'LEFT',
  ref_type: 'REGULAR',
  using_columns: [],
  delim_flipped: false,
  duplicate_eliminated_columns: [],
})

/** The children of a node that are nodes. Each call goes one level of lists or objects deeper. */
export const childrenOf = (node: AstNode): AstNode[] => Object.values(node).flatMap(nodesIn)

const nodesIn = (value: AstValue): AstNode[] => {
  if (Array.isArray(value)) return value.flatMap(nodesIn)
  return isNode(value) ? [value] : []
}

/** Visits a node and all nodes below it, parents first; `enter` returns whether to visit the nodes below. */
export const walk = (node: AstNode, enter: (node: AstNode) => boolean): void => {
  if (!enter(node)) return
  for (const key in node) walkIn(node[key], enter)
}

const walkIn = (value: AstValue | undefined, enter: (node: AstNode) => boolean): void => {
  if (Array.isArray(value)) for (const item of value) walkIn(item, enter)
  else if (isNode(value)) walk(value, enter)
}

/** Whether a node or one below it passes a test. @example hasNode(tree, isColumnRef) // true for SELECT a */
export const hasNode = (node: AstNode, test: (node: AstNode) => boolean): boolean => {
  let isFound = false
  walk(node, (one) => {
    isFound ||= test(one)
    return !isFound
  })
  return isFound
}

/** The items of all SELECT lists of a tree: only these expressions have a printed name. */
export const selectItems = (tree: AstNode): ReadonlySet<AstNode> => {
  const items = new Set<AstNode>()
  walk(tree, (node) => {
    for (const item of nodesOf(node, 'select_list')) items.add(item)
    return true
  })
  return items
}

/** The parts of the name that a FROM gives for a table. */
export const partsOf = (ref: AstNode): string[] =>
  [textOf(ref, 'catalog_name'), textOf(ref, 'schema_name'), textOf(ref, 'table_name')].filter((part) => part !== '')

/** Whether a part of a tree is empty. */
export const isEmpty = (node: AstNode, key: string): boolean => {
  const part = node[key]
  return part === null || part === undefined || (Array.isArray(part) && part.length === 0)
}

/** Whether a query has no groups and selects rows only by WHERE. Its items may still be aggregates. */
export const showsEachRow = (select: AstNode): boolean =>
  textOf(select, 'aggregate_handling') === 'STANDARD_HANDLING' &&
  ['having', 'qualify', 'sample', 'group_expressions', 'group_sets'].every((key) => isEmpty(select, key))
