import type { ModelVersion } from '../../../events/model.js'
import { versionOf } from '../../commands/model.js'
import { notFound } from '../../basics/errors.js'
import type { Found, Log } from '../../log/contract/log.js'

type Lookup = Pick<Log, 'resources'>

/**
 * What a path says of a model: `rent`, or one of its versions, `rent.2`. A model whose whole name is `rent.2` wins over a version.
 * Whether there is such a model is not said.
 */
export const modelInPath = async (
  { resources }: Lookup,
  project: Found<'project'>,
  ref: string,
): Promise<{ model: string; version: number | undefined }> => {
  const [, model, digits] = /^(.+)\.(\d{1,9})$/.exec(ref) ?? []
  if (model === undefined || (await resources.one('model', ref, project))) return { model: ref, version: undefined }
  return { model, version: Number(digits) }
}

/** The model and the version that a path names; `named` is the version's number where the path has one. @throws Problem 404 */
export const modelNamed = async (
  log: Lookup,
  project: Found<'project'>,
  ref: string,
): Promise<{ model: Found<'model'>; version: ModelVersion; named: number | undefined }> => {
  const { model: name, version: named } = await modelInPath(log, project, ref)
  const model = await log.resources.one('model', name, project)
  if (!model) throw notFound('model', ref)
  const { active, latest } = model.state
  return { model, version: versionOf(model.state, named ?? active ?? latest), named }
}
