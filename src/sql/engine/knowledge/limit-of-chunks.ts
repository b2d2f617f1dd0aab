import type { DuckDBConnection } from '@duckdb/node-api'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { aggregatesOf } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import { isEmpty, isQuery, nodeOf, nodesOf, showsEachRow, textOf, walk } from '../ast/nodes.js'
import { limitOf } from '../connected-tables/limits-of-query.js'

/** The default number of chunks in a search. */
const usualChunks = 10

/** Whether an item of a query is computed from several rows. */
const mixesRows = async (connection: DuckDBConnection, select: AstNode): Promise<boolean> => {
  const aggregates = await aggregatesOf(connection)
  let mixes = false
  for (const item of nodesOf(select, 'select_list'))
    walk(item, (node) => {
      mixes ||= textOf(node, 'class') === 'WINDOW' || aggregates.has(textOf(node, 'function_name').toLowerCase())
      return !isQuery(node)
    })
  return mixes
}

const hasModifier = (select: AstNode, type: string): boolean => nodesOf(select, 'modifiers').some((one) => textOf(one, 'type') === type)

/** A knowledge base in the FROM of a query. */
type ReadBase = { select: AstNode | undefined; ref: AstNode }

const isAlone = ({ select, ref }: ReadBase): boolean => select !== undefined && nodeOf(select, 'from_table') === ref

/** The LIMIT of a query in which each row is one chunk of a knowledge base; undefined for any other query. */
const limitOfChunks = async (connection: DuckDBConnection, base: ReadBase): Promise<number | undefined> => {
  const { select, ref } = base
  const limit = select && limitOf(select)
  if (!select || limit === undefined || !isAlone(base)) return undefined
  if (!showsEachRow(select) || !isEmpty(ref, 'sample') || hasModifier(select, 'DISTINCT_MODIFIER')) return undefined
  return (await mixesRows(connection, select)) ? undefined : limit
}

/**
 * The number of chunks that a search returns: the usual one, or the LIMIT of chunks, or the most if the query has more conditions. A query
 * that sorts the chunks otherwise chooses from the usual number.
 */
export const chunksToFind = async (connection: DuckDBConnection, base: ReadBase, isAll: boolean): Promise<number> => {
  const { knowledgeSearchMaxChunks: most } = limits
  const limit = await limitOfChunks(connection, base)
  if (limit !== undefined && limit > most)
    throw new Problem('query_limit', 'Too many chunks', `LIMIT ${limit}: a search gives at most ${most} chunks`, {
      hint: 'Ask for fewer, or read all chunks without content = ….',
    })
  if (!isAll || (base.select && !isAlone(base) && limitOf(base.select) !== undefined)) return most
  if (limit === undefined) return usualChunks
  return base.select && hasModifier(base.select, 'ORDER_MODIFIER') ? Math.max(usualChunks, limit) : limit
}

/** The number of chunks after which a list may end, because nothing but a LIMIT stands between them and the answer. */
export const chunksToList = async (connection: DuckDBConnection, base: ReadBase): Promise<number> => {
  const { select } = base
  if (!select || !isEmpty(select, 'where_clause') || hasModifier(select, 'ORDER_MODIFIER')) return Infinity
  return (await limitOfChunks(connection, base)) ?? Infinity
}
