import { foldName } from '../../../../events/common.js'
import { readsOf } from '../ast/conditions.js'
import type { AstNode } from '../ast/json.js'
import { textOf, textsOf } from '../ast/nodes.js'
import { named } from '../../../dialect/names.js'
import type { Leaf } from '../session/scope.js'

/** Whether a name of one or two parts is the name of a table's column. */
export const isColumnOf = (leaf: Leaf, names: string[]): boolean => {
  const has = (name: string | undefined) => name !== undefined && named(leaf.columns, name) !== undefined
  return names.length > 1 && foldName(names[0] ?? '') === foldName(leaf.alias) ? has(names[1]) : has(names[0])
}

/** The name of an item of a SELECT list in the answer: its alias, or the name of its column. */
export const nameOfItem = (item: AstNode): string => textOf(item, 'alias') || (textsOf(item, 'column_names').at(-1) ?? '')

/** Whether an expression reads columns of these tables, and nothing else that may change. */
export const readsOnly = (expression: AstNode, leaves: readonly Leaf[]): boolean => {
  const { columns, opaque } = readsOf(expression)
  return !opaque && columns.every((names) => leaves.some((leaf) => isColumnOf(leaf, names)))
}
