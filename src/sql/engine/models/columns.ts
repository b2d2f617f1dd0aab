import { foldName } from '../../../../events/common.js'
import { readsOf } from '../ast/conditions.js'
import type { AstNode } from '../ast/json.js'
import { textOf, textsOf } from '../ast/nodes.js'
import { named } from '../../../dialect/names.js'
import type { Leaf } from '../session/scope.js'

/** A model beside the tables, under its name in the query. */
type Beside = { alias: string }

/**
 * Whether a name of one or two parts is the name of a table's column. The first of two parts may be a column that has fields, but not if
 * it names a model: in `rent.rent` the model `rent` comes before a column `rent`.
 */
export const isColumnOf = (leaf: Leaf, names: string[], models: readonly Beside[] = []): boolean => {
  const [first = '', second] = names
  const has = (name: string) => named(leaf.columns, name) !== undefined
  if (second === undefined) return has(first)
  if (foldName(first) === foldName(leaf.alias)) return has(second)
  return has(first) && !models.some(({ alias }) => foldName(alias) === foldName(first))
}

/** The name of an item of a SELECT list in the answer: its alias, or the name of its column. */
export const nameOfItem = (item: AstNode): string => textOf(item, 'alias') || (textsOf(item, 'column_names').at(-1) ?? '')

/** Whether an expression reads columns of these tables, and nothing else that may change. */
export const readsOnly = (expression: AstNode, leaves: readonly Leaf[], models: readonly Beside[] = []): boolean => {
  const { columns, opaque } = readsOf(expression)
  return !opaque && columns.every((names) => leaves.some((leaf) => isColumnOf(leaf, names, models)))
}
