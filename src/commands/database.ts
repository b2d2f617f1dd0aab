import type { Command } from '@event-driven-io/emmett'
import { foldName, unreachable, type JsonObject } from '../../events/common.js'
import type { DatabaseEvent } from '../../events/database.js'
import { connectionEngines } from '../catalogue/connection-engines.js'
import { conflict, notFound, Problem, wrong } from '../basics/errors.js'
import { nearest } from '../basics/nearest.js'
import { byName, byExactName, type FactsOf, type Resource } from '../log/contract/lookups.js'
import { systemDatabaseOf } from '../catalogue/system-databases.js'
import { refuseMovedSecrets } from './rules/bound-keys.js'
import { mergeParams, newParams } from './rules/params.js'
import { reservedDatabases } from './project.js'
import { decider } from './rules/decider.js'
import { updatedTo, type RollbackRule } from './rules/rollback.js'

type Changes = { name?: string; engine?: string; parameters?: JsonObject }
export type DatabaseCommand =
  | Command<'CreateDatabase', { database: string; engine: string; parameters: JsonObject; unlessExists?: boolean }>
  | Command<'UpdateDatabase', { database: string } & Changes>
  | Command<'PutDatabase', { database: string; replace?: boolean } & Changes>
  | Command<'DeleteDatabase', { database: string; ifExists?: boolean }>

const reads = ({ type, data }: DatabaseCommand) => {
  const name = 'name' in data ? data.name : data.database
  return {
    database: (type === 'CreateDatabase' ? byExactName : byName)('database', data.database),
    clash: byExactName('database', name),
    project: byExactName('project', name),
  }
}

type Facts = FactsOf<ReturnType<typeof reads>>

const decide = (command: DatabaseCommand, facts: Facts): DatabaseEvent[] => {
  const { database } = facts
  const { data } = command
  switch (command.type) {
    case 'CreateDatabase':
      if (database && command.data.unlessExists) return []
      return create(data.database, command.data.engine, command.data.parameters, facts)
    case 'PutDatabase': {
      const { engine, parameters = {}, replace = false } = command.data
      if (database && replace)
        return update(database, { ...command.data, parameters: instead(database.state.parameters, parameters) }, facts)
      if (database) return update(database, command.data, facts)
      if (engine === undefined) throw new Problem('missing_field', 'Wrong argument', 'Missing "engine" field for database')
      return create(data.database, engine, parameters, facts)
    }
    case 'UpdateDatabase':
      if (!database) refuseSystem(data.database, 'changed')
      if (!database) throw notFound('database', data.database)
      return update(database, command.data, facts)
    case 'DeleteDatabase':
      if (!database) refuseSystem(data.database, 'deleted')
      if (!database && command.data.ifExists) return []
      if (!database) throw notFound('database', data.database)
      return [{ type: 'DatabaseDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}

const refuseSystem = (name: string, what: string): void => {
  if (systemDatabaseOf(name) !== undefined)
    throw new Problem('wrong_arguments', 'Error', `Database '${name}' can not be ${what}, because it is part of this service`)
}

const isReserved = (name: string) => reservedDatabases.find((reserved) => reserved === foldName(name))

/** The normalised name of an engine. @throws Problem that names the nearest known one, and lists all */
export const knownEngine = (engine: string): string => {
  const known = engine.toLowerCase()
  if (connectionEngines.has(known)) return known
  const names = [...connectionEngines.keys()]
  throw wrong(`There is no engine '${engine}'`, `Did you mean '${nearest(known, names)}'? Known engines: ${names.join(', ')}.`)
}

const create = (name: string, engine: string, parameters: JsonObject, { database, project }: Facts): DatabaseEvent[] => {
  if (database ?? project ?? isReserved(name)) throw conflict('database', name)
  return [{ type: 'DatabaseCreated', data: { name, engine: knownEngine(engine), parameters: newParams(parameters) } }]
}

/** The changes that replace all old parameters: null removes a parameter. */
const instead = (old: JsonObject, parameters: JsonObject): JsonObject => ({
  ...Object.fromEntries(Object.keys(old).map((key) => [key, null])),
  ...parameters,
})

const update = (
  database: Resource<'database'>,
  { name = database.state.name, engine, parameters }: Changes,
  { clash, project }: Facts,
): DatabaseEvent[] => {
  const other = clash?.stream === database.stream ? undefined : clash
  if (name !== database.state.name && (other ?? project ?? isReserved(name))) throw conflict('database', name)
  const merged = parameters && mergeParams(database.state.parameters, parameters)
  if (merged) refuseMovedSecrets(database.state.parameters, merged)
  const changes = {
    ...(engine !== undefined && knownEngine(engine) !== database.state.engine && { engine: knownEngine(engine) }),
    ...(merged && { parameters: merged }),
  }
  const events: DatabaseEvent[] = []
  if (Object.keys(changes).length > 0) events.push({ type: 'DatabaseUpdated', data: changes })
  if (name !== database.state.name) events.push({ type: 'DatabaseRenamed', data: { name } })
  return events
}

const rollbackRule: RollbackRule<'database'> = {
  needs: ({ name }) => ({ projectOfThisName: byExactName('project', name) }),
  check: ({ name }, facts, now) => {
    const isTaken = facts['projectOfThisName'] !== undefined || isReserved(name) !== undefined
    if (name !== now.name && isTaken) throw conflict('database', name)
  },
  events: updatedTo('DatabaseUpdated', ['engine', 'parameters'], 'DatabaseRenamed'),
}

/** Decides the commands of connections. */
export const databaseDecider = decider('database', {
  commands: { CreateDatabase: true, UpdateDatabase: true, PutDatabase: true, DeleteDatabase: true },
  secrets: ['parameters'],
  rollback: rollbackRule,
  reads,
  decide,
})
