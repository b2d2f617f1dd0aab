import { foldName } from '../../../events/common.js'
import type { ModelVersion } from '../../../events/model.js'
import type { View } from '../../../events/view.js'
import { queryOf } from '../../dialect/strings.js'
import type { Log, Resource, Resources } from '../../log/contract/log.js'
import { eventsOf } from '../../log/read/slices.js'
import { withoutIds } from '../../log/contract/lookups.js'
import { systemDatabaseOf } from '../../catalogue/system-databases.js'

/** The database as it is recorded: an empty text for the own project of a model or view, because the project may be renamed. */
export const recordedDatabase = (database: string, project: Resource<'project'>): string =>
  foldName(database) === foldName(project.state.name) ? '' : database

/** Whether a project had a name at its version or before. */
const hadName = async (log: Pick<Log, 'readStream'>, { stream, version }: Resource<'project'>, name: string): Promise<boolean> => {
  for await (const { data } of eventsOf(log, stream, version))
    if (typeof data['name'] === 'string' && foldName(data['name']) === foldName(name)) return true
  return false
}

/**
 * The database in which the names of a query are looked up, a version's or a view's. Earlier releases recorded the name of then of the own
 * project, which may be gone. Another database that is gone stays: then the query fails, because the same names may mean something else in
 * the own project.
 *
 * @example await databaseOf(log, version, project) // 'files'
 */
export const databaseOf = async (
  log: Pick<Log, 'readStream' | 'resources'>,
  { database }: Pick<ModelVersion | View, 'database'>,
  project: Resource<'project'>,
): Promise<string> => {
  if (database === '') return project.state.name
  if (systemDatabaseOf(database) !== undefined) return database
  const resources = withoutIds(log.resources)
  const named = (await resources.one('project', database)) ?? (await resources.one('database', database))
  return !named && (await hadName(log, project, database)) ? project.state.name : database
}

/**
 * The query of a view with its meaning: the text alone if its names are looked up in the view's own project, or within `FROM database (…)`.
 * Earlier releases recorded SQL of this service for a connection. Within `FROM connection (…)` it would be SQL of the connected database,
 * so it is shown alone. `information_schema.views` shows the same.
 *
 * @example await shownQuery(log.resources, view, project) // 'SELECT * FROM files (SELECT sqft FROM rentals)'
 */
export const shownQuery = async (
  resources: Pick<Resources, 'one'>,
  { state }: Resource<'view'>,
  project: Resource<'project'>,
): Promise<string> => {
  const { query, database } = state
  if (recordedDatabase(database, project) === '') return query
  const isHere = systemDatabaseOf(database) !== undefined || (await resources.one('project', database)) !== undefined
  return isHere ? queryOf(database, query) : query
}
