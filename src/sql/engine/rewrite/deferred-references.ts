import { foldName } from '../../../../events/common.js'
import { agentColumns, agentsNeedQuestions, type AgentUse } from '../agents/agent-answers.js'
import type { AstNode } from '../ast/json.js'
import { become, listOf, placeOf, subqueryRef, textOf } from '../ast/nodes.js'
import { planJoin } from '../connected-tables/plan-join.js'
import { fetchNative, fetchTable, type FetchedRows, type Use } from '../connected-tables/plan-scan.js'
import { fetchChunks, type ValuesOfSubquery } from '../knowledge/found-chunks.js'
import type { ModelUse } from '../models/references.js'
import type { NativeStatement } from '../resolve/connections.js'
import type { ConnectedTable, KnowledgeTable } from '../resolve/resolve.js'
import type { Session } from '../session/session.js'
import { atPlace } from '../session/sources.js'

/** The names in a FROM that are replaced once the whole FROM is known. */
export type DeferredReferences = {
  models: ModelUse[]
  agents: AgentUse[]
  connected: { ref: AstNode; found: ConnectedTable }[]
  natives: { ref: AstNode; native: NativeStatement }[]
  knowledge: { ref: AstNode; base: KnowledgeTable; label: string; position: number }[]
}

/** Empty deferred references, to which names are added. */
export const nothingYet = (): DeferredReferences => ({ models: [], agents: [], connected: [], natives: [], knowledge: [] })

/**
 * The names of columns, folded, that models and agents of a FROM take although the query need not name them: inputs, the target, and the
 * question.
 */
export const namesTaken = ({ models, agents }: DeferredReferences): ReadonlySet<string> =>
  new Set(
    [
      ...models.flatMap(({ bound: { model } }) => [...model.inputs.map(({ name }) => name), model.target.name]),
      ...(agents.length > 0 ? agentColumns : []),
    ].map(foldName),
  )

/** Whether a model is one of series. Such a model answers other rows than the rows of the table beside it. */
export const hasSeries = ({ models }: DeferredReferences): boolean => models.some(({ bound }) => bound.model.future !== undefined)

/** Replaces a name with a query. The name stays the alias unless the statement gives another alias. */
export const putQuery = (ref: AstNode, query: AstNode, called: string): void => {
  const alias = textOf(ref, 'alias') || called
  become(ref, { ...subqueryRef(query, alias, listOf(ref, 'column_name_alias'), ref['sample'] ?? null), ...placeOf(ref) })
}

/**
 * Replaces a name with rows that were fetched. The rows are only valid now, so the rewritten text is not kept.
 *
 * @throws the error of the fetch, with the place of the name in the statement
 */
const putRows = async (session: Session, ref: AstNode, name: string, called: string, fetched: Promise<FetchedRows>): Promise<void> => {
  session.keep = false
  try {
    const { query, state } = await fetched
    session.reads.push({ name, query, state })
    putQuery(ref, query, called)
  } catch (error) {
    throw atPlace(error, ref)
  }
}

/** Puts the answers to statements in the languages of connected databases in their places. */
export const placeNatives = async (session: Session, { natives }: DeferredReferences, use?: Use): Promise<void> => {
  for (const { ref, native } of natives) {
    const { name } = native.connection
    await putRows(session, ref, name, name, fetchNative(session, native, ref, use))
  }
}

/**
 * Replaces names with rows of connected tables and with chunks of knowledge bases. It fetches the rows that a query uses and searches for,
 * or all rows if the use is unknown. If the database can join the tables and compute the groups, it fetches the groups. `valuesOf` runs a
 * query in its WHERE.
 */
export const placeRows = async (
  session: Session,
  { connected, knowledge }: DeferredReferences,
  use?: Use,
  where?: { select: AstNode; valuesOf: ValuesOfSubquery },
): Promise<void> => {
  // A plan over connected tables depends on these tables, even if their databases do not answer.
  if (connected.length > 0) session.keep = false
  const join = use && (await planJoin(session, connected, use))
  if (join) await putRows(session, join.from, join.name, 'ledger_joined', join.fetch())
  else
    for (const { ref, found } of connected)
      await putRows(session, ref, `${found.connection.name}.${found.table}`, found.table, fetchTable(session, found, ref, use))
  for (const { ref, base, label, position } of knowledge)
    await putRows(session, ref, label, base.name, fetchChunks(session, base, { ...where, ref, position }))
}

/** Places the rows of tables outside of a SELECT's own FROM. Agents have no rows there. */
export const placeAllRows = async (session: Session, later: DeferredReferences): Promise<void> => {
  agentsNeedQuestions(later.agents)
  await placeNatives(session, later)
  await placeRows(session, later)
}
