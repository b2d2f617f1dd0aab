import { secretsOf } from '../../../events/secrets.js'
import { catalogue, evolve, hasLinks, kinds, linksOf, type Kind, type States, currentEvent } from '../../../events/catalogue/catalogue.js'
import { foldName, type JsonObject, type StreamId } from '../../../events/common.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { conflict, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { NewEvent } from '../contract/log.js'
import {
  isKind,
  mayBeId,
  namesShown,
  projectStreamOf,
  type AnyResource,
  type NamedResource,
  type Contents,
  type Resource,
  type Lookup,
  type ResourceVersion,
} from '../contract/lookups.js'
import { ResourceCache } from './resource-cache.js'
import type { LogConnection } from './schema.js'

type Row = { stream: StreamId; kind: Kind; id: number; version: number; created_at: string; updated_at: string; state: string }

const columns = 'stream, kind, id, version, created_at, updated_at, state'
/** Joins from the links to the resources. Without CROSS, SQLite would walk all resources of the kind. */
const fromLinks = 'FROM links CROSS JOIN resources ON resources.stream = links.source WHERE links.target = ? AND kind = ?'
/** With at most this many links, a page reads each link. With more, it walks the resources from its beginning until it is full. */
const fewLinks = 1_000
/**
 * The resources that follow from the events, updated in the same transaction: unique names, the states for decisions, and the states that
 * REST reads.
 */
export class ResourceTable {
  readonly #cache = new ResourceCache()
  readonly #byName
  readonly #byId
  readonly #byStream
  readonly #list
  readonly #listAll
  readonly #page
  readonly #firstNames
  readonly #count
  readonly #linkedNames
  readonly #linkedIds
  readonly #fewLinkedPage
  readonly #manyLinkedPage
  readonly #hasManyLinks
  readonly #version
  readonly #history
  readonly #readable
  readonly #upsert
  readonly #remove
  readonly #link
  readonly #unlink

  constructor(db: LogConnection) {
    this.#byName = db.prepare<[string, string, string], Row>(`SELECT ${columns} FROM resources WHERE kind = ? AND project = ? AND name = ?`)
    this.#byId = db.prepare<[number, string, string], Row>(`SELECT ${columns} FROM resources WHERE id = ? AND kind = ? AND project = ?`)
    this.#byStream = db.prepare<[string], Row>(`SELECT ${columns} FROM resources WHERE stream = ?`)
    this.#list = db.prepare<[string, string], Row>(`SELECT ${columns} FROM resources WHERE kind = ? AND project = ? ORDER BY id`)
    this.#listAll = db.prepare<[string], Row>(`SELECT ${columns} FROM resources WHERE kind = ? ORDER BY id`)
    this.#page = db.prepare<[string, string, number, number], Row>(
      `SELECT ${columns} FROM resources WHERE kind = ? AND project = ? AND id > ? ORDER BY id LIMIT ?`,
    )
    this.#firstNames = db.prepare<[string, string, number], { id: number; kind: Kind; name: string }>(
      `SELECT id, kind, state ->> '$.name' AS name FROM resources WHERE kind = ? AND project = ? ORDER BY id LIMIT ?`,
    )
    this.#count = db.prepare<[string, string], number>('SELECT count(*) FROM resources WHERE kind = ? AND project = ?').pluck()
    this.#linkedNames = db.prepare<[string, string, number], string>(`SELECT state ->> '$.name' ${fromLinks} LIMIT ?`).pluck()
    this.#linkedIds = db.prepare<[string, string], number>(`SELECT id ${fromLinks} ORDER BY id`).pluck()
    this.#fewLinkedPage = db.prepare<[string, string, number, number], Row>(`SELECT ${columns} ${fromLinks} AND id > ? ORDER BY id LIMIT ?`)
    // The plus sign keeps SQLite from reading all resources of the kind and sorting them.
    this.#manyLinkedPage = db.prepare<[string, string, number, number], Row>(
      `SELECT ${columns} FROM resources
       WHERE EXISTS (SELECT 1 FROM links WHERE target = ? AND source = stream) AND +kind = ? AND id > ? ORDER BY id LIMIT ?`,
    )
    this.#hasManyLinks = db.prepare<[string, number], number>('SELECT 1 FROM links WHERE target = ? LIMIT 1 OFFSET ?').pluck()
    this.#version = db.prepare<[string], number | null>('SELECT max(version) FROM events WHERE stream = ?').pluck()
    this.#history = db
      .prepare<[string, number], string>('SELECT text FROM events WHERE stream = ? AND version <= ? ORDER BY version')
      .pluck()
    this.#readable = db.prepare<[string], number>('SELECT 1 FROM payloads WHERE hash = ? AND wrapped IS NOT NULL').pluck()
    this.#upsert = db.prepare<[string, string, string, string, number, number, string, string, string]>(
      `INSERT INTO resources (stream, kind, project, name, id, version, created_at, updated_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (stream) DO UPDATE SET
         project = excluded.project, name = excluded.name, version = excluded.version, updated_at = excluded.updated_at, state = excluded.state`,
    )
    this.#remove = db.prepare<[string]>('DELETE FROM resources WHERE stream = ?')
    this.#link = db.prepare<[string, string]>('INSERT OR IGNORE INTO links VALUES (?, ?)')
    this.#unlink = db.prepare<[string]>('DELETE FROM links WHERE source = ?')
  }

  /** Begins a command that may be undone. */
  begin(): void {
    this.#cache.begin()
  }

  /** Drops the entries of the last command, after it was undone in the table. */
  undo(): void {
    this.#cache.undo()
  }

  /** Reads these resources again: another connection, or an undone transaction, changed them. */
  forget(streams: Iterable<string>): void {
    this.#cache.forget(streams)
  }

  #found<K extends Kind>(row: Row): Resource<K> {
    const known = this.#cache.peek(row.stream)
    if (known?.version === row.version) return known as Resource<K>
    return { ...row, kind: row.kind as K, state: JSON.parse(row.state) as States[K] }
  }

  #kept<K extends Kind>(row: Row): Resource<K> {
    const found = this.#found<K>(row)
    this.#cache.keep(found as AnyResource, row.state.length)
    return found
  }

  /** Finds a resource by name, compared without regard to case; by id if nothing has that name, and `orId` and the kind allow it. */
  one<K extends Kind>(kind: K, ref: string, project: string, orId = true): Resource<K> | undefined {
    const named = this.byExactName(kind, ref, project)
    if (named || !orId || !mayBeId(kind, ref)) return named
    const row = this.#byId.get(Number(ref), kind, project)
    return row && this.#kept<K>(row)
  }

  /** Finds a resource by name only, even if the name is a number. */
  byExactName<K extends Kind>(kind: K, name: string, project: string): Resource<K> | undefined {
    const known = this.#cache.named(kind, project, name)
    if (known !== undefined) return known === 'nothing' ? undefined : (known as Resource<K>)
    const row = this.#byName.get(kind, project, foldName(name))
    if (row) return this.#kept<K>(row)
    this.#cache.keepNothing(kind, project, name)
    return undefined
  }

  /** The present state of a stream's resource; undefined if it was deleted, never existed, or is of another kind. */
  byStream<K extends Kind>(kind: K, stream: string): Resource<K> | undefined {
    const found = this.#ofStream(stream)
    return found?.kind === kind ? (found as Resource<K>) : undefined
  }

  #ofStream(stream: string): AnyResource | undefined {
    const known = this.#cache.byStream(stream)
    if (known) return known
    const row = this.#byStream.get(stream)
    return row && (this.#kept(row) as AnyResource)
  }

  /** All resources of a kind, or those in a project (given by its stream). */
  list<K extends Kind>(kind: K, project?: string): Resource<K>[] {
    return (project === undefined ? this.#listAll.all(kind) : this.#list.all(kind, project)).map((row) => this.#kept<K>(row))
  }

  /**
   * Resources after an id, in order of creation; fewer than requested if they are large. A long list reads each resource once, and does not
   * change the cache.
   */
  page<K extends Kind>(kind: K, project: string, after: number, limit: number): Resource<K>[] {
    const found: Resource<K>[] = []
    let chars = 0
    for (const row of this.#page.iterate(kind, project, after, limit)) {
      found.push(this.#found<K>(row))
      chars += row.state.length
      if (chars >= limits.statesAtOnceMaxChars) break
    }
    return found
  }

  /** The contents of a project: its jobs, the number of other resources, and the names of the first of these. */
  contents(project: string): Contents {
    const others = kinds.filter((kind) => kind !== 'job')
    const first = others.flatMap((kind) => this.#firstNames.all(kind, project, namesShown)).sort((a, b) => a.id - b.id)
    return {
      jobs: this.list('job', project),
      others: others.reduce((sum, kind) => sum + (this.#count.get(kind, project) ?? 0), 0),
      firstOthers: first.slice(0, namesShown).map(({ kind, name }): NamedResource => ({ kind, state: { name } })),
    }
  }

  /** The ids of the resources of a kind whose states refer to this stream, in order of creation. */
  linkedIds(kind: Kind, target: string): readonly number[] {
    const known = this.#cache.linkedIds(kind, target)
    if (known) return known
    const ids = this.#linkedIds.all(target, kind)
    this.#cache.keepLinkedIds(kind, target, ids)
    return ids
  }

  /** One page of these resources; a long list does not change the cache. */
  linkedPage<K extends Kind>(kind: K, target: string, after: number, limit: number): Resource<K>[] {
    const page = this.#hasManyLinks.get(target, fewLinks) === undefined ? this.#fewLinkedPage : this.#manyLinkedPage
    return page.all(target, kind, after, limit).map((row) => this.#found<K>(row))
  }

  /** The number of events in a stream. */
  versionOf(stream: string): number {
    return this.#cache.peek(stream)?.version ?? this.#version.get(stream) ?? 0
  }

  /**
   * A resource at one of its versions, including the newest.
   * @throws Problem `wrong_arguments` for an earlier version whose fold would hold up other requests for long
   */
  earlier<K extends Kind>(found: Resource<K>, version: number): ResourceVersion<K> | undefined {
    const state = version === found.version ? found.state : this.#folded(found, version)
    return state && { state, erased: secretsOf(state as JsonObject).filter((hash) => this.#readable.get(hash) === undefined) }
  }

  #folded<K extends Kind>({ kind, stream, version: newest }: Resource<K>, version: number): States[K] | undefined {
    if (version > limits.rollbackMaxVersion)
      throw wrong(
        `version ${version} cannot be read: it comes after too many changes`,
        `Choose a version up to ${limits.rollbackMaxVersion}, or the newest one.`,
      )
    if (version < 1 || version > newest) return undefined
    let state: States[K] | undefined
    for (const text of this.#history.iterate(stream, version)) state = evolve(kind, state, currentEvent(parseEnvelope(text)))
    return state
  }

  /** Answers a decision's lookups. */
  lookUpAll(lookups: Readonly<Record<string, Lookup>>, orId: boolean): Record<string, unknown> {
    const scopes = new Map<string, string | undefined>()
    const facts: Record<string, unknown> = {}
    for (const name in lookups) {
      const lookup = lookups[name]
      if (lookup) facts[name] = this.lookUp(lookup, orId, scopes)
    }
    return facts
  }

  #scopeOf(project: string, orId: boolean, known: Map<string, string | undefined>): string | undefined {
    if (!known.has(project)) known.set(project, this.one('project', project, '', orId)?.stream)
    return known.get(project)
  }

  /** Answers one lookup. A project that does not exist holds nothing; a reference in digits is an id only if `orId`. */
  lookUp(lookup: Lookup, orId = true, scopes = new Map<string, string | undefined>()): unknown {
    if (lookup.find === 'stream') return this.byStream(lookup.kind, lookup.stream)
    if (lookup.find === 'version') return this.versionOf(lookup.stream)
    const scope = lookup.project === undefined ? '' : this.#scopeOf(lookup.project, orId, scopes)
    switch (lookup.find) {
      case 'one':
        return scope === undefined ? undefined : this.one(lookup.kind, lookup.ref, scope, orId)
      case 'exact':
        return scope === undefined ? undefined : this.byExactName(lookup.kind, lookup.name, scope)
      case 'many':
        return lookup.refs.map((ref) => (scope === undefined ? undefined : this.one(lookup.kind, ref, scope, orId)))
      case 'contents':
        return scope === undefined ? { jobs: [], others: 0, firstOthers: [] } : this.contents(scope)
      case 'earlier': {
        const found = scope === undefined ? undefined : this.one(lookup.kind, lookup.ref, scope, orId)
        return found && this.earlier(found, lookup.version)
      }
      case 'users': {
        const used = scope === undefined ? undefined : this.one(lookup.of, lookup.ref, scope, orId)
        const names = used ? this.#linkedNames.all(used.stream, lookup.kind, namesShown + 1) : []
        return names.map((name): NamedResource => ({ kind: lookup.kind, state: { name } }))
      }
      case 'count':
        return scope === undefined ? 0 : this.#count.get(lookup.kind, scope)
    }
  }

  /** Folds one event that belongs to no command into its resource and returns the new state; see `fold`. It is not undone by itself. */
  apply(...event: Parameters<ResourceTable['fold']>): AnyResource | undefined {
    this.begin()
    return this.fold(...event)()
  }

  /**
   * Checks that an event can be folded into its resource. The returned function writes the new state and returns it. Events without a
   * resource (predictions, foreign ones) change nothing here. `data` is the JSON of the event's data, if it exists already: most first
   * states are equal to it.
   * @throws Problem when the event takes another resource's name or belongs to another kind. This check comes before the table's own
   * constraints, because an error of SQLite ends the whole batch
   */
  fold(
    stream: string,
    version: number,
    position: number,
    recordedAt: string,
    event: NewEvent['event'],
    data?: string,
  ): () => AnyResource | undefined {
    const kind = catalogue.get(event.type)?.kind
    if (!isKind(kind)) return () => undefined
    const before = version === 1 ? undefined : this.#ofStream(stream)
    if (before && before.kind !== kind) throw wrong(`the stream ${stream} is a ${before.kind}: it cannot have a ${event.type} event`)
    const state = evolve(kind, before?.state, event)
    if (!state) return () => this.#removeRow(kind, stream, before)
    const project = projectStreamOf(state)
    const name = foldName(state.name)
    const stays = before && foldName(before.state.name) === name && projectStreamOf(before.state) === project
    const holder = stays ? undefined : this.byExactName(kind, state.name, project)
    if (holder && holder.stream !== stream) throw conflict(kind, state.name)
    const id = before?.id ?? position
    const created_at = before?.created_at ?? recordedAt
    const text = data !== undefined && state === event.data ? data : JSON.stringify(state)
    return () => {
      this.#upsert.run(stream, kind, project, name, id, version, created_at, recordedAt, text)
      if (hasLinks(kind)) this.#linkAll({ kind, stream, id }, before ? linksOf(kind, before.state) : [], linksOf(kind, state))
      // The state as a read from the row returns it: JSON has no -0.
      const stored = JSON.parse(text) as typeof state
      const found = { kind, stream, id, version, created_at, updated_at: recordedAt, state: stored } as AnyResource
      if (before) this.#cache.write(found, text.length)
      else this.#cache.created()
      return found
    }
  }

  #removeRow(kind: Kind, stream: string, before: AnyResource | undefined): undefined {
    if (before && hasLinks(kind)) this.#linkAll(before, linksOf(kind, before.state), [])
    this.#remove.run(stream)
    this.#cache.drop(stream)
  }

  /** Writes the links that changed. */
  #linkAll({ kind, stream, id }: { kind: Kind; stream: string; id: number }, before: readonly string[], after: readonly string[]): void {
    if (before.length === after.length && before.every((target, i) => target === after[i])) return
    this.#cache.relink(kind, id, before, after)
    if (before.length > 0) this.#unlink.run(stream)
    for (const target of after) this.#link.run(stream, target)
  }
}
