/**
 * Room: which table, view or model a name means at a moment. It imports only events, basics, catalogue, dialect, sql/relations,
 * sql/contract, sql/engine/duckdb-connection and sql/engine/ast.
 */

import { Problem } from '../../../basics/errors.js'
import { systemDatabaseOf, systemDatabases } from '../../../catalogue/system-databases.js'
import { connectionProblem, isConnected } from './connections.js'
import type {
  AgentEntry,
  DatabaseEntry,
  Directory,
  FileEntry,
  KnowledgeEntry,
  Life,
  MissingName,
  ModelEntry,
  ModelVersionEntry,
  ProjectEntry,
  ViewEntry,
} from './directory.js'
import { named, similarName } from '../../../dialect/names.js'
import { catalogue, relationOf } from '../../relations/catalogue.js'
import type { Relation } from '../../relations/relation.js'

/** The meaning of a table's name. */
export type TableMeaning =
  | { kind: 'relation'; relation: Relation; project: ProjectEntry | undefined }
  | { kind: 'view'; view: ViewEntry; project: ProjectEntry }
  | { kind: 'file'; file: FileEntry }
  | { kind: 'model'; model: ModelEntry; version: ModelVersionEntry; project: ProjectEntry }
  | { kind: 'agent'; agent: AgentEntry; project: ProjectEntry }
  | ConnectedTable
  | ({ kind: 'knowledge'; project: ProjectEntry } & KnowledgeTable)

/** A table of a connected database. The database is queried for it when the query runs. */
export type ConnectedTable = { kind: 'connected'; connection: DatabaseEntry; schema: string | undefined; table: string }

/** A knowledge base, which is searched when the query runs. */
export type KnowledgeTable = KnowledgeEntry

/** The place of a lookup: `position` is the position to read, `head` the last one of the log. */
export type LookupPlace = { directory: Directory; db: string; position: number; head: number }

const moment = (position: number, time: string | null) => `position ${position} (${time ?? ''} UTC)`

const began = ({ from, since }: Life) => moment(from, since)

/** The period in which something existed, seen from a position without it: the time after this position, and the last time before it. */
const whenText = (lives: readonly Life[], position: number): string | undefined => {
  const before = lives.findLast(({ to }) => to !== null && to <= position)
  const next = lives.find(({ from }) => from > position)
  const said = [
    ...(before?.to ? [`it was there until ${moment(before.to, before.until)}`] : []),
    ...(next ? [next.to === null ? `it is there since ${began(next)}` : `it was there from ${began(next)} until position ${next.to}`] : []),
  ]
  return said.length === 0 ? undefined : said.join(', and ')
}

/** In the past, a name may be missing because it was created later or already deleted: says when it existed. */
const notThen = async ({ directory, position, head }: LookupPlace, detail: string, missing: MissingName): Promise<Problem | undefined> => {
  if (position === head) return undefined
  const then = whenText(await directory.lives(missing, head), position)
  return then === undefined ? undefined : new Problem('not_found', 'It did not exist then', `${detail} at position ${position}; ${then}`)
}

const unknownTable = (name: string, schema: string, known: Iterable<string>): Problem => {
  const like = similarName(name, known)
  const hint = like === undefined ? `SELECT * FROM information_schema.tables lists what there is.` : `Did you mean ${schema}.${like}?`
  return new Problem('not_found', 'Table not found', `Table '${name}' not found in database: ${schema}`, { hint })
}

const noTable = async (place: LookupPlace, missing: MissingName, schema: string, known: Iterable<string>): Promise<Problem> => {
  const { name } = missing
  const then = await notThen(place, `Table '${name}' not found in database: ${schema}`, missing)
  return then ?? unknownTable(name, schema, known)
}

const connectionNamed = async ({ directory, position }: LookupPlace, name: string) => named(await directory.databases(position), name)

const noSchema = async (place: LookupPlace, name: string, table: string): Promise<Problem> => {
  const detail = `Table '${table}' not found: there is no project or database ${name}`
  const then = (await notThen(place, detail, { table: 'projects', name })) ?? (await notThen(place, detail, { table: 'databases', name }))
  if (then) return then
  const projects = await place.directory.projects(place.position)
  const known = [...systemDatabases, ...projects.map((project) => project.name)]
  const like = similarName(name, known)
  const connection = await connectionNamed(place, name)
  if (connection) return connectionProblem(connection)
  return new Problem('not_found', 'Database not found', detail, {
    hint: like === undefined ? 'SHOW DATABASES lists the databases.' : `Did you mean ${like}.${table}?`,
  })
}

const isReadable = async ({ directory, position }: LookupPlace, name: string): Promise<boolean> =>
  systemDatabaseOf(name) !== undefined || (await directory.project(position, name)) !== undefined

/**
 * The database for a view's names that have no database. Its own project is recorded without a name, because it may be renamed; earlier
 * releases recorded the name that it had then.
 */
export const databaseOfView = async (place: LookupPlace, { database }: ViewEntry, project: ProjectEntry): Promise<string> => {
  if (database === '') return project.name
  const isThere = (await isReadable(place, database)) || (await connectionNamed(place, database)) !== undefined
  return !isThere && (await place.directory.hadName(place.position, project, database)) ? project.name : database
}

/** Refuses a database that cannot be read or does not exist. */
export const requireDatabase = async (place: LookupPlace, name: string): Promise<void> => {
  if (await isReadable(place, name)) return
  const connection = await connectionNamed(place, name)
  if (connection) throw connectionProblem(connection)
  throw new Problem('not_found', 'Database not found', `Database ${name} does not exist`, { hint: 'SHOW DATABASES lists the databases.' })
}

/** @throws Problem if the query asks for its past rows: this service keeps no history of them */
export const refusePast = ({ name }: DatabaseEntry, { position, head }: Pick<LookupPlace, 'position' | 'head'>): void => {
  if (position === head) return
  const detail = `${name} is a connected database, which is read as it is now; this service has no history of its rows`
  throw new Problem('refused_statement', 'A connected database has no past here', detail, {
    hint: 'Leave out AT and as_of, or keep a copy of the rows: CREATE TABLE files.name (SELECT …).',
  })
}

const inConnection = async (place: LookupPlace, database: string, table: string, schema?: string): Promise<ConnectedTable | undefined> => {
  const connection = await connectionNamed(place, database)
  if (!connection || !isConnected(connection)) return undefined
  refusePast(connection, place)
  return { kind: 'connected', connection, schema, table }
}

const fixedRelation = (schema: 'information_schema' | 'log', name: string): TableMeaning => {
  const relation = relationOf(schema, name)
  if (relation) return { kind: 'relation', relation, project: undefined }
  throw unknownTable(
    name,
    schema,
    catalogue[schema].map((known) => known.name),
  )
}

const inFiles = async (place: LookupPlace, name: string): Promise<TableMeaning> => {
  const files = await place.directory.files(place.position)
  const file = named(files, name)
  if (file) return { kind: 'file', file }
  throw await noTable(
    place,
    { table: 'files', name },
    'files',
    files.map((known) => known.name),
  )
}

const notReady = (label: string, model: string, { version, status, error }: ModelVersionEntry): Problem =>
  new Problem(
    'not_ready',
    'The model is not ready',
    `Model ${label} is not ready: its status is ${status}${error === null ? '' : ` (${error})`}`,
    {
      hint:
        status === 'error'
          ? 'RETRAIN it, or choose another version.'
          : 'Wait until its status is complete: SELECT name, version, status FROM models.',
      model_status: status,
      training: { model, version },
    },
  )

/** The same for a model in the past. There, waiting does not help, but a later position may help. */
const notReadyThen = (label: string, { status }: ModelVersionEntry, position: number, ready: readonly Life[]): Problem =>
  new Problem(
    'not_ready',
    'The model was not ready',
    `Model ${label} was not ready at position ${position}: its status was ${status}; ${whenText(ready, position) ?? 'it never became complete'}`,
  )

const readyVersion = async (
  place: LookupPlace,
  project: ProjectEntry,
  model: ModelEntry,
  wanted: number | undefined,
): Promise<TableMeaning> => {
  const versions = await place.directory.versions(place.position, model.stream)
  const number = wanted ?? model.active ?? versions.at(-1)?.version
  const version = versions.find((known) => known.version === number)
  const label = `${project.name}.${model.name}${wanted === undefined ? '' : `.${wanted}`}`
  const { directory, position, head } = place
  if (!version) {
    const lives = number === undefined || position === head ? [] : await directory.versionLives(model.stream, number, head)
    const then = whenText(lives, position)
    throw new Problem(
      'not_found',
      'Model not found',
      `Model not found: ${label}${then === undefined ? '' : ` at position ${position}: ${then}`}`,
      {
        hint: `Its versions are ${versions.map((known) => known.version).join(', ')}.`,
      },
    )
  }
  if (version.status !== 'complete' || version.artefact === null)
    throw position === head
      ? notReady(label, model.stream, version)
      : notReadyThen(label, version, position, await directory.versionLives(model.stream, version.version, head, 'complete'))
  return { kind: 'model', model, version, project }
}

const inProject = async (place: LookupPlace, project: ProjectEntry, name: string): Promise<TableMeaning> => {
  const relation = relationOf('project', name)
  if (relation) return { kind: 'relation', relation, project }
  const views = await place.directory.views(place.position, project.stream)
  const view = named(views, name)
  if (view) return { kind: 'view', view, project }
  const models = await place.directory.models(place.position, project.stream)
  const model = named(models, name)
  if (model) return readyVersion(place, project, model, undefined)
  const bases = await place.directory.knowledgeBases(place.position, project.stream)
  const base = named(bases, name)
  if (base) return { kind: 'knowledge', project, ...base }
  const agents = await place.directory.agents(place.position, project.stream)
  const agent = named(agents, name)
  if (agent) return { kind: 'agent', agent, project }
  const there = { name, project: project.name }
  const lived = async (table: 'views' | 'knowledge_bases') => (await place.directory.lives({ table, ...there }, place.head)).length > 0
  const missing = (await lived('views')) ? 'views' : (await lived('knowledge_bases')) ? 'knowledge_bases' : 'models'
  throw await noTable(
    place,
    { table: missing, ...there },
    project.name,
    [...catalogue.project, ...views, ...models, ...agents, ...bases].map((known) => known.name),
  )
}

const inSchema = async (place: LookupPlace, schema: string, name: string): Promise<TableMeaning | undefined> => {
  const system = systemDatabaseOf(schema)
  if (system === 'files') return inFiles(place, name)
  if (system !== undefined) return fixedRelation(system, name)
  const project = await place.directory.project(place.position, schema)
  return project && inProject(place, project, name)
}

const noVersion = (label: string, version: string): Problem =>
  new Problem('not_found', 'Model not found', `Model ${label} has no version ${version}: versions are numbers`, {
    hint: `DESCRIBE ${label}.${version} shows what a model says of itself, SELECT … FROM ${label} WHERE … what it predicts.`,
  })

const modelVersion = async (
  place: LookupPlace,
  projectName: string,
  modelName: string,
  number: string,
): Promise<TableMeaning | undefined> => {
  const project = await place.directory.project(place.position, projectName)
  if (!project) return undefined
  const models = await place.directory.models(place.position, project.stream)
  const model = named(models, modelName)
  const isNumber = /^[0-9]{1,9}$/.test(number)
  if (model && !isNumber) throw noVersion(`${project.name}.${model.name}`, number)
  if (!isNumber) return undefined
  if (!model)
    throw await noTable(
      place,
      { table: 'models', name: modelName, project: project.name },
      project.name,
      models.map((known) => known.name),
    )
  return readyVersion(place, project, model, Number(number))
}

/**
 * The meaning of a table's name with one to three parts. The database of the query replaces a missing part. Throws a Problem that says the
 * name and the nearest known name.
 *
 * @example await resolveTable({ directory, db: 'shop', position: 40, head: 40 }, ['rent', '2']) // version 2 of shop.rent
 */
export const resolveTable = async (place: LookupPlace, parts: string[]): Promise<TableMeaning> => {
  const [first = '', second, third] = parts
  if (third !== undefined) {
    const found = (await modelVersion(place, first, second ?? '', third)) ?? (await inConnection(place, first, third, second))
    if (found) return found
    if (await isReadable(place, first)) throw unknownTable(`${second ?? ''}.${third}`, first, [])
    throw await noSchema(place, first, `${second ?? ''}.${third}`)
  }
  if (second === undefined) {
    const found = (await inSchema(place, place.db, first)) ?? (await inConnection(place, place.db, first))
    if (found) return found
    throw await noSchema(place, place.db, first)
  }
  const found =
    (await inSchema(place, first, second)) ??
    (await modelVersion(place, place.db, first, second)) ??
    (await inConnection(place, first, second)) ??
    (await inConnection(place, place.db, second, first))
  if (found) return found
  throw await noSchema(place, first, second)
}
