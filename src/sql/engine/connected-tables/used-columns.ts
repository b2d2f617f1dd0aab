import { foldName } from '../../../../events/common.js'
import type { AstNode } from '../ast/json.js'
import { isColumnRef, isQuery, textOf, textsOf, walk } from '../ast/nodes.js'

const none: ReadonlySet<string> = new Set()

/**
 * The columns of a table that a query may use: a column whose name stands anywhere in the query, or that a model beside the table takes.
 * The result is all columns if the query has a `*`, a PIVOT, the place of a column (`#1`) or the table's own name as a value, or if the
 * names of two columns differ only in case. A column too many costs only time.
 *
 * @param taken the names, folded, of columns that models and agents take although the query does not name them
 * @example usedColumns(tree, 't', ['id', 'size', 'rent']) // ['size'] for SELECT t.size FROM db.homes AS t
 */
export const usedColumns = <T extends { name: string }>(
  query: AstNode,
  alias: string,
  columns: readonly T[],
  taken: ReadonlySet<string> = none,
): readonly T[] => {
  const folded = columns.map(({ name }) => foldName(name))
  const written = new Set(taken)
  let all = new Set(folded).size < folded.length
  const visit = (node: AstNode, isNested: boolean): void =>
    walk(node, (each) => {
      if (each !== node && isQuery(each)) {
        visit(each, true)
        return false
      }
      if (isColumnRef(each)) {
        const names = textsOf(each, 'column_names').map(foldName)
        for (const name of names) written.add(name)
        all ||= names.length === 1 && names[0] === foldName(alias)
      }
      for (const name of textsOf(each, 'using_columns')) written.add(foldName(name))
      all ||= takesAll(each, alias, isNested)
      return !all
    })
  visit(query, false)
  return all ? columns : columns.filter((_, i) => written.has(folded[i] ?? ''))
}

/** Whether a node may stand for any column. An inner query that takes all columns takes those of its own tables. */
const takesAll = (node: AstNode, alias: string, isNested: boolean): boolean => {
  const kind = textOf(node, 'class')
  const relation = textOf(node, 'relation_name')
  if (kind === 'STAR' && foldName(relation) === foldName(alias)) return true
  if (isNested) return false
  const isAny = (kind === 'STAR' && relation === '') || kind === 'POSITIONAL_REFERENCE'
  return isAny || textOf(node, 'type') === 'PIVOT' || textOf(node, 'ref_type') === 'NATURAL'
}
