import { z } from 'zod'
import { resourceName } from '../../events/common.js'
import type { Ledger } from '../commands/ledger.js'
import { isProblem, Problem } from '../errors.js'
import { carryOut, deletion } from './carry-out.js'
import { tag } from './etag.js'
import type { Reading } from './reading.js'
import { commandHeaders, param, type Route, unwrap } from './route.js'
import { projectNamed } from './scope.js'

const record = z.object({ name: z.string() }).meta({ id: 'Project' })
const creation = z.object({ name: resourceName })
const path = '/projects'

export const projectRoutes = (ledger: Ledger, reading: Reading, defaultProject: string): Route[] => [
  reading({
    path,
    summary: 'List the projects',
    answers: { 200: z.array(record) },
    async handle(_req, res, { resources }) {
      const projects = await resources.list('project')
      res.json(projects.map(({ state }) => ({ name: state.name })).sort((a, b) => (a.name < b.name ? -1 : 1)))
    },
  }),
  {
    method: 'post',
    path,
    summary: 'Create a project',
    commandHeaders,
    body: z.object({ project: creation }),
    answers: { 201: record },
    async handle(req, res) {
      const { name } = unwrap(req, 'project', creation)
      await carryOut(ledger, { type: 'CreateProject', data: { project: name } }, req, res)
      res.status(201).json({ name })
    },
  },
  reading({
    path: `${path}/:project`,
    summary: 'Get a project',
    answers: { 200: record },
    async handle(req, res, moment) {
      const name = param(req, 'project')
      const project = await projectNamed(moment, name).catch((error: unknown) => {
        // The public service titles this one refusal so, and clients compare titles.
        if (isProblem(error)) throw new Problem('not_found', 'Project not exists', `Project name ${name} does not exist`)
        throw error
      })
      tag(res, project)
      res.json({ name: project.state.name })
    },
  }),
  {
    method: 'delete',
    path: `${path}/:project`,
    summary: 'Delete an empty project',
    commandHeaders,
    answers: { 204: null },
    handle: deletion(ledger, (req) => ({ type: 'DeleteProject', data: { project: param(req, 'project'), defaultProject } })),
  },
]
