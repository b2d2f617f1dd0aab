import type { ModelVersion } from '../../../events/model.js'
import { notFound } from '../../basics/errors.js'
import { versionOf } from '../../commands/model.js'
import type { Resource } from '../../log/contract/log.js'
import { projectNamed, type ResourceSource } from '../../log/read/by-name.js'

/** A model as a path names it: its project, its name, and the number of a version if the path has one. */
type ModelInPath = { project: Resource<'project'>; model: string; version: number | undefined }

/**
 * Reads the names of a project and of a model in a path: `rent`, or a version of it, `rent.2`. A model with the whole name `rent.2` takes
 * precedence. The model need not exist.
 *
 * @throws Problem 404 when the project does not exist
 */
export const modelInPath = async (log: ResourceSource, projectName: string, ref: string): Promise<ModelInPath> => {
  const project = await projectNamed(log, projectName)
  const [, model, digits] = /^(.+)\.(\d{1,9})$/.exec(ref) ?? []
  if (model === undefined || (await log.resources.one('model', ref, project))) return { project, model: ref, version: undefined }
  return { project, model, version: Number(digits) }
}

/** The model and the version that a path names; `named` is the version's number if the path has one. */
type NamedModel = { project: Resource<'project'>; model: Resource<'model'>; version: ModelVersion; named: number | undefined }

/** The model that a path names, in its named version or else in the active one. @throws Problem 404 */
export const modelNamed = async (log: ResourceSource, projectName: string, ref: string): Promise<NamedModel> => {
  const { project, model: name, version: named } = await modelInPath(log, projectName, ref)
  const model = await log.resources.one('model', name, project)
  if (!model) throw notFound('model', ref)
  return { project, model, version: versionOf(model.state, named ?? null), named }
}
