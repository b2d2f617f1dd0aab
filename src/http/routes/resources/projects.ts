import * as z from 'zod'
import { resourceName } from '../../../../events/common.js'
import type { Ledger } from '../../../commands/ledger.js'
import { isProblem, Problem, wrong } from '../../../basics/errors.js'
import type { Resources } from '../../../log/contract/log.js'
import { wrapped } from '../../protocol/body-schema.js'
import { carryOut, deletion } from '../../protocol/carry-out.js'
import { entityTag, json } from '../../protocol/reply.js'
import { list, listParameters, type Part } from '../../reads/paged-list.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import { commandHeaders, route, type Route } from '../../protocol/route.js'
import { projectNamed } from '../../../log/read/by-name.js'
import { everyResource } from '../../../log/read/every-resource.js'

const record = z.object({ name: z.string() }).meta({ id: 'Project' })
/** All that a project has to say of itself, both when it is created and when it is changed. */
const fields = z.object({ name: resourceName })
const path = '/projects'

type ProjectName = { id: number; name: string }

/** The ids and names of all projects, sorted by name. */
const namesOf = async (resources: Resources): Promise<ProjectName[]> => {
  const names: ProjectName[] = []
  for await (const { id, state } of everyResource(resources, 'project')) names.push({ id, name: state.name })
  return names.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The list is sorted by name. A page ends at a project's id; the next page has the names after the name of that project. */
const inOrderOfNames = (names: readonly ProjectName[]): Part => {
  const places = new Map(names.map(({ id }, i) => [id, i]))
  return async (after, limit) => {
    const last = after === 0 ? -1 : places.get(after)
    if (last === undefined)
      throw wrong(`the previous page ended at project ${after}, which no longer exists`, 'Start the list again, without after.')
    return names.slice(last + 1, last + 1 + limit).map(({ id, name }) => ({ place: id, items: [{ name }] }))
  }
}

/** The routes for projects: list, create, get, rename, and delete an empty one. */
export const projectRoutes = (ledger: Ledger, reading: ReadRouteFactory, defaultProject: string): Route[] => [
  reading({
    path,
    summary: 'List the projects',
    query: listParameters,
    answers: { 200: z.array(record) },
    async handle(input, { resources }) {
      return list(input, [inOrderOfNames(await namesOf(resources))])
    },
  }),
  route({
    method: 'post',
    path,
    summary: 'Create a project',
    commandHeaders,
    onlyCommands: true,
    body: wrapped('project', fields),
    answers: { 201: record },
    async handle({ body: { name }, call }) {
      await carryOut(ledger, { type: 'CreateProject', data: { project: name } }, call)
      return json({ name }, { status: 201 })
    },
  }),
  reading({
    path: `${path}/:project`,
    summary: 'Get a project',
    answers: { 200: record },
    async handle({ segments: { project: name } }, moment) {
      const project = await projectNamed(moment, name).catch((error: unknown) => {
        // MindsDB uses this title for this refusal, and clients compare titles.
        if (isProblem(error)) throw new Problem('not_found', 'Project not exists', `Project name ${name} does not exist`)
        throw error
      })
      return json({ name: project.state.name }, { headers: entityTag(project) })
    },
  }),
  route({
    method: 'put',
    path: `${path}/:project`,
    summary: 'Give a project another name',
    commandHeaders,
    onlyCommands: true,
    body: wrapped('project', fields),
    answers: { 200: record },
    async handle({ segments: { project }, body: { name }, call }) {
      await carryOut(ledger, { type: 'RenameProject', data: { project, name, defaultProject } }, call)
      return json({ name })
    },
  }),
  deletion(ledger, {
    path: `${path}/:project`,
    summary: 'Delete an empty project',
    command: ({ segments: { project } }) => ({ type: 'DeleteProject', data: { project, defaultProject } }),
  }),
]
