import type { JsonObject } from '../../../events/common.js'
import { answeringVersion, type ModelVersion } from '../../../events/model.js'
import { versionOf } from '../../commands/model.js'
import { Problem } from '../../basics/errors.js'
import type { Resource, Resources } from '../../log/contract/log.js'
import type { ProgressOf } from '../../models/training/progress.js'
import { maskSecrets } from '../../vault/seal-secrets.js'
import { attributes, jobs, type NamedRows } from './model-attributes.js'

export type { NamedRows } from './model-attributes.js'

/** A model with one of its versions, and the requested attribute. */
export type ModelPlace = { project: string; model: Resource<'model'>; version: ModelVersion; attribute: string | undefined }

/** The row that the creation, the retraining and the description of a model return. */
export const modelRow = (project: string, { state }: Resource<'model'>, version: ModelVersion, release: string): JsonObject => ({
  NAME: state.name,
  ENGINE: version.engine,
  PROJECT: project,
  ACTIVE: answeringVersion(state) === version.version,
  VERSION: version.version,
  STATUS: version.status,
  ACCURACY: version.result?.accuracy ?? null,
  PREDICT: version.target,
  UPDATE_STATUS: 'up_to_date',
  MINDSDB_VERSION: release,
  ERROR: version.error,
  SELECT_DATA_QUERY: version.query,
  TRAINING_OPTIONS: JSON.stringify({
    target: version.target,
    ...(Object.keys(version.using).length > 0 && { using: maskSecrets(version.using) }),
    ...(version.keep_training_data === false && { keep_training_data: false }),
  }),
  TAG: version.tag,
})

/**
 * `DESCRIBE p.m.2.features`: finds the model of a name with several parts. First it reads the first part as a project, then it looks for
 * the whole name in `db`.
 */
export const findModelPlace = async (parts: readonly string[], db: string, resources: Pick<Resources, 'one'>): Promise<ModelPlace> => {
  const starts: [project: string, rest: readonly string[]][] = [
    [parts[0] ?? '', parts.slice(1)],
    [db, parts],
  ]
  for (const [projectName, [name, ...after]] of starts) {
    const project = name === undefined ? undefined : await resources.one('project', projectName)
    const model = project && name !== undefined ? await resources.one('model', name, project) : undefined
    if (!project || !model) continue
    const numbered = /^\d{1,9}$/.test(after[0] ?? '')
    const wanted = numbered ? Number(after[0]) : null
    const attribute = after.slice(numbered ? 1 : 0)
    return {
      project: project.state.name,
      model,
      version: versionOf(model.state, wanted),
      attribute: attribute.length === 0 ? undefined : attribute.join('.'),
    }
  }
  throw new Problem('not_found', 'Model not found', `Model not found: ${parts.join('.')}`, {
    hint: 'DESCRIBE names a model, a view, a file or a table; what else there is behind its kind: DESCRIBE AGENT name, DESCRIBE DATABASE name.',
  })
}

/** The attribute for trainings, including running ones. */
const ofTrainings = 'jobs'

/** The rows that describe a model's version, or one attribute of it. */
export const describeModelPlace = (place: ModelPlace, release: string, progressOf?: ProgressOf): NamedRows => {
  const { project, model, version, attribute } = place
  const names = [...Object.keys(attributes), ofTrainings]
  if (attribute === undefined) return [{ TABLES: names, ...modelRow(project, model, version, release) }]
  const asked = attribute.toLowerCase()
  if (asked === ofTrainings) return jobs(model.state, (each) => progressOf?.(model.stream, each))
  const known = Object.hasOwn(attributes, asked) ? attributes[asked] : undefined
  if (!known)
    throw new Problem('not_found', 'No such attribute', `${model.state.name} has no attribute ${attribute}`, {
      hint: `Attributes: ${names.join(', ')}.`,
    })
  if (!version.result)
    throw new Problem('not_ready', 'Model is not ready', `version ${version.version} of ${model.state.name} has status ${version.status}`, {
      hint: `DESCRIBE ${model.state.name}.${ofTrainings} says how far its training is.`,
    })
  const rows = known(version.result.report, version)
  if (rows.length > 0) return rows
  throw new Problem('not_found', 'No such attribute', `Version ${version.version} of ${model.state.name} has no ${asked}`, {
    hint: 'Only models that predict classes have classes, confusion and calibration, only those that predict numbers have residuals, and coverage if they were trained in several folds, only those of series have series; a constant and a series have no importances; of an imported model nothing was measured.',
  })
}
