import { foldName } from '../../../../events/common.js'
import { readsOf } from '../ast/conditions.js'
import { cloneAst, type AstNode } from '../ast/json.js'
import { isColumnRef, isEmpty, nodeOf, nodesOf, selectNode, showsEachRow, star, subqueryRef, textOf, textsOf, walk } from '../ast/nodes.js'
import type { Leaf } from '../session/scope.js'
import type { Mapping } from './mapping.js'
import { isColumnOf, nameOfItem, type ModelUse } from './references.js'

/** Whether an item has one value for each row: a column, or operators on columns. A function's name does not show whether it has. */
const isPlain = (item: AstNode): boolean => {
  let plain = true
  walk(item, (node) => {
    const kind = textOf(node, 'class')
    const isFunction = kind === 'FUNCTION' && node['is_operator'] !== true
    if (isFunction || ['WINDOW', 'SUBQUERY', 'LAMBDA'].includes(kind)) plain = false
    return plain
  })
  return plain
}

/** Whether an item is the table's column of the item's own name, or an input that takes its value from that column. */
const isColumnItself = (item: AstNode, leaf: Leaf, joined: readonly { use: ModelUse; mapping: Mapping }[]): boolean => {
  if (!isColumnRef(item)) return false
  const names = textsOf(item, 'column_names')
  const [table = '', column] = names
  const of = column === undefined ? undefined : joined.find(({ use }) => foldName(use.alias) === foldName(table))
  const source = of ? of.mapping.inputs.get(column ?? '') : item
  if (!source || !isColumnRef(source)) return false
  const path = textsOf(source, 'column_names')
  return isColumnOf(leaf, path) && foldName(path.at(-1) ?? '') === foldName(nameOfItem(item))
}

/** The names that an item gives to values of the answer. A star has those of REPLACE and RENAME; its other names are the table's own. */
const namesGiven = (item: AstNode): string[] =>
  textOf(item, 'class') === 'STAR'
    ? [
        ...nodesOf(item, 'replace_list').map((one) => textOf(one, 'key')),
        ...nodesOf(item, 'rename_list').map((one) => textOf(one, 'value')),
      ]
    : [nameOfItem(item)]

/** Whether a query only shows rows of its table, in the order of the table's own columns and with a LIMIT. */
const takesFirstRows = (select: AstNode, leaf: Leaf, models: readonly ModelUse[], isSame: (item: AstNode) => boolean): boolean => {
  const modifiers = nodesOf(select, 'modifiers')
  const [order, limit, more] = modifiers
  if (!order || !limit || more || textOf(order, 'type') !== 'ORDER_MODIFIER' || textOf(limit, 'type') !== 'LIMIT_MODIFIER') return false
  if (nodeOf(limit, 'offset') || !nodeOf(limit, 'limit') || readsOf(limit).columns.length > 0) return false
  if (!showsEachRow(select) || !isEmpty(select, 'where_clause')) return false
  const items = nodesOf(select, 'select_list')
  // If an item has the name of a column, ORDER BY means the item.
  const aliases = new Set(
    items
      .filter((item) => !isSame(item))
      .flatMap(namesGiven)
      .map(foldName),
  )
  const isOwn = (names: string[]) => isColumnOf(leaf, names, models) && (names.length > 1 || !aliases.has(foldName(names[0] ?? '')))
  const orders = nodesOf(order, 'orders').map((one) => nodeOf(one, 'expression') ?? {})
  return (
    items.every(isPlain) &&
    orders.every((expression) => {
      const { columns, opaque } = readsOf(expression)
      return !opaque && columns.length > 0 && columns.every(isOwn) && isPlain(expression)
    })
  )
}

/**
 * The rows of a table that a query shows. `ORDER BY a LIMIT 10` over a column of the table picks them before the model runs. Otherwise
 * DuckDB would run the model for all rows.
 */
export const firstRows = (
  select: AstNode,
  leaf: Leaf,
  where: AstNode | null,
  joined: readonly { use: ModelUse; mapping: Mapping }[],
): { table: AstNode; where: AstNode | null } => {
  const models = joined.map(({ use }) => use)
  if (!takesFirstRows(select, leaf, models, (item) => isColumnItself(item, leaf, joined))) return { table: leaf.ref, where }
  const first = { ...selectNode([star('')], leaf.ref, where), modifiers: nodesOf(select, 'modifiers').map(cloneAst) }
  return { table: subqueryRef(first, leaf.alias), where: null }
}
