import { kinds, type Kind, type States } from '../../../events/catalogue/catalogue.js'
import { foldName, type StreamId } from '../../../events/common.js'

const known: ReadonlySet<string | undefined> = new Set(kinds)

/** Whether a kind of event belongs to a resource; predictions do not. */
export const isKind = (kind: string | undefined): kind is Kind => known.has(kind)

/** A resource as the log knows it now. `id` is the position of the event that created it. */
export type Resource<K extends Kind = Kind> = {
  kind: K
  stream: StreamId
  id: number
  version: number
  created_at: string
  updated_at: string
  state: States[K]
}
export type AnyResource = { [K in Kind]: Resource<K> }[Kind]

/** The project of a state; '' for kinds outside of projects. */
export const projectStreamOf = (state: States[Kind]): string => ('project' in state ? state.project : '')

/** Commands know these kinds by their names alone: names of files are often numbers, such as a year. */
const namedOnly: ReadonlySet<Kind> = new Set<Kind>(['file', 'engine', 'config', 'conversation'])

/** Whether a reference may be the id of a resource of this kind, if nothing has it as its name. */
export const mayBeId = (kind: Kind, ref: string): boolean => !namedOnly.has(kind) && /^\d{1,15}$/.test(ref)

/**
 * The facts that a decision needs, described as data, so that any store can look them up inside the transaction. A reference is a
 * name (compared without case) or, if nothing has that name, an id in digits.
 */
export type Lookup<T = unknown> = { readonly __found?: T } & (
  | { find: 'one'; kind: Kind; ref: string; project: string | undefined }
  | { find: 'exact'; kind: Kind; name: string; project: string | undefined }
  | { find: 'many'; kind: Kind; refs: readonly string[]; project: string }
  | { find: 'contents'; project: string }
  | { find: 'users'; kind: Kind; of: Kind; ref: string; project?: string }
  | { find: 'count'; kind: Kind; project: string }
  | { find: 'stream'; kind: Kind; stream: StreamId }
  | { find: 'version'; stream: string }
  | { find: 'earlier'; kind: Kind; ref: string; project: string | undefined; version: number }
)

/** The resource with this name or id; in a project for kinds that live in one. */
export const byName = <K extends Kind>(kind: K, ref: string, project?: string): Lookup<Resource<K> | undefined> => ({
  find: 'one',
  kind,
  ref,
  project,
})

/** The resource that has this name, never one with this id: for a resource about to be created or renamed. */
export const byExactName = <K extends Kind>(kind: K, name: string, project?: string): Lookup<Resource<K> | undefined> => ({
  find: 'exact',
  kind,
  name,
  project,
})

/** The resources with these names or ids, in this order; undefined for each that does not exist. */
export const byNames = <K extends Kind>(kind: K, refs: readonly string[], project: string): Lookup<(Resource<K> | undefined)[]> => ({
  find: 'many',
  kind,
  refs,
  project,
})

/** The number of resources that a refusal shows by name. */
export const namesShown = 20

/** The contents of a project: its jobs, the number of all other resources, and the kinds and names of the first of these. */
export type Contents = { jobs: readonly Resource<'job'>[]; others: number; firstOthers: readonly NamedResource[] }
export type NamedResource = { kind: Kind; state: { name: string } }

/** The contents of a project, as far as its deletion needs them: there may be hundreds of thousands. */
export const contentsOf = (project: string): Lookup<Contents> => ({ find: 'contents', project })

/**
 * The first resources of a kind that use the one with this name or id, in any project: `usersOf('chatbot', 'agent', 'broker', 'shop')`.
 * These are one more than a refusal shows, and not all, as there may be hundreds of thousands.
 */
export const usersOf = (kind: Kind, of: Kind, ref: string, project?: string): Lookup<readonly NamedResource[]> => ({
  find: 'users',
  kind,
  of,
  ref,
  ...(project !== undefined && { project }),
})

/** How many resources of a kind are in a project. */
export const countOf = (kind: Kind, project: string): Lookup<number> => ({ find: 'count', kind, project })

/** The resource of this stream, even if it was renamed. */
export const byStream = <K extends Kind>(kind: K, stream: StreamId): Lookup<Resource<K> | undefined> => ({ find: 'stream', kind, stream })

/** The number of events in a stream; 0 when there is none. */
export const versionOf = (stream: string): Lookup<number> => ({ find: 'version', stream })

/** A resource as it was at one of its versions, and the hashes of its secrets that were erased since. */
export type ResourceVersion<K extends Kind = Kind> = { state: States[K]; erased: readonly string[] }

/** The resource with this name or id as it was at a version; undefined when it has no such version. */
export const earlier = <K extends Kind>(
  kind: K,
  ref: string,
  version: number,
  project?: string,
): Lookup<ResourceVersion<K> | undefined> => ({
  find: 'earlier',
  kind,
  ref,
  project,
  version,
})

/** What `decide` gets: the fact found for each lookup, under the lookup's name. */
export type FactsOf<L extends Record<string, Lookup>> = { [N in keyof L]: L[N] extends Lookup<infer T> ? T : never }

/** Resources as they are after the last commit. */
export interface Resources {
  one<K extends Kind>(kind: K, ref: string, project?: Resource<'project'>): Promise<Resource<K> | undefined>
  byStream<K extends Kind>(kind: K, stream: StreamId): Promise<Resource<K> | undefined>
  /** In order of creation; those of all projects when none is named. */
  list<K extends Kind>(kind: K, project?: Resource<'project'>): Promise<Resource<K>[]>
  /** One page: at most `limit` resources after an id. Without a project: resources of kinds that belong to none. */
  page<K extends Kind>(kind: K, project: Resource<'project'> | undefined, after: number, limit: number): Promise<Resource<K>[]>
  /** The ids of all resources of a kind that refer to this stream, in order of creation. */
  linkedIds(kind: Kind, to: StreamId): Promise<readonly number[]>
  /** One page of these resources: at most `limit` after an id. */
  linkedPage<K extends Kind>(kind: K, to: StreamId, after: number, limit: number): Promise<Resource<K>[]>
}

/**
 * The same resources, found by their names alone, for a text in which digits are never an id, such as a statement.
 *
 * @example await withoutIds(log.resources).one('project', '7') // the project named 7, never the one with the id 7
 */
export const withoutIds = (resources: Resources): Resources => ({
  one: async (kind, ref, project) => {
    const found = await resources.one(kind, ref, project)
    return found && foldName(found.state.name) === foldName(ref) ? found : undefined
  },
  byStream: (kind, stream) => resources.byStream(kind, stream),
  list: (kind, project) => resources.list(kind, project),
  page: (kind, project, after, limit) => resources.page(kind, project, after, limit),
  linkedIds: (kind, to) => resources.linkedIds(kind, to),
  linkedPage: (kind, to, after, limit) => resources.linkedPage(kind, to, after, limit),
})
