import * as z from 'zod'
import { Problem } from '../../../basics/errors.js'
import { listDatabases, type DatabaseListed } from './databases.js'
import { entriesOf, findDatabase, type Entry } from '../../reads/find-database.js'
import { list, listParameters } from '../../reads/paged-list.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import { value } from '../../protocol/parameters.js'
import type { Route } from '../../protocol/route.js'

const root = z
  .object({
    name: z.string(),
    class: z.literal('db'),
    type: z.enum(['system', 'project', 'data']),
    engine: z.string().nullable(),
    deletable: z.boolean(),
    visible: z.boolean(),
  })
  .meta({ id: 'TreeRoot' })
const leaf = z
  .object({
    name: z.string(),
    schema: z.string().nullable().describe('of a table of a connected database: the schema that it is in there'),
    class: z.enum(['table', 'job']),
    type: z.enum(['table', 'model', 'view', 'agent', 'knowledge_base', 'system view', 'job']),
    engine: z.string().nullable(),
    deletable: z.boolean(),
    note: z.string().optional().describe('on the last table of a list that has not all of them'),
  })
  .meta({ id: 'TreeLeaf' })

/** The routes for the object tree of editors: the databases, and the contents of one. */
export const treeRoutes = (reading: ReadRouteFactory, defaultProject: string): Route[] => [
  reading({
    path: '/tree',
    summary: 'The databases, as a tree of objects begins',
    query: listParameters,
    answers: { 200: z.array(root) },
    async handle(input, moment) {
      const show = ({ name, type, engine, deletable, visible }: DatabaseListed) => ({ name, class: 'db', type, engine, deletable, visible })
      return list(input, listDatabases(moment, defaultProject, show))
    },
  }),
  reading({
    path: '/tree/:database',
    summary: 'The contents of a database: models, views, agents, knowledge bases and jobs of a project, uploaded files, system views',
    query: {
      ...listParameters,
      all_schemas: value(z.string().optional().describe('taken for its clients; the tables of all schemas are there in any case')),
    },
    answers: { 200: z.array(leaf) },
    async handle(input, moment) {
      const name = input.segments.database
      const database = await findDatabase(moment, name)
      // Clients of this route expect 400.
      if (!database)
        throw new Problem('wrong_arguments', 'Error', `There is no element with name '${name}'`, {
          hint: 'GET /api/tree lists the databases.',
        })
      const show = ({ name, type, engine, deletable, there }: Entry) => ({
        ...{ name: there?.name ?? name, schema: there?.schema ?? null, class: type === 'job' ? 'job' : 'table' },
        ...{ type, engine, deletable },
        ...(there?.note !== undefined && { note: there.note }),
      })
      return list(input, entriesOf(moment, database, show))
    },
  }),
]
