import type { ModelVersion } from '../../../events/model.js'
import { notFound } from '../../basics/errors.js'
import { versionOf } from '../../commands/model.js'
import type { Resource } from '../../log/contract/log.js'
import type { ResourceSource } from '../../log/read/by-name.js'

/**
 * Reads a model's name in a path: `rent`, or a version of it, `rent.2`. A model with the whole name `rent.2` takes precedence.
 * The model need not exist.
 */
export const modelInPath = async (
  { resources }: ResourceSource,
  project: Resource<'project'>,
  ref: string,
): Promise<{ model: string; version: number | undefined }> => {
  const [, model, digits] = /^(.+)\.(\d{1,9})$/.exec(ref) ?? []
  if (model === undefined || (await resources.one('model', ref, project))) return { model: ref, version: undefined }
  return { model, version: Number(digits) }
}

/** The model and the version that a path names; `named` is the version's number if the path has one. @throws Problem 404 */
export const modelNamed = async (
  log: ResourceSource,
  project: Resource<'project'>,
  ref: string,
): Promise<{ model: Resource<'model'>; version: ModelVersion; named: number | undefined }> => {
  const { model: name, version: named } = await modelInPath(log, project, ref)
  const model = await log.resources.one('model', name, project)
  if (!model) throw notFound('model', ref)
  return { model, version: versionOf(model.state, named ?? null), named }
}
