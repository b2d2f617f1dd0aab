import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { printSelect, readChecked } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import { aliased, cast, columnRef, hasNode, isReference, subqueryRef, textOf } from '../ast/nodes.js'
import { isDrawn } from '../read/nondeterminism.js'
import { describe, standalone } from '../session/describe.js'
import type { LeafColumn, Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { withText } from '../session/sources.js'
import type { SubqueryFilter } from './search-terms.js'

/** A query in WHERE, and the kind of the column that it is compared with. */
export type ComparedSubquery = Pick<SubqueryFilter, 'op' | 'query'> & Pick<LeafColumn, 'kind'>

const tooMany = (most: number): Problem =>
  new Problem(
    'query_limit',
    'Too many values for a search',
    `A subquery beside content = … gives more than ${most} values (knowledgeFilterMaxValues)`,
    {
      hint: `A search compares with at most ${most} values. Narrow the subquery, or compare the found chunks: SELECT … FROM (SELECT * FROM … WHERE content = '…' LIMIT 100) AS found WHERE found.id IN (SELECT …).`,
    },
  )

const readsTable = (tree: AstNode, name: string): boolean =>
  hasNode(tree, (node) => isReference(node) && textOf(node, 'table_name') === name)

/** The query and the CTEs that it reads, including those that only another CTE reads. A CTE sees only the CTEs before it. */
const partsOfQuery = (query: AstNode, entries: readonly AstNode[]): AstNode[] =>
  entries.reduceRight((parts, entry) => (parts.some((part) => readsTable(part, textOf(entry, 'key'))) ? [...parts, entry] : parts), [query])

/**
 * The values of a rewritten query of one column, as texts, each once and without NULL. They are undefined if a search must not be narrowed
 * by them: the query needs the query around it, may draw other rows in the next round of the statement, has another kind of values than
 * the column, which DuckDB would convert before it compares, or gives too many values for NOT IN.
 *
 * @example await valuesOfSubquery(session, { query, op: 'in', kind: 'text' }, scope) // ['a', 'b']
 * @throws Problem query_limit for IN with more values than a search takes
 */
export const valuesOfSubquery = async (
  { connection }: Session,
  { query, op, kind }: ComparedSubquery,
  scope: Scope,
): Promise<string[] | undefined> => {
  if (partsOfQuery(query, scope.entries).some(isDrawn)) return undefined
  const source = subqueryRef(query, 'q', ['v'])
  const columns = await describe(connection, source, scope).catch(() => undefined)
  if (columns?.length !== 1 || columns[0]?.kind !== kind) return undefined
  const most = limits.knowledgeFilterMaxValues
  const tree = standalone([aliased('v', cast(columnRef('q', 'v'), 'VARCHAR'))], source, null, scope)
  const text = await printSelect(connection, tree)
  const around = { before: 'SELECT DISTINCT v FROM (', after: `) AS t WHERE v IS NOT NULL LIMIT ${most + 1}` }
  const rows = await withText(text, tree, () => readChecked(connection, text, around), around.before.length)
  if (rows.length > most && op === 'not in') return undefined
  if (rows.length > most) throw tooMany(most)
  // The values have no order of their own: a search with the same values is the same search.
  return rows.map(([value]) => String(value)).sort()
}
