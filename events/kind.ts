import type { SchemasOf, StreamId, UpcastersOf } from './common.js'

type AnyEvent = { type: string; data: unknown }

/** Events that belong together. */
export type EventGroup<E extends AnyEvent> = {
  schemas: SchemasOf<E>
  upcasters?: UpcastersOf<E>
  /** The members of an event's data that name blobs, by the event's type. */
  blobs?: { [T in E['type']]?: readonly (keyof Extract<E, { type: T }>['data'] & string)[] }
  /** The members of an event's data that name erasable payloads; null if there is none. */
  payloads?: { [T in E['type']]?: readonly (keyof Extract<E, { type: T }>['data'] & string)[] }
}

/**
 * A kind of resource: everything that its events define. Lists of kinds elsewhere are derived from these objects.
 *
 * @example const skillKind: ResourceKind<Skill, SkillEvent> = { plural: 'skills', inProject: true, schemas, evolve }
 */
export type ResourceKind<S extends { name: string }, E extends AnyEvent> = EventGroup<E> & {
  /** The plural name, for paths and names of tables. */
  plural: string
  /** Whether a resource lives in a project, which its state then names. */
  inProject: S extends { project: StreamId } ? true : false
  /** The state after one more event; undefined when the event ended the resource. Never changes its argument. */
  evolve: (state: S | undefined, event: E) => S | undefined
  /** The streams of other resources that a state refers to. */
  links?: (state: S) => StreamId[]
}
