import { foldName } from '../../../../events/common.js'
import type { Aggregate, TableColumn } from '../../../connections/contract/requests.js'
import { NumberText, type AstNode } from '../ast/json.js'
import { become, columnRef, isColumnRef, isLiteral, listOf, nodeOf, nodesOf, textOf, textsOf, walk } from '../ast/nodes.js'
import { named } from '../../../dialect/names.js'

/** Groups of a table and the aggregates of each group. `apply` makes the query read them from a table that holds both. */
export type Grouping = { groups: readonly string[]; aggregates: readonly Aggregate[]; apply: () => void }

const known: Readonly<Record<string, Aggregate['function']>> = { count_star: 'count', count: 'count', min: 'min', max: 'max', sum: 'sum' }

type Table = { alias: string; columns: readonly TableColumn[] }

const columnOf = ({ alias, columns }: Table, node: AstNode): TableColumn | undefined => {
  const [first = '', second, more] = isColumnRef(node) ? textsOf(node, 'column_names') : []
  if (more !== undefined || (second !== undefined && foldName(first) !== foldName(alias))) return undefined
  return named(columns, second ?? first)
}

/** The function and the column of `sum(size)`; undefined for any other expression, and for one with more parts. */
const aggregateOf = (table: Table, node: AstNode): Omit<Aggregate, 'as'> | undefined => {
  const name = textOf(node, 'class') === 'FUNCTION' && textOf(node, 'schema') === '' ? known[textOf(node, 'function_name')] : undefined
  if (name === undefined || node['distinct'] === true || nodeOf(node, 'filter')) return undefined
  if (nodesOf(nodeOf(node, 'order_bys') ?? {}, 'orders').length > 0) return undefined
  const [child, more] = nodesOf(node, 'children')
  if (!child) return name === 'count' ? { function: name } : undefined
  const column = more ? undefined : columnOf(table, child)
  return column && { function: name, column: column.name }
}

/** The expression that a GROUP BY means: the item of the list with this number, or the expression itself. */
const groupExpression = (node: AstNode, items: readonly AstNode[]): AstNode | undefined => {
  const value = isLiteral(node) ? nodeOf(node, 'value')?.['value'] : undefined
  if (value === undefined) return node
  return value instanceof NumberText ? items[Number(value.text) - 1] : undefined
}

const groupsOf = (table: Table, select: AstNode): TableColumn[] | undefined => {
  const sets = listOf(select, 'group_sets')
  if (sets.length > 1 || textOf(select, 'aggregate_handling') !== 'STANDARD_HANDLING') return undefined
  const items = nodesOf(select, 'select_list')
  const groups = nodesOf(select, 'group_expressions').map((node) => {
    const expression = groupExpression(node, items)
    return expression && columnOf(table, expression)
  })
  return groups.every((group) => group !== undefined) ? groups : undefined
}

/** Finds the aggregates of an expression; undefined when a part of the expression needs the rows themselves. */
const findAggregates = (
  table: Table,
  groups: readonly TableColumn[],
  names: ReadonlySet<string>,
  expression: AstNode,
): AstNode[] | undefined => {
  const found: AstNode[] = []
  let unknown = 0
  walk(expression, (node) => {
    if (aggregateOf(table, node)) {
      found.push(node)
      return false
    }
    const kind = textOf(node, 'class')
    const isOther =
      ['SUBQUERY', 'WINDOW', 'LAMBDA', 'STAR', 'PARAMETER', 'POSITIONAL_REFERENCE'].includes(kind) ||
      (kind === 'FUNCTION' && node['is_operator'] !== true)
    const [name = '', more] = isColumnRef(node) ? textsOf(node, 'column_names') : []
    const isOwnName = more === undefined && names.has(foldName(name))
    const column = isColumnRef(node) ? columnOf(table, node) : undefined
    if (isOther || (isColumnRef(node) && !isOwnName && !(column && groups.includes(column)))) unknown += 1
    return unknown === 0
  })
  return unknown === 0 ? found : undefined
}

/**
 * The groups and aggregates that a query over one table needs; undefined when it needs the rows. Whether the database counts as DuckDB does
 * is another question: see `canAggregate`.
 *
 * @example groupedIn(tree, 'homes', columns)?.aggregates // [{ function: 'sum', column: 'size', as: 'ledger_0' }]
 */
export const groupedIn = (select: AstNode, alias: string, columns: readonly TableColumn[]): Grouping | undefined => {
  const table = { alias, columns }
  const groups = groupsOf(table, select)
  if (!groups || nodeOf(select, 'qualify') || nodeOf(select, 'sample')) return undefined
  const items = nodesOf(select, 'select_list')
  const having = nodeOf(select, 'having')
  const none: ReadonlySet<string> = new Set()
  const names = new Set(items.map((item) => foldName(textOf(item, 'alias'))).filter((name) => name !== ''))
  const inItems = items.map((item) => findAggregates(table, groups, none, item))
  const behind = [...(having ? [having] : []), ...nodesOf(select, 'modifiers')].map((node) => findAggregates(table, groups, names, node))
  const parts = [...inItems, ...behind]
  if (!parts.every((part) => part !== undefined)) return undefined
  const calls = parts.flat()
  // Without groups and without aggregates this is a query of rows.
  if (calls.length === 0) return undefined
  const aggregates = calls.map((node, i) => ({ function: 'count' as const, ...aggregateOf(table, node), as: `ledger_${i}` }))
  return {
    groups: [...new Set(groups.map(({ name }) => name))],
    aggregates,
    apply: () => {
      calls.forEach((node, i) => become(node, { ...columnRef(`ledger_${i}`), alias: textOf(node, 'alias') }))
      Object.assign(select, { group_expressions: [], group_sets: [], having: null, where_clause: having ?? null })
    },
  }
}
