import { LRUCache } from 'lru-cache'
import type { Kind } from '../../../events/catalogue/catalogue.js'
import { foldName } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import { projectStreamOf, type AnyResource } from '../contract/lookups.js'

const nameKey = (kind: Kind, project: string, name: string): string => `${kind}/${project}/${foldName(name)}`

const keyOf = ({ kind, state }: AnyResource): string => nameKey(kind, projectStreamOf(state), state.name)

/** Adds an id to a list of rising ids. The new id is nearly always the highest. */
const inserted = (ids: readonly number[], id: number): readonly number[] => {
  const at = ids.findLastIndex((one) => one < id) + 1
  return ids[at] === id ? ids : ids.toSpliced(at, 0, id)
}

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
  /** The ids of the resources that refer to a stream, by kind and target, in order of creation. */
  readonly #linkedIds = new LRUCache<string, readonly number[]>({
    maxSize: limits.linkCacheMaxIds,
    sizeCalculation: (ids) => ids.length + 1,
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

  /** The ids of the resources of a kind that refer to a target, if they were read before. */
  linkedIds(kind: Kind, target: string): readonly number[] | undefined {
    return this.#linkedIds.get(`${kind}/${target}`)
  }

  keepLinkedIds(kind: Kind, target: string, ids: readonly number[]): void {
    this.#linkedIds.set(`${kind}/${target}`, ids)
  }

  /** Notes that a resource refers to other targets than before. */
  relink(kind: Kind, id: number, before: readonly string[], after: readonly string[]): void {
    for (const target of new Set([...before, ...after])) {
      const ids = this.#linkedIds.peek(`${kind}/${target}`)
      if (!ids) continue
      const others = before.includes(target) ? ids.filter((one) => one !== id) : ids
      this.keepLinkedIds(kind, target, after.includes(target) ? inserted(others, id) : others)
    }
  }

  /** Begins a command: earlier entries stay. */
  begin(): void {
    if (this.#written.length > 0) this.#written = []
  }

  /** Drops these resources and all links, because they may have changed: they will be read again. */
  forget(streams: Iterable<string>): void {
    this.#nothingNamed = undefined
    for (const stream of streams) this.drop(stream)
    this.#linkedIds.clear()
  }

  /** Drops the resources of an undone command: they will be read again. */
  undo(): void {
    this.#nothingNamed = undefined
    for (const stream of this.#written) this.drop(stream)
    this.#linkedIds.clear()
    this.begin()
  }
}
