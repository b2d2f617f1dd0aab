import { catalogue } from '../../../events/catalogue/catalogue.js'
import { isForeignType } from '../../../events/foreign.js'
import { wrong } from '../../basics/errors.js'
import type { EventProjects } from './event-project.js'
import type { ReadEvent, Slice } from '../read/slices.js'

/** Which events are wanted. A missing condition lets all events pass; all given conditions must hold. */
export type EventFilter = {
  types?: readonly string[]
  /** The stream of a project, which may have been deleted. */
  project?: string
  stream?: string
  actor?: string
}

/** The kinds of events, as the catalogue has them. */
const kindsOfEvents: ReadonlySet<string> = new Set([...catalogue.values()].map(({ kind }) => kind))

/**
 * The event types that belong to one of these kinds and are among these types. A foreign type has no kind.
 *
 * @example typesOf(['skill'], []) // ['SkillCreated', 'SkillUpdated', …]
 * @throws Problem for an unknown type or kind, or if no event has both
 */
export const typesOf = (kinds: readonly string[], types: readonly string[]): string[] | undefined => {
  const kind = kinds.find((name) => !kindsOfEvents.has(name))
  if (kind !== undefined) throw wrong(`there is no kind ${kind} of events`, `The kinds are ${[...kindsOfEvents].join(', ')}.`)
  const type = types.find((name) => !catalogue.has(name) && !isForeignType(name))
  if (type !== undefined) throw wrong(`there is no type ${type} of events`, 'docs/audit/events.md lists the types.')
  if (kinds.length === 0) return types.length === 0 ? undefined : [...types]
  const ofKinds = [...catalogue].flatMap(([name, definition]) => (kinds.includes(definition.kind) ? [name] : []))
  const both = types.length === 0 ? ofKinds : ofKinds.filter((name) => types.includes(name))
  if (both.length === 0) throw wrong(`no event of type ${types.join(', ')} is of kind ${kinds.join(', ')}`)
  return both
}

/**
 * A filter at work. Its matches in a slice are kept with the slice, so that clients with the same filter share them.
 *
 * @example await new Matcher({ actor: 'ann' }, projects).in(slice) // the events of ann
 */
export class Matcher {
  readonly #types: ReadonlySet<string> | undefined
  readonly #actor: string | undefined
  readonly #key: string

  constructor(
    readonly filter: EventFilter,
    private readonly projects: EventProjects,
  ) {
    this.#types = filter.types && new Set(filter.types)
    // The actor as it is escaped in an event's text.
    this.#actor = filter.actor === undefined ? undefined : JSON.stringify(filter.actor).slice(1, -1)
    this.#key = JSON.stringify([filter.types, filter.project, filter.stream, filter.actor])
  }

  /** The events of a slice that match, in order. Equal filters share one search of a slice. */
  async in(slice: Slice): Promise<readonly ReadEvent[]> {
    if (Object.keys(this.filter).length === 0) return slice.events
    const found = matches.get(slice) ?? new Map<string, Promise<ReadEvent[]>>()
    matches.set(slice, found)
    const known = found.get(this.#key)
    if (known) return known
    const matching = this.#matching(slice.events)
    found.set(this.#key, matching)
    // Reading another event may fail; the next caller then tries again.
    matching.catch(() => found.delete(this.#key))
    return matching
  }

  async #matching(events: readonly ReadEvent[]): Promise<ReadEvent[]> {
    const matching: ReadEvent[] = []
    for (const event of events) {
      if (this.#types && !this.#types.has(event.type)) continue
      if (this.filter.stream !== undefined && event.stream !== this.filter.stream) continue
      if (this.#actor !== undefined && event.actor !== this.#actor) continue
      // This condition comes last: only it may need to read another event.
      if (this.filter.project !== undefined && (await this.projects.of(event)) !== this.filter.project) continue
      matching.push(event)
    }
    return matching
  }
}

const matches = new WeakMap<Slice, Map<string, Promise<ReadEvent[]>>>()
