import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { send, sql, startTestService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await send(at.url, 'POST', '/api/databases', { database: { name: 'slack', engine: 'slack' } })
})
afterAll(() => at.stop())

const project = '/api/projects/mindsdb'
const head = async () => (await at.service.head()).position
const keyed = (method: string, path: string, body: unknown, key: string) => send(at.url, method, path, body, { 'idempotency-key': key })

test('of two hundred creations of one name at once, one succeeds', async () => {
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      send(at.url, 'POST', `${project}/skills`, { skill: { name: i % 2 ? 'Same' : 'same', type: 't', params: { i } } }),
    ),
  )
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(199)
  expect((await send(at.url, 'GET', `${project}/skills`)).body).toHaveLength(1)
})

test('updates of one agent at once lose nothing', async () => {
  await send(at.url, 'POST', `${project}/agents`, { agent: { name: 'busy', model_name: 'm' } })
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, i) => send(at.url, 'PUT', `${project}/agents/busy`, { agent: { params: { [`k${i}`]: i } } })),
  )
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  const { params } = (await send(at.url, 'GET', `${project}/agents/busy`)).body as { params: Record<string, number> }
  expect(params).toEqual(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, i])))
  expect(await sql(at.url, `SELECT count(*) AS n FROM agents_history WHERE name = 'busy'`)).toMatchObject({ data: [[201]] })
})

test('PUT that creates at once creates once, and the rest are updates', async () => {
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      send(at.url, 'PUT', `${project}/skills/upsert`, { skill: { type: 't', params: { [`k${i}`]: i } } }),
    ),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 49 }, () => 200), 201])
  const { params } = (await send(at.url, 'GET', `${project}/skills/upsert`)).body as { params: object }
  expect(Object.keys(params)).toHaveLength(50)
})

test('renames at once never give two agents one name', async () => {
  for (let i = 0; i < 20; i += 1) await send(at.url, 'POST', `${project}/agents`, { agent: { name: `r${i}`, model_name: 'm' } })
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) => send(at.url, 'PUT', `${project}/agents/r${i}`, { agent: { name: 'winner' } })),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
})

const cases: readonly (readonly [what: string, method: string, path: string, body: (name: string) => unknown])[] = [
  ['project', 'POST', '/api/projects', (name) => ({ project: { name } })],
  ['skill', 'POST', `${project}/skills`, (name) => ({ skill: { name, type: 't', params: { api_key: 'sk' } } })],
  ['agent', 'POST', `${project}/agents`, (name) => ({ agent: { name, model_name: 'm', params: { api_key: 'sk' } } })],
  [
    'chatbot',
    'POST',
    `${project}/chatbots`,
    (name) => ({ chatbot: { name, agent_name: 'busy', db_engine: 'slack', db_params: { token: 't' } } }),
  ],
  ['view', 'POST', `${project}/views`, (name) => ({ view: { name, query: 'SELECT 1 AS one' } })],
  ['database', 'POST', '/api/databases', (name) => ({ database: { name, engine: 'slack', parameters: { token: 't' } } })],
  ['update', 'PUT', `${project}/agents/busy`, (name) => ({ agent: { params: { name } } })],
  ['statement', 'POST', '/api/sql/query', (name) => ({ query: `CREATE SKILL ${name} USING type = 't'` })],
]

test.each(cases)('a %s that is sent again with its key has the same answer and no second effect', async (what, method, path, body) => {
  const first = await keyed(method, path, body(`one_${what}`), `key-${what}`)
  expect(first.status).toBeLessThan(300)
  expect(first.body).not.toMatchObject({ type: 'error' })
  const position = await head()
  for (let i = 0; i < 3; i += 1) {
    const again = await keyed(method, path, body(`one_${what}`), `key-${what}`)
    expect({ status: again.status, body: again.body }).toEqual({ status: first.status, body: first.body })
  }
  const other = await keyed(method, path, body(`other_${what}`), `key-${what}`)
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
  expect(await head()).toBe(position)
})

test('a key sent many times at once has one effect; a refused request keeps no key', async () => {
  const before = await head()
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => keyed('POST', `${project}/skills`, { skill: { name: 'burst', type: 't', params: {} } }, 'burst')),
  )
  expect(new Set(replies.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
  expect(replies[0]?.status).toBe(201)
  expect(await head()).toBe(before + 1)
  expect((await keyed('POST', `${project}/skills`, { skill: { name: 'burst', type: 't', params: {} } }, 'refused')).status).toBe(409)
  expect((await keyed('POST', `${project}/skills`, { skill: { name: 'burst2', type: 't', params: {} } }, 'refused')).status).toBe(201)
})

test('a deletion that is sent again with its key is done, not missing', async () => {
  expect((await keyed('DELETE', `${project}/skills/burst`, undefined, 'gone')).status).toBe(204)
  expect((await keyed('DELETE', `${project}/skills/burst`, undefined, 'gone')).status).toBe(204)
  expect((await keyed('DELETE', `${project}/skills/burst`, undefined, 'gone2')).status).toBe(404)
})

test('a creation that is sent again after its resource is gone still has its answer', async () => {
  const body = { skill: { name: 'brief', type: 't', params: {} } }
  const first = await keyed('POST', `${project}/skills`, body, 'brief')
  await send(at.url, 'DELETE', `${project}/skills/brief`)
  expect(await keyed('POST', `${project}/skills`, body, 'brief')).toMatchObject({ status: 201, body: first.body })
})

test('a view that is sent again with its key has its answer, though its query would no longer do', async () => {
  const body = { view: { name: 'shaky', query: 'SELECT * FROM ground' } }
  await send(at.url, 'POST', `${project}/views`, { view: { name: 'ground', query: 'SELECT 1 AS one' } })
  const first = await keyed('POST', `${project}/views`, body, 'shaky')
  expect(first.status).toBe(201)
  await send(at.url, 'DELETE', `${project}/views/ground`)
  expect(await keyed('POST', `${project}/views`, body, 'shaky')).toMatchObject({ status: 201, body: first.body })
  expect((await keyed('POST', `${project}/views`, body, 'other')).status).toBe(404)
})

test('a rename that is sent again with its key has its answer, though nothing has the old name', async () => {
  await send(at.url, 'POST', `${project}/agents`, { agent: { name: 'before', model_name: 'm' } })
  const first = await keyed('PUT', `${project}/agents/before`, { agent: { name: 'after' } }, 'renamed')
  expect(first).toMatchObject({ status: 200, body: { name: 'after' } })
  expect(await keyed('PUT', `${project}/agents/before`, { agent: { name: 'after' } }, 'renamed')).toMatchObject({
    status: 200,
    body: first.body,
  })
  expect(await keyed('PUT', `${project}/agents/before`, { agent: { name: 'after' } }, 'other')).toMatchObject({
    status: 400,
    body: { title: 'Creation is not allowed' },
  })
})

const kinds: readonly (readonly [kind: string, path: string, body: unknown])[] = [
  ['skill', 'skills', { skill: { name: 'a', type: 't', params: {} } }],
  ['agent', 'agents', { agent: { name: 'a', model_name: 'm' } }],
  ['chatbot', 'chatbots', { chatbot: { name: 'a', agent_name: 'a', db_engine: 'slack', db_params: {} } }],
]

test('a creation has its answer even when its project gets another name right after it', async () => {
  const { log } = at.service
  await send(at.url, 'POST', '/api/projects', { project: { name: 'moving0' } })
  const moving = await log.resources.one('project', 'moving0')
  const origin = { actor: 'a', source: 'system', request: null, correlation: null, causation: null } as const
  const submit = log.submit.bind(log)
  for (const [n, [kind, path, body]] of kinds.entries()) {
    const renamed = { stream: moving?.stream ?? '', event: { type: 'ProjectRenamed', data: { name: `moving${n + 1}` } } } as const
    log.submit = async (submission) => {
      const outcome = await submit(submission)
      await submit({ origin, lookups: {}, decide: () => [renamed], payloads: [] })
      return outcome
    }
    const reply = await send(at.url, 'POST', `/api/projects/moving${n}/${path}`, body).finally(() => {
      log.submit = submit
    })
    expect([kind, reply]).toMatchObject([kind, { status: 201, body: { name: 'a', project_id: moving?.id } }])
  }
})
