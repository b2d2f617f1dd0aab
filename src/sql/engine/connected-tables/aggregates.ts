import { foldName } from '../../../../events/common.js'
import type { Aggregate, TableColumn } from '../../../connections/contract/requests.js'
import { isInteger } from '../../../connections/pushdown/dialect.js'
import { NumberText, type AstNode } from '../ast/json.js'
import {
  become,
  call,
  cast,
  columnRef,
  hasNode,
  isColumnRef,
  isLiteral,
  listOf,
  nodeOf,
  nodesOf,
  textOf,
  textsOf,
  walk,
} from '../ast/nodes.js'
import type { FindColumn } from './find-column.js'

/** Groups of a table and the aggregates of each group. `apply` makes the query read them from a table that holds both. */
export type Grouping = { groups: readonly string[]; aggregates: readonly Aggregate[]; apply: () => void }

/** The aggregates that a database may compute, each with the functions of the database that its value needs. */
const known: ReadonlyMap<string, readonly Aggregate['function'][]> = new Map([
  ['count_star', ['count']],
  ['count', ['count']],
  ['min', ['min']],
  ['max', ['max']],
  ['sum', ['sum']],
  // The databases round a mean in their own ways. The sum of whole numbers is exact everywhere.
  ['avg', ['sum', 'count']],
])

const functionsOf = (node: AstNode): readonly Aggregate['function'][] | undefined =>
  textOf(node, 'class') === 'FUNCTION' && textOf(node, 'schema') === '' ? known.get(textOf(node, 'function_name')) : undefined

type SentAggregate = Omit<Aggregate, 'as'>

/** The functions and the column of `sum(size)`; undefined for any other expression, and for one with more parts. */
const aggregatesOf = (find: FindColumn, node: AstNode): readonly SentAggregate[] | undefined => {
  const functions = functionsOf(node)
  if (!functions || nodeOf(node, 'filter')) return undefined
  if (nodesOf(nodeOf(node, 'order_bys') ?? {}, 'orders').length > 0) return undefined
  const [child, more] = nodesOf(node, 'children')
  const isCount = functions[0] === 'count'
  if (!child) return isCount ? [{ function: 'count' }] : undefined
  const column = more ? undefined : find(child)
  if (!column || (functions.length > 1 && !isInteger(column.type))) return undefined
  if (node['distinct'] !== true) return functions.map((name) => ({ function: name, column: column.name }))
  return isCount ? [{ function: 'count', column: column.name, isDistinct: true }] : undefined
}

/** The value of an aggregate, from the columns that the database computed for it. */
const valueOf = ([first = '', count]: readonly string[]): AstNode =>
  count === undefined ? columnRef(first) : { ...call('/', cast(columnRef(first), 'DOUBLE'), columnRef(count)), is_operator: true }

/** The parts of a query behind its WHERE and its groups, where names may be aliases of items. */
export const partsBehind = (select: AstNode): AstNode[] => {
  const having = nodeOf(select, 'having')
  return [...(having ? [having] : []), ...nodesOf(select, 'modifiers')]
}

/** Whether a query has an aggregate that a database may compute. Its columns need not be known. */
export const hasAggregates = (select: AstNode): boolean =>
  [...nodesOf(select, 'select_list'), ...partsBehind(select)].some((part) => hasNode(part, (node) => functionsOf(node) !== undefined))

/** The expression that a GROUP BY means: the item of the list with this number, or the expression itself. */
const groupExpression = (node: AstNode, items: readonly AstNode[]): AstNode | undefined => {
  const value = isLiteral(node) ? nodeOf(node, 'value')?.['value'] : undefined
  if (value === undefined) return node
  return value instanceof NumberText ? items[Number(value.text) - 1] : undefined
}

const groupsOf = (find: FindColumn, select: AstNode): TableColumn[] | undefined => {
  const sets = listOf(select, 'group_sets')
  if (sets.length > 1 || textOf(select, 'aggregate_handling') !== 'STANDARD_HANDLING') return undefined
  const items = nodesOf(select, 'select_list')
  const groups = nodesOf(select, 'group_expressions').map((node) => {
    const expression = groupExpression(node, items)
    return expression && find(expression)
  })
  return groups.every((group) => group !== undefined) ? groups : undefined
}

/** The columns of `SELECT DISTINCT a, b`, whose rows are the groups of these columns; none for another query. */
const distinctColumns = (find: FindColumn, select: AstNode): TableColumn[] => {
  const distinct = nodesOf(select, 'modifiers').find((modifier) => textOf(modifier, 'type') === 'DISTINCT_MODIFIER')
  if (!distinct || nodesOf(distinct, 'distinct_on_targets').length > 0) return []
  const columns = nodesOf(select, 'select_list').map(find)
  return columns.every((column) => column !== undefined) ? columns : []
}

/** Finds the aggregates of an expression; undefined when a part of the expression needs the rows themselves. */
const findAggregates = (
  find: FindColumn,
  groups: readonly TableColumn[],
  names: ReadonlySet<string>,
  expression: AstNode,
): AstNode[] | undefined => {
  const found: AstNode[] = []
  let unknown = 0
  walk(expression, (node) => {
    if (aggregatesOf(find, node)) {
      found.push(node)
      return false
    }
    const kind = textOf(node, 'class')
    const isOther =
      ['SUBQUERY', 'WINDOW', 'LAMBDA', 'STAR', 'PARAMETER', 'POSITIONAL_REFERENCE'].includes(kind) ||
      (kind === 'FUNCTION' && node['is_operator'] !== true)
    const [name = '', more] = isColumnRef(node) ? textsOf(node, 'column_names') : []
    const isOwnName = more === undefined && names.has(foldName(name))
    const column = find(node)
    if (isOther || (isColumnRef(node) && !isOwnName && !(column && groups.includes(column)))) unknown += 1
    return unknown === 0
  })
  return unknown === 0 ? found : undefined
}

/**
 * The groups and aggregates that a query needs of the columns that `find` finds; undefined when it needs the rows. Whether the database
 * counts as DuckDB does is another question: see `canAggregate`.
 *
 * @example groupedIn(tree, columnsOf('homes', columns))?.aggregates // [{ function: 'sum', column: 'size', as: 'ledger_0' }]
 */
export const groupedIn = (select: AstNode, find: FindColumn): Grouping | undefined => {
  const named = groupsOf(find, select)
  const groups = named?.length === 0 ? distinctColumns(find, select) : named
  if (!groups || nodeOf(select, 'qualify') || nodeOf(select, 'sample')) return undefined
  const items = nodesOf(select, 'select_list')
  const having = nodeOf(select, 'having')
  const none: ReadonlySet<string> = new Set()
  const names = new Set(items.map((item) => foldName(textOf(item, 'alias'))).filter((name) => name !== ''))
  const inItems = items.map((item) => findAggregates(find, groups, none, item))
  const behind = partsBehind(select).map((node) => findAggregates(find, groups, names, node))
  const parts = [...inItems, ...behind]
  if (!parts.every((part) => part !== undefined)) return undefined
  const calls = parts.flat()
  // Without groups and without aggregates this is a query of rows.
  if (calls.length + groups.length === 0) return undefined
  // With DISTINCT alone, an aggregate is about all rows, and not about the rows of a value.
  if (named?.length === 0 && groups.length > 0 && (having || calls.length > 0)) return undefined
  const aggregates: Aggregate[] = []
  const send = (aggregate: SentAggregate): string => {
    const as = `ledger_${aggregates.length}`
    aggregates.push({ ...aggregate, as })
    return as
  }
  const values = calls.map((node) => valueOf((aggregatesOf(find, node) ?? []).map(send)))
  // Groups alone are sent with a number that nobody reads.
  if (calls.length === 0) send({ function: 'count' })
  return {
    groups: [...new Set(groups.map(({ name }) => name))],
    aggregates,
    apply: () => {
      for (const [i, value] of values.entries()) become(calls[i] ?? {}, { ...value, alias: textOf(calls[i] ?? {}, 'alias') })
      Object.assign(select, { group_expressions: [], group_sets: [], having: null, where_clause: having ?? null })
    },
  }
}
