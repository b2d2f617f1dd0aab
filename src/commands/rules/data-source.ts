import { foldName } from '../../../events/common.js'
import type { ModelVersion } from '../../../events/model.js'
import type { Found, Resources } from '../../log/contract/log.js'
import { systemDatabaseOf } from '../../catalogue/system-databases.js'

/** As it is recorded, the database of a model's own project has no name: the project may get another one. */
export const recordedDatabase = (database: string, project: Found<'project'>): string =>
  foldName(database) === foldName(project.state.name) ? '' : database

/**
 * Where the names in a version's query are looked up. A name that was recorded and names nothing any more was that of the
 * model's own project, which has another name now.
 *
 * @example await databaseOf(log.resources, version, project) // 'files'
 */
export const databaseOf = async (
  resources: Pick<Resources, 'one'>,
  { database }: Pick<ModelVersion, 'database'>,
  project: Found<'project'>,
): Promise<string> => {
  if (database === '') return project.state.name
  if (systemDatabaseOf(database) !== undefined) return database
  const named = (await resources.one('project', database)) ?? (await resources.one('database', database))
  return named ? database : project.state.name
}
