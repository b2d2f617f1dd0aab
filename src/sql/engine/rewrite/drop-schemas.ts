import { foldName } from '../../../../events/common.js'
import type { AstNode } from '../ast/json.js'
import { isColumnRef, isQuery, nodeOf, partsOf, textOf, textsOf, walk } from '../ast/nodes.js'

/** `SELECT shop.skills.name FROM shop.skills`: after the rewriting, the table has only its own name. */
export const dropSchemas = (node: AstNode): void => {
  const from = nodeOf(node, 'from_table')
  const paths: string[][] = []
  if (from)
    walk(from, (ref) => {
      if (textOf(ref, 'type') === 'BASE_TABLE' && textOf(ref, 'schema_name') !== '' && textOf(ref, 'alias') === '')
        paths.push(partsOf(ref).map(foldName))
      return !isQuery(ref)
    })
  if (paths.length === 0) return
  walk(node, (column) => {
    if (!isColumnRef(column)) return true
    const names = textsOf(column, 'column_names')
    const path = paths.find((parts) => names.length > parts.length && parts.every((part, i) => part === foldName(names[i] ?? '')))
    if (path) column['column_names'] = names.slice(path.length - 1)
    return true
  })
}
