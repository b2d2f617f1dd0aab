import { foldName } from '../../../events/common.js'
import { notFound } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Resource, Log, Resources } from '../../log/contract/log.js'
import { nameThere, type Tables } from '../../connections/contract/requests.js'
import { connectionProblem, isConnected } from '../../sql/engine/resolve/connections.js'
import { catalogue } from '../../sql/relations/catalogue.js'
import { isTable } from '../../files/formats/formats.js'
import { fixedPart, itemsOf, resourcesPart, type Part } from './paged-list.js'

/** The id of the system database that holds the files; ids of resources begin at 1. */
const filesId = -1
const system = (name: string) => ({ name, type: 'system', id: null, engine: null, visible: true, deletable: false })

export const filesDatabase = { ...system('files'), type: 'data', id: filesId, engine: 'files', class_type: 'sql', connection_data: {} }
export const systemDatabaseRecords = [system('information_schema'), system('log')]

/** Anything that SQL can name before a dot, found by its name. */
export type Database =
  | { type: 'system'; name: 'information_schema' | 'log' }
  | { type: 'files'; name: 'files' }
  | { type: 'project'; name: string; project: Resource<'project'> }
  | { type: 'connection'; name: string; database: Resource<'database'> }

/** Finds a database by its name, a project or a connection also by its id if nothing has it as its name; undefined if there is none. */
export const findDatabase = async ({ resources }: Pick<Log, 'resources'>, name: string): Promise<Database | undefined> => {
  const folded = foldName(name)
  if (folded === 'files') return { type: 'files', name: folded }
  if (folded === 'information_schema' || folded === 'log') return { type: 'system', name: folded }
  const isNamed = (found: Resource | undefined): boolean => found !== undefined && foldName(found.state.name) === folded
  const project = await resources.one('project', name)
  const database = isNamed(project) ? undefined : await resources.one('database', name)
  if (project && !isNamed(database)) return { type: 'project', name: project.state.name, project }
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

const modelsTable = entry('table', 'models', null, false)

/** The kinds of a project's contents that SQL reads as tables, in the order that clients show. */
const tableKinds = ['model', 'view', 'agent', 'knowledge_base'] as const

const entryOf = (kind: (typeof tableKinds)[number] | 'job', { state }: Resource): Entry =>
  entry(kind, state.name, 'versions' in state ? (state.versions.at(-1)?.engine ?? null) : null)

const ofProject = (resources: Resources, project: Resource<'project'>, show: EntryMapper): Part[] => {
  const each = (kind: Parameters<typeof entryOf>[0]): Part =>
    resourcesPart(
      (after, limit) => resources.page(kind, project, after, limit),
      (found) => shownBy(show, entryOf(kind, found)),
    )
  return [fixedPart(shownBy(show, modelsTable)), ...tableKinds.map(each), each('job')]
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

/** The entries of a database whose names differ from this one only in case, if at all. */
const alikeEntries = async (at: MomentResources, database: Database, name: string): Promise<Entry[]> => {
  const isAlike = (other: string): boolean => foldName(other) === foldName(name)
  const alike: Entry[] = []
  if (database.type === 'files') {
    const file = await at.resources.one('file', name)
    if (file && isTable(file.state) && isAlike(file.state.name)) alike.push(entry('table', file.state.name))
  } else if (database.type === 'project') {
    if (isAlike(modelsTable.name)) alike.push(modelsTable)
    for (const kind of tableKinds) {
      const found = await at.resources.one(kind, name, database.project)
      // A number may be found as an id, which is no name.
      if (found && isAlike(found.state.name)) alike.push(entryOf(kind, found))
    }
  } else {
    const parts = entriesOf(at, database, (one) => (isAlike(one.name) ? one : undefined))
    for await (const item of itemsOf(parts)) alike.push(item as Entry)
  }
  return alike
}

/**
 * The table with a name; undefined if there is none. Files and contents of projects are found without reading the others. In a connected
 * database, the names of other tables may differ only in case.
 *
 * @throws Problem as `entriesOf`
 */
export const findEntry = async (at: MomentResources, database: Database, name: string): Promise<Entry | undefined> => {
  const alike = await alikeEntries(at, database, name)
  return alike.find((one) => one.name === name) ?? alike[0]
}
