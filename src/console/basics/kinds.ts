import { select, type Value } from '../api/sql.js'
import { pathOf } from './place.js'

/** A resource as the API shows it. Its members depend on the kind. */
export type ResourceRecord = Readonly<Record<string, Value>>

/** One kind of resource: its names, its path in the API, and the columns of its list. */
type KindInfo = {
  kind: string
  plural: string
  title: string
  about: string
  /** Whether it belongs to a project. */
  isInProject: boolean
  /** The members of its record that a list shows. */
  columns: readonly string[]
}

export const kinds: readonly KindInfo[] = [
  { kind: 'project', plural: 'projects', title: 'Projects', about: 'hold all others', isInProject: false, columns: [] },
  {
    kind: 'model',
    plural: 'models',
    title: 'Models',
    about: 'learn from rows, and predict',
    isInProject: true,
    columns: ['status', 'predict', 'accuracy', 'version'],
  },
  {
    kind: 'agent',
    plural: 'agents',
    title: 'Agents',
    about: 'answer questions by a language model with skills',
    isInProject: true,
    columns: ['model_name', 'provider'],
  },
  { kind: 'skill', plural: 'skills', title: 'Skills', about: 'say what an agent may read', isInProject: true, columns: ['type'] },
  {
    kind: 'chatbot',
    plural: 'chatbots',
    title: 'Chatbots',
    about: 'let an agent converse',
    isInProject: true,
    columns: ['database', 'is_running'],
  },
  {
    kind: 'knowledge_base',
    plural: 'knowledge_bases',
    title: 'Knowledge bases',
    about: 'find documents by words and meaning',
    isInProject: true,
    columns: ['embedding_model'],
  },
  { kind: 'view', plural: 'views', title: 'Views', about: 'are queries with a name', isInProject: true, columns: ['query'] },
  {
    kind: 'job',
    plural: 'jobs',
    title: 'Jobs',
    about: 'run statements when they are due',
    isInProject: true,
    columns: ['schedule_str', 'next_run_at'],
  },
  { kind: 'file', plural: 'files', title: 'Files', about: 'are tables that were uploaded', isInProject: false, columns: ['row_count'] },
  {
    kind: 'database',
    plural: 'databases',
    title: 'Connections',
    about: 'are databases where they live',
    isInProject: false,
    columns: ['engine'],
  },
]

export type { KindInfo }

/** The kind with a name in the log; undefined for a kind that the console does not list. */
export const kindNamed = (name: string): KindInfo | undefined => kinds.find(({ kind }) => kind === name)

/** The segment that stands for the project in addresses of kinds without a project. A project may have this name, too. */
const noProject = '-'

/** The console's address of a resource. */
export const pathOfResource = (kind: string, project: string | null, name: string): string =>
  pathOf('resources', kind, project ?? noProject, name)

/** The API path of a resource. @example apiPathOf(kindNamed('skill'), 'shop', 'rents') // 'projects/shop/skills/rents' */
export const apiPathOf = ({ plural, isInProject }: KindInfo, project: string, name: string): string =>
  isInProject ? `projects/${encodeURIComponent(project)}/${plural}/${encodeURIComponent(name)}` : `${plural}/${encodeURIComponent(name)}`

/** The page where a resource of this kind is created: files are uploaded, models trained, and databases tested first. */
export const placeToMake = ({ kind }: KindInfo): string =>
  ({ file: '/', model: '/models/new', database: '/connect' })[kind] ?? pathOf('new', kind)

/** Whether a form from the API's document creates this kind. */
export const isMadeByForm = ({ kind }: KindInfo): boolean => kind !== 'file' && kind !== 'model'

/** The project in an address of the console; null for a kind without projects. Only the kind tells: `-` is a name of a project, too. */
export const projectOf = ({ isInProject }: KindInfo, segment: string): string | null => (isInProject ? segment : null)

const allKinds = kinds.map(({ kind }) => kind)

/** A resource as the log's table of resources lists it. */
export type ListedResource = { kind: string; project: string | null; name: string; created_at: string; id: number } & Record<string, Value>

/**
 * The newest resources of all kinds with a page here, at a moment.
 *
 * @example await newestResources(12, undefined, signal)
 * @throws ApiError
 */
export const newestResources = (most: number, at: string | undefined, signal: AbortSignal): Promise<ListedResource[]> =>
  select<ListedResource>({
    query: `SELECT kind, project, name, id, created_at FROM log.resources WHERE list_contains(:kinds::VARCHAR[], kind)
      ORDER BY id DESC LIMIT ${most}`,
    params: { kinds: allKinds },
    at,
    signal,
  })

/**
 * The number of resources of each kind at a moment; a kind without any is not in it.
 *
 * @example (await countResources(undefined, signal)).get('view') // 12
 * @throws ApiError
 */
export const countResources = async (at: string | undefined, signal: AbortSignal): Promise<ReadonlyMap<string, number>> => {
  const counts = await select<{ kind: string; n: number }>({
    query: 'SELECT kind, count(*) AS n FROM log.resources WHERE list_contains(:kinds::VARCHAR[], kind) GROUP BY kind',
    params: { kinds: allKinds },
    at,
    signal,
  })
  return new Map(counts.map(({ kind, n }) => [kind, n]))
}
