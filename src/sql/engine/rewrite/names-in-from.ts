import { existsSync } from 'node:fs'
import { unreachable, foldName } from '../../../../events/common.js'
import { erased, Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { projectionRows } from '../../relations/projections.js'
import { agentColumns, agentsNeedQuestions, type AgentUse } from '../agents/agent-answers.js'
import { prepareChecked, printSelect } from '../ast/checked-text.js'
import { cloneAst, type AstNode } from '../ast/json.js'
import {
  integerConstant,
  nullConstant,
  selectNode,
  star,
  tableFunction,
  textConstant,
  isColumnRef,
  isQuery,
  nodeOf,
  partsOf,
  textOf,
  textsOf,
  walk,
  become,
  listOf,
  placeOf,
  subqueryRef,
} from '../ast/nodes.js'
import { template } from '../ast/templates.js'
import { listConnected, wantedIn } from '../connected-tables/list-connected.js'
import { planJoin } from '../connected-tables/plan-join.js'
import { fetchNative, fetchTable, type FetchedRows, type Use } from '../connected-tables/plan-scan.js'
import { checkAborted } from '../duckdb-connection/duckdb-connection.js'
import { noColumn } from '../errors/no-column.js'
import { fetchChunks, type ValuesOfSubquery } from '../knowledge/found-chunks.js'
import type { ModelUse } from '../models/references.js'
import type { NativeStatement } from '../resolve/connections.js'
import type { FileEntry } from '../resolve/directory.js'
import { databaseOfView, type TableMeaning, type LookupPlace, type ConnectedTable, type KnowledgeTable } from '../resolve/resolve.js'
import type { Scope } from '../session/scope.js'
import type { TableRead, Session } from '../session/session.js'
import { PlacedProblem, atPlace, RunError, withText, type Text } from '../session/sources.js'

/** The meanings of a name that have their own rows. */
type Rows = Exclude<TableMeaning, { kind: 'model' | 'agent' | 'connected' | 'knowledge' }>

type Services = {
  session: Session
  /** The table name in the FROM of the scope's SELECT. */
  ref: AstNode
  /** Reads the query behind a view and rewrites it inside a scope. */
  viewBody: (text: Text, scope: Scope) => Promise<AstNode>
}

/** The place in which a scope looks up names. */
export const placeIn = ({ directory, head }: Session, { db, position }: Scope): LookupPlace => ({ directory, db, position, head })

/** The query that gives the rows of a name. */
export const expand = async (found: Rows, scope: Scope, services: Services): Promise<AstNode> => {
  const { session, ref } = services
  switch (found.kind) {
    case 'relation':
      return template(session.connection, found.relation.sql, {
        position: integerConstant(scope.position),
        project: found.project ? textConstant(found.project.stream) : nullConstant(),
        ...(found.relation.live === true && { projections: now(session) }),
        ...(found.relation.ofConnections && {
          connections: textConstant(await listConnected(session, found.relation.ofConnections, scope, ref)),
        }),
        ...(found.relation.ofViews === true && {
          views: textConstant(await session.viewColumns(scope.position, wantedIn(scope.select, ref))),
        }),
      })
    case 'file':
      return expandFile(found.file, session)
    case 'view':
      return expandView(found, scope, services)
    default:
      return unreachable(found)
  }
}

/** The status of the tables changes without an event in the log, so a text with this status is not kept. */
const now = (session: Session): AstNode => {
  session.keep = false
  return textConstant(projectionRows(session.tables))
}

const expandFile = async ({ name, content, isTable }: FileEntry, { blobFile, directory }: Session): Promise<AstNode> => {
  if (!isTable)
    throw new Problem('bad_statement', 'Not a table', `files.${name} is a model, not a table`, {
      hint: `Import it: CREATE MODEL ${name} PREDICT what USING engine = 'onnx', file = '${name}'.`,
    })
  const path = await blobFile(content)
  if (!existsSync(path)) {
    const erasure = await directory.erasure(content)
    if (erasure)
      throw erased(`The content of files.${name}`, erasure, 'Upload it again, or read another content: files.name AT (VERSION => …).')
  }
  return selectNode([star('')], tableFunction('read_parquet', textConstant(path)))
}

const expandView = async (
  { view, project }: Extract<TableMeaning, { kind: 'view' }>,
  scope: Scope,
  { session, viewBody }: Services,
): Promise<AstNode> => {
  const label = `${project.name}.${view.name}`
  if (scope.views.includes(view.stream)) throw new Problem('query_failed', 'A view contains itself', `View ${label} contains itself`)
  if (scope.views.length >= limits.viewMaxDepth)
    throw new Problem('query_limit', 'Views are nested too deeply', `View ${label} is nested in more than ${limits.viewMaxDepth} others`)
  try {
    const { position, options } = scope
    const db = await databaseOfView(placeIn(session, scope), view, project)
    const inside: Scope = { db, position, ctes: new Map(), entries: [], views: [...scope.views, view.stream], options }
    return cloneAst(await viewBody({ sql: view.query, view: label }, inside))
  } catch (error) {
    if (!(error instanceof Problem) || error instanceof PlacedProblem || error.detail.startsWith('In view ')) throw error
    throw new Problem(error.code, error.title, `In view ${label}: ${error.detail}`, error.extras)
  }
}

/**
 * Binds the names of a view's query without the statement around it. In a FROM, DuckDB would also look for them in the tables on the left,
 * and would take a text in double quotes for a column of such a table. Other errors come again when the whole statement is planned.
 *
 * @throws RunError about a name that another attempt reads as a text
 */
export const bindAlone = async (session: Session, tree: AstNode): Promise<void> => {
  const { connection, signal } = session
  const text = await printSelect(connection, tree)
  try {
    ;(await withText(text, tree, () => prepareChecked(connection, text))).destroySync()
  } catch (error) {
    checkAborted(signal)
    if (!(error instanceof RunError) || (await noColumn(error, session)) !== undefined) throw error
  }
}

/** The description of a query's source in EXPLAIN. */
export const readOf = (
  found: Rows,
  query: AstNode,
  parts: readonly string[],
  { db, position }: { db: string; position: number },
): TableRead => {
  switch (found.kind) {
    case 'file':
      return { name: `files.${found.file.name}`, query, state: `content ${found.file.content}` }
    case 'view':
      return { name: `${found.project.name}.${found.view.name}`, query, state: 'a view, expanded' }
    case 'relation': {
      const schema = found.project?.name ?? (parts.length > 1 ? parts[0] : db) ?? db
      return { name: `${schema}.${found.relation.name}`, query, state: `as of position ${position}` }
    }
    default:
      return unreachable(found)
  }
}

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
