import { driverOf } from '../../catalogue/connection-engines.js'
import { systemDatabaseOf } from '../../catalogue/system-databases.js'
import type { Tables } from '../../connections/contract/requests.js'
import { limits } from '../../basics/limits.js'
import type { Resource, Resources } from '../../log/contract/log.js'
import type { TablePath } from '../../sql/contract/select.js'
import { fits, isPattern, partsOfName } from '../../catalogue/names.js'
import { resourcesNamed } from './resources-named.js'
import { nameKey } from '../../dialect/names.js'

/** A table that an agent may read. `state` identifies the state of the table that its description belongs to. */
export type ScopeTable = {
  path: TablePath
  kind: 'view' | 'file' | 'connected'
  state: string
  columns?: readonly { name: string; type: string }[]
  /** The query of a view. */
  query?: string
  /** The connection of the table. */
  connection?: Resource<'database'>
}

/** A database whose name can stand before a table. */
type Database =
  { kind: 'files' } | { kind: 'project'; project: Resource<'project'> } | { kind: 'connection'; connection: Resource<'database'> }

/** Where to look up names: resources at one position of the log, and the tables that connections list. */
export type Catalogue = {
  resources: Resources
  /** Connected databases can only be read as they are now: at earlier positions they have no tables. */
  isPast: boolean
  project: Resource<'project'>
  connectedTables: (connection: Resource<'database'>) => Promise<Tables>
}

/** The tables of a database for a name or a pattern. The files and projects of this service have no schemas. */
type TablePattern = { schema: string | undefined; table: string }

const databaseNamed = async ({ resources }: Catalogue, name: string): Promise<Database | undefined> => {
  const system = systemDatabaseOf(name)
  if (system === 'files') return { kind: 'files' }
  // No agent may read the tables of this service about itself.
  if (system !== undefined) return undefined
  const project = await resources.one('project', name)
  if (project) return { kind: 'project', project }
  const connection = await resources.one('database', name)
  return connection && driverOf(connection.state.engine) !== undefined ? { kind: 'connection', connection } : undefined
}

const viewTable = (project: Resource<'project'>, { stream, version, state }: Resource<'view'>): ScopeTable => ({
  path: [project.state.name, state.name],
  kind: 'view',
  state: `${stream} ${version}`,
  query: state.query,
})

const fileTable = ({ state: { name, content, columns } }: Resource<'file'>): ScopeTable => ({
  path: ['files', name],
  kind: 'file',
  state: content,
  columns,
})

const connectedTable = (connection: Resource<'database'>, path: readonly string[]): ScopeTable => ({
  path: [connection.state.name, ...path],
  kind: 'connected',
  state: `${connection.stream} ${connection.version}`,
  connection,
})

const inConnection = async (
  { connectedTables, isPast }: Catalogue,
  connection: Resource<'database'>,
  { schema, table }: TablePattern,
): Promise<ScopeTable[]> => {
  if (isPast) return []
  const path = schema === undefined ? [table] : [schema, table]
  if (!path.some(isPattern)) return [connectedTable(connection, path)]
  const { tables } = await connectedTables(connection)
  return tables
    .filter((one) => fits(table, one.name) && (schema === undefined ? one.isUsual : fits(schema, one.schema ?? '')))
    .map((one) => connectedTable(connection, schema === undefined ? [one.name] : [one.schema ?? schema, one.name]))
}

const inDatabase = async (catalogue: Catalogue, database: Database, parts: readonly string[]): Promise<ScopeTable[]> => {
  if (database.kind === 'connection') {
    const [schema, table] = parts.length > 1 ? [parts[0], parts.slice(1).join('.')] : [undefined, parts[0] ?? '']
    return inConnection(catalogue, database.connection, { schema, table })
  }
  const name = parts.join('.')
  if (database.kind === 'files')
    return (await resourcesNamed(catalogue.resources, 'file', name, { most: limits.agentTablesMax + 1 }))
      .filter(({ state }) => state.columns.length > 0)
      .map(fileTable)
  const { project } = database
  return (await resourcesNamed(catalogue.resources, 'view', name, { project, most: limits.agentTablesMax + 1 })).map((view) =>
    viewTable(project, view),
  )
}

/**
 * The tables for a name or a pattern. If the first part of the name is a database, the look-up is there; else in `where`, if it is given;
 * else in the project of the agent.
 *
 * @example await tablesNamed(catalogue, 'crm.public.*', undefined) // [{ path: ['crm', 'public', 'orders'], … }]
 * @throws Problem of a connected database that fails to list its tables
 */
export const tablesNamed = async (catalogue: Catalogue, written: string, where: string | undefined): Promise<ScopeTable[]> => {
  const parts = partsOfName(written)
  const [first = '', ...rest] = parts
  const inside = where === undefined ? undefined : await databaseNamed(catalogue, where)
  const isOfInside = where !== undefined && rest.length > 0 && fits(first, where)
  if (inside && isOfInside) return inDatabase(catalogue, inside, rest)
  const own = rest.length > 0 && !isPattern(first) ? await databaseNamed(catalogue, first) : undefined
  if (own) return inDatabase(catalogue, own, rest)
  // A named database that does not exist is not replaced by another one.
  if (where !== undefined) return inside ? inDatabase(catalogue, inside, parts) : []
  return inDatabase(catalogue, { kind: 'project', project: catalogue.project }, parts)
}

/**
 * The names of a table for exclusion. An exclusion `schema.table` also excludes a table with an unknown schema, because it may be that
 * table.
 */
const waysToName = ({ path, kind }: Pick<ScopeTable, 'path' | 'kind'>): string[][] => {
  const ends = [...path.keys(), path.length].map((from) => ['end', ...path.slice(from)])
  const [database = '', table = ''] = path
  return kind === 'connected' && path.length === 2 ? [...ends, ['maybe', table], ['full', database, table]] : ends
}

const meaningsOf = (written: string): string[][] => {
  const parts = partsOfName(written)
  const [first = '', second = '', third = ''] = parts
  const other = parts.length === 2 ? [['maybe', second]] : parts.length === 3 ? [['full', first, third]] : []
  return [['end', ...parts], ...other]
}

/**
 * Tells whether a list of exclusions excludes a table: by the table's name in any database, or by its full name. The list is read once for
 * all tables.
 *
 * @example leftOutBy(['secrets', 'crm.public.*'])({ path: ['files', 'secrets'], kind: 'file' }) // true
 */
export const leftOutBy = (except: readonly string[]): ((table: Pick<ScopeTable, 'path' | 'kind'>) => boolean) => {
  const meant = except.flatMap(meaningsOf)
  const names = new Set(meant.map(nameKey))
  const patterns = meant.filter((parts) => parts.some(isPattern))
  const isMeant = (way: readonly string[]): boolean =>
    names.has(nameKey(way)) || patterns.some((parts) => parts.length === way.length && parts.every((part, i) => fits(part, way[i] ?? '')))
  return (table) => waysToName(table).some(isMeant)
}
