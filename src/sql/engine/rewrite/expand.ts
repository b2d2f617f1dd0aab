import { existsSync } from 'node:fs'
import { unreachable } from '../../../../events/common.js'
import { erased, Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { cloneAst, type AstNode } from '../ast/json.js'
import { integerConstant, nullConstant, selectNode, star, tableFunction, textConstant } from '../ast/nodes.js'
import { template } from '../ast/templates.js'
import { listConnected, wantedIn } from '../connected-tables/list-connected.js'
import type { FileEntry } from '../resolve/directory.js'
import { projectionRows } from '../../relations/projections.js'
import { databaseOfView, type TableMeaning, type LookupPlace } from '../resolve/resolve.js'
import type { Scope } from '../session/scope.js'
import type { TableRead, Session } from '../session/session.js'
import { PlacedProblem, type Text } from '../session/sources.js'

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
