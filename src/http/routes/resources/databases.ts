/** Room: the routes for the resources of projects and for what SQL names, a file for each kind. It imports any room above it. */

import * as z from 'zod'
import { foldName, jsonObject, resourceName, text, type JsonObject } from '../../../../events/common.js'
import { conflict, notFound, Problem, wrong } from '../../../basics/errors.js'
import { connectionEngines } from '../../../catalogue/connection-engines.js'
import { knownEngine } from '../../../commands/database.js'
import type { Ledger } from '../../../commands/ledger.js'
import type { Log, Resource } from '../../../log/contract/log.js'
import { withoutIds } from '../../../log/contract/lookups.js'
import { resultOf } from '../../../log/read/by-name.js'
import { checkChangedConnection, checkConnection } from '../../../sql/facade/commands/check-connection.js'
import type { ConnectedDatabases } from '../../../sql/facade/connected-databases.js'
import { given, object, objectIn, parse, titled, unwrap, type Body } from '../../protocol/body-schema.js'
import { carriedOut, carryOut, carryOutOnce, deletion } from '../../protocol/carry-out.js'
import { value, type Parameter } from '../../protocol/parameters.js'
import { entityTag, json } from '../../protocol/reply.js'
import { commandHeaders, route, type Route } from '../../protocol/route.js'
import { databaseNamed, filesDatabase, findDatabase, systemDatabaseRecords, type Database } from '../../reads/find-database.js'
import { fixedPart, list, listParameters, resourcesPart, type Part } from '../../reads/paged-list.js'
import type { Moment, ReadRouteFactory } from '../../reads/read-routes.js'
import type { Records } from '../../reads/records.js'

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
const engine = text.meta({ examples: [...connectionEngines.keys()] })
const creation = z.object({ name: resourceName, engine, parameters: jsonObject.nullish() })
const changes = z.object({ engine: engine.nullish(), parameters: jsonObject.nullish() })
const path = '/databases'

const checked = z.boolean().nullish().describe('tries the connection first, and keeps nothing unless it can be opened')
const words = z.enum(['true', 'false', '1', '0']).optional().describe('true: says whether it can be opened, too')
/** Clients in Python write `True`. */
const checkParameter: Parameter<boolean> = {
  schema: words,
  read: (query, name) => {
    const said = value(words).read(query, name)
    const word = words.safeParse(said?.toLowerCase())
    if (!word.success) throw wrong(`${name} is true or false, not ${said}`)
    return word.data === 'true' || word.data === '1'
  },
}
const status = z
  .union([z.object({ status: z.literal('success') }), z.object({ status: z.literal('connection_error'), detail: z.string() })])
  .meta({ id: 'ConnectionStatus' })

/** A connection under `database`, and whether the client wants it tested first. */
const body = <T>(database: z.ZodType<T>): Body<{ database: T; asksForCheck: boolean }> =>
  titled('Wrong argument', {
    schema: z.object({ database, check_connection: checked }),
    read: (sent) => ({
      database: unwrap(sent, 'database', database),
      asksForCheck: parse(z.looseObject({ check_connection: z.boolean().nullish() }), objectIn(sent), 'body').check_connection ?? false,
    }),
  })

export type DatabaseListed = { name: string; type: string; id: number | null; engine: string | null; visible: boolean; deletable: boolean }

/** All names that SQL accepts before a dot, in the order that clients show. */
export const listDatabases = (
  { resources, records }: Moment,
  defaultProject: string,
  show: (listed: DatabaseListed) => object = (listed) => listed,
): Part[] => [
  fixedPart(systemDatabaseRecords.map(show)),
  resourcesPart(
    (after, limit) => resources.page('project', undefined, after, limit),
    ({ id, state: { name } }) => [
      show({ name, type: 'project', id, engine: null, visible: true, deletable: foldName(name) !== foldName(defaultProject) }),
    ],
  ),
  fixedPart([show(filesDatabase)]),
  resourcesPart(
    (after, limit) => resources.page('database', undefined, after, limit),
    (found) => [show({ ...records.database(found), visible: true, deletable: true })],
  ),
]

const recordOf = (database: Database, records: Records) => {
  switch (database.type) {
    case 'project':
      return { name: database.name, type: 'project', id: database.project.id, engine: null }
    case 'connection':
      return records.database(database.database)
    case 'files':
      return filesDatabase
    case 'system':
      return systemDatabaseRecords.find(({ name }) => name === database.name)
  }
}

/** Tests connections. */
type Check = Pick<ConnectedDatabases, 'check' | 'checkSaved' | 'checkChanged'>

const connectionStatus = async (database: Database, check: Check) => {
  const told = database.type === 'connection' ? await check.checkSaved(database.database) : { status: 'success' as const }
  return { success: told.status === 'success', error_message: told.status === 'success' ? null : told.detail }
}

/** The project or connection with a name; system databases have no versions. */
const resourceOf = (database: Database) =>
  database.type === 'project' ? database.project : database.type === 'connection' ? database.database : undefined

/**
 * Refuses a new connection with parameters that no database could be opened with. One without parameters may get them later.
 *
 * @throws Problem wrong_arguments that names the parameter
 */
const checkGiven = ({ engine, parameters }: z.infer<typeof changes>): void => {
  if (engine && parameters && Object.keys(parameters).length > 0) checkConnection(engine, parameters)
}

type Options = { ledger: Ledger; log: Log; records: Records; reading: ReadRouteFactory; defaultProject: string; connected: Check }

/** The routes for all names that SQL accepts before a dot. Only connections can be created, changed and checked here. */
export const databaseRoutes = ({ ledger, log, records, reading, defaultProject, connected }: Options): Route[] => {
  /** @throws Problem 400 when the connection cannot be opened after this change */
  const requireOpen = async (found: Resource<'database'> | undefined, { engine, parameters }: z.infer<typeof changes>): Promise<void> => {
    const sent = { ...(engine && { engine: knownEngine(engine) }), parameters: parameters ?? {} }
    const told = found
      ? await connected.checkChanged(found, sent)
      : await connected.check({ engine: sent.engine ?? '', parameters: sent.parameters })
    if (told.status === 'connection_error')
      throw new Problem('wrong_arguments', 'Connection error', told.detail, { hint: 'Leave out check_connection to keep it nevertheless.' })
  }
  return [
    reading({
      path,
      summary: 'List everything that SQL names before a dot: system databases, projects, files and connections',
      query: listParameters,
      answers: { 200: z.array(listed) },
      async handle(input, moment) {
        return list(input, listDatabases(moment, defaultProject))
      },
    }),
    route({
      method: 'post',
      path,
      summary: 'Create a named connection; its secrets are encrypted',
      commandHeaders,
      body: body(creation),
      answers: { 200: status, 201: record },
      async handle({ body: { database, asksForCheck }, call }) {
        const { name, engine, parameters } = database
        const repeated = await carriedOut(ledger, call)
        if (asksForCheck && !repeated) {
          if (await findDatabase({ resources: withoutIds(log.resources) }, name)) throw conflict('database', name)
          const told = await connected.check({ engine: knownEngine(engine), parameters: parameters ?? {} })
          if (told.status === 'connection_error') return json(told, { keep: 'never' })
        }
        checkGiven({ engine, parameters })
        const data = { database: name, engine, parameters: parameters ?? {} }
        const { resource } = repeated ?? (await carryOut(ledger, { type: 'CreateDatabase', data }, call))
        const { id, state } = resultOf('database', resource)
        return json({ name: state.name, type: 'data', engine: state.engine, id }, { status: 201 })
      },
    }),
    route({
      method: 'post',
      path: `${path}/status`,
      summary: 'Whether a connection with these parameters can be opened',
      body: object(z.looseObject({ engine: text, parameters: jsonObject.nullish() }), 'database'),
      answers: { 200: status },
      async handle({ body: { engine, parameters, ...others } }) {
        // Clients send the parameters beside the engine, or in an object of their own.
        return json(await connected.check({ engine: knownEngine(engine), parameters: { ...(others as JsonObject), ...parameters } }))
      },
    }),
    reading({
      path: `${path}/:database`,
      summary: 'Get a connection, a project or a system database',
      query: { check_connection: checkParameter },
      answers: { 200: record },
      async handle({ segments, query }, moment) {
        const database = await databaseNamed(moment, segments.database)
        const resource = resourceOf(database)
        const record = {
          ...recordOf(database, moment.records),
          ...(query.check_connection && { connection_status: await connectionStatus(database, connected) }),
        }
        return json(record, { headers: resource ? entityTag(resource) : {} })
      },
    }),
    route({
      method: 'put',
      path: `${path}/:database`,
      summary: "Change a connection's engine, and merge its parameters; one that does not exist is created",
      commandHeaders,
      body: body(changes),
      answers: { 200: record, 201: record },
      async handle({ segments: { database: name }, body: { database: sent, asksForCheck }, call }) {
        const outcome = await carryOutOnce(ledger, call, async () => {
          if (await withoutIds(log.resources).one('project', name)) throw conflict('database', name)
          const found = await log.resources.one('database', name)
          if (found) await checkChangedConnection(found, given(sent), log)
          else checkGiven(sent)
          if (asksForCheck) await requireOpen(found, sent)
          return { type: 'PutDatabase', data: { database: name, ...given(sent) } }
        })
        const database = outcome.resource ? resultOf('database', outcome.resource) : await log.resources.one('database', name)
        if (!database) throw notFound('database', name)
        return json(records.database(database), { status: outcome.positions[0] === database.id ? 201 : 200 })
      },
    }),
    deletion(ledger, {
      path: `${path}/:database`,
      summary: 'Delete a connection, or an empty project',
      command: async ({ segments: { database: name } }) => {
        const found = await findDatabase(log, name)
        if (found?.type === 'project') return { type: 'DeleteProject', data: { project: name, defaultProject } }
        return { type: 'DeleteDatabase', data: { database: name } }
      },
    }),
  ]
}
