import { foldName } from '../../../../events/common.js'
import type { AstNode } from '../ast/json.js'
import { isColumnRef, textOf, textsOf, walk } from '../ast/nodes.js'

const none: ReadonlySet<string> = new Set()

/**
 * The columns of a table that a query may use: those whose names stand anywhere in it, or are taken by a model beside it; all of them where
 * a `*`, a PIVOT, the place of a column (`#1`) or the table's own name as a value does. A column too many only takes longer.
 *
 * @param taken the names, folded, that models and agents take without the query naming them
 * @example usedColumns(tree, 't', ['id', 'size', 'rent']) // ['size'] for SELECT t.size FROM db.homes AS t
 */
export const usedColumns = <T extends { name: string }>(
  query: AstNode,
  alias: string,
  columns: readonly T[],
  taken: ReadonlySet<string> = none,
): readonly T[] => {
  const written = new Set(taken)
  let all = false as boolean
  walk(query, (node) => {
    if (isColumnRef(node)) {
      const names = textsOf(node, 'column_names').map(foldName)
      for (const name of names) written.add(name)
      all ||= names.length === 1 && names[0] === foldName(alias)
    }
    for (const name of textsOf(node, 'using_columns')) written.add(foldName(name))
    const relation = textOf(node, 'relation_name')
    const isStar = textOf(node, 'class') === 'STAR' && (relation === '' || foldName(relation) === foldName(alias))
    const isPlace = textOf(node, 'class') === 'POSITIONAL_REFERENCE'
    all ||= isStar || isPlace || textOf(node, 'type') === 'PIVOT' || textOf(node, 'ref_type') === 'NATURAL'
    return !all
  })
  return all ? columns : columns.filter(({ name }) => written.has(foldName(name)))
}
