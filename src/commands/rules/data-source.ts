import { foldName } from '../../../events/common.js'
import type { ModelVersion } from '../../../events/model.js'
import type { Resource, Resources } from '../../log/contract/log.js'
import { systemDatabaseOf } from '../../catalogue/system-databases.js'

/** The database as it is recorded: an empty text for the model's own project, because the project may be renamed. */
export const recordedDatabase = (database: string, project: Resource<'project'>): string =>
  foldName(database) === foldName(project.state.name) ? '' : database

/**
 * The database in which the names of a version's query are looked up. If the recorded name no longer exists, it was the earlier name
 * of the model's own project.
 *
 * @example await databaseOf(log.resources, version, project) // 'files'
 */
export const databaseOf = async (
  resources: Pick<Resources, 'one'>,
  { database }: Pick<ModelVersion, 'database'>,
  project: Resource<'project'>,
): Promise<string> => {
  if (database === '') return project.state.name
  if (systemDatabaseOf(database) !== undefined) return database
  const named = (await resources.one('project', database)) ?? (await resources.one('database', database))
  return named ? database : project.state.name
}
