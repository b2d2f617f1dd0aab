import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { formOf, settled, uploadRentals } from '../../../support/models/rentals.js'
import { send, sql, startSqlService, type Reply } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startSqlService>>
let told = 0
beforeAll(async () => {
  at = await startSqlService()
  await uploadRentals(at.url)
  await send(at.url, 'POST', `${project}/skills`, { skill: { name: 'rents', type: 'sql', params: { tables: ['a'] } } })
  at.service.log.onCommitted(() => (told += 1))
})
afterAll(() => at.stop())

const project = '/api/projects/mindsdb'
const head = async () => (await at.service.head()).position
const dry = (method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
  send(at.url, method, path, body, { prefer: 'respond-async, dry-run', ...headers })

/** Runs what must leave no trace: no event, no listener told. */
const withoutTrace = async <T>(run: () => Promise<T>): Promise<T> => {
  const before = [await head(), told]
  const result = await run()
  expect([await head(), told]).toEqual(before)
  return result
}

const id = expect.stringMatching(/^[0-9a-f-]{36}$/)

test('shows the events that there would be and the resource, and writes nothing', async () => {
  const skill = { name: 'planned', type: 'sql', params: { api_key: 'sk-planned' } }
  const reply = await withoutTrace(() => dry('POST', `${project}/skills`, { skill }, { 'x-correlation-id': 'c-1' }))
  expect(reply.status).toBe(200)
  expect(reply.headers.get('preference-applied')).toBe('dry-run')
  expect(reply.headers.get('etag')).toBeNull()
  const params = { api_key: '******' }
  expect(reply.body).toEqual({
    events: [
      {
        stream: id,
        version: 1,
        type: 'SkillCreated',
        schema: 1,
        actor: 'anonymous',
        source: 'rest',
        request: expect.any(String),
        correlation: 'c-1',
        causation: null,
        data: { project: id, name: 'planned', type: 'sql', params },
      },
    ],
    resource: { name: 'planned', project_id: 1, agent_ids: [], type: 'sql', params, created_at: expect.any(String) },
  })
  expect((await send(at.url, 'GET', `${project}/skills/planned`)).status).toBe(404)
  const made = await send(at.url, 'POST', `${project}/skills`, { skill })
  expect(made).toMatchObject({ status: 201, body: { id: await head() } })
})

test('a change keeps its id and shows what would result; nothing to do is no events', async () => {
  const path = `${project}/skills/rents`
  const before = (await send(at.url, 'GET', path)).body
  const reply = await withoutTrace(() => dry('PUT', path, { skill: { name: 'renamed', params: { n: 1 } } }))
  expect(reply.body).toMatchObject({
    events: [
      { type: 'SkillUpdated', version: 2, data: { params: { tables: ['a'], n: 1 } } },
      { type: 'SkillRenamed', version: 3, data: { name: 'renamed' } },
    ],
    resource: { id: (before as { id: number }).id, name: 'renamed', params: { tables: ['a'], n: 1 } },
  })
  expect((await send(at.url, 'GET', path)).body).toEqual(before)
  expect((await dry('PUT', path, { skill: {} })).body).toEqual({ events: [], resource: before })
  expect((await dry('DELETE', path)).body).toMatchObject({ events: [{ type: 'SkillDeleted' }], resource: null })
})

test('is refused as the command itself would be', async () => {
  for (const [method, path, body, status] of [
    ['POST', `${project}/skills`, { skill: { name: 'rents', type: 't', params: {} } }, 409],
    ['PUT', `${project}/agents/nobody`, { agent: {} }, 400],
    ['DELETE', `${project}/skills/nothing`, undefined, 404],
    ['POST', `${project}/views`, { view: { name: 'v', query: 'SELECT nothing FROM files.rentals' } }, 400],
  ] as const) {
    const reply = await withoutTrace(() => dry(method, path, body))
    expect({ status: reply.status, type: reply.type }).toEqual({ status, type: expect.stringContaining('problem+json') })
    expect(reply.headers.get('preference-applied')).toBeNull()
  }
  expect((await dry('PUT', `${project}/skills/rents`, { skill: { type: 'u' } }, { 'if-match': '"9"' })).status).toBe(412)
})

test('remembers no key, and looks at none', async () => {
  const body = { skill: { name: 'keyed', type: 't', params: {} } }
  const key = { 'idempotency-key': 'dry' }
  await withoutTrace(() => dry('POST', `${project}/skills`, body, key))
  const made = await send(at.url, 'POST', `${project}/skills`, { skill: { ...body.skill, type: 'u' } }, key)
  expect(made.status).toBe(201)
  expect((await dry('POST', `${project}/skills`, { skill: { ...body.skill, name: 'another' } }, key)).status).toBe(200)
})

test.each([
  ['project', 'POST', '/api/projects', { project: { name: 'p' } }, ['ProjectCreated']],
  ['agent', 'POST', `${project}/agents`, { agent: { name: 'a', model_name: 'm', skills: ['rents'] } }, ['AgentCreated']],
  ['view', 'PUT', `${project}/views/v`, { view: { query: 'SELECT 1 AS one' } }, ['ViewCreated']],
  ['job', 'POST', `${project}/jobs`, { job: { name: 'j', query: 'SELECT 1' } }, ['JobCreated']],
  ['database', 'PUT', '/api/databases/d', { database: { engine: 'slack' } }, ['DatabaseCreated']],
  ['file', 'DELETE', '/api/files/rentals', undefined, ['FileDeleted']],
  ['config', 'PUT', '/api/config', { default_llm: { provider: 'x' } }, ['ConfigCreated']],
  [
    'chatbot with a connection',
    'POST',
    `${project}/chatbots`,
    { chatbot: { name: 'c', model_name: 'life', db_engine: 'slack', db_params: { token: 't' } } },
    ['DatabaseCreated', 'ChatbotCreated'],
  ],
  [
    'model',
    'POST',
    `${project}/models`,
    { query: 'CREATE MODEL rent FROM files (SELECT * FROM rentals) PREDICT rental_price' },
    ['ModelCreated', 'ModelTrainingRequested', 'ModelVersionActivated'],
  ],
] as const)('a %s can be tried', async (what, method, path, body, types) => {
  if (what.startsWith('chatbot'))
    await sql(at.url, 'CREATE MODEL life FROM files (SELECT sqft, rental_price FROM rentals LIMIT 20) PREDICT rental_price')
  if (what.startsWith('chatbot')) expect(await settled(at.url, 'life')).toBe('complete')
  const reply = await withoutTrace(() => dry(method, path, body))
  expect(reply.status).toBe(200)
  const { events } = reply.body as { events: { type: string }[] }
  expect(events.map(({ type }) => type)).toEqual(types)
  expect(JSON.stringify(reply.body)).not.toContain('"$secret"')
})

test('uploads, predictions and tables of rows say that they have no dry run', async () => {
  for (const [method, path, body] of [
    ['PUT', '/api/files/new', formOf('a\n1\n', 'new.csv')],
    ['POST', '/api/databases/files/tables', { table: { name: 't', select: 'SELECT 1 AS one' } }],
    ['POST', `${project}/models/life/predict`, [{ sqft: 1 }]],
    ['POST', '/api/login', { username: 'u', password: 'p' }],
  ] as const)
    expect(await withoutTrace(() => dry(method, path, body))).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('dry run') },
    })
})

test('a statement shows its events as a table, by header or context', async () => {
  const query = "CREATE SKILL told USING type = 't', api_key = 'sk-told'"
  for (const reply of [
    await withoutTrace(() => dry('POST', '/api/sql/query', { query })),
    await withoutTrace(() => send(at.url, 'POST', '/api/sql/query', { query, context: { dry_run: true } })),
  ]) {
    expect(reply.headers.get('preference-applied')).toBe('dry-run')
    const { column_names, data, context } = reply.body as { column_names: string[]; data: string[][]; context: object }
    expect(column_names).toEqual(['type', 'stream', 'version', 'data'])
    expect(data).toEqual([['SkillCreated', id, 1, expect.stringContaining('"api_key":"******"')]])
    expect(context).not.toHaveProperty('dry_run')
  }
  const run = async (query: string) => (await withoutTrace(() => dry('POST', '/api/sql/query', { query }))).body
  expect(await run('CREATE MODEL m2 FROM files (SELECT * FROM rentals) PREDICT rental_price')).toMatchObject({
    data: [['ModelCreated', id, 1, expect.any(String)], expect.anything(), expect.anything()],
  })
  for (const query of [
    'SELECT 1',
    'INSERT INTO files.rentals SELECT * FROM files.rentals',
    'CREATE TABLE files.t (SELECT 1 AS one)',
    'SHOW MODELS',
  ])
    expect(await run(query)).toMatchObject({ type: 'error', error_message: expect.stringContaining('dry run') })
  expect(await run('DROP SKILL nothing')).toMatchObject({ type: 'error', error_message: expect.stringContaining('does not exist') })
})
