import { foldName } from '../../../../events/common.js'
import type { Constant } from '../../../connections/contract/requests.js'
import { isTime } from '../../../connections/pushdown/dialect.js'
import { printSelect, readChecked } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import { aliased, emptyRef, isColumnRef, isLiteral, nodeOf, selectNode, textOf, textsOf, walk } from '../ast/nodes.js'
import { expressionTemplate } from '../ast/templates.js'
import type { Session } from '../session/session.js'

/** Values of expressions without columns. A filter may compare a column with them. */
export type FoldedTimes = ReadonlyMap<AstNode, Constant>

/** Functions that give the time of a query. The time is the same in the whole query. */
const nows = new Set([
  ...['now', 'current_timestamp', 'get_current_timestamp', 'transaction_timestamp', 'current_date', 'today', 'current_localtimestamp'],
])

/** Functions that compute other times from the time of a query. */
const steady = new Set([
  ...['to_years', 'to_months', 'to_weeks', 'to_days', 'to_hours', 'to_minutes', 'to_seconds', 'date_trunc', 'trunc', '+', '-', '*'],
])

/** Words without brackets. They mean columns where a table has such columns. */
const words = new Set(['current_date', 'current_timestamp', 'localtimestamp'])

/** Whether a column has the name of such a word. The word then means the column. */
export const namesWord = (columns: readonly { name: string }[]): boolean => columns.some(({ name }) => words.has(foldName(name)))

const isWord = (node: AstNode): boolean => {
  const [name = '', more] = isColumnRef(node) ? textsOf(node, 'column_names') : []
  return more === undefined && words.has(foldName(name))
}

const isSteady = (expression: AstNode, takesWords: boolean): boolean => {
  let [found, others] = [0, 0]
  walk(expression, (node) => {
    const kind = textOf(node, 'class')
    const name = kind === 'FUNCTION' ? textOf(node, 'function_name') : ''
    if (nows.has(name) || (takesWords && isWord(node))) found += 1
    else if (!steady.has(name) && kind !== '' && kind !== 'CAST' && !isLiteral(node)) others += 1
    return others === 0
  })
  return found > 0 && others === 0
}

/**
 * Computes the times that WHERE compares columns with, such as `now() - INTERVAL 7 DAY`. DuckDB computes them in the transaction of the
 * query, where they do not change. A time that cannot be computed stays in the query, because the query may not need it.
 *
 * @param takesWords whether `current_date` cannot be a column there
 * @example (await foldTimes(session, select, true)).get(expression) // { type: 'DATE', value: '2026-01-24' } for current_date - 7
 */
export const foldTimes = async ({ connection }: Session, select: AstNode, takesWords: boolean): Promise<FoldedTimes> => {
  const found: AstNode[] = []
  const where = nodeOf(select, 'where_clause')
  if (where)
    walk(where, (node) => {
      const isFound = isSteady(node, takesWords)
      if (isFound) found.push(node)
      return !isFound
    })
  const folded = new Map<AstNode, Constant>()
  if (found.length === 0) return folded
  const items: AstNode[] = []
  for (const [i, value] of found.entries()) items.push(aliased(`v${i}`, await expressionTemplate(connection, 'TRY($value)', { value })))
  const text = await printSelect(connection, selectNode(items, emptyRef()))
  const both = found.map((_, i) => `typeof(v${i}), CAST(v${i} AS VARCHAR)`).join(', ')
  const [row = []] = await readChecked(connection, text, { before: `SELECT ${both} FROM (`, after: ') AS t' })
  found.forEach((node, i) => {
    const [type, value] = [String(row[2 * i]), row[2 * i + 1]]
    if (isTime({ type }) && typeof value === 'string') folded.set(node, { type: type as Constant['type'], value })
  })
  return folded
}
