import { LRUCache } from 'lru-cache'
import { catalogue, linksOf, type Kind } from '../../../events/catalogue/catalogue.js'
import { foldName, type StreamId } from '../../../events/common.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import { foldEvent } from './fold.js'
import type { Resource, Log, Resources } from '../contract/log.js'
import { isKind, mayBeId } from '../contract/lookups.js'
import { eventsOf } from './slices.js'

/** The parts of the log that a read needs: as they are now, or as they were at a position. */
export type LogAt = Pick<Log, 'resources' | 'readAll' | 'readStream' | 'streamVersion'>

/** The log as it is now. */
export const logNow = (log: Log): LogAt => ({
  resources: log.resources,
  readAll: (...asked) => log.readAll(...asked),
  readStream: (...asked) => log.readStream(...asked),
  streamVersion: (stream) => log.streamVersion(stream),
})

/** The log without the events after a position. */
export const logAt = (log: Log, position: number, resources: Resources): LogAt => ({
  resources,
  readAll: async (after, limit, maxChars) => (after < position ? log.readAll(after, Math.min(limit, position - after), maxChars) : []),
  readStream: async (...asked) => (await log.readStream(...asked)).filter((event) => event.position <= position),
  streamVersion: (stream) => log.versionAt(stream, position),
})

/** A resource that existed, as a list names it; `project` is its project's stream, '' for kinds that belong to none. */
export type ResourceEntry = { stream: StreamId; kind: Kind; project: string; name: string; id: number }

/** Lists what existed at a position, in order of creation: by kind, by project, or by both; of these, one page if asked. */
export type ResourcesAt = (of: { kind?: Kind; project?: StreamId; page?: { after: number; limit: number } }) => Promise<ResourceEntry[]>

type ReadableLog = Pick<Log, 'resources' | 'readStream' | 'versionAt'>

/** A list, indexed by what a reference may be: a name or, if nothing has that name, an id. */
class Index {
  readonly all: ResourceEntry[] = []
  readonly #byName = new Map<string, ResourceEntry>()
  readonly #byId = new Map<number, ResourceEntry>()

  add(listed: ResourceEntry): void {
    this.all.push(listed)
    this.#byName.set(foldName(listed.name), listed)
    this.#byId.set(listed.id, listed)
  }

  find(kind: Kind, ref: string): ResourceEntry | undefined {
    return this.#byName.get(foldName(ref)) ?? (mayBeId(kind, ref) ? this.#byId.get(Number(ref)) : undefined)
  }
}

/** The value of a key, computed once even if many ask for it at the same time. */
const once = <K, V>(known: Map<K, Promise<V>>, key: K, make: () => Promise<V>): Promise<V> => {
  const found = known.get(key) ?? make()
  known.set(key, found)
  return found
}

/**
 * Resources as they were at any position of the log. A list says which existed, and each is folded from its own events up to that
 * position. If a resource has not changed since, its current state is used; folded states are kept, by version.
 *
 * @example
 * const past = new TimeTravel(log)
 * await past.at(40, (of) => listFromTables(40, of)).one('skill', 'rents', shop)
 */
export class TimeTravel {
  readonly #folded = new LRUCache<string, { found: Resource | undefined }>({
    maxSize: limits.stateCacheMaxChars,
    sizeCalculation: ({ found }) => JSON.stringify(found ?? null).length,
  })

  constructor(private readonly log: ReadableLog) {}

  /** Resources at a position, for one request: what is read of them is remembered. */
  at(position: number, list: ResourcesAt): Resources {
    return new PastResources(list, {
      kindOf: (stream) => this.#kindOf(stream),
      find: (kind, stream) => this.#find(kind, stream, position),
    })
  }

  async #kindOf(stream: StreamId): Promise<Kind | undefined> {
    const [first] = await this.log.readStream(stream, 0, 1)
    const kind = first && catalogue.get(parseEnvelope(first.text).type)?.kind
    return isKind(kind) ? kind : undefined
  }

  async #find<K extends Kind>(kind: K, stream: StreamId, position: number): Promise<Resource<K> | undefined> {
    const version = await this.log.versionAt(stream, position)
    if (version === 0) return undefined
    const now = await this.log.resources.byStream(kind, stream)
    if (now?.version === version) return now
    const key = `${stream} ${version}`
    const known = this.#folded.get(key)
    if (known) return known.found?.kind === kind ? (known.found as Resource<K>) : undefined
    if ((await this.#kindOf(stream)) !== kind) return undefined
    const found = await this.#fold(kind, stream, version)
    this.#folded.set(key, { found })
    return found
  }

  async #fold<K extends Kind>(kind: K, stream: StreamId, version: number): Promise<Resource<K> | undefined> {
    let found: Resource<K> | undefined
    for await (const envelope of eventsOf(this.log, stream, version)) found = foldEvent(kind, stream, found, envelope)
    return found
  }
}

/** How one resource at the position is found. */
type Finder = {
  kindOf: (stream: StreamId) => Promise<Kind | undefined>
  find: <K extends Kind>(kind: K, stream: StreamId) => Promise<Resource<K> | undefined>
}

/** How many entries of a list are read at a time: each read is a query. */
const listedAtOnce = 2_000

const projectIn = (state: Resource['state']): StreamId | undefined => ('project' in state ? state.project : undefined)

/** Resources at one position, for one request. */
class PastResources implements Resources {
  readonly #indexes = new Map<string, Promise<Index>>()
  /** Entries read beyond the end of a page, for the following pages. */
  readonly #ahead = new Map<string, { after: number; listed: readonly ResourceEntry[] }>()
  readonly #found = new Map<string, Promise<Resource | undefined>>()
  readonly #links = new Map<string, Promise<ReadonlyMap<StreamId, Resource[]>>>()
  /** The projects of the resources on the last page, because callers then ask for the users of these resources. */
  #projectsOfPage: ReadonlyMap<StreamId, StreamId | undefined> = new Map()

  constructor(
    private readonly listed: ResourcesAt,
    private readonly finder: Finder,
  ) {}

  async one<K extends Kind>(kind: K, ref: string, project?: Resource<'project'>): Promise<Resource<K> | undefined> {
    const listed = (await this.#index(kind, project?.stream)).find(kind, ref)
    return listed?.project === (project?.stream ?? '') ? this.byStream(kind, listed.stream) : undefined
  }

  async byStream<K extends Kind>(kind: K, stream: StreamId): Promise<Resource<K> | undefined> {
    const found = await once(this.#found, `${kind} ${stream}`, () => this.finder.find(kind, stream))
    return found as Resource<K> | undefined
  }

  async list<K extends Kind>(kind: K, project?: Resource<'project'>): Promise<Resource<K>[]> {
    return this.#allOf(kind, (await this.#index(kind, project?.stream)).all)
  }

  async page<K extends Kind>(kind: K, project: Resource<'project'> | undefined, after: number, limit: number): Promise<Resource<K>[]> {
    const found: Resource<K>[] = []
    const work = new LongWork()
    // Pages are not remembered, so that all of them need no more memory than one.
    for (const { stream } of await this.#listed(kind, project, after, limit)) {
      const one = await this.finder.find(kind, stream)
      if (one) found.push(one)
      await work.pause()
    }
    this.#projectsOfPage = new Map(found.map(({ stream, state }) => [stream, projectIn(state)]))
    return found
  }

  async #allOf<K extends Kind>(kind: K, listed: readonly ResourceEntry[]): Promise<Resource<K>[]> {
    const work = new LongWork()
    const found: Resource<K>[] = []
    for (const { stream } of listed) {
      const one = await this.byStream(kind, stream)
      if (one) found.push(one)
      await work.pause()
    }
    return found
  }

  /** The next page of a list; one read fetches more than a page. */
  async #listed(kind: Kind, project: Resource<'project'> | undefined, after: number, limit: number): Promise<readonly ResourceEntry[]> {
    const key = `${kind} ${project?.stream ?? ''}`
    const ahead = this.#ahead.get(key)
    const listed =
      ahead?.after === after && ahead.listed.length > 0
        ? ahead.listed
        : await this.listed({ kind, ...(project && { project: project.stream }), page: { after, limit: listedAtOnce } })
    const page = listed.slice(0, limit)
    this.#ahead.set(key, { after: page.at(-1)?.id ?? after, listed: listed.slice(limit) })
    return page
  }

  async linkedIds(kind: Kind, to: StreamId): Promise<readonly number[]> {
    return (await this.#linked(kind, to)).map(({ id }) => id)
  }

  async #linked<K extends Kind>(kind: K, to: StreamId): Promise<Resource<K>[]> {
    const project = this.#projectsOfPage.has(to) ? this.#projectsOfPage.get(to) : await this.#projectOf(to)
    const links = await once(this.#links, `${kind} ${project ?? ''}`, () => this.#linksOf(kind, project))
    return (links.get(to) ?? []) as Resource<K>[]
  }

  async linkedPage<K extends Kind>(kind: K, to: StreamId, after: number, limit: number): Promise<Resource<K>[]> {
    return (await this.#linked(kind, to)).filter(({ id }) => id > after).slice(0, limit)
  }

  /** The project of a resource, and of all that refers to it; undefined when it is in none. */
  async #projectOf(stream: StreamId): Promise<StreamId | undefined> {
    const kind = await this.finder.kindOf(stream)
    const found = kind && (await this.finder.find(kind, stream))
    return found && projectIn(found.state)
  }

  #index(kind: Kind, project?: StreamId): Promise<Index> {
    return once(this.#indexes, `${kind} ${project ?? ''}`, async () => {
      const index = new Index()
      const work = new LongWork()
      for (let after = 0; ; after = index.all.at(-1)?.id ?? 0) {
        const listed = await this.listed({ kind, ...(project !== undefined && { project }), page: { after, limit: listedAtOnce } })
        for (const one of listed) index.add(one)
        if (listed.length < listedAtOnce) return index
        await work.pause()
      }
    })
  }

  async #linksOf(kind: Kind, project?: StreamId): Promise<ReadonlyMap<StreamId, Resource[]>> {
    const links = new Map<StreamId, Resource[]>()
    const { all } = await this.#index(kind, project)
    for (const found of await this.#allOf(kind, all)) {
      for (const to of new Set(linksOf(kind, found.state))) {
        const users = links.get(to)
        if (users) users.push(found)
        else links.set(to, [found])
      }
    }
    return links
  }
}
