import { notFound } from '../../basics/errors.js'
import type { Resource, Resources, Kind, Log } from '../contract/log.js'

/**
 * Where resources are looked up: in the log, or at a position in the past. If `asOf` is set, refusals name this position. Otherwise they
 * are the same as at that moment.
 */
export type ResourceSource = Pick<Log, 'resources'> & { readonly asOf?: number }

/** The project with this name. @throws Problem 404 */
export const projectNamed = async ({ resources, asOf }: ResourceSource, name: string): Promise<Resource<'project'>> => {
  const project = await resources.one('project', name)
  if (!project) throw notFound('project', name, asOf)
  return project
}

/** The connection with this name; undefined if a project has the name, because projects come first. */
export const connectionNamed = async (resources: Pick<Resources, 'one'>, name: string): Promise<Resource<'database'> | undefined> =>
  (await resources.one('project', name)) ? undefined : resources.one('database', name)

/** A resource of a project by name or id, and its project. @throws Problem 404 */
export const inProject = async <K extends Kind>(at: ResourceSource, kind: K, projectName: string, ref: string) => {
  const project = await projectNamed(at, projectName)
  const found = await at.resources.one(kind, ref, project)
  if (!found) throw notFound(kind, ref, at.asOf)
  return { project, found }
}

/** The resource of this kind that a write left. */
export const resultOf = <K extends Kind>(kind: K, resource: { kind: Kind } | null): Resource<K> => {
  if (resource?.kind !== kind) throw new TypeError(`the command left no ${kind}`)
  return resource as Resource<K>
}
