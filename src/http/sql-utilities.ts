import { z } from 'zod'
import { whyNotOpened } from '../connections.js'
import { parametrize } from '../sql/parametrize.js'
import { listDatabases } from './databases.js'
import { databaseNamed, entriesOf } from './listing.js'
import type { Reading } from './reading.js'
import { jsonBody, parse, type Route } from './route.js'

const listed = z
  .object({ data: z.array(z.object({ name: z.string(), tables: z.array(z.string()), unavailable: z.string().optional() })) })
  .meta({ id: 'DatabasesWithTables' })
const statement = z.object({ query: z.string() })
const parametrized = z
  .object({
    query: z.string(),
    parameters: z.array(
      z.object({
        name: z.string(),
        value: z.union([z.string(), z.number(), z.boolean()]),
        type: z.enum(['str', 'int', 'float', 'bool']),
      }),
    ),
    databases: z.record(z.string(), z.array(z.string())),
  })
  .meta({ id: 'ParametrizedQuery' })

/** What editors ask beside running statements. */
export const sqlUtilityRoutes = (reading: Reading, defaultProject: string): Route[] => [
  reading({
    path: '/sql/list_databases',
    summary: 'The databases with the names of their tables',
    answers: { 200: listed },
    async handle(_req, res, moment) {
      const names = (await listDatabases(moment, defaultProject)).map(({ name }) => name)
      const data = await Promise.all(
        names.map(async (name) => {
          const database = await databaseNamed(moment, name)
          if (database.type === 'connection') return { name, tables: [], unavailable: whyNotOpened(database.database.state.engine) }
          const entries = await entriesOf(moment, database)
          return { name, tables: entries.filter(({ type }) => type !== 'agent' && type !== 'job').map((entry) => entry.name) }
        }),
      )
      res.json({ data })
    },
  }),
  {
    method: 'post',
    path: '/sql/query/utils/parametrize_constants',
    summary: 'The same statement with parameters in the place of its constants',
    body: statement,
    answers: { 200: parametrized },
    async handle(req, res) {
      res.json(parametrize(parse(statement, jsonBody(req), 'body').query))
    },
  },
]
