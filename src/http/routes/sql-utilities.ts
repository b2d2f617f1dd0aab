import * as z from 'zod'
import { isProblem } from '../../basics/errors.js'
import { listDatabases } from './resources/databases.js'
import { databaseNamed, entriesOf, type Database } from '../reads/find-database.js'
import { itemsOf } from '../reads/paged-list.js'
import type { Moment, ReadRouteFactory } from '../reads/read-routes.js'
import { json } from '../protocol/reply.js'
import type { Route } from '../protocol/route.js'

const listed = z
  .object({ data: z.array(z.object({ name: z.string(), tables: z.array(z.string()), unavailable: z.string().optional() })) })
  .meta({ id: 'DatabasesWithTables' })

const named = z.object({ name: z.string() })

const tableNames = async (moment: Moment, database: Database): Promise<string[]> => {
  const names: string[] = []
  const tables = entriesOf(moment, database, (one) => (one.type === 'agent' || one.type === 'job' ? undefined : one))
  for await (const table of itemsOf(tables)) names.push(named.parse(table).name)
  return names
}

/** One connected database that does not answer must not hide the others. */
const withTables = async (moment: Moment, name: string, database: Database): Promise<object> => {
  try {
    return { name, tables: await tableNames(moment, database) }
  } catch (error) {
    if (database.type !== 'connection' || !isProblem(error)) throw error
    return { name, tables: [], unavailable: error.detail }
  }
}

/** The routes that editors need besides running statements. */
export const sqlUtilityRoutes = (reading: ReadRouteFactory, defaultProject: string): Route[] => [
  reading({
    path: '/sql/list_databases',
    summary: 'The databases with the names of their tables',
    answers: { 200: listed },
    async handle(_, moment) {
      const data: object[] = []
      for await (const listed of itemsOf(listDatabases(moment, defaultProject))) {
        const { name } = named.parse(listed)
        data.push(await withTables(moment, name, await databaseNamed(moment, name)))
      }
      return json({ data })
    },
  }),
]
