import { isObject, type Json, type JsonObject } from '../../events/common.js'
import type { ModelVersion } from '../../events/model.js'
import { versionOf } from '../commands/model.js'
import { Problem } from '../errors.js'
import type { Found, Resources } from '../log/log.js'
import { maskSecrets } from '../vault/secrets.js'

/** Rows with names, in the order of the columns. */
export type Described = JsonObject[]

/** A model with one of its versions, and the attribute that is asked for. */
export type ModelPlace = { project: string; model: Found<'model'>; version: ModelVersion; attribute: string | undefined }

const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.map(object) : [])
const read = (value: JsonObject, key: string): Json => value[key] ?? null

/** The row that creating, retraining and describing a model answer. */
export const modelRow = (project: string, { state }: Found<'model'>, version: ModelVersion, release: string): JsonObject => ({
  NAME: state.name,
  ENGINE: version.engine,
  PROJECT: project,
  ACTIVE: state.active === version.version,
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
  }),
  TAG: version.tag,
})

const info = (report: JsonObject): Described => [
  {
    accuracies: read(report, 'metrics'),
    column_importances: Object.fromEntries(
      objects(report['importances']).flatMap(({ name, importance = null }) =>
        typeof name === 'string' ? [[name, importance] as const] : [],
      ),
    ),
    outputs: [read(object(report['target']), 'name')],
    inputs: objects(report['inputs']).map((input) => read(input, 'name')),
    ...(report['fine_tuned'] !== undefined && { fine_tuned: report['fine_tuned'] }),
  },
]

const features = (report: JsonObject): Described => {
  const target = object(report['target'])
  return [
    ...objects(report['inputs']).map((input) => ({
      column: read(input, 'name'),
      type: read(input, 'type'),
      encoder: read(input, 'role'),
      role: 'feature',
    })),
    { column: read(target, 'name'), type: read(target, 'type'), encoder: read(report, 'task'), role: 'target' },
  ]
}

const learner = (report: JsonObject, { result }: ModelVersion): Described => [
  {
    name: read(object(report['engine']), 'name'),
    performance: result?.accuracy ?? null,
    training_time: result?.seconds ?? null,
    selected: 1,
    accuracy_functions: JSON.stringify(Object.keys(object(report['metrics']))),
  },
]

/** Attributes that clients of the public service ask for, made from the report of the training. */
const attributes: Readonly<Record<string, (report: JsonObject, version: ModelVersion) => Described>> = {
  info,
  features,
  model: learner,
  jsonai: (report) => [{ json_ai: JSON.stringify(report, null, 2) }],
}

/** The attributes of one version: a model of series has one more. */
const attributesOf = ({ result }: ModelVersion): typeof attributes =>
  result?.report['series'] === undefined ? attributes : { ...attributes, series: (report) => [object(report['series'])] }

/** `DESCRIBE p.m.2.features`: the whole name as parts, resolved against what there is. A name that is a project comes first. */
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
    const wanted = numbered ? Number(after[0]) : (model.state.active ?? model.state.versions.at(-1)?.version ?? 0)
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

/** What there is to say of a model's version, or of one attribute of it. */
export const describeModelPlace = ({ project, model, version, attribute }: ModelPlace, release: string): Described => {
  if (attribute === undefined) return [{ TABLES: Object.keys(attributesOf(version)), ...modelRow(project, model, version, release) }]
  const there = attributesOf(version)
  const known = Object.hasOwn(there, attribute.toLowerCase()) ? there[attribute.toLowerCase()] : undefined
  if (!known)
    throw new Problem('not_found', 'No such attribute', `${model.state.name} has no attribute ${attribute}`, {
      hint: `Attributes: ${Object.keys(there).join(', ')}.`,
    })
  if (!version.result)
    throw new Problem('not_ready', 'Model is not ready', `version ${version.version} of ${model.state.name} has status ${version.status}`)
  return known(version.result.report, version)
}
