import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { formOf } from '../../../support/models/rentals.js'
import { send, sql, startSqlService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startSqlService>>
beforeAll(async () => {
  at = await startSqlService()
})
afterAll(() => at.stop())

const project = '/api/projects/mindsdb'
const head = async () => (await at.service.head()).position
const etag = ({ headers }: { headers: Headers }) => headers.get('etag')

type Case = { create: [string, string, unknown]; change: [string, string, unknown]; remove: string }
const cases: Record<string, Case> = {
  skill: {
    create: ['POST', `${project}/skills`, { skill: { name: 's', type: 't', params: {} } }],
    change: ['PUT', `${project}/skills/s`, { skill: { params: { a: 1 } } }],
    remove: `${project}/skills/s`,
  },
  agent: {
    create: ['POST', `${project}/agents`, { agent: { name: 'a', model_name: 'm' } }],
    change: ['PUT', `${project}/agents/a`, { agent: { params: { a: 1 } } }],
    remove: `${project}/agents/a`,
  },
  view: {
    create: ['POST', `${project}/views`, { view: { name: 'v', query: 'SELECT 1 AS one' } }],
    change: ['PUT', `${project}/views/v`, { view: { query: 'SELECT 2 AS two' } }],
    remove: `${project}/views/v`,
  },
  database: {
    create: ['POST', '/api/databases', { database: { name: 'd', engine: 'slack', parameters: {} } }],
    change: ['PUT', '/api/databases/d', { database: { parameters: { a: 1 } } }],
    remove: '/api/databases/d',
  },
  job: {
    create: ['POST', `${project}/jobs`, { job: { name: 'j', query: 'SELECT 1', start_at: '2999-01-01' } }],
    change: ['PUT', `${project}/jobs/j`, { job: { query: 'SELECT 2' } }],
    remove: `${project}/jobs/j`,
  },
  project: {
    create: ['POST', '/api/projects', { project: { name: 'p' } }],
    change: ['PUT', '/api/projects/p', { project: { name: 'P' } }],
    remove: '/api/projects/p',
  },
}

describe.each(Object.entries(cases))('a %s', (_, { create, change, remove }) => {
  test('tells its version with each write, and is written only as it is expected to be', async () => {
    const created = await send(at.url, ...create, { 'if-none-match': '*' })
    expect({ status: created.status < 300, etag: etag(created) }).toEqual({ status: true, etag: '"1"' })
    const stale = await send(at.url, ...change, { 'if-match': '"2", W/"1", "x"' })
    expect(stale).toMatchObject({ status: 412, body: { code: 'version_mismatch', version: 1, hint: expect.any(String) } })
    const changed = await send(at.url, ...change, { 'if-match': '"7", "1"' })
    expect({ status: changed.status, etag: etag(changed) }).toEqual({ status: 200, etag: '"2"' })
    expect((await send(at.url, ...change, { 'if-none-match': '*' })).status).toBe(412)
    const position = await head()
    expect((await send(at.url, 'DELETE', remove, undefined, { 'if-match': '"9"' })).status).toBe(412)
    expect(await head()).toBe(position)
    expect((await send(at.url, 'DELETE', remove, undefined, { 'if-match': '"2"' })).status).toBe(204)
    expect((await send(at.url, 'DELETE', remove, undefined, { 'if-match': '*' })).status).toBe(404)
  })
})

test('a PUT that would create is held against If-Match, and one that would change against If-None-Match', async () => {
  const put = (headers: Record<string, string>) =>
    send(at.url, 'PUT', `${project}/skills/made`, { skill: { type: 't', params: {} } }, headers)
  expect(await put({ 'if-match': '*' })).toMatchObject({ status: 412, body: { version: null } })
  expect((await put({ 'if-none-match': '*' })).status).toBe(201)
  expect((await put({ 'if-none-match': '*' })).status).toBe(412)
  expect((await put({ 'if-match': '*' })).status).toBe(200)
})

test('of many that expect the same version at once, one writes', async () => {
  await send(at.url, 'POST', `${project}/skills`, { skill: { name: 'fought', type: 't', params: {} } })
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      send(at.url, 'PUT', `${project}/skills/fought`, { skill: { params: { i } } }, { 'if-match': '"1"' }),
    ),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 412)])
})

test('a read answers in full to a client that names its version, because it shows other resources, too', async () => {
  await send(at.url, 'POST', `${project}/skills`, { skill: { name: 'shown', type: 't', params: {} } })
  const tag = etag(await send(at.url, 'GET', `${project}/skills/shown`)) ?? ''
  await send(at.url, 'POST', `${project}/agents`, { agent: { name: 'user', model_name: 'm', skills: ['shown'] } })
  // fetch would add no-cache, which asks for the whole answer anyway.
  const read = await send(at.url, 'GET', `${project}/skills/shown`, undefined, { 'if-none-match': tag, 'cache-control': 'max-age=0' })
  expect({ ...read, tag: etag(read) }).toMatchObject({ status: 200, tag, body: { agent_ids: [expect.any(Number)] } })
})

test('files and statements take them too; several resources in one command do not', async () => {
  const put = (headers: Record<string, string>) => send(at.url, 'PUT', '/api/files/rows', formOf('a\n1\n', 'rows.csv'), headers)
  expect((await put({ 'if-match': '*' })).status).toBe(412)
  const made = await put({ 'if-none-match': '*' })
  expect({ status: made.status, etag: etag(made) }).toEqual({ status: 200, etag: '"1"' })
  expect((await send(at.url, 'DELETE', '/api/files/rows', undefined, { 'if-match': '"2"' })).status).toBe(412)

  const run = async (query: string, version: string) =>
    (await send(at.url, 'POST', '/api/sql/query', { query }, { 'if-match': version })).body
  await sql(at.url, "CREATE SKILL told USING type = 't'")
  expect(await run("UPDATE SKILL told SET type = 'u'", '"4"')).toMatchObject({
    type: 'error',
    error_message: expect.stringContaining('version 1'),
  })
  expect(await run("UPDATE SKILL told SET type = 'u'", '"1"')).toMatchObject({ type: 'ok' })
  expect(await run('INSERT INTO files.rows SELECT 2', '"3"')).toMatchObject({ type: 'error' })
  expect(await run('INSERT INTO files.rows SELECT 2', '"1"')).toMatchObject({ type: 'ok', affected_rows: 1 })
  expect(await run('DROP VIEW IF EXISTS v1, v2', '"1"')).toMatchObject({
    type: 'error',
    error_message: expect.stringContaining('one resource'),
  })
  expect(await send(at.url, 'PUT', '/api/config', { default_llm: { provider: 'x' } }, { 'if-match': '"1"' })).toMatchObject({ status: 400 })
})

test('an ill-formed header is refused before anything is written', async () => {
  const position = await head()
  for (const headers of [{ 'if-match': '1' }, { 'if-none-match': '"1' }, { prefer: 'dry-run=maybe' }])
    expect(await send(at.url, 'POST', `${project}/skills`, { skill: { name: 'x', type: 't', params: {} } }, headers)).toMatchObject({
      status: 400,
      body: { hint: expect.any(String) },
    })
  expect(await head()).toBe(position)
})
