import { LRUCache } from 'lru-cache'
import { catalogue, isInProject, kinds } from '../../../events/catalogue/catalogue.js'
import { isObject } from '../../../events/common.js'
import { readHeader, type Header } from '../../../events/stored/envelope.js'
import { limits } from '../../basics/limits.js'

/** What is needed to find an event's project: its place in a stream, and its text. */
export type StreamEvent = Pick<Header, 'stream' | 'version' | 'type'> & { text: string }

/** Reads the first event of a stream, by its index. */
export type ReadFirst = (stream: string) => Promise<{ text: string } | undefined>

const inProject: ReadonlySet<string> = new Set(kinds.filter(isInProject))

/** The project that a creation names; '' without one. */
const namedIn = (text: string): string => {
  const header = readHeader(text)
  if (!header || !inProject.has(catalogue.get(header.type)?.kind ?? '')) return ''
  const data: unknown = JSON.parse(text.slice(header.dataAt, -1))
  return isObject(data) && typeof data['project'] === 'string' ? data['project'] : ''
}

/**
 * The stream of the resource that an event is about. Records stand in streams beside it: `<model>/predictions`, `<agent>/answers`,
 * `<knowledge base>/contents`.
 */
const subjectOf = (stream: string): string => stream.replace(/\/.*/s, '')

/**
 * The project that an event belongs to, given as the project's stream. It follows from the event's type and from the first event of
 * its stream, which never change. Files, connections, settings and the log itself belong to none.
 *
 * @example
 * const projects = new EventProjects(async (stream) => (await log.readStream(stream, 0, 1))[0])
 * await projects.of({ ...header, text }) // '0198…' or null
 */
export class EventProjects {
  readonly #known = new LRUCache<string, string>({ max: limits.eventProjectsMaxStreams })

  constructor(private readonly readFirst: ReadFirst) {}

  /** Synchronous if the project is known or the event names it; otherwise after one read of the stream's first event. */
  of(event: StreamEvent): string | null | Promise<string | null> {
    const kind = catalogue.get(event.type)?.kind
    if (kind === 'project') return event.stream
    const subject = subjectOf(event.stream)
    if (kind === undefined || (subject === event.stream && !inProject.has(kind))) return null
    const known = this.#known.get(subject)
    if (known !== undefined) return known === '' ? null : known
    return event.version === 1 && subject === event.stream ? this.#learn(subject, event.text) : this.#lookUp(subject)
  }

  async #lookUp(stream: string): Promise<string | null> {
    const first = await this.readFirst(stream)
    return first ? this.#learn(stream, first.text) : null
  }

  #learn(stream: string, first: string): string | null {
    const project = namedIn(first)
    this.#known.set(stream, project)
    return project === '' ? null : project
  }
}
