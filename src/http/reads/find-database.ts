import { foldName } from '../../../events/common.js'
import { notFound } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Resource, Log, Resources } from '../../log/contract/log.js'
import { nameThere, type Tables } from '../../connections/contract/requests.js'
import { connectionProblem, isConnected } from '../../sql/engine/resolve/connections.js'
import { catalogue } from '../../sql/relations/catalogue.js'
import { isTable } from '../../files/formats/formats.js'
import { fixedPart, resourcesPart, type Part } from './paged-list.js'

/** The id of the system database that holds the files; ids of resources begin at 1. */
const filesId = -1
const system = (name: string) => ({ name, type: 'system', id: null, engine: null, visible: true, deletable: false })

export const filesDatabase = { ...system('files'), type: 'data', id: filesId, engine: 'files', class_type: 'sql', connection_data: {} }
export const systemDatabases = [system('information_schema'), system('log')]

/** Anything that SQL can name before a dot, found by its name. */
export type Database =
  | { type: 'system'; name: 'information_schema' | 'log' }
  | { type: 'files'; name: 'files' }
  | { type: 'project'; name: string; project: Resource<'project'> }
  | { type: 'connection'; name: string; database: Resource<'database'> }

/** Finds a database by its name; undefined if there is none. */
export const findDatabase = async ({ resources }: Pick<Log, 'resources'>, name: string): Promise<Database | undefined> => {
  const folded = foldName(name)
  if (folded === 'files') return { type: 'files', name: folded }
  if (folded === 'information_schema' || folded === 'log') return { type: 'system', name: folded }
  const project = await resources.one('project', name)
  if (project) return { type: 'project', name: project.state.name, project }
  const database = await resources.one('database', name)
  return database && { type: 'connection', name: database.state.name, database }
}

/** The same for a database that must exist. @throws Problem 404 */
export const databaseNamed = async (at: Pick<Log, 'resources'>, name: string): Promise<Database> => {
  const found = await findDatabase(at, name)
  if (!found) throw notFound('database', name)
  return found
}

/** The tables that a connected database has now; with `soon`, a failure comes soon. @throws Problem of the database */
export type ReadTables = (connection: Resource<'database'>, soon?: boolean) => Promise<Tables>

/** The resources of a moment. Without `connectedTables` it is a moment of the past, for which connected databases have no data. */
export type MomentResources = Pick<Log, 'resources'> & { connectedTables?: ReadTables | undefined }

/** One entry of a database. A job is not a table. */
export type Entry = {
  name: string
  type: 'table' | 'model' | 'view' | 'agent' | 'knowledge_base' | 'system view' | 'job'
  engine: string | null
  deletable: boolean
  /** For a table of a connected database: its schema there, its name in the schema, and a note about the list. */
  there?: { schema: string | null; name: string; note?: string }
}

const entry = (type: Entry['type'], name: string, engine: string | null = null, deletable = true): Entry => ({
  name,
  type,
  engine,
  deletable,
})

/** Maps an entry to the answer of a route; undefined for an entry that the route does not list. */
type EntryMapper = (entry: Entry) => object | undefined

const shownBy = (show: EntryMapper, ...entries: Entry[]): object[] => entries.flatMap((one) => show(one) ?? [])

const ofProject = (resources: Resources, project: Resource<'project'>, show: EntryMapper): Part[] => {
  const each = <K extends 'model' | 'view' | 'agent' | 'knowledge_base' | 'job'>(
    kind: K,
    engineOf: (found: Resource<K>) => string | null = () => null,
  ): Part =>
    resourcesPart(
      (after, limit) => resources.page(kind, project, after, limit),
      (found) => shownBy(show, entry(kind, found.state.name, engineOf(found))),
    )
  return [
    fixedPart(shownBy(show, entry('table', 'models', null, false))),
    each('model', ({ state }) => state.versions.at(-1)?.engine ?? null),
    each('view'),
    each('agent'),
    each('knowledge_base'),
    each('job'),
  ]
}

const cutNote = `The list ends here: it has more tables than connectionTablesMax (${limits.connectionTablesMax}).`

const ofConnection =
  (connection: Resource<'database'>, readTables: ReadTables, show: EntryMapper): Part =>
  async (after, limit) => {
    const { tables, isCut } = await readTables(connection)
    return tables.slice(after, after + limit).map((table, i) => {
      const { schema, name, type } = table
      const place = after + i + 1
      const there = { schema, name, ...(isCut && place === tables.length && { note: cutNote }) }
      return { place, items: shownBy(show, { ...entry(type, nameThere(table), null, false), there }) }
    })
  }

/** The entries of a database, in the order that clients show. @throws Problem 400 for a connection that has no tables, or had them */
export const entriesOf = ({ resources, connectedTables }: MomentResources, database: Database, show: EntryMapper): Part[] => {
  switch (database.type) {
    case 'system':
      return [fixedPart(catalogue[database.name].flatMap(({ name }) => shownBy(show, entry('system view', name, null, false))))]
    case 'files':
      return [
        resourcesPart(
          (after, limit) => resources.page('file', undefined, after, limit),
          ({ state }) => (isTable(state) ? shownBy(show, entry('table', state.name)) : []),
        ),
      ]
    case 'project':
      return ofProject(resources, database.project, show)
    case 'connection':
      if (!connectedTables || !isConnected(database.database.state)) throw connectionProblem(database.database.state)
      return [ofConnection(database.database, connectedTables, show)]
  }
}
