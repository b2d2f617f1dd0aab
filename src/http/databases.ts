import { z } from 'zod'
import { foldName, jsonObject, resourceName, text } from '../../events/common.js'
import type { Ledger } from '../commands/ledger.js'
import { notFound } from '../errors.js'
import { idempotencyOf, note, originOf } from './origin.js'
import type { Records } from './records.js'
import { given, param, unwrap, type Route } from './route.js'
import { resultOf } from './scope.js'

const listed = z
  .looseObject({
    name: z.string(),
    type: z.string(),
    id: z.int().nullable(),
    engine: z.string().nullable(),
    visible: z.boolean(),
    deletable: z.boolean(),
  })
  .meta({ id: 'DatabaseListed' })
const record = z
  .looseObject({
    id: z.int().nullable(),
    name: z.string(),
    type: z.string(),
    engine: z.string().nullable(),
    connection_data: jsonObject.optional(),
  })
  .meta({ id: 'Database' })
const creation = z.object({ name: resourceName, engine: text, parameters: jsonObject.nullish() })
const changes = z.object({ engine: text.nullish(), parameters: jsonObject.nullish() })
const path = '/databases'

/** The id of the system database that holds the files; ids of resources begin at 1. */
const filesId = -1
const system = (name: string, more: object = {}) => ({
  name,
  type: 'system',
  id: null,
  engine: null,
  visible: true,
  deletable: false,
  ...more,
})

const files = system('files', { type: 'data', id: filesId, engine: 'files', class_type: 'sql', connection_data: {} })
const systemDatabases = [system('information_schema'), system('log'), files]

export const databaseRoutes = (ledger: Ledger, records: Records, defaultProject: string): Route[] => [
  {
    method: 'get',
    path,
    summary: 'List everything that SQL names before a dot: system databases, projects, files and connections',
    answers: { 200: z.array(listed) },
    async handle(_req, res) {
      const projects = await ledger.log.resources.list('project')
      const databases = await ledger.log.resources.list('database')
      res.json([
        ...systemDatabases.filter(({ type }) => type === 'system'),
        ...projects.map(({ id, state }) => ({ ...system(state.name), type: 'project', id, deletable: state.name !== defaultProject })),
        files,
        ...databases.map((found) => ({ ...records.database(found), visible: true, deletable: true })),
      ])
    },
  },
  {
    method: 'post',
    path,
    summary: 'Create a named connection; its secrets are encrypted',
    body: z.object({ database: creation }),
    answers: { 201: record },
    async handle(req, res) {
      const { name, engine, parameters } = unwrap(req, 'database', creation)
      const data = { database: name, engine, parameters: parameters ?? {} }
      const outcome = note(res, await ledger.execute({ type: 'CreateDatabase', data }, originOf(req, res), idempotencyOf(req)))
      const { id, state } = resultOf('database', outcome.resource)
      res.status(201).json({ name: state.name, type: 'data', engine: state.engine, id })
    },
  },
  {
    method: 'get',
    path: `${path}/:database`,
    summary: 'Get a connection, a project or a system database',
    answers: { 200: record },
    async handle(req, res) {
      const name = param(req, 'database')
      const ofSystem = systemDatabases.find((known) => known.name === foldName(name))
      if (ofSystem) {
        res.json(ofSystem)
        return
      }
      const project = await ledger.log.resources.one('project', name)
      if (project) {
        res.json({ name: project.state.name, type: 'project', id: project.id, engine: null })
        return
      }
      const database = await ledger.log.resources.one('database', name)
      if (!database) throw notFound('database', name)
      res.json(records.database(database))
    },
  },
  {
    method: 'put',
    path: `${path}/:database`,
    summary: "Change a connection's engine, and merge its parameters; one that does not exist is created",
    body: z.object({ database: changes }),
    answers: { 200: record, 201: record },
    async handle(req, res) {
      const data = { database: param(req, 'database'), ...given(unwrap(req, 'database', changes)) }
      const outcome = note(res, await ledger.execute({ type: 'PutDatabase', data }, originOf(req, res), idempotencyOf(req)))
      const database = outcome.resource ? resultOf('database', outcome.resource) : await ledger.log.resources.one('database', data.database)
      if (!database) throw notFound('database', data.database)
      res.status(outcome.positions[0] === database.id ? 201 : 200).json(records.database(database))
    },
  },
  {
    method: 'delete',
    path: `${path}/:database`,
    summary: 'Delete a connection, or an empty project',
    answers: { 204: null },
    async handle(req, res) {
      const name = param(req, 'database')
      const project = await ledger.log.resources.one('project', name)
      const command = project
        ? ({ type: 'DeleteProject', data: { project: name, defaultProject } } as const)
        : ({ type: 'DeleteDatabase', data: { database: name } } as const)
      note(res, await ledger.execute(command, originOf(req, res), idempotencyOf(req)))
      res.status(204).end()
    },
  },
]
