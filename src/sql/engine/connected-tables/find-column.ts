import { foldName } from '../../../../events/common.js'
import type { TableColumn } from '../../../connections/contract/requests.js'
import { named } from '../../../dialect/names.js'
import type { AstNode } from '../ast/json.js'
import { isColumnRef, textsOf } from '../ast/nodes.js'

/** Finds the column that an expression names; undefined for any other expression. */
export type FindColumn = (node: AstNode) => TableColumn | undefined

/**
 * Finds columns of one table.
 *
 * @param isAlone whether a name without a table can only be one of its columns
 * @example columnsOf('h', columns, false)(tree) // the column id for h.id, and undefined for id
 */
export const columnsOf =
  (alias: string, columns: readonly TableColumn[], isAlone = true): FindColumn =>
  (node) => {
    const [first, second, more] = isColumnRef(node) ? textsOf(node, 'column_names') : []
    if (first === undefined || more !== undefined) return undefined
    if (second === undefined) return isAlone ? named(columns, first) : undefined
    return foldName(first) === foldName(alias) ? named(columns, second) : undefined
  }
