import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { nothing, resourceName, streamId, text, unreachable, type SchemasOf, type StreamId } from './common.js'
import type { ResourceKind } from './kind.js'

/** A view is a stored query; its unqualified names belong to `database`. */
export type View = { project: StreamId; name: string; query: string; database: string }

export type ViewEvent =
  | Event<'ViewCreated', View>
  | Event<'ViewUpdated', { query?: string; database?: string }>
  | Event<'ViewRenamed', { name: string }>
  | Event<'ViewDeleted', Record<string, never>>

const schemas: SchemasOf<ViewEvent> = {
  ViewCreated: z.strictObject({ project: streamId, name: resourceName, query: text, database: text }).describe('A view was created.'),
  ViewUpdated: z.strictObject({ query: text.exactOptional(), database: text.exactOptional() }).describe('A view got another query.'),
  ViewRenamed: z.strictObject({ name: resourceName }).describe('A view got another name.'),
  ViewDeleted: nothing.describe('A view was deleted.'),
}

const evolve = (view: View | undefined, event: ViewEvent): View | undefined => {
  switch (event.type) {
    case 'ViewCreated':
      return event.data
    case 'ViewUpdated':
    case 'ViewRenamed':
      return view && { ...view, ...event.data }
    case 'ViewDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const viewKind: ResourceKind<View, ViewEvent> = {
  plural: 'views',
  inProject: true,
  schemas,
  evolve,
}
