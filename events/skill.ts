import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { jsonObject, nothing, resourceName, streamId, text, unreachable, type JsonObject, type SchemasOf, type StreamId } from './common.js'
import type { ResourceKind } from './kind.js'

/** A skill gives an agent access to data: to a database and its tables, or to a knowledge base. */
export type Skill = { project: StreamId; name: string; type: string; params: JsonObject }

export type SkillEvent =
  | Event<'SkillCreated', Skill>
  | Event<'SkillUpdated', { type?: string; params?: JsonObject }> // the values that result, already merged
  | Event<'SkillRenamed', { name: string }>
  | Event<'SkillDeleted', Record<string, never>>

const schemas: SchemasOf<SkillEvent> = {
  SkillCreated: z.strictObject({ project: streamId, name: resourceName, type: text, params: jsonObject }).describe('A skill was created.'),
  SkillUpdated: z
    .strictObject({ type: text.exactOptional(), params: jsonObject.exactOptional() })
    .describe('A skill got another type or other params; each value is the new value.'),
  SkillRenamed: z.strictObject({ name: resourceName }).describe('A skill got another name.'),
  SkillDeleted: nothing.describe('A skill was deleted; agents that named it no longer show it.'),
}

const evolve = (skill: Skill | undefined, event: SkillEvent): Skill | undefined => {
  switch (event.type) {
    case 'SkillCreated':
      return event.data
    case 'SkillUpdated':
    case 'SkillRenamed':
      return skill && { ...skill, ...event.data }
    case 'SkillDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const skillKind: ResourceKind<Skill, SkillEvent> = {
  plural: 'skills',
  inProject: true,
  schemas,
  evolve,
}
