import * as z from 'zod'
import type { Kind, Resource } from '../../log/contract/log.js'
import { inProject, projectNamed } from '../../log/read/by-name.js'
import { entityTag, json } from '../protocol/reply.js'
import type { Route } from '../protocol/route.js'
import { list, listParameters, resourcesPart } from './paged-list.js'
import type { Moment, ReadRouteFactory } from './read-routes.js'

/** A read of the resources of a project of one kind. `show` makes the record of one. */
type ProjectRead<K extends Kind> = {
  path: string
  kind: K
  summary: string
  record: z.ZodType
  show: (moment: Moment, found: Resource<K>, project: Resource<'project'>) => unknown
}

/**
 * Makes the route of the list of a project's resources of one kind.
 *
 * @example
 * listOfProject(reading, { path, kind: 'view', summary, record, show: ({ records }, view, project) => records.view(view, project) })
 */
export const listOfProject = <K extends Kind>(reading: ReadRouteFactory, { path, kind, summary, record, show }: ProjectRead<K>): Route =>
  reading<string, typeof listParameters>({
    path,
    summary,
    query: listParameters,
    answers: { 200: z.array(record) },
    async handle(input, moment) {
      const { project: named = '' } = input.segments
      const project = await projectNamed(moment, named)
      const read = (after: number, limit: number) => moment.resources.page(kind, project, after, limit)
      return list(input, [resourcesPart(read, async (found) => [await show(moment, found, project)])])
    },
  })

/**
 * Makes the route of one resource of a project. The last segment of the path names it.
 *
 * @example oneOfProject(reading, { path: `${path}/:view`, kind: 'view', summary, record, show })
 */
export const oneOfProject = <K extends Kind>(reading: ReadRouteFactory, { path, kind, summary, record, show }: ProjectRead<K>): Route => {
  const last = path.slice(path.lastIndexOf(':') + 1)
  return reading<string>({
    path,
    summary,
    answers: { 200: record },
    async handle({ segments }, moment) {
      const { project, found } = await inProject(moment, kind, segments['project'] ?? '', segments[last] ?? '')
      return json(await show(moment, found, project), { headers: entityTag(found) })
    },
  })
}
