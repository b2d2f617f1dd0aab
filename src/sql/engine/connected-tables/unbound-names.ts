import { foldName } from '../../../../events/common.js'
import type { TableColumn } from '../../../connections/contract/requests.js'
import type { AstNode } from '../ast/json.js'
import { isColumnRef, isQuery, nodeOf, nodesOf, textOf, textsOf, walk } from '../ast/nodes.js'
import { aliasOf } from '../session/describe.js'

/**
 * The names in a query, folded, that could only be columns of a table, but the table has no such column. Such a name may also be the
 * parameter of a function, or a text in double quotes. Only the binding of names decides this.
 *
 * @example misnamed(tree, ref, columns) // Set { 'sise' } for SELECT sise FROM db.homes
 */
export const misnamed = (select: AstNode, ref: AstNode, columns: readonly TableColumn[]): ReadonlySet<string> => {
  const alias = foldName(aliasOf(ref))
  const isAlone = nodeOf(select, 'from_table') === ref
  const known = new Set([alias, ...columns.map(({ name }) => foldName(name))])
  for (const item of nodesOf(select, 'select_list')) known.add(foldName(textOf(item, 'alias')))
  const found = new Set<string>()
  walk(select, (node) => {
    // This function does not look at the tables of inner queries.
    if (node !== select && isQuery(node)) return false
    const [first, second] = isColumnRef(node) ? textsOf(node, 'column_names').map(foldName) : []
    const name = second === undefined ? (isAlone ? first : undefined) : first === alias ? second : undefined
    if (name !== undefined && !known.has(name)) found.add(name)
    return true
  })
  return found
}
