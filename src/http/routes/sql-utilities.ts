import * as z from 'zod'
import { limits } from '../../basics/limits.js'
import { someAtOnce } from '../../basics/concurrency/some-at-once.js'
import { isProblem } from '../../basics/errors.js'
import type { Resource } from '../../log/contract/log.js'
import { everyResource } from '../../log/read/every-resource.js'
import { isConnected } from '../../sql/engine/resolve/connections.js'
import { listDatabases } from './resources/databases.js'
import { databaseNamed, entriesOf, type Database, type ReadTables } from '../reads/find-database.js'
import { inParts, itemsOf } from '../reads/paged-list.js'
import type { Moment, ReadRouteFactory } from '../reads/read-routes.js'
import type { Route } from '../protocol/route.js'

const listed = z
  .object({ data: z.array(z.object({ name: z.string(), tables: z.array(z.string()), unavailable: z.string().optional() })) })
  .meta({ id: 'DatabasesWithTables' })

const named = z.object({ name: z.string() })

/** The names of a database's tables as JSON texts, joined by commas. */
async function* tableNames(moment: Moment, database: Database): AsyncGenerator<string, void, void> {
  let before = ''
  for await (const table of itemsOf(entriesOf(moment, database, (one) => (one.type === 'agent' || one.type === 'job' ? undefined : one)))) {
    yield before + JSON.stringify(named.parse(table).name)
    before = ','
  }
}

/** A database as JSON. A connected database that does not answer must not hide the others. */
async function* withTables(moment: Moment, name: string, database: Database): AsyncGenerator<string, void, void> {
  yield `{"name":${JSON.stringify(name)},"tables":[`
  try {
    yield* tableNames(moment, database)
    yield ']}'
  } catch (error) {
    if (database.type !== 'connection' || !isProblem(error)) throw error
    yield `],"unavailable":${JSON.stringify(error.detail)}}`
  }
}

/**
 * The same moment, in which each connected database lists its tables soon or fails. All are asked before the list begins, side by side, so
 * that none delays the others.
 */
const listedSoon = async (moment: Moment): Promise<Moment> => {
  const { resources, connectedTables } = moment
  if (!connectedTables) return moment
  const readSoon: ReadTables = (connection) => connectedTables(connection, true)
  const connections: Resource<'database'>[] = []
  for await (const database of everyResource(resources, 'database')) if (isConnected(database.state)) connections.push(database)
  await someAtOnce(connections, limits.connectionsListedAtOnce, (connection) => readSoon(connection).catch(() => undefined))
  return { ...moment, connectedTables: readSoon }
}

async function* allDatabases(moment: Moment, defaultProject: string): AsyncGenerator<string, void, void> {
  let before = '{"data":['
  for await (const listed of itemsOf(listDatabases(moment, defaultProject))) {
    const { name } = named.parse(listed)
    yield before
    yield* withTables(moment, name, await databaseNamed(moment, name))
    before = ','
  }
  yield ']}'
}

/** The routes that editors need besides the route that runs statements. */
export const sqlUtilityRoutes = (reading: ReadRouteFactory, defaultProject: string): Route[] => [
  reading({
    path: '/sql/list_databases',
    summary: 'The databases with the names of their tables',
    answers: { 200: listed },
    handle: async (_, moment) => inParts(allDatabases(await listedSoon(moment), defaultProject)),
  }),
]
