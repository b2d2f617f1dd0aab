import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { jsonObject, nothing, resourceName, text, unreachable, type JsonObject, type SchemasOf } from './common.js'
import type { ResourceKind } from './kind.js'

/** A named connection to another system: what chatbots talk through. Its secrets are payloads, never text of the log. */
export type Database = { name: string; engine: string; parameters: JsonObject }

export type DatabaseEvent =
  | Event<'DatabaseCreated', Database>
  | Event<'DatabaseUpdated', { engine?: string; parameters?: JsonObject }> // the values that result, already merged
  | Event<'DatabaseRenamed', { name: string }>
  | Event<'DatabaseDeleted', Record<string, never>>

const schemas: SchemasOf<DatabaseEvent> = {
  DatabaseCreated: z.strictObject({ name: resourceName, engine: text, parameters: jsonObject }).describe('A connection was created.'),
  DatabaseUpdated: z
    .strictObject({ engine: text.exactOptional(), parameters: jsonObject.exactOptional() })
    .describe('A connection got another engine or other parameters; each value is the new value.'),
  DatabaseRenamed: z.strictObject({ name: resourceName }).describe('A connection got another name.'),
  DatabaseDeleted: nothing.describe('A connection was deleted.'),
}

const evolve = (database: Database | undefined, event: DatabaseEvent): Database | undefined => {
  switch (event.type) {
    case 'DatabaseCreated':
      return event.data
    case 'DatabaseUpdated':
    case 'DatabaseRenamed':
      return database && { ...database, ...event.data }
    case 'DatabaseDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const databaseKind: ResourceKind<Database, DatabaseEvent> = {
  plural: 'databases',
  inProject: false,
  schemas,
  evolve,
}
