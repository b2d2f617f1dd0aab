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
  let all = false
  walk(query, (node) => {
    if (isColumnRef(node)) for (const name of textsOf(node, 'column_names')) written.add(foldName(name))
    for (const name of textsOf(node, 'using_columns')) written.add(foldName(name))
    const relation = textOf(node, 'relation_name')
    const isStar = textOf(node, 'class') === 'STAR' && (relation === '' || foldName(relation) === foldName(alias))
    all ||= isStar || textOf(node, 'type') === 'PIVOT' || textOf(node, 'ref_type') === 'NATURAL'
    return !all
  })
  all ||= written.has(foldName(alias))
  return all ? columns : columns.filter(({ name }) => written.has(foldName(name)))
}
