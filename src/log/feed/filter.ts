import { catalogue } from '../../../events/catalogue.js'
import { isForeignType } from '../../../events/foreign.js'
import { wrong } from '../../basics/errors.js'
import type { EventProjects } from './event-project.js'
import type { ReadEvent, Slice } from '../read/slices.js'

/** Which events are wanted; what is not said lets all pass. Every condition has to hold. */
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
 * The types of events that are of one of these kinds and among these types. A foreign type has no kind.
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
 * A filter at work. What it finds in a slice is kept with the slice, so that clients with the same filter share it.
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
    // As the text of an event has it.
    this.#actor = filter.actor === undefined ? undefined : JSON.stringify(filter.actor).slice(1, -1)
    this.#key = JSON.stringify([filter.types, filter.project, filter.stream, filter.actor])
  }

  async in(slice: Slice): Promise<readonly ReadEvent[]> {
    if (Object.keys(this.filter).length === 0) return slice.events
    const found = matches.get(slice) ?? new Map<string, Promise<ReadEvent[]>>()
    matches.set(slice, found)
    const known = found.get(this.#key)
    if (known) return known
    const matching = this.#matching(slice.events)
    found.set(this.#key, matching)
    // A look at another event may fail, and the next one to ask looks again.
    matching.catch(() => found.delete(this.#key))
    return matching
  }

  async #matching(events: readonly ReadEvent[]): Promise<ReadEvent[]> {
    const matching: ReadEvent[] = []
    for (const event of events) {
      if (this.#types && !this.#types.has(event.type)) continue
      if (this.filter.stream !== undefined && event.stream !== this.filter.stream) continue
      if (this.#actor !== undefined && event.actor !== this.#actor) continue
      // The one condition that may need a look at another event comes last.
      if (this.filter.project !== undefined && (await this.projects.of(event)) !== this.filter.project) continue
      matching.push(event)
    }
    return matching
  }
}

const matches = new WeakMap<Slice, Map<string, Promise<ReadEvent[]>>>()
