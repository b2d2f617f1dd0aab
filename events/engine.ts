import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { jsonObject, nothing, resourceName, text, unreachable, type JsonObject, type SchemasOf } from './common.js'
import type { ResourceKind } from './kind.js'

/** A name that users gave to an engine that trains models; `handler` is the built-in name of the engine. */
export type Engine = { name: string; handler: string; parameters: JsonObject }

export type EngineEvent = Event<'EngineCreated', Engine> | Event<'EngineDeleted', Record<string, never>>

const schemas: SchemasOf<EngineEvent> = {
  EngineCreated: z
    .strictObject({ name: resourceName, handler: text, parameters: jsonObject })
    .describe('A user gave a name to an engine that trains models.'),
  EngineDeleted: nothing.describe('A name that a user gave to an engine was removed; models that were trained under it stay.'),
}

const evolve = (_: Engine | undefined, event: EngineEvent): Engine | undefined => {
  switch (event.type) {
    case 'EngineCreated':
      return event.data
    case 'EngineDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const engineKind: ResourceKind<Engine, EngineEvent> = {
  plural: 'engines',
  inProject: false,
  schemas,
  evolve,
}
