import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { jsonObject, nothing, unreachable, type JsonObject, type SchemasOf } from './common.js'
import type { ResourceKind } from './kind.js'

/** The settings that can change while the service runs; all others are environment variables. */
export const configNames = ['default_llm', 'default_embedding_model', 'default_reranking_model', 'llm_prices'] as const
export type ConfigName = (typeof configNames)[number]

/** One default that a client set for all projects, such as a provider, a model's name and its key. Its secrets are payloads. */
export type DefaultSetting = { name: ConfigName; value: JsonObject }

export type ConfigEvent =
  | Event<'ConfigCreated', DefaultSetting>
  | Event<'ConfigUpdated', { value: JsonObject }> // the value that results
  | Event<'ConfigDeleted', Record<string, never>>

const schemas: SchemasOf<ConfigEvent> = {
  ConfigCreated: z.strictObject({ name: z.enum(configNames), value: jsonObject }).describe('A default was set for the first time.'),
  ConfigUpdated: z.strictObject({ value: jsonObject }).describe('A default got another value; the event has the new value.'),
  ConfigDeleted: nothing.describe('A default was removed.'),
}

const evolve = (config: DefaultSetting | undefined, event: ConfigEvent): DefaultSetting | undefined => {
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

export const configKind: ResourceKind<DefaultSetting, ConfigEvent> = {
  plural: 'configs',
  inProject: false,
  schemas,
  evolve,
}
