import type { DuckDBInstance } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { foldName } from '../../../../events/common.js'
import { isProblem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { prepareChecked, printSelect } from '../ast/checked-text.js'
import type { ProjectEntry, ViewEntry } from '../resolve/directory.js'
import { checkAborted, perInstance, preparedColumns } from '../duckdb-connection/duckdb-connection.js'
import { noColumn } from '../errors/no-column.js'
import { Rewriter } from './rewrite.js'
import type { Session, WantedTables } from '../session/session.js'
import { Sources, withText, type Text } from '../session/sources.js'
import { readQuery } from '../read/read-query.js'
import { quoteName } from '../../../dialect/strings.js'

type ViewColumn = { schema: string; table: string; place: number; name: string; type: string }

const positionsKept = 16
/** The columns of views at a position, by stream. */
const columnsOf = perInstance(() => new LRUCache<number, Map<string, readonly ViewColumn[]>>({ max: positionsKept }))

/** A session for planning only: its use of models is neither recorded nor counted. */
const planning = (session: Session, strings: Session['strings'], soon: boolean): Session => ({
  ...session,
  strings,
  quoted: new Set(),
  sources: new Sources(),
  reads: [],
  ctes: new Map(),
  mode: 'inside',
  isPlanned: true,
  soon,
  keep: true,
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
    const text = await printSelect(session.connection, tree)
    const prepared = await withText(text, tree, () => prepareChecked(session.connection, text))
    try {
      return preparedColumns(prepared).map((column, i) => ({ schema: project.name, table: name, place: i + 1, ...column }))
    } finally {
      prepared.destroySync()
    }
  } finally {
    session.functions.end(session.run)
  }
}

/** The columns of one view, and whether they are the same at any time. */
type Described = { columns: readonly ViewColumn[]; keep: boolean }

/** A view that cannot be planned has no columns: a file or a model of it may no longer exist. */
const describeView = async (
  outer: Session,
  view: ViewEntry,
  project: ProjectEntry,
  position: number,
  soon: boolean,
  strings: Session['strings'] = new Set(),
): Promise<Described> => {
  const session = planning(outer, strings, soon)
  try {
    const columns = await plan(session, view, project, position)
    return { columns, keep: session.keep }
  } catch (error) {
    checkAborted(outer.signal)
    const known = await noColumn(error, session)
    if (known !== undefined) return describeView(outer, view, project, position, soon, new Set([...strings, known]))
    // A content that cannot be read may be readable the next time.
    return { columns: [], keep: session.keep && !(isProblem(error) && error.code === 'storage_failed') }
  }
}

/** Whether a name may be one of the wanted names, of which there may be any. */
const isWanted = (name: string, wanted: readonly string[] | undefined): boolean =>
  wanted === undefined || wanted.some((one) => foldName(one) === foldName(name))

/**
 * The columns of the wanted views at a position as JSON text. Each view is planned but not run. The columns of a view are kept for a few
 * positions, because the views at a position never change. They are not kept if they depend on a connected database. Only a query that
 * names a view waits for its databases: a longer list does without the views whose databases do not answer soon.
 */
export const viewColumns = async (
  instance: DuckDBInstance,
  session: Session,
  position: number,
  { schemas, table }: WantedTables,
): Promise<string> => {
  const kept = columnsOf(instance).get(position) ?? new Map<string, readonly ViewColumn[]>()
  columnsOf(instance).set(position, kept)
  const found: ViewColumn[] = []
  const soon = table === undefined
  let left: number = limits.viewsDescribedMax
  for (const project of await session.directory.projects(position)) {
    if (!isWanted(project.name, schemas)) continue
    for (const view of await session.directory.views(position, project.stream)) {
      if (!isWanted(view.name, table === undefined ? undefined : [table])) continue
      if (left-- <= 0) break
      const known = kept.get(view.stream)
      const { columns, keep } = known ? { columns: known, keep: true } : await describeView(session, view, project, position, soon)
      if (keep) kept.set(view.stream, columns)
      else session.keep = false
      found.push(...columns)
    }
  }
  return JSON.stringify(found)
}
