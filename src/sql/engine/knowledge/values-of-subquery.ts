import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { printSelect, readChecked } from '../ast/duckdb.js'
import type { AstNode } from '../ast/json.js'
import { aliased, cast, columnRef, subqueryRef } from '../ast/nodes.js'
import { describe, standalone } from '../session/describe.js'
import type { Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { running } from '../session/sources.js'

const tooMany = (most: number): Problem =>
  new Problem(
    'query_limit',
    'Too many values for a search',
    `A subquery beside content = … gives more than ${most} values (knowledgeFilterMaxValues)`,
    {
      hint: `A search compares with at most ${most} values. Narrow the subquery, or compare the found chunks: SELECT … FROM (SELECT * FROM … WHERE content = '…' LIMIT 100) AS found WHERE found.id IN (SELECT …).`,
    },
  )

/**
 * The values of a rewritten query of one column, as texts, each once and without NULL; undefined if the query cannot run by itself, for
 * example because it names columns of the query around it.
 *
 * @throws Problem query_limit for more values than a search takes
 */
export const valuesOfSubquery = async ({ connection }: Session, query: AstNode, scope: Scope): Promise<string[] | undefined> => {
  const source = subqueryRef(query, 'q', ['v'])
  const columns = await describe(connection, source, scope).catch(() => undefined)
  if (columns?.length !== 1) return undefined
  const most = limits.knowledgeFilterMaxValues
  const tree = standalone([aliased('v', cast(columnRef('q', 'v'), 'VARCHAR'))], source, null, scope)
  const text = await printSelect(connection, tree)
  const around = { before: 'SELECT DISTINCT v FROM (', after: `) AS t WHERE v IS NOT NULL LIMIT ${most + 1}` }
  const rows = await running(text, tree, () => readChecked(connection, text, around), around.before.length)
  if (rows.length > most) throw tooMany(most)
  // The values have no order of their own: a search with the same values is the same search.
  return rows.map(([value]) => String(value)).sort()
}
