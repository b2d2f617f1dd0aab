import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { framesOf } from '../../support/agents/shop.js'
import { queries, ScriptedModel } from '../../support/agents/scripted-model.js'
import { send, sql, startTestService } from '../../support/service.js'

// The requests of the published Python client (mindsdb_sdk 3.5.0 and 3.4.11), as they were seen on the wire: members that are null, models
// whose key comes back masked, rows one by one. Each answer has what the client reads.

const model = new ScriptedModel()
let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  await model.start()
  model.script = queries(() => 'SELECT count(*) FROM files.sales', 'There are 3.')
  at = await startTestService()
  await sql(at.url, "CREATE TABLE files.sales (SELECT i AS id, 'town ' || i AS town FROM range(3) AS t(i))")
})
afterAll(async () => {
  await at.stop()
  await model.stop()
})

/** A page of the web, on this machine. */
const servePage = async (html: string) => {
  const server = createServer((_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(html))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, stop }
}

const project = '/api/projects/mindsdb'
const nothing = { model_name: null, provider: null, data: null, model: null, prompt_template: null, params: {} }
const question = { messages: [{ question: 'How many?', answer: null }] }
const fieldsOfAgent = { created_at: expect.any(String), updated_at: expect.any(String) }

test('agents are created, listed, got, updated, renamed and deleted', async () => {
  const made = {
    ...nothing,
    ...{
      name: 'helper',
      model: model.model,
      data: { tables: ['files.sales'] },
      prompt_template: 'Be kind',
      params: { return_context: true },
    },
  }
  expect(await send(at.url, 'POST', `${project}/agents`, { agent: made })).toMatchObject({ status: 201, body: fieldsOfAgent })
  const named = { ...nothing, name: 'plain', model_name: 'gpt-4o', provider: 'openai', params: { openai_api_key: 'sk-test' } }
  expect(await send(at.url, 'POST', `${project}/agents`, { agent: named })).toMatchObject({ status: 201, body: { name: 'plain' } })
  expect((await send(at.url, 'GET', `${project}/agents`)).body).toMatchObject([{ name: 'helper' }, { name: 'plain' }])

  const { body } = await send(at.url, 'GET', `${project}/agents/helper`)
  const { name, model: masked, data, prompt_template, params } = body as Record<string, unknown>
  expect({ masked, data, prompt_template, params }).toEqual({
    masked: { ...model.model, api_key: '******' },
    ...{ data: made.data, prompt_template: 'Be kind', params: made.params },
  })
  const changed = {
    ...{ name, model_name: null, provider: null, model: masked, prompt_template, params },
    data: { tables: ['files.sales', 'files.*'] },
  }
  expect(await send(at.url, 'PUT', `${project}/agents/helper`, { agent: changed })).toMatchObject({
    status: 200,
    body: { ...fieldsOfAgent, data: changed.data },
  })
  expect(await send(at.url, 'POST', `${project}/agents/helper/completions`, question)).toMatchObject({
    status: 200,
    body: { message: { content: 'There are 3.', context: [expect.stringContaining('[3]')] } },
  })
  const renamed = await send(at.url, 'PUT', `${project}/agents/helper`, { agent: { ...changed, name: 'renamed' } })
  expect(renamed).toMatchObject({ status: 200, body: { name: 'renamed' } })
  expect((await send(at.url, 'DELETE', `${project}/agents/plain`)).status).toBe(204)
  expect((await send(at.url, 'GET', `${project}/agents/plain`)).status).toBe(404)
})

test('a stream has the events that both of its readers look for', async () => {
  const { status, body } = await send(at.url, 'POST', `${project}/agents/renamed/completions/stream`, question)
  expect(status).toBe(200)
  const frames = framesOf(String(body))
  const types = frames.map(({ type }) => type)
  expect(types.filter((type) => type !== 'data')).toEqual(['start', 'status', 'sql', 'event', 'context', 'answer', 'end'])
  expect(frames.filter(({ type }) => type === 'data').map((frame) => frame['text'])).toEqual(
    frames.filter(({ type }) => type === 'data').map((frame) => frame['content']),
  )
  expect(frames.find(({ type }) => type === 'answer')).toMatchObject({ output: 'There are 3.' })
})

test('files and databases are added to an agent', async () => {
  const form = new FormData()
  for (const [field, value] of [
    ['original_file_name', 'extra.csv'],
    ['name', 'extra'],
    ['source_type', 'file'],
  ] as const)
    form.set(field, value)
  form.set('file', new Blob(['a,b\n1,x\n']), 'extra.csv')
  expect((await send(at.url, 'GET', '/api/files/')).body).not.toContainEqual(expect.objectContaining({ name: 'extra' }))
  expect((await send(at.url, 'PUT', '/api/files/extra', form)).status).toBe(200)
  const listed = await send(at.url, 'POST', '/api/sql/query', { query: 'show tables', context: { db: 'files' } })
  expect((listed.body as { data: unknown[][] }).data.flat()).toEqual(expect.arrayContaining(['extra', 'sales']))
})

test('knowledge bases are created, filled, searched and deleted', async () => {
  const base = { name: 'docs', metadata_columns: ['kind'], content_columns: ['content'], id_column: 'id' }
  const bases = `${project}/knowledge_bases`
  expect((await send(at.url, 'POST', bases, { knowledge_base: base })).status).toBe(201)
  expect((await send(at.url, 'POST', bases, { knowledge_base: { name: 'docs' } })).status).toBe(409)
  const known = { name: 'docs', id: expect.anything(), metadata_columns: ['kind'], content_columns: ['content'], params: {} }
  expect((await send(at.url, 'GET', bases)).body).toMatchObject([known])
  expect((await send(at.url, 'GET', `${bases}/docs`)).body).toMatchObject(known)

  const insert = (knowledge_base: object) => send(at.url, 'PUT', `${bases}/docs`, { knowledge_base })
  for (const sent of [
    { rows: [{ id: '1', content: 'cats purr', kind: 'cat' }] },
    { rows: [{ id: '2', content: 'dogs bark', kind: 'dog' }], params: { kb_skip_existing: true } },
    { query: "SELECT id + 10 AS id, town AS content, 'town' AS kind FROM files.sales" },
  ])
    expect(await insert(sent)).toMatchObject({ status: 200, body: '' })
  const page = await servePage('<title>Birds</title><p>birds sing')
  expect(await insert({ urls: [page.url], crawl_depth: 1, limit: null, filters: [] })).toMatchObject({ status: 200, body: '' })
  page.stop()

  const find = async (query: string) => {
    const { body } = await send(at.url, 'POST', '/api/sql/query', { query, context: { db: 'mindsdb' } })
    const { column_names: columns, data } = body as { column_names: string[]; data: unknown[][] }
    return data.map((row) => row[columns.indexOf('id')])
  }
  expect(await find("SELECT * FROM mindsdb.docs WHERE content = 'dogs' LIMIT 2")).toContain('2')
  expect(new Set(await find('SELECT * FROM mindsdb.docs'))).toEqual(new Set(['1', '2', '10', '11', '12', page.url]))
  expect((await send(at.url, 'DELETE', `${bases}/docs`)).status).toBe(204)
  expect((await send(at.url, 'GET', `${bases}/docs`)).status).toBe(404)
})

test('skills of clients before 3.5 have the params that those read', async () => {
  const skill = { name: 'sales', type: 'sql', params: { database: 'files', tables: ['sales'], description: 'What was sold.' } }
  expect((await send(at.url, 'POST', `${project}/skills`, { skill })).status).toBe(201)
  expect((await send(at.url, 'GET', `${project}/skills/sales`)).body).toMatchObject(skill)
  const params = { ...skill.params, description: 'Sold.' }
  const updated = await send(at.url, 'PUT', `${project}/skills/sales`, { skill: { ...skill, params } })
  expect(updated).toMatchObject({ status: 200, body: { params } })
  expect((await send(at.url, 'DELETE', `${project}/skills/sales`)).status).toBe(204)
})
