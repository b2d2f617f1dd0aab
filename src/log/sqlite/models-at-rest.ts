import { foldName } from '../../../events/common.js'
import { answeringVersion, type ModelVersion, type TrainingResult } from '../../../events/model.js'
import { ConfigError } from '../../setup/config.js'
import type { DataPaths } from '../../setup/data-directory.js'
import type { Log } from '../contract/log.js'
import { EventReads } from '../storage/events.js'
import { ResourceTable } from '../storage/resource-table.js'
import { openForReading } from '../storage/schema.js'

/** A version whose training succeeded, with the names of its project and model. */
export type NamedVersion = { project: string; model: string; version: ModelVersion; result: TrainingResult }

/** The models of a log for a process beside the server. */
export type ModelsAtRest = {
  /** All trained versions, in order of creation. */
  all: () => NamedVersion[]
  /**
   * The version that `[project.]model[.version]` names; without a version the active one.
   * @throws ConfigError that lists the existing versions
   */
  named: (name: string, defaultProject: string) => NamedVersion
  log: Pick<Log, 'readStream'>
  close: () => void
}

type KnownVersion = { project: string; model: string; version: ModelVersion; isActive: boolean }

/** The names that a version can have, the full name first. A name may contain a dot, and a project may have the name of a model. */
const namesOf = ({ project, model, version: { version }, isActive }: KnownVersion, defaultProject: string): string[] => {
  const isDefault = foldName(project) === foldName(defaultProject)
  return [
    `${project}.${model}.${version}`,
    ...(isActive ? [`${project}.${model}`] : []),
    ...(isDefault ? [`${model}.${version}`, ...(isActive ? [model] : [])] : []),
  ]
}

const complete = ({ project, model, version }: KnownVersion): NamedVersion => {
  const { result, status, error } = version
  if (result) return { project, model, version, result }
  throw new ConfigError(`version ${version.version} of ${project}.${model} has status ${status}${error === null ? '' : `: ${error}`}`)
}

const find = (all: readonly KnownVersion[], name: string, defaultProject: string): NamedVersion => {
  const wanted = foldName(name)
  const places = all.map((known) => ({ known, place: namesOf(known, defaultProject).findIndex((one) => foldName(one) === wanted) }))
  const [best] = places.filter(({ place }) => place >= 0).sort((one, other) => one.place - other.place)
  if (best) return complete(best.known)
  const listed = all.map(({ project, model, version: { version } }) => `${project}.${model}.${version}`)
  throw new ConfigError(
    `there is no model ${name}; ${listed.length === 0 ? 'there are no models' : `known: ${listed.slice(0, 20).join(', ')}`}`,
  )
}

/**
 * Opens the models of a log for reading.
 *
 * @example const models = openModels(dataPaths('./data')); models.named('rent.2', 'mindsdb').result.artefact; models.close()
 */
export const openModels = (paths: Pick<DataPaths, 'log'>): ModelsAtRest => {
  const db = openForReading(paths.log)
  const [resources, reads] = [new ResourceTable(db), new EventReads(db)]
  const known = (): KnownVersion[] =>
    resources.list('model').flatMap(({ state }) => {
      const { project, name, versions } = state
      const answering = answeringVersion(state)
      const inProject = resources.byStream('project', project)?.state.name ?? ''
      return versions.map((version) => ({ project: inProject, model: name, version, isActive: answering === version.version }))
    })
  return {
    all: () => known().flatMap((one) => (one.version.result ? [complete(one)] : [])),
    named: (name, defaultProject) => find(known(), name, defaultProject),
    log: { readStream: async (...asked) => reads.stream(...asked) },
    close: () => db.close(),
  }
}
