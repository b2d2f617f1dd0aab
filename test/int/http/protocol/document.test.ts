import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { notBuilt } from '../../../../src/http/server/not-built.js'
import { readVersion } from '../../../../src/setup/version.js'
import { send, startSqlService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startSqlService>>
beforeAll(async () => {
  at = await startSqlService()
})
afterAll(() => at.stop())

type Body = { content?: Record<string, { schema?: { properties?: object } }> }
type Operation = {
  operationId: string
  parameters: { name: string; in: string }[]
  requestBody?: Body
  responses: Record<string, Body>
}
type Document = {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown>; parameters: Record<string, { name: string; in: string }> }
}
const document = async () => (await send(at.url, 'GET', '/api/openapi.json')).body as Document

const documented = `
GET /projects/{project}/skills, GET /projects/{project}/skills/{skill}, POST /projects/{project}/skills,
PUT /projects/{project}/skills/{skill}, DELETE /projects/{project}/skills/{skill},
GET /projects/{project}/agents, GET /projects/{project}/agents/{agent}, POST /projects/{project}/agents,
PUT /projects/{project}/agents/{agent}, DELETE /projects/{project}/agent/{agent},
GET /projects/{project}/chatbots, GET /projects/{project}/chatbots/{chatbot}, POST /projects/{project}/chatbots,
PUT /projects/{project}/chatbots/{chatbot}, DELETE /projects/{project}/chatbots/{chatbot},
POST /sql/query, POST /projects/{projectName}/models/{modelName}/predict`
  .split(',')
  .map((line) => line.trim())

const refsIn = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, member]) => (key === '$ref' ? [String(member)] : refsIn(member)))

test('the document has every documented operation, and every reference in it leads somewhere', async () => {
  const { openapi, info, paths, components } = await document()
  expect(openapi).toBe('3.1.0')
  expect(info.version).toBe(readVersion())
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  )
  const served = operations.map(({ path, method }) => `${method.toUpperCase()} ${path.replace(/^\/api/, '')}`)
  expect(served).toEqual(expect.arrayContaining(documented))
  for (const ref of refsIn({ paths, components })) {
    const [, kind, name = ''] = /^#\/components\/(schemas|parameters)\/([\w-]+)$/.exec(ref) ?? []
    expect({ ref, known: Object.keys(components[kind === 'parameters' ? kind : 'schemas']) }).toEqual({
      ref,
      known: expect.arrayContaining([name]),
    })
  }
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  for (const { path, parameters, responses } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(inPath)
    expect(Object.keys(responses).length).toBeGreaterThan(1)
  }
})

test('the headers of commands stand in the document once, and where they are taken', async () => {
  const { paths, components } = await document()
  const headers = ({ parameters }: Operation) =>
    parameters.flatMap((parameter) => ('$ref' in parameter ? [String(parameter.$ref).replace('#/components/parameters/', '')] : []))
  const origin = ['X-Correlation-Id', 'X-Causation-Id', 'traceparent', 'Mindledger-Position']
  expect(Object.keys(components.parameters)).toEqual(['Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer', ...origin])
  for (const [path, method, taken] of [
    ['/api/projects/{project}/skills', 'post', ['Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer', ...origin]],
    ['/api/projects/{project}/skills/{skill}/rollback', 'post', ['Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer', ...origin]],
    ['/api/files/{file}', 'put', ['Idempotency-Key', 'If-Match', 'If-None-Match', ...origin]],
    ['/api/projects/{projectName}/models/{modelName}/predict', 'post', ['Idempotency-Key', ...origin]],
    ['/api/projects/{project}/skills', 'get', ['Mindledger-Position']],
    ['/api/login', 'post', []],
  ] as const)
    expect({ path, taken: headers(paths[path]?.[method] as Operation) }).toEqual({ path, taken })
})

test('the document names every media type that a file and an answer of SQL may have', async () => {
  const { paths } = await document()
  const upload = paths['/api/files/{file}']?.['put']?.requestBody?.content ?? {}
  expect(Object.keys(upload['multipart/form-data']?.schema?.properties ?? {})).toContain('file')
  for (const type of Object.keys(upload).filter((type) => type !== 'multipart/form-data')) {
    const { body } = await send(at.url, 'PUT', '/api/files/none', undefined, { 'content-type': type })
    expect({ type, body }).toMatchObject({ type, body: { detail: 'The file is empty.' } })
  }
  const answered = Object.keys(paths['/api/sql/query']?.['post']?.responses['200']?.content ?? {})
  const given = []
  for (const named of [undefined, 'jsonlines', 'sse', 'csv', 'parquet']) {
    const { headers } = await fetch(`${at.url}/api/sql/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'SELECT 1', response_format: named }),
    })
    given.push(headers.get('content-type')?.replace(/;.*/, ''))
  }
  expect(answered).toEqual(given)
})

test('the document asks for what a body must have', async () => {
  const { paths, components } = await document()
  const bodyOf = (path: string, method: string) =>
    paths[path]?.[method]?.requestBody?.content?.['application/json']?.schema as { properties?: Record<string, unknown> }
  expect(bodyOf('/api/projects/{project}/agents', 'post').properties?.['agent']).toMatchObject({ required: ['name'] })
  expect(bodyOf('/api/projects/{project}/chatbots', 'post').properties?.['chatbot']).toMatchObject({
    required: ['name'],
    allOf: [
      { anyOf: [{ required: ['agent_name'] }, { required: ['model_name'] }] },
      { anyOf: [{ required: ['database_id'] }, { required: ['database_name'] }, { required: ['db_engine'] }] },
    ],
  })
  expect(components.schemas['ConfigDefaults']).toMatchObject({ minProperties: 1, additionalProperties: false })
  expect(bodyOf('/api/log/erasures', 'post')).toMatchObject({ oneOf: expect.arrayContaining([{ required: ['before'] }]) })
  expect(components.schemas['Outcome']).toMatchObject({ anyOf: [{ required: ['position'] }, { required: ['request'] }] })
  for (const [path, method, body] of [
    ['/api/projects/mindsdb/agents', 'POST', { agent: {} }],
    ['/api/projects/mindsdb/chatbots', 'POST', { chatbot: { name: 'c', agent_name: 'a' } }],
    ['/api/config', 'PUT', {}],
    ['/api/log/erasures', 'POST', {}],
  ] as const)
    expect({ path, status: (await send(at.url, method, path, body)).status }).toEqual({ path, status: 400 })
})

const notServed = ['no_such_path', 'method_not_allowed', 'not_built']

test('every operation of the document is served, and no other method of its paths', async () => {
  const { paths } = await document()
  const expressions = Object.entries(paths).map(([path, methods]) => ({
    methods: Object.keys(methods),
    fits: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))
  for (const path of Object.keys(paths)) {
    // A stream ends only where it is told to.
    const address = path.replaceAll(/\{\w+\}/g, 'none')
    const until = path.endsWith('/stream') ? '?until=1' : ''
    // `/databases/status` is also the address of a database of that name.
    const methods = expressions.flatMap(({ methods: own, fits }) => (fits.test(address) ? own : []))
    for (const method of ['get', 'post', 'put', 'delete', 'patch']) {
      const { status, body } = await send(at.url, method.toUpperCase(), address + until, method === 'get' ? undefined : '{')
      const code = (body as { code?: string }).code ?? ''
      const isServed = !notServed.includes(code)
      // A body that does not parse is refused before the route is looked for; the router is asked without one then.
      const again = isServed && code === 'bad_json' ? await send(at.url, method.toUpperCase(), address + until) : { status, body }
      expect({
        method,
        path,
        served: !notServed.includes((again.body as { code?: string }).code ?? ''),
      }).toEqual({ method, path, served: methods.includes(method) })
    }
  }
})

test('the front page is a page for browsers and JSON for everybody else', async () => {
  const page = await send(at.url, 'GET', '/', undefined, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
  expect(page).toMatchObject({ status: 200, type: expect.stringContaining('text/html') })
  expect(page.body).toContain('<title>Mindledger</title>')
  expect(page.body).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)/)
  const json = await send(at.url, 'GET', '/', undefined, { accept: '*/*' })
  expect(json).toMatchObject({ status: 200, body: { name: 'Mindledger', version: readVersion(), default_project: 'mindsdb' } })
  for (const address of (json.body as { addresses: string[] }).addresses)
    expect({ address, status: (await send(at.url, 'GET', address)).status }).toEqual({
      address,
      status: address === '/api/sql/query' ? 405 : 200,
    })
})

test('status, ping and readiness answer as clients expect', async () => {
  expect(await send(at.url, 'GET', '/api/status')).toMatchObject({
    status: 200,
    body: {
      mindsdb_version: readVersion(),
      environment: 'local',
      auth: { confirmed: true, http_auth_enabled: false, provider: 'disabled' },
      sql: { ready: true },
    },
  })
  expect(await send(at.url, 'GET', '/api/util/ping')).toMatchObject({ status: 200, body: { status: 'ok' } })
  expect(await send(at.url, 'GET', '/api/util/ping_native')).toMatchObject({ body: { learn: false, predict: false, analyse: false } })
  expect(await send(at.url, 'GET', '/api/util/readiness')).toMatchObject({ status: 200, body: '' })
  expect(await send(at.url, 'POST', '/api/login', { username: 'x', password: 'y' })).toMatchObject({ status: 200 })
  expect(await send(at.url, 'POST', '/api/logout')).toMatchObject({ status: 200, body: '' })
})

/** The paths of MindsDB that are not built, as its reference has them. */
const absent = [
  'GET /api/projects/mindsdb/triggers',
  'GET /api/config/integrations',
  'GET /api/handlers/slack/icon',
  'GET /api/handlers/slack/readme',
  'PUT /api/handlers/byom/x',
  'POST /api/handlers/byom/x',
  'POST /api/sql/query/copy',
  'POST /api/sql/charter',
  'GET /api/tabs/',
  'GET /api/integrations/x',
  'GET /api/auth/code',
]

test('a known path that is not built says so with 501, and what to use instead', async () => {
  for (const line of absent) {
    const [method = '', path = ''] = line.split(' ')
    const reply = await send(at.url, method, path, method === 'GET' ? undefined : {})
    expect({ line, ...reply }).toMatchObject({
      line,
      status: 501,
      type: expect.stringContaining('application/problem+json'),
      body: { code: 'not_built', hint: expect.stringMatching(/./) },
    })
  }
})

test('the README names what is not built, and only that', () => {
  const section = /\n## Not built\n\n([^#\n]+)/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''
  const list = section.slice(section.indexOf(':') + 1).replace(', and the paths of the graphical interface (', ', ')
  const named = list.split(',').map((item) => item.trim().replace(/\)?\.$/, ''))
  expect(named.sort()).toEqual(notBuilt.flatMap(({ listed }) => listed).sort())
})

describe('what the document declares valid is what the service takes', () => {
  type Declared = { name: string; schema: { type: string; pattern?: string; minimum?: number; maximum?: number; minLength?: number } }
  const isDeclared = ({ schema }: Declared, value: string): boolean => {
    if (schema.type === 'integer')
      return /^\d+$/.test(value) && Number(value) >= (schema.minimum ?? 0) && Number(value) <= (schema.maximum ?? Infinity)
    return value.length >= (schema.minLength ?? 0) && new RegExp(schema.pattern ?? '', 'u').test(value)
  }

  test.each<[string, string, string[]]>([
    ['/api/projects', 'as_of', ['1', '', '0', 'soon', '2026-02-30', '1999-13-01T00:00:00Z', '2026-01-31T12', '1e3']],
    ['/api/projects', 'limit', ['1', '1000', '1001', '0', '', 'x', '9999999999999999']],
    ['/api/projects', 'after', ['0', '', 'x', '9999999999999999']],
    ['/api/events', 'after', ['0', '12', '', 'x', '9999999999999999']],
    ['/api/events', 'limit', ['1', '1000', '1001', '0']],
    ['/api/events', 'since', ['2026-01-31T12:00:00Z', '2026-01-31 12:00-0330', '2026-01-31', '2026-13-31T12:00:00Z', '', 'x']],
  ])('%s?%s', async (path, name, values) => {
    const { paths } = await document()
    const declared = paths[path]?.['get']?.parameters.find((one) => one.name === name) as Declared | undefined
    for (const value of values) {
      const { status } = await send(at.url, 'GET', `${path}?${name}=${encodeURIComponent(value)}`)
      expect({ value, taken: declared && isDeclared(declared, value) }).toEqual({ value, taken: status === 200 })
    }
  })

  test.each(['Idempotency-Key', 'If-Match', 'If-None-Match', 'X-Correlation-Id'])('the header %s', async (name) => {
    const { components } = await document()
    const declared = components.parameters[name] as unknown as Declared
    for (const value of ['"3"', '*', '"1", W/"2"', 'a b', 'x'.repeat(201), '"']) {
      const answer = await send(at.url, 'DELETE', '/api/projects/mindsdb/skills/nobody', undefined, { [name]: value })
      expect({ value, taken: isDeclared(declared, value) }).toEqual({ value, taken: answer.status !== 400 })
    }
  })
})
