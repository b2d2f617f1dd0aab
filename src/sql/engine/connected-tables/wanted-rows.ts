import { foldName } from '../../../../events/common.js'
import type { ScanOrder, TableColumn } from '../../../connections/contract/requests.js'
import { conjuncts, isTrue } from '../ast/conditions.js'
import { NumberText, type AstNode } from '../ast/json.js'
import { isColumnRef, isEmpty, isLiteral, nodeOf, nodesOf, showsEachRow, textOf, textsOf } from '../ast/nodes.js'
import { aliasOf } from '../session/describe.js'
import { columnsOf, type FindColumn } from './find-column.js'
import { rowsWanted } from './limits-of-query.js'

/** The number of rows that a query shows of its only table. With `order` they are the first ones in this order. */
export type WantedRows = { limit: number; order?: readonly ScanOrder[] }

const isStar = (item: AstNode): boolean => textOf(item, 'class') === 'STAR'

const isPlainItem = (item: AstNode): boolean =>
  isColumnRef(item) || isLiteral(item) || (isStar(item) && isEmpty(item, 'expr') && isEmpty(item, 'replace_list'))

const noModels: ReadonlySet<AstNode> = new Set()

/**
 * Whether each row of a FROM is one row of this table: beside it the FROM has nothing, or only models that predict for each of its rows.
 */
const givesItsRows = (from: AstNode | undefined, ref: AstNode, models: ReadonlySet<AstNode>): boolean => {
  if (from === ref) return true
  const [left, right] = [from && nodeOf(from, 'left'), from && nodeOf(from, 'right')]
  if (!from || !left || !right || textOf(from, 'join_type') !== 'INNER' || textsOf(from, 'using_columns').length > 0) return false
  if (!['REGULAR', 'CROSS'].includes(textOf(from, 'ref_type')) || !conjuncts(nodeOf(from, 'condition')).every(isTrue)) return false
  return models.has(right) ? givesItsRows(left, ref, models) : models.has(left) && givesItsRows(right, ref, models)
}

/** The item that a number means, as in `ORDER BY 2`. After a `*` the places are unknown. */
const itemAt = (place: AstNode, items: readonly AstNode[]): AstNode | undefined => {
  const value = nodeOf(place, 'value')?.['value']
  return value instanceof NumberText && !items.some(isStar) ? items[Number(value.text) - 1] : undefined
}

/** The expression that is ordered by: the alias of an item means the item, also if a column has this name. */
const orderedBy = (place: AstNode, items: readonly AstNode[]): AstNode | undefined => {
  if (isLiteral(place)) return itemAt(place, items)
  const [name, more] = isColumnRef(place) ? textsOf(place, 'column_names') : []
  if (name === undefined || more !== undefined) return place
  const [named, another] = items.filter((item) => foldName(textOf(item, 'alias')) === foldName(name))
  return another ? undefined : (named ?? place)
}

/** The columns that a query orders its rows by; undefined if it orders them by anything else. */
const orderOn = (select: AstNode, modifier: AstNode, find: FindColumn): readonly ScanOrder[] | undefined => {
  const items = nodesOf(select, 'select_list')
  // The new name of a column is an alias, too.
  if (!items.every((item) => isEmpty(item, 'rename_list'))) return undefined
  const order = nodesOf(modifier, 'orders').map((place): ScanOrder | undefined => {
    const expression = orderedBy(nodeOf(place, 'expression') ?? {}, items)
    const column = expression && find(expression)
    const isDescending = textOf(place, 'type') === 'DESCENDING'
    return column && { column: column.name, isDescending, nullsFirst: textOf(place, 'null_order') === 'NULLS FIRST' }
  })
  return order.every((place) => place !== undefined) ? order : undefined
}

/**
 * The rows that a query shows of its only table, if a LIMIT alone decides how many. Undefined for any other query, and for one that orders
 * its rows by something else than the table's columns.
 *
 * @example wantedRows(tree, ref, columns) // { limit: 10, order: [id, descending] } for SELECT * FROM db.homes ORDER BY id DESC LIMIT 10
 */
export const wantedRows = (
  select: AstNode,
  ref: AstNode,
  columns: readonly TableColumn[],
  models: ReadonlySet<AstNode> = noModels,
): WantedRows | undefined => {
  const modifiers = nodesOf(select, 'modifiers')
  const order = modifiers.find((modifier) => textOf(modifier, 'type') === 'ORDER_MODIFIER')
  const modifier = modifiers.at(-1)
  if (!modifier || textOf(modifier, 'type') !== 'LIMIT_MODIFIER' || modifiers.length > (order ? 2 : 1)) return undefined
  const from = nodeOf(select, 'from_table')
  if (!givesItsRows(from, ref, models) || !nodesOf(select, 'select_list').every(isPlainItem)) return undefined
  const limit = showsEachRow(select) && isEmpty(ref, 'sample') ? rowsWanted(modifier) : undefined
  if (limit === undefined || !order) return limit === undefined ? undefined : { limit }
  const places = orderOn(select, order, columnsOf(aliasOf(ref), columns, from === ref))
  return places && { limit, order: places }
}

/** The number of rows that a query shows of its only table, if it may show any rows. */
export const limitOn = (select: AstNode, ref: AstNode, models: ReadonlySet<AstNode> = noModels): number | undefined =>
  wantedRows(select, ref, [], models)?.limit
