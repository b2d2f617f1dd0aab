import { bodies } from './bodies.js'
import { refusedTexts, statements } from './statements.js'
import type { Maker } from './texts.js'

/** A request whose size is a share of the largest accepted one. */
export type Request = {
  name: string
  method: string
  path: string
  body?: Maker
  headers: Record<string, string>
  /** The headers that sign its body. */
  signed?: (body: string) => Record<string, string>
}

/** The part of the OpenAPI document that is read here. */
export type Document = {
  paths: Record<string, Record<string, { parameters?: { name?: string; in?: string }[]; requestBody?: object } | undefined>>
}

/** The names to put into the path parameters. */
const names: Readonly<Record<string, string>> = {
  ...{
    project: 'mindsdb',
    skill: 'taken',
    agent: 'taken',
    chatbot: 'taken',
    base: 'documents',
    knowledge_base: 'documents',
    view: 'stored',
    job: 'taken',
    model: 'cars_model',
  },
  ...{ database: 'mindsdb', file: 'cars', table: 'stored', handler: 'slack', position: '3', config: 'default_llm' },
}
/** Names for paths that need another one: rows are written to files, and connections are changed. */
const others: Readonly<Record<string, string>> = {
  'POST /api/databases/{database}/tables': '/api/databases/files/tables',
  'PUT /api/databases/{database}': '/api/databases/chat',
  'POST /api/databases/{database}/rollback': '/api/databases/chat/rollback',
  'PUT /api/files/{file}': '/api/files/large',
  'POST /api/files/{file}/rollback': '/api/files/large/rollback',
}
/** The query parameters that a read needs, and those with long answers. */
const queries: Readonly<Record<string, readonly string[]>> = {
  '/api/log/proofs/inclusion': ['?position=1'],
  '/api/log/proofs/consistency': ['?from=1'],
  '/api/events': ['?limit=1000', '?order=desc&limit=1000', '?kind=skill&limit=1000', '?project=mindsdb', '?format=cloudevents'],
}
const lines = { accept: 'application/x-ndjson' }

/** Ids that the service gave, by the name of their parameter. */
type Names = Readonly<Record<string, string>>

/** The resources that have answers, conversations or predictions. */
const withRecords: readonly { paths: RegExp; names: Names }[] = [
  { paths: /agents\/\{agent\}\/(completions|answers|reruns)/, names: { agent: 'speaker' } },
  { paths: /chatbots\/\{chatbot\}\/(messages|conversations)/, names: { chatbot: 'talker' } },
  { paths: /models\/\{model\}\/outcomes/, names: { model: 'origin_model' } },
]

const filledWith =
  (given: Names) =>
  (route: string, path: string): string => {
    const own = withRecords.find(({ paths }) => paths.test(path))?.names
    return others[route] ?? path.replace(/\{(\w+)\}/g, (_, name: string) => own?.[name] ?? given[name] ?? names[name] ?? 'x')
  }
type Filled = ReturnType<typeof filledWith>

const sql = (name: string, query: Maker): Request => ({
  ...{ name, method: 'POST', path: '/api/sql/query', headers: { 'content-type': 'application/json' } },
  body: (share) => JSON.stringify({ query: query(share) }),
})

/** Every kind of statement, with its longest texts. */
export const statementRequests = (): Request[] =>
  [...Object.values(statements), refusedTexts].flatMap((texts) => Object.entries(texts).map(([name, text]) => sql(name, text)))

const lists = [
  'SELECT * FROM skills',
  'SELECT * FROM skills_history',
  'SELECT * FROM log.events',
  'SELECT * FROM skills AT (VERSION => 3000)',
]

/** The ways in which one route is read: with its longest answer, and in the past. */
const reads = (filled: Filled, route: string, path: string, parameters: readonly { name?: string }[]): Request[] => {
  const takes = (name: string) => parameters.some((one) => one.name === name)
  const asked = [
    ...(queries[path] ?? ['']),
    ...(takes('limit') && takes('after') ? ['?limit=1000'] : []),
    ...(takes('as_of') ? ['?as_of=400'] : []),
    ...(takes('as_of') && takes('limit') ? ['?as_of=400&limit=1000'] : []),
  ]
  const one = (query: string, headers: Record<string, string> = {}): Request => ({
    name: `GET ${filled(route, path)}${query}${headers['accept'] === undefined ? '' : ' as lines'}`,
    ...{ method: 'GET', path: filled(route, path) + query, headers },
  })
  return [...[...new Set(asked)].map((query) => one(query)), ...(path === '/api/events' ? [one('', lines)] : [])]
}

/** The order of the requests: first those that create, then those that show, then those that delete. */
const order = ['POST', 'PUT', 'GET', 'DELETE']
/** These run until the client leaves, or end the work of others. */
const apart = new Set(['GET /api/events/stream', 'POST /api/logout'])

/**
 * Every route of a document with its largest bodies, and every statement. `missing` lists the routes that take a body but have none here.
 */
export const largestRequests = ({ paths }: Document, ids: Names): { requests: Request[]; missing: string[] } => {
  const filled = filledWith(ids)
  const missing: string[] = []
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const ofRoute = ({ method, path, operation }: (typeof routes)[number]): Request[] => {
    const route = `${method} ${path}`
    if (method === 'GET') return apart.has(route) ? [] : reads(filled, route, path, operation?.parameters ?? [])
    const sent = bodies[route]
    if (!sent && operation?.requestBody) missing.push(route)
    if (!sent) return [{ name: route, method, path: filled(route, path), headers: {} }]
    return sent.map(({ name, text, type = 'application/json', headers, signed }) => ({
      ...{ name: `${route}: ${name}`, method, path: filled(route, path), body: text, headers: { 'content-type': type, ...headers } },
      ...(signed && { signed }),
    }))
  }
  const known = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  missing.push(...Object.keys(bodies).filter((route) => !known.has(route)))
  const by = (method: string) => routes.filter((route) => route.method === method).flatMap(ofRoute)
  const [posts = [], puts = [], gets = [], deletes = []] = order.map(by)
  // Erasures and new keys come last, because they then have the most work. A rollback comes after a change, because it needs one.
  const isLast = ({ path }: Request) => path.startsWith('/api/log/') || path.endsWith('/rollback')
  const [made, last] = [posts.filter((one) => !isLast(one)), posts.filter(isLast)]
  const listed = lists.map((query) => sql(query, () => query))
  return { requests: [...made, ...puts, ...statementRequests(), ...gets, ...listed, ...last, ...deletes], missing }
}
