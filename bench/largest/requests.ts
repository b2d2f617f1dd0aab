import { bodies } from './bodies.js'
import type { Body, Ids } from './body.js'
import { asking, refusedTexts, statements } from './statements.js'
import type { Maker } from './texts.js'
import { missingTools } from './tools.js'

/** A request whose size is a share of the largest accepted one. */
export type Request = Pick<Body, 'signed' | 'refill' | 'patienceMs'> & {
  name: string
  method: string
  path: string
  body?: (share: number) => string | Buffer
  headers: Record<string, string>
}

/** A JSON schema, or another description, for each media type. */
type Content = { content?: Record<string, object> }

type Operation = { parameters?: { name?: string; in?: string }[]; requestBody?: Content; responses?: Record<string, Content> }

/** The part of the OpenAPI document that is read here. */
export type Document = { paths: Record<string, Record<string, Operation>> }

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
  // The names in the path of a prediction.
  ...{ projectName: 'mindsdb', modelName: 'cars_model' },
  ...{ database: 'mindsdb', file: 'cars', table: 'stored', handler: 'slack', position: '3', config: 'default_llm' },
}
/** Names for paths that need another one: rows are written to files, and connections are changed. */
const others: Readonly<Record<string, string>> = {
  'POST /api/databases/{database}/tables': '/api/databases/files/tables',
  'PUT /api/databases/{database}': '/api/databases/chat',
  'POST /api/databases/{database}/rollback': '/api/databases/chat/rollback',
  'PUT /api/files/{file}': '/api/files/large',
  'POST /api/files/{file}/rollback': '/api/files/pairs/rollback',
}
/** The query parameters that a read needs, and those with long answers. */
const queries: Readonly<Record<string, readonly string[]>> = {
  '/api/log/proofs/inclusion': ['?position=1'],
  '/api/log/proofs/consistency': ['?from=1'],
  '/api/events': ['', '?limit=1000', '?order=desc&limit=1000', '?kind=skill&limit=1000', '?project=mindsdb', '?format=cloudevents'],
  // Without a last position it would not end.
  '/api/events/stream': ['?after=0&until={head}', '?after=0&until={head}&format=cloudevents'],
}

/** The resources that have answers, conversations, predictions or runs. */
const withRecords: readonly { paths: RegExp; names: Ids }[] = [
  { paths: /agents\/\{agent\}\/(completions|answers|reruns)/, names: { agent: 'speaker' } },
  { paths: /chatbots\/\{chatbot\}\/(messages|conversations)/, names: { chatbot: 'talker' } },
  { paths: /models\/\{model\}\/outcomes/, names: { model: 'origin_model' } },
  { paths: /jobs\/\{job\}\/history/, names: { job: 'busy' } },
]

const filledWith =
  (given: Ids) =>
  (route: string, path: string, own: Ids = {}): string => {
    const recorded = withRecords.find(({ paths }) => paths.test(path))?.names
    const named = (name: string) => own[name] ?? recorded?.[name] ?? given[name] ?? names[name] ?? 'x'
    return others[route] ?? path.replace(/\{(\w+)\}/g, (_, name: string) => named(name))
  }
type Filled = ReturnType<typeof filledWith>

const json = 'application/json'

const sql = (name: string, query: Maker): Request => ({
  ...{ name, method: 'POST', path: '/api/sql/query', headers: { 'content-type': json } },
  body: (share) => JSON.stringify({ query: query(share) }),
})

/** A statement that is given up was perhaps not carried out, and later ones need what it makes. Only a SELECT makes nothing. */
const statementPatienceMs = 60_000

/** Every kind of statement, with its longest texts. */
const statementRequests = (): Request[] => {
  const { select, ...others } = statements
  const requests = (texts: Readonly<Record<string, Maker>>) => Object.entries(texts).map(([name, text]) => sql(name, text))
  const made = Object.values(others).flatMap(requests)
  const patient = (one: Request): Request => ({ ...one, patienceMs: statementPatienceMs })
  return [...requests(select), ...requests(asking).map(patient), ...made.map(patient), ...requests(refusedTexts)]
}

const lists = [
  'SELECT * FROM skills',
  'SELECT * FROM skills_history',
  'SELECT * FROM log.events',
  'SELECT * FROM skills AT (VERSION => 3000)',
]

/** The ways in which one route is read: with its longest answer, in each of its media types, and in the past. */
const reads = (filled: Filled, route: string, path: string, { parameters = [], responses = {} }: Operation): Request[] => {
  const takes = (name: string) => parameters.some((one) => one.name === name)
  const own = queries[path] ?? ['']
  const asked = [
    ...own,
    ...(takes('limit') && takes('after') ? ['?limit=1000'] : []),
    ...(takes('as_of') ? ['?as_of=400'] : []),
    ...(takes('as_of') && takes('limit') ? ['?as_of=400&limit=1000'] : []),
  ]
  const one = (query: string, headers: Record<string, string> = {}): Request => ({
    name: `GET ${filled(route, path + query)}${headers['accept'] === undefined ? '' : ` as ${headers['accept']}`}`,
    ...{ method: 'GET', path: filled(route, path + query), headers },
  })
  // The first type is the one that a client gets without asking.
  const [, ...otherTypes] = Object.keys(responses['200']?.content ?? {})
  const inOtherTypes = otherTypes.flatMap((accept) => own.map((query) => one(query, { accept })))
  return [...[...new Set(asked)].map((query) => one(query)), ...inOtherTypes]
}

const mediaTypeOf = ({ type = json }: Body): string => type.split(';', 1)[0] ?? ''

/** The media types of a route's bodies that none of these has. */
const missingTypes = (route: string, { requestBody }: Operation, sent: readonly Body[]): string[] => {
  const types = sent.map(mediaTypeOf)
  return Object.keys(requestBody?.content ?? {}).flatMap((type) => (types.includes(type) ? [] : [`${route} as ${type}`]))
}

/** The order of the requests: first those that create, then those that show, then those that delete. */
const order = ['POST', 'PUT', 'GET', 'DELETE']

type Route = { method: string; path: string; operation: Operation }

const routesOf = ({ paths }: Document): Route[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

/** The routes whose method has no place in the order, and the bodies whose route is not in the document. */
const missingRoutes = (routes: readonly Route[]): string[] => {
  const known = routes.map(({ method, path }) => `${method} ${path}`)
  const placed = known.filter((route) => order.some((method) => route.startsWith(`${method} `)))
  return [...known.filter((route) => !placed.includes(route)), ...Object.keys(bodies).filter((route) => !known.includes(route))]
}

/**
 * Every route of a document with its largest bodies, every tool of MCP, and every statement. `missing` lists the routes, the media types of
 * bodies and the tools that have nothing here, and those that are here and not in the service.
 */
export const largestRequests = (document: Document, tools: readonly string[], ids: Ids): { requests: Request[]; missing: string[] } => {
  const filled = filledWith(ids)
  const routes = routesOf(document)
  const missing = [...missingRoutes(routes), ...missingTools(tools)]
  const ofRoute = ({ method, path, operation }: Route): Request[] => {
    const route = `${method} ${path}`
    if (method === 'GET') return reads(filled, route, path, operation)
    const sent = bodies[route] ?? []
    missing.push(...missingTypes(route, operation, sent))
    if (sent.length === 0) return [{ name: route, method, path: filled(route, path), headers: {} }]
    return sent.map(({ name, content, type = json, headers, names: own, ...rest }) => ({
      ...{ ...rest, name: `${route}: ${name}`, method, path: filled(route, path, own) },
      ...{ body: (share: number) => content(share, ids), headers: { 'content-type': type, ...headers } },
    }))
  }
  const by = (method: string) => routes.filter((route) => route.method === method).flatMap(ofRoute)
  const [posts = [], puts = [], gets = [], deletes = []] = order.map(by)
  // Tools read what the others create. Erasures and new keys come last, because they then have the most work. A rollback comes after a
  // change, because it needs one.
  const isTool = ({ path }: Request) => path === '/api/mcp'
  const isLast = ({ path }: Request) => path.startsWith('/api/log/') || path.endsWith('/rollback')
  const made = [...posts.filter((one) => !isTool(one) && !isLast(one)), ...puts, ...statementRequests()]
  const shown = [...posts.filter(isTool), ...gets, ...lists.map((query) => sql(query, () => query))]
  return { requests: [...made, ...shown, ...posts.filter(isLast), ...deletes], missing }
}
