import { foldName } from '../../../events/common.js'
import type { Leaf } from '../scope.js'

/** Whether a name of one or two parts is that of a table's column. */
export const isColumnOf = (leaf: Leaf, names: string[]): boolean => {
  const has = (name: string | undefined) => name !== undefined && leaf.columns.some((column) => foldName(column.name) === foldName(name))
  return names.length > 1 && foldName(names[0] ?? '') === foldName(leaf.alias) ? has(names[1]) : has(names[0])
}
