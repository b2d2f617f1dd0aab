import type { ComponentType } from 'preact'
import type { PageProps } from '../basics/page-props.js'
import type { IconName } from '../components/icon.js'

type Page = {
  /** Path segments: `:name` matches any segment, `*` all remaining ones. */
  pattern: string
  load: () => Promise<{ default: ComponentType<PageProps> }>
  /** Whether it shows now, and acts now, also while another moment is chosen. */
  isOfNow?: true
}

/** One entry per page. The first matching entry is used. */
const pages: readonly Page[] = [
  { pattern: '/', load: () => import('../pages/home/home.js') },
  { pattern: '/connect', load: () => import('../pages/home/connect.js'), isOfNow: true },
  { pattern: '/query', load: () => import('../pages/query/query.js') },
  { pattern: '/resources', load: () => import('../pages/resources/resources.js') },
  { pattern: '/new/:kind', load: () => import('../pages/resources/create.js'), isOfNow: true },
  { pattern: '/resources/:kind', load: () => import('../pages/resources/list.js') },
  { pattern: '/resources/:kind/:project/:name', load: () => import('../pages/resources/one.js') },
  { pattern: '/models', load: () => import('../pages/models/models.js') },
  { pattern: '/models/new', load: () => import('../pages/models/train.js'), isOfNow: true },
  { pattern: '/models/:project/:name', load: () => import('../pages/models/model.js') },
  { pattern: '/playground', load: () => import('../pages/playground/playground.js') },
  { pattern: '/answers', load: () => import('../pages/answers/answers.js') },
  { pattern: '/answers/:project/:agent/:id', load: () => import('../pages/answers/answer.js') },
  { pattern: '/conversations/:project/:name', load: () => import('../pages/conversations/conversations.js') },
  { pattern: '/conversations/:project/:name/:conversation', load: () => import('../pages/conversations/conversation.js') },
  { pattern: '/events', load: () => import('../pages/events/events.js') },
  { pattern: '/audit', load: () => import('../pages/audit/audit.js'), isOfNow: true },
  { pattern: '/compare', load: () => import('../pages/compare/compare.js') },
  { pattern: '/health', load: () => import('../pages/health/health.js'), isOfNow: true },
]

/** A decoded part of an address; undefined if its percent-encoding is broken. */
const decodedPart = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

const match = (pattern: string, path: string): Record<string, string> | undefined => {
  const wanted = pattern.split('/')
  const given = path.replace(/(?<=.)\/$/, '').split('/')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? ''
    if (part.startsWith(':')) {
      const decoded = decodedPart(value)
      if (decoded === undefined) return undefined
      params[part.slice(1)] = decoded
    } else if (part !== value) return undefined
  }
  return params
}

/** The page of a path. @example pageAt('/query')?.page.load() */
export const pageAt = (path: string): { page: Page; params: Record<string, string> } | undefined => {
  for (const page of pages) {
    const params = match(page.pattern, path)
    if (params) return { page, params }
  }
  return undefined
}

type Section = { path: string; name: string; icon: IconName; also?: readonly string[] }

/** The sections in the navigation, and the other pages that belong to each. The jump menu finds them, too. */
export const sections: readonly Section[] = [
  { path: '/', name: 'Home', icon: 'home' },
  { path: '/query', name: 'Query', icon: 'query' },
  { path: '/resources', name: 'Resources', icon: 'resources', also: ['/new', '/connect'] },
  { path: '/models', name: 'Models', icon: 'models' },
  { path: '/playground', name: 'Agents', icon: 'agents', also: ['/answers', '/conversations'] },
  { path: '/events', name: 'Events', icon: 'events', also: ['/compare'] },
  { path: '/audit', name: 'Audit', icon: 'audit' },
  { path: '/health', name: 'Health', icon: 'health' },
]

/** Further pages of the jump menu, besides the sections and the list of each kind. */
export const otherPages = [
  { path: '/answers', name: 'Answers of agents' },
  { path: '/compare', name: 'Compare two moments' },
  { path: '/models/new', name: 'Train a model' },
  { path: '/connect', name: 'Connect a database' },
] as const
