import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { jsonObject, nothing, unreachable, type JsonObject, type SchemasOf } from './common.js'
import type { ResourceKind } from './contract/kind.js'

/** What may be set while the service runs; everything else is an environment variable. */
export const configNames = ['default_llm', 'default_embedding_model', 'default_reranking_model', 'llm_prices'] as const
export type ConfigName = (typeof configNames)[number]

/** One default that clients set for all projects, such as a provider, a model's name and its key. Its secrets are payloads. */
export type Config = { name: ConfigName; value: JsonObject }

export type ConfigEvent =
  | Event<'ConfigCreated', Config>
  | Event<'ConfigUpdated', { value: JsonObject }> // the value that results
  | Event<'ConfigDeleted', Record<string, never>>

const schemas: SchemasOf<ConfigEvent> = {
  ConfigCreated: z.strictObject({ name: z.enum(configNames), value: jsonObject }).describe('A default was set that had not been.'),
  ConfigUpdated: z.strictObject({ value: jsonObject }).describe('A default got another value; it is the one that results.'),
  ConfigDeleted: nothing.describe('A default was taken back.'),
}

const evolve = (config: Config | undefined, event: ConfigEvent): Config | undefined => {
  switch (event.type) {
    case 'ConfigCreated':
      return event.data
    case 'ConfigUpdated':
      return config && { ...config, ...event.data }
    case 'ConfigDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const configKind: ResourceKind<Config, ConfigEvent> = {
  plural: 'configs',
  inProject: false,
  schemas,
  evolve,
}
