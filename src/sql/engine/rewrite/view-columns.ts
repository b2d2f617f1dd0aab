import type { DuckDBInstance } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { limits } from '../../../basics/limits.js'
import { prepareChecked, printSelect } from '../ast/duckdb.js'
import type { ProjectEntry, ViewEntry } from '../resolve/directory.js'
import { checkAborted, perInstance, preparedColumns } from '../connection/connection.js'
import { nameOfNoColumn } from '../errors/no-column.js'
import { Rewriter } from './rewrite.js'
import type { Session } from '../session/session.js'
import { Sources, type Text } from '../session/sources.js'
import { readQuery } from '../read/read-query.js'
import { quoteName } from '../../../dialect/strings.js'

type ViewColumn = { schema: string; table: string; place: number; name: string; type: string }

const positionsKept = 16
const columnsOf = perInstance(() => new LRUCache<number, string>({ max: positionsKept }))

/** A session for planning only: its use of models is neither recorded nor counted. */
const planning = (session: Session, strings: ReadonlySet<string>): Session => ({
  ...session,
  strings,
  quoted: new Set(),
  sources: new Sources(),
  reads: [],
  ctes: new Map(),
  mode: 'inside',
  isPlanned: true,
  names: 'bound',
  mayWrite: false,
  last: undefined,
  allowed: undefined,
  run: session.functions.begin(0),
  served: [],
  staged: [],
  // A view over information_schema.columns would need its own columns.
  viewColumns: () => Promise.resolve('[]'),
})

const plan = async (session: Session, { name }: ViewEntry, project: ProjectEntry, position: number): Promise<ViewColumn[]> => {
  const read = (text: Text, db: string) => readQuery(session, text, db)
  try {
    const { tree } = await read({ sql: `SELECT * FROM ${quoteName(name)}` }, project.name)
    await new Rewriter(session, read).query(tree, { db: project.name, position, ctes: new Map(), entries: [], views: [], options: {} })
    const prepared = await prepareChecked(session.connection, await printSelect(session.connection, tree))
    try {
      return preparedColumns(prepared).map((column, i) => ({ schema: project.name, table: name, place: i + 1, ...column }))
    } finally {
      prepared.destroySync()
    }
  } finally {
    session.functions.end(session.run)
  }
}

/** The columns of one view; none when the view cannot be planned, because a file or a model of it may no longer exist. */
const describeView = async (
  outer: Session,
  view: ViewEntry,
  project: ProjectEntry,
  position: number,
  strings: ReadonlySet<string> = new Set(),
): Promise<ViewColumn[]> => {
  const session = planning(outer, strings)
  try {
    return await plan(session, view, project, position)
  } catch (error) {
    checkAborted(outer.signal)
    const name = nameOfNoColumn(error, session)
    return name === undefined ? [] : describeView(outer, view, project, position, new Set([...strings, name]))
  }
}

/**
 * The columns of all views at a position as JSON text. Each view is planned but not run. The result is kept for a few positions, because
 * the views at a position never change.
 */
export const viewColumns = async (instance: DuckDBInstance, session: Session, position: number): Promise<string> => {
  const kept = columnsOf(instance)
  const known = kept.get(position)
  if (known !== undefined) return known
  const found: ViewColumn[] = []
  let left: number = limits.viewsDescribedMax
  for (const project of await session.directory.projects(position))
    for (const view of await session.directory.views(position, project.stream)) {
      if (left-- <= 0) break
      found.push(...(await describeView(session, view, project, position)))
    }
  const text = JSON.stringify(found)
  kept.set(position, text)
  return text
}
