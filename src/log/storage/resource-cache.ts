import { LRUCache } from 'lru-cache'
import type { States, Kind } from '../../../events/catalogue/catalogue.js'
import { foldName } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import type { AnyResource } from '../contract/lookups.js'

/** The project of a state; '' for kinds outside of projects. */
export const projectOf = (state: States[Kind]): string => ('project' in state ? state.project : '')

const nameKey = (kind: Kind, project: string, name: string): string => `${kind}/${project}/${foldName(name)}`

const keyOf = ({ kind, state }: AnyResource): string => nameKey(kind, projectOf(state), state.name)

/**
 * The most recently read resources, by stream and by name, and the references between them. The process has one writer, so the cache agrees
 * with the table. Entries of an undone command are dropped. A newly created resource enters the cache when it is read: most are not read
 * soon, and every entry makes each garbage collection longer.
 *
 * @example cache.keep(found, text.length); cache.named('skill', project, 'FAQ') === found // true
 */
export class ResourceCache {
  readonly #streams = new Map<string, string>()
  readonly #found = new LRUCache<string, AnyResource>({
    maxSize: limits.stateCacheMaxChars,
    dispose: (found, stream) => {
      const key = keyOf(found)
      if (this.#streams.get(key) === stream) this.#streams.delete(key)
    },
  })
  /** The streams that refer to a stream, by kind and target. Any change of a link empties this map. */
  readonly #sources = new LRUCache<string, readonly string[]>({
    maxSize: limits.linkCacheMaxStreams,
    sizeCalculation: (streams) => streams.length + 1,
  })
  #written: string[] = []
  /** The last name that was looked up and does not exist: a new resource looks up its name several times. */
  #nothingNamed: { kind: Kind; project: string; name: string } | undefined

  byStream(stream: string): AnyResource | undefined {
    return this.#found.get(stream)
  }

  /** The same, but it does not count as a use. */
  peek(stream: string): AnyResource | undefined {
    return this.#found.peek(stream)
  }

  /**
   * The resource with this name, compared without regard to case; 'nothing' if the name is known to be free, undefined if nothing is known.
   */
  named(kind: Kind, project: string, name: string): AnyResource | 'nothing' | undefined {
    const nothing = this.#nothingNamed
    if (nothing?.name === name && nothing.kind === kind && nothing.project === project) return 'nothing'
    const stream = this.#streams.get(nameKey(kind, project, name))
    return stream === undefined ? undefined : this.#found.get(stream)
  }

  /** Notes that no row of the table has this name, until the next write. */
  keepNothing(kind: Kind, project: string, name: string): void {
    this.#nothingNamed = { kind, project, name }
  }

  /** Keeps a resource. `chars`, the length of its state as JSON, counts towards the size of the cache. */
  keep(found: AnyResource, chars: number): void {
    this.#nothingNamed = undefined
    this.#found.set(found.stream, found, { size: chars + 1 })
    if (this.#found.peek(found.stream) === found) this.#streams.set(keyOf(found), found.stream)
  }

  /** Notes that a command created a resource: its name is taken. */
  created(): void {
    this.#nothingNamed = undefined
  }

  /** Keeps a resource after a command changed it; dropped if the command is undone. */
  write(found: AnyResource, chars: number): void {
    this.#written.push(found.stream)
    this.keep(found, chars)
  }

  drop(stream: string): void {
    this.#found.delete(stream)
  }

  /** The streams of a kind that refer to a target, if they were read since the last change of a link. */
  sources(kind: Kind, target: string): readonly string[] | undefined {
    return this.#sources.get(`${kind}/${target}`)
  }

  keepSources(kind: Kind, target: string, streams: readonly string[]): void {
    this.#sources.set(`${kind}/${target}`, streams)
  }

  /** Notes that a link has changed. */
  dropSources(): void {
    this.#sources.clear()
  }

  /** Begins a command: earlier entries stay. */
  begin(): void {
    if (this.#written.length > 0) this.#written = []
  }

  /** Drops these resources and all links, because they may have changed: they will be read again. */
  forget(streams: Iterable<string>): void {
    this.#nothingNamed = undefined
    for (const stream of streams) this.drop(stream)
    this.dropSources()
  }

  /** Drops the resources of an undone command: they will be read again. */
  undo(): void {
    this.#nothingNamed = undefined
    for (const stream of this.#written) this.drop(stream)
    this.dropSources()
    this.begin()
  }
}
