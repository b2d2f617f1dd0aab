import { DuckDBTypeId, type DuckDBConnection } from '@duckdb/node-api'
import { prepareChecked, printSelect } from '../ast/checked-text.js'
import { cloneAst, type AstNode } from '../ast/json.js'
import { nodeOf, selectNode, star, textOf } from '../ast/nodes.js'
import { integerTypes } from '../../encode/integer-types.js'
import type { LeafColumn, Scope } from './scope.js'
import { withText } from './sources.js'

const times = new Set([
  DuckDBTypeId.DATE,
  DuckDBTypeId.TIMESTAMP,
  DuckDBTypeId.TIMESTAMP_S,
  DuckDBTypeId.TIMESTAMP_MS,
  DuckDBTypeId.TIMESTAMP_NS,
  DuckDBTypeId.TIMESTAMP_TZ,
])
const numbers = new Set([...integerTypes, DuckDBTypeId.HUGEINT, DuckDBTypeId.UHUGEINT, DuckDBTypeId.DOUBLE, DuckDBTypeId.DECIMAL])

const kindOf = (type: DuckDBTypeId): LeafColumn['kind'] => {
  if (numbers.has(type)) return 'number'
  if (type === DuckDBTypeId.FLOAT) return 'float'
  if (times.has(type)) return 'time'
  return type === DuckDBTypeId.BOOLEAN ? 'boolean' : 'text'
}

/** A separate query over a table of another query, with the CTEs that are visible there. */
export const standalone = (items: AstNode[], ref: AstNode, where: AstNode | null, scope: Pick<Scope, 'entries'>): AstNode => ({
  ...selectNode(items.map(cloneAst), cloneAst(ref), where && cloneAst(where)),
  cte_map: { map: scope.entries.map(cloneAst) },
})

/** Names and kinds of the columns of a query over a table. The query is planned but not run. */
export const describe = async (
  connection: DuckDBConnection,
  ref: AstNode,
  scope: Pick<Scope, 'entries'>,
  items: AstNode[] = [star('')],
): Promise<LeafColumn[]> => {
  const tree = standalone(items, ref, null, scope)
  const text = await printSelect(connection, tree)
  const prepared = await withText(text, tree, () => prepareChecked(connection, text))
  try {
    return Array.from({ length: prepared.columnCount }, (_, i) => ({
      name: prepared.columnName(i),
      kind: kindOf(prepared.columnTypeId(i)),
    }))
  } finally {
    prepared.destroySync()
  }
}

/** The name of a table in a FROM. */
export const aliasOf = (ref: AstNode): string => {
  const called = nodeOf(ref, 'function')
  return textOf(ref, 'alias') || textOf(ref, 'table_name') || (called ? textOf(called, 'function_name') : '')
}
