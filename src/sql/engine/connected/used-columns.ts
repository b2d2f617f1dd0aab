import { foldName } from '../../../../events/common.js'
import type { AstNode } from '../ast/json.js'
import { isColumnRef, textOf, textsOf, walk } from '../ast/nodes.js'

/**
 * The columns of a table that a query may use: those whose names stand anywhere in it; all of them where a `*`, a PIVOT or the table's own
 * name as a value does. A column too many only takes longer.
 *
 * @example usedColumns(tree, 't', ['id', 'size', 'rent']) // ['size'] for SELECT t.size FROM db.homes AS t
 */
export const usedColumns = <T extends { name: string }>(query: AstNode, alias: string, columns: readonly T[]): readonly T[] => {
  const written = new Set<string>()
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
    all ||= isStar || textOf(node, 'type') === 'PIVOT' || textOf(node, 'ref_type') === 'NATURAL'
    return !all
  })
  return all ? columns : columns.filter(({ name }) => written.has(foldName(name)))
}
