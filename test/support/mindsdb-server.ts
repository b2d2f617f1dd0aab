import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Json = Record<string, unknown>
type Rows = { columns: string[]; rows: unknown[][] }

/** The contents of a test's MindsDB, in the answer formats of release 25.11.1. */
export type MindsdbContents = {
  databases: Json[]
  /** Rows as JSON texts, so that numbers stay as written. */
  files: Record<string, { columns: string[]; rows: string[] }>
  /** By project: lists by the last part of their path, such as `skills`. */
  projects: Record<string, Record<string, unknown>>
  /** By the table of information_schema, or the statement. */
  tables: Record<string, Rows>
}

/** Answers instead of the service; returns whether it did. */
export type Instead = (path: string, query: string, res: ServerResponse, req: IncomingMessage) => boolean

const modelColumns = ['NAME', 'ENGINE', 'PROJECT', 'ACTIVE', 'VERSION', 'STATUS', 'PREDICT', 'SELECT_DATA_QUERY', 'TRAINING_OPTIONS']

/** A row of information_schema.models. */
export const modelTable = (...rows: unknown[][]): Rows => ({ columns: modelColumns, rows })

type Reply = [status: number, body: string, headers?: Record<string, string>]

const context = '"context":{"show_secrets":false,"db":"mindsdb"}'

const tableAnswer = (columns: string[], rows: readonly string[]): string =>
  `{"type":"table","data":[${rows.join(',')}],"column_names":${JSON.stringify(columns)},${context}}`

const filePage = (query: string, { files }: MindsdbContents): string | undefined => {
  const [, what = '', name = '', limit = '1', offset = '0'] =
    /^SELECT (.+) FROM files\.`(.+)`(?: LIMIT (\d+) OFFSET (\d+))?$/.exec(query) ?? []
  const file = files[name]
  if (!file) return undefined
  if (what !== '*') return tableAnswer(['n'], [`[${file.rows.length}]`])
  return tableAnswer(file.columns, file.rows.slice(Number(offset), Number(offset) + Number(limit)))
}

const sqlAnswer = (query: string, contents: MindsdbContents): string => {
  const page = filePage(query, contents)
  if (page !== undefined) return page
  const table = contents.tables[query.replace('SELECT * FROM information_schema.', '')]
  return table ? tableAnswer(table.columns, table.rows.map((row) => JSON.stringify(row))) : tableAnswer([], []) // prettier-ignore
}

const listAt = (path: string, { databases, files, projects }: MindsdbContents): unknown => {
  const [, project = '', kind = ''] = /^\/api\/projects\/([^/]+)\/(\w+)$/.exec(path) ?? []
  if (kind !== '') return projects[decodeURIComponent(project)]?.[kind] ?? []
  switch (path) {
    case '/api/projects/':
      return Object.keys(projects).map((name) => ({ name }))
    case '/api/databases/':
      return databases
    case '/api/files/':
      return Object.entries(files).map(([name, { columns, rows }]) => ({ name, row_count: rows.length, columns }))
    default:
      return undefined
  }
}

/** A server with the answers of MindsDB, on a free port of the loopback interface. */
export const startMindsdb = async (contents: MindsdbContents, isLocked = false) => {
  const state: { instead: Instead | undefined; asked: string[] } = { instead: undefined, asked: [] }
  const isLetIn = ({ headers }: IncomingMessage): boolean =>
    !isLocked || headers.authorization === 'Bearer pat_1' || headers.cookie === 'session=s1'
  const login = (body: string): Reply => {
    const { username, password } = JSON.parse(body) as { username: string; password: string }
    if (password !== 'right') return [401, '{"title":"Forbidden","detail":"Invalid username or password"}']
    return username === 'cookie' ? [200, '{}', { 'set-cookie': 'session=s1; HttpOnly; Path=/' }] : [200, '{"token":"pat_1"}']
  }
  const answer = (path: string, query: string, body: string, req: IncomingMessage): Reply => {
    const auth = { http_auth_enabled: isLocked }
    if (path === '/api/status') return [200, JSON.stringify({ mindsdb_version: '25.11.1', environment: 'local', auth })]
    if (path === '/api/login') return login(body)
    if (!isLetIn(req)) return [401, '{"title":"Unauthorized","detail":"Authorization is required"}']
    if (query !== '') return [200, sqlAnswer(query, contents)]
    const list = listAt(path, contents)
    return list === undefined ? [404, '{"title":"Not found","detail":"no such endpoint"}'] : [200, JSON.stringify(list)]
  }
  const handle = async (path: string, req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = await text(req)
    const query = path === '/api/sql/query' ? (JSON.parse(body) as { query: string }).query : ''
    if (state.instead?.(path, query, res, req)) return
    const [status, said, headers] = answer(path, query, body, req)
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(said)
  }
  const server = createServer((req, res) => {
    const path = req.url ?? ''
    state.asked.push(`${req.method ?? ''} ${path}`)
    void handle(path, req, res)
  })
  // It would close an idle connection over which a request may just be on its way.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${port}`, contents, state, stop }
}
