import { foldName } from '../../../../events/common.js'
import type { TableColumn } from '../../../connections/contract/requests.js'
import type { AstNode } from '../ast/json.js'
import { isColumnRef, isQuery, nodeOf, nodesOf, textOf, textsOf, walk } from '../ast/nodes.js'
import { aliasOf } from '../session/describe.js'

/** Thrown before rows are fetched for a query that may name a column which is not there: it is planned first. */
export class UnboundNames extends Error {
  constructor() {
    super('the query may name columns that are not there')
  }
}

/**
 * Whether a query names something that could only be a column of a table, which has none of that name. It may be the parameter of a
 * function, or a text in double quotes; only binding tells.
 *
 * @example mayMisname(tree, ref, columns) // true for SELECT sise FROM db.homes
 */
export const mayMisname = (select: AstNode, ref: AstNode, columns: readonly TableColumn[]): boolean => {
  const alias = foldName(aliasOf(ref))
  const isAlone = nodeOf(select, 'from_table') === ref
  const known = new Set([alias, ...columns.map(({ name }) => foldName(name))])
  for (const item of nodesOf(select, 'select_list')) known.add(foldName(textOf(item, 'alias')))
  let found = false
  walk(select, (node) => {
    // The tables of a query inside are not looked at here.
    if (node !== select && isQuery(node)) return false
    if (!isColumnRef(node)) return !found
    const [first = '', second] = textsOf(node, 'column_names').map(foldName)
    if (second === undefined) found ||= isAlone && !known.has(first)
    else found ||= first === alias && !known.has(second)
    return !found
  })
  return found
}
