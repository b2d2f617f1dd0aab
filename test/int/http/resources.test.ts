import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Ledger } from '../../../src/commands/ledger.js'
import { Vault } from '../../../src/vault/vault.js'
import { origin, testKey } from '../../support/log/log.js'
import { send, sql, startSqlService } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startSqlService>>
beforeAll(async () => {
  at = await startSqlService()
  for (const query of ['CREATE PROJECT shop', 'CREATE DATABASE slack_db ENGINE = slack'])
    expect(await sql(at.url, query)).toMatchObject({ type: 'ok' })
})
afterAll(() => at.stop())

type Body = Record<string, unknown>
const call = async (method: string, path: string, body?: unknown) => {
  const reply = await send(at.url, method, path, body)
  return { status: reply.status, body: reply.body as Body }
}
const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/)
const id = expect.any(Number)
const skill = (name: string, params: Body = {}) => call('POST', '/api/projects/shop/skills', { skill: { name, type: 'sql', params } })
const agent = (name: string, more: Body = {}) =>
  call('POST', '/api/projects/shop/agents', { agent: { name, model_name: 'gpt-4o', ...more } })
const project = '/api/projects/shop'

test('every documented path is served under every prefix, with and without a slash at its end', async () => {
  const prefixes = ['/api/projects', '/projects', '/api/v1/api/projects', '/v1/projects', '/v1/api/projects']
  let n = 0
  for (const prefix of prefixes)
    for (const slash of ['', '/']) {
      n += 1
      const kinds: [string, string, Body][] = [
        ['skills', 'skill', { type: 't', params: {} }],
        ['agents', 'agent', { model_name: 'm' }],
        ['chatbots', 'chatbot', { agent_name: `agent${n}x`, database_name: 'slack_db' }],
      ]
      await agent(`agent${n}x`)
      for (const [plural, one, fields] of kinds) {
        const name = `${one}${n}`
        const list = `${prefix}/shop/${plural}${slash}`
        const single = `${prefix}/shop/${plural}/${name}${slash}`
        const ended = `${prefix}/shop/${one === 'agent' ? 'agent' : plural}/${name}${slash}`
        expect({ list, ...(await call('POST', list, { [one]: { name, ...fields } })) }).toMatchObject({ list, status: 201, body: { name } })
        expect({ list, ...(await call('GET', list)) }).toMatchObject({
          status: 200,
          body: expect.arrayContaining([expect.objectContaining({ name })]),
        })
        expect({ single, ...(await call('GET', single)) }).toMatchObject({ status: 200, body: { name } })
        expect({ single, ...(await call('PUT', single, { [one]: { params: { n } } })) }).toMatchObject({ status: 200, body: { name } })
        expect({ ended, ...(await call('DELETE', ended)) }).toMatchObject({ status: 204, body: '' })
        expect((await call('GET', single)).status).toBe(404)
      }
      expect(await call('GET', `${prefix}${slash}`)).toMatchObject({ status: 200, body: [{ name: 'mindsdb' }, { name: 'shop' }] })
      expect(await call('GET', `${prefix}/Shop${slash}`)).toMatchObject({ status: 200, body: { name: 'shop' } })
    }
  for (const path of ['/api/sql/query', '/sql/query', '/api/v1/api/sql/query', '/api/sql/query/'])
    expect(await call('POST', path, { query: 'SELECT 1 AS a' })).toMatchObject({
      status: 200,
      body: { type: 'table', column_names: ['a'], data: [[1]], context: { db: 'mindsdb' } },
    })
})

test('a skill has its record on every answer; PUT merges, null removes, renames, and creates what is missing', async () => {
  const record = {
    id,
    name: 'sk',
    project_id: id,
    agent_ids: [],
    type: 'text2sql',
    params: { database: 'd', tables: ['t'], description: 'x' },
    created_at: time,
  }
  const created = await call('POST', `${project}/skills`, { skill: { name: 'sk', type: 'text2sql', params: record.params } })
  expect(created).toEqual({ status: 201, body: record })
  expect(await call('GET', `${project}/skills/sk`)).toEqual({ status: 200, body: created.body })
  const merged = await call('PUT', `${project}/skills/SK`, {
    skill: { params: { tables: ['t', 'u'], description: null, deep: { a: null } } },
  })
  expect(merged).toEqual({ status: 200, body: { ...created.body, params: { database: 'd', tables: ['t', 'u'], deep: { a: null } } } })
  expect(await call('PUT', `${project}/skills/sk`, { skill: { name: 'Skill2', type: 'sql' } })).toMatchObject({
    status: 200,
    body: { id: created.body['id'], name: 'Skill2', type: 'sql' },
  })
  expect(await call('PUT', `${project}/skills/skill2`, { skill: {} })).toMatchObject({ status: 200, body: { name: 'Skill2' } })
  expect(await call('PUT', `${project}/skills/skill2`, { skill: { name: null, type: null, params: null } })).toMatchObject({
    status: 200,
    body: { name: 'Skill2', type: 'sql' },
  })
  expect(await call('PUT', `${project}/skills/fresh`, { skill: { name: 'ignored', type: 't', params: {} } })).toMatchObject({
    status: 201,
    body: { name: 'fresh' },
  })
  for (const fields of [{ type: 't' }, { params: {} }, {}, { name: 'x' }])
    expect(await call('PUT', `${project}/skills/nothing`, { skill: fields })).toMatchObject({
      status: 400,
      body: { title: 'Missing field' },
    })
  expect(await call('PUT', `${project}/skills/fresh`, { skill: { name: 'SKILL2' } })).toMatchObject({
    status: 409,
    body: { title: 'Skill already exists' },
  })
  expect(await skill('SKILL2')).toMatchObject({ status: 409, body: { title: 'Skill already exists' } })
  expect(await call('POST', '/api/projects/nope/skills', { skill: { name: 'x', type: 't', params: {} } })).toMatchObject({
    status: 404,
    body: { title: 'Project not found' },
  })
})

test('what is there is found by name in any case and by id; a name of digits wins over an id', async () => {
  const one = await skill('Ünïcode Näme')
  expect(await call('GET', `${project}/skills/${encodeURIComponent('ÜNÏCODE NÄME')}`)).toEqual({ ...one, status: 200 })
  expect(await call('GET', `${project}/skills/${encodeURIComponent('Ünïcode Näme'.normalize('NFD'))}`)).toEqual({ ...one, status: 200 })
  expect(await call('GET', `${project}/skills/${Number(one.body['id'])}`)).toEqual({ ...one, status: 200 })
  const digits = await skill(String(one.body['id']))
  expect(digits.status).toBe(201)
  expect(await call('GET', `${project}/skills/${Number(one.body['id'])}`)).toEqual({ ...digits, status: 200 })
  expect((await call('DELETE', `${project}/skills/${Number(one.body['id'])}`)).status).toBe(204)
  expect(await call('GET', `${project}/skills/${Number(one.body['id'])}`)).toEqual({ ...one, status: 200 })
  const helper = await agent('Found')
  for (const ref of ['found', 'FOUND', String(helper.body['id'])])
    expect(await call('GET', `${project}/agents/${ref}`)).toEqual({ ...helper, status: 200 })
  // An id of another kind, or of another project, is nobody here.
  expect((await call('GET', `${project}/agents/${Number(one.body['id'])}`)).status).toBe(404)
  expect((await call('GET', `/api/projects/mindsdb/agents/${Number(helper.body['id'])}`)).status).toBe(404)
})

test('a project or connection named by digits comes before one that has them as its id', async () => {
  await call('POST', '/api/projects', { project: { name: 'depot' } })
  const { body: depot } = await call('GET', '/api/databases/depot')
  const { body: other } = await call('POST', '/api/databases', { database: { name: 'other_db', engine: 'slack', parameters: {} } })
  const [ofProject, ofConnection] = [String(depot['id']), String(other['id'])]
  for (const name of [ofProject, ofConnection])
    expect(await call('POST', '/api/databases', { database: { name, engine: 'slack', parameters: {} } })).toMatchObject({ status: 201 })
  expect(await call('GET', `/api/databases/${ofProject}`)).toMatchObject({ status: 200, body: { name: ofProject, engine: 'slack' } })
  await agent('numbered')
  const chatbot = { name: 'numbered', agent_name: 'numbered', database_id: other['id'] }
  expect(await call('POST', `${project}/chatbots`, { chatbot })).toMatchObject({ status: 201, body: { database_id: other['id'] } })
  expect(await call('PUT', `${project}/chatbots/numbered`, { chatbot: { database_id: depot['id'] } })).toMatchObject({ status: 404 })
  expect((await call('DELETE', `${project}/chatbots/numbered`)).status).toBe(204)
  for (const name of [ofProject, ofConnection, 'other_db']) expect((await call('DELETE', `/api/databases/${name}`)).status).toBe(204)
  expect(await call('GET', '/api/projects/depot')).toMatchObject({ status: 200 })
  // Without such a name, the digits are the id.
  expect((await call('DELETE', `/api/databases/${ofProject}`)).status).toBe(204)
  expect((await call('GET', '/api/projects/depot')).status).toBe(404)
})

test('skills are listed by the agent that uses them, by its name or id', async () => {
  for (const name of ['f1', 'f2', 'f3']) await skill(name)
  const user = await agent('filter', { skills: ['f1', { name: 'F3', extra: 1 }] })
  const id = String(user.body['id'])
  for (const query of ['agent=filter', 'agent=FILTER', `agent=${id}`, 'agent_name=filter', `agent_id=${id}`]) {
    const listed = await call('GET', `${project}/skills?${query}`)
    expect(listed).toMatchObject({
      status: 200,
      body: [
        { name: 'f1', agent_ids: [user.body['id']] },
        { name: 'f3', agent_ids: [user.body['id']] },
      ],
    })
  }
  await agent('idle')
  expect(await call('GET', `${project}/skills?agent=idle`)).toEqual({ status: 200, body: [] })
  expect(await call('GET', `${project}/skills?agent=none`)).toMatchObject({ status: 404, body: { title: 'Agent not found' } })
  await call('DELETE', `${project}/agents/filter`)
  expect(await call('GET', `${project}/skills/f1`)).toMatchObject({ body: { agent_ids: [] } })
})

test('an agent without skills shows data, model and prompt_template beside its params; one with skills keeps them inside', async () => {
  const parts = {
    model: { provider: 'openai', model_name: 'gpt-4o', api_key: 'sk-1' },
    data: { tables: ['files.t'] },
    prompt_template: 'Be brief.',
  }
  const masked = { ...parts, model: { ...parts.model, api_key: '******' } }
  const common = { id, project_id: id, created_at: time, updated_at: time }
  expect(await call('POST', `${project}/agents`, { agent: { name: 'lift', ...parts } })).toEqual({
    status: 201,
    body: { ...common, name: 'lift', ...masked },
  })
  expect(await call('POST', `${project}/agents`, { agent: { name: 'lift2', ...parts, params: { k: 1 } } })).toEqual({
    status: 201,
    body: { ...common, name: 'lift2', ...masked, params: { k: 1 } },
  })
  await skill('in1', { database: 'd' })
  const inside = await call('POST', `${project}/agents`, {
    agent: { name: 'inside', model_name: 'gpt-4o', ...parts, skills: [{ name: 'in1', tables: ['x'] }], params: { k: 1 } },
  })
  expect(inside).toEqual({
    status: 201,
    body: {
      ...common,
      name: 'inside',
      model_name: 'gpt-4o',
      provider: 'openai',
      skills: [
        { id, name: 'in1', project_id: id, agent_ids: [inside.body['id']], type: 'sql', params: { database: 'd' }, created_at: time },
      ],
      skills_extra_parameters: { in1: { tables: ['x'] } },
      params: { k: 1, ...masked },
    },
  })
  expect(await agent('bare')).toEqual({ status: 201, body: { ...common, name: 'bare', model_name: 'gpt-4o', provider: 'openai' } })
  expect(await call('POST', `${project}/agents`, { agent: { name: 'text', model: 'claude-x' } })).toMatchObject({
    status: 201,
    body: { model_name: 'claude-x', provider: 'anthropic' },
  })
  expect(
    await call('POST', `${project}/agents`, {
      agent: { name: 'nulls', model_name: 'some-model', provider: null, params: null, skills: null, data: null },
    }),
  ).toMatchObject({ status: 201, body: { model_name: 'some-model' } })
})

test('PUT of an agent merges params, replaces or changes its skills, and refuses what contradicts itself', async () => {
  for (const name of ['u1', 'u2', 'u3']) await skill(name)
  await agent('upd', { skills: ['u1'], params: { k: 1, j: { a: 1, b: 2 } } })
  const put = (fields: Body, name = 'upd') => call('PUT', `${project}/agents/${name}`, { agent: fields })
  const names = async () => ((await call('GET', `${project}/agents/upd`)).body['skills'] as Body[] | undefined)?.map(({ name }) => name)
  expect(await put({ params: { k: null, j: { c: 3 }, l: [1] } })).toMatchObject({ status: 200, body: { params: { j: { c: 3 }, l: [1] } } })
  expect((await call('GET', `${project}/agents/upd`)).body['params']).toEqual({ j: { c: 3 }, l: [1] })
  expect((await put({ skills_to_add: ['u2', { name: 'u3', x: 1 }] })).status).toBe(200)
  expect(await names()).toEqual(['u1', 'u2', 'u3'])
  expect((await put({ skills_to_remove: ['U1', { name: 'u2' }, 'u2'] })).status).toBe(200)
  expect(await names()).toEqual(['u3'])
  expect((await put({ skills_to_add: ['u3', 'u3', 'U3'] })).status).toBe(200)
  expect(await names()).toEqual(['u3'])
  expect((await put({ skills: ['u1', { name: 'u2', y: 2 }] })).status).toBe(200)
  expect(await call('GET', `${project}/agents/upd`)).toMatchObject({ body: { skills_extra_parameters: { u1: {}, u2: { y: 2 } } } })
  for (const [fields, status, title] of [
    [{ skills_to_add: ['none'] }, 404, 'Resource not found'],
    [{ skills_to_remove: ['none'] }, 404, 'Resource not found'],
    [{ skills: ['none'] }, 404, 'Resource not found'],
    [{ skills_to_add: ['u1'], skills_to_remove: ['U1'] }, 400, 'Wrong arguments'],
    [{ skills: ['u1'], skills_to_add: ['u2'] }, 400, 'Wrong arguments'],
    [{ skills: [], skills_to_remove: ['u2'] }, 400, 'Wrong arguments'],
    [{ data: { tables: ['files.t'] }, skills_to_add: ['u1'] }, 400, 'Wrong arguments'],
    [{ data: { tables: ['files.t'] }, skills_to_remove: ['u1'] }, 400, 'Wrong arguments'],
    [{ name: 'BARE' }, 409, 'Agent already exists'],
    [{ provider: 'mindsdb', model_name: 'no_such_model' }, 404, 'Resource not found'],
  ] as const)
    expect({ fields, ...(await put(fields)) }).toMatchObject({ fields, status, body: { title } })
  expect(await names()).toEqual(['u1', 'u2'])
  expect(await put({ name: 'x' }, 'absent')).toMatchObject({ status: 400, body: { title: 'Creation is not allowed' } })
  expect((await put({ skills: [] })).body['skills']).toBeUndefined()
  expect(await put({ model_name: 'claude-3' })).toMatchObject({ body: { model_name: 'claude-3', provider: 'anthropic' } })
  expect(await put({ provider: 'azure' })).toMatchObject({ body: { model_name: 'claude-3', provider: 'azure' } })
  expect(await put({ name: 'Upd' })).toMatchObject({ status: 200, body: { name: 'Upd' } })
  // As the official client for Python sends each change.
  const unchanged = { data: { tables: ['files.t'] }, skills_to_add: [], skills_to_remove: [], prompt_template: 'new' }
  expect(await put(unchanged, 'bare')).toMatchObject({ status: 200, body: { data: { tables: ['files.t'] }, prompt_template: 'new' } })
  const source = { type: 'retrieval', params: { source: 'files' } }
  for (const name of ['found', 'found_too']) await call('POST', `${project}/skills`, { skill: { name, ...source } })
  expect(await put({ skills_to_add: ['found'] })).toMatchObject({ status: 200, body: { params: { mode: 'retrieval' } } })
  expect(await put({ params: { mode: 'text' }, skills_to_add: ['found_too'] })).toMatchObject({ body: { params: { mode: 'text' } } })
  const { position } = await at.service.head()
  expect(await put({})).toMatchObject({ status: 200, body: { name: 'Upd' } })
  expect((await at.service.head()).position).toBe(position)
})

test('an agent follows its skill through a rename, and loses one that is deleted', async () => {
  await skill('before')
  await agent('follower', { skills: ['before'] })
  await call('PUT', `${project}/skills/before`, { skill: { name: 'after' } })
  expect(await call('GET', `${project}/agents/follower`)).toMatchObject({
    body: { skills: [{ name: 'after' }], skills_extra_parameters: { after: {} } },
  })
  await call('DELETE', `${project}/skills/after`)
  expect((await call('GET', `${project}/agents/follower`)).body['skills']).toBeUndefined()
  await skill('after')
  expect((await call('GET', `${project}/agents/follower`)).body['skills']).toBeUndefined()
})

test('DELETE takes the documented singular path of agents and the plural one', async () => {
  for (const path of ['agent/d1', 'agents/d2']) {
    const name = path.split('/')[1] ?? ''
    await agent(name)
    expect(await call('DELETE', `${project}/${path}`)).toEqual({ status: 204, body: '' })
    expect(await call('DELETE', `${project}/${path}`)).toMatchObject({ status: 404, body: { title: 'Agent not found' } })
  }
  const again = await agent('d1')
  expect(await call('DELETE', `${project}/agent/${Number(again.body['id'])}`)).toMatchObject({ status: 204 })
})

test('chatbots have one record for writes and one for reads, and the read one holds the agent', async () => {
  await skill('cs')
  const helper = await agent('ca', { skills: ['cs'] })
  const written = {
    id,
    name: 'cb',
    project_id: id,
    agent_id: helper.body['id'],
    model_name: 'gpt-4o',
    params: { a: 1, b: 2 },
    webhook_token: null,
    created_at: time,
    database_id: id,
  }
  const created = await call('POST', `${project}/chatbots`, {
    chatbot: { name: 'cb', agent_name: 'ca', database_name: 'slack_db', params: { a: 1, b: 2 } },
  })
  expect(created).toEqual({ status: 201, body: { ...written, webhook_token: expect.stringMatching(/^[\w-]{43}$/) } })
  const agentRecord = (await call('GET', `${project}/agents/ca`)).body
  const detail = {
    id: created.body['id'],
    name: 'cb',
    project: 'shop',
    agent: agentRecord,
    database_id: created.body['database_id'],
    database: 'slack_db',
    model_name: 'gpt-4o',
    params: { a: 1, b: 2 },
    created_at: created.body['created_at'],
    is_running: false,
    last_error: null,
    webhook_token: null,
  }
  expect(await call('GET', `${project}/chatbots/CB`)).toEqual({ status: 200, body: detail })
  expect(await call('GET', `${project}/chatbots`)).toEqual({ status: 200, body: [detail] })
  expect(await call('PUT', `${project}/chatbots/cb`, { chatbot: { params: { a: 9, b: null, c: 3 }, is_running: true } })).toEqual({
    status: 200,
    body: { ...created.body, params: { a: 9, c: 3 }, webhook_token: null },
  })
  expect(await call('GET', `${project}/chatbots/cb`)).toMatchObject({ body: { is_running: true } })
  const inline = await call('POST', `${project}/agents`, { agent: { name: 'inl', model: { model_name: 'm' } } })
  expect(await call('PUT', `${project}/chatbots/cb`, { chatbot: { agent_name: 'inl', name: 'Cb2' } })).toMatchObject({
    status: 200,
    body: { name: 'Cb2', agent_id: inline.body['id'], model_name: null },
  })
  expect(
    await call('POST', `${project}/chatbots`, { chatbot: { name: 'by_id', agent_name: 'ca', database_id: created.body['database_id'] } }),
  ).toMatchObject({ status: 201, body: { database_id: created.body['database_id'] } })
  for (const [chatbot, status, title] of [
    [{ name: 'CB2', agent_name: 'ca', database_name: 'slack_db' }, 409, 'Chatbot already exists'],
    [{ agent_name: 'ca', database_name: 'slack_db' }, 400, 'Missing field'],
    [{ name: 'z', database_name: 'slack_db' }, 400, 'Missing field'],
    [{ name: 'z', agent_name: 'ca' }, 400, 'Missing field'],
    [{ name: 'z', agent_name: 'ca', database_name: 'none' }, 404, 'Database not found'],
    [{ name: 'z', agent_name: 'none', database_name: 'slack_db' }, 404, 'Agent not found'],
    [{ name: 'z', model_name: 'none', database_name: 'slack_db' }, 404, 'Model not found'],
  ] as const)
    expect({ chatbot, ...(await call('POST', `${project}/chatbots`, { chatbot })) }).toMatchObject({ status, body: { title } })
  expect(await call('PUT', `${project}/chatbots/by_id`, { chatbot: { name: 'CB2' } })).toMatchObject({ status: 409 })
})

test('a chatbot shows the model that its agent has now', async () => {
  await call('POST', `${project}/agents`, { agent: { name: 'moving', model_name: 'gpt-4o' } })
  const made = await call('POST', `${project}/chatbots`, { chatbot: { name: 'follows', agent_name: 'moving', database_name: 'slack_db' } })
  expect(made).toMatchObject({ status: 201, body: { model_name: 'gpt-4o' } })
  const { position } = await at.service.head()
  expect(await sql(at.url, "UPDATE AGENT shop.moving SET model = 'claude-x'")).toMatchObject({ type: 'ok' })
  const named = { model_name: 'claude-x' }
  expect(await call('GET', `${project}/chatbots/follows`)).toMatchObject({ body: { ...named, agent: named } })
  expect(await call('PUT', `${project}/chatbots/follows`, { chatbot: { params: { a: 1 } } })).toMatchObject({ body: named })
  const shown = (table: string) => sql(at.url, `SELECT model_name FROM ${table} WHERE name = 'follows'`)
  expect(await shown('shop.chatbots')).toMatchObject({ data: [['claude-x']] })
  expect(await shown(`shop.chatbots AT (VERSION => ${position})`)).toMatchObject({ data: [['gpt-4o']] })
  expect(await call('GET', `${project}/chatbots/follows?as_of=${position}`)).toMatchObject({ body: { model_name: 'gpt-4o' } })
  for (const path of ['chatbots/follows', 'agents/moving']) expect((await call('DELETE', `${project}/${path}`)).status).toBe(204)
})

test('PUT of a chatbot that does not exist creates it, with the name in the body or else in the path', async () => {
  const created = await call('PUT', `${project}/chatbots/put_bot`, { chatbot: { agent_name: 'ca', database_name: 'slack_db' } })
  expect(created).toMatchObject({ status: 201, body: { name: 'put_bot' } })
  expect(
    await call('PUT', `${project}/chatbots/put_bot2`, { chatbot: { name: 'put_bot2', agent_name: 'ca', database_name: 'slack_db' } }),
  ).toMatchObject({ status: 201, body: { name: 'put_bot2' } })
  const named = { chatbot: { name: 'front', agent_name: 'ca', database_name: 'slack_db' } }
  const front = await call('PUT', `${project}/chatbots/desk`, named)
  expect(front).toMatchObject({ status: 201, body: { name: 'front' } })
  expect(await call('GET', `${project}/chatbots/front`)).toMatchObject({ status: 200, body: { id: front.body['id'] } })
  expect(await call('PUT', `${project}/chatbots/desk`, named)).toMatchObject({ status: 409 })
  expect((await call('DELETE', `${project}/chatbots/front`)).status).toBe(204)
  expect(await call('PUT', `${project}/chatbots/put_bot`, { chatbot: { agent_name: 'ca', database_name: 'slack_db' } })).toMatchObject({
    status: 200,
    body: { id: created.body['id'] },
  })
  expect(await call('PUT', `${project}/chatbots/put_bot3`, { chatbot: { params: {} } })).toMatchObject({
    status: 400,
    body: { title: 'Missing field' },
  })
})

test('db_engine with db_params makes a connection of the chatbot, and a refused chatbot leaves none behind', async () => {
  const own = await call('POST', `${project}/chatbots`, {
    chatbot: { name: 'own', agent_name: 'ca', db_engine: 'slack', db_params: { token: 't-1', k: 1 } },
  })
  expect(own.status).toBe(201)
  expect(await call('GET', '/api/databases/own_db')).toMatchObject({
    status: 200,
    body: { id: own.body['database_id'], engine: 'slack', connection_data: { token: '******', k: 1 } },
  })
  expect((await call('PUT', `${project}/chatbots/own`, { chatbot: { db_engine: 'slack', db_params: { k: 2 } } })).status).toBe(200)
  expect(await call('GET', '/api/databases/own_db')).toMatchObject({ body: { connection_data: { token: '******', k: 2 } } })
  const byId = `${project}/chatbots/${String(own.body['id'])}`
  expect(await call('PUT', byId, { chatbot: { db_engine: 'slack', db_params: { k: 3 } } })).toMatchObject({
    status: 200,
    body: { database_id: own.body['database_id'] },
  })
  expect(await call('GET', '/api/databases/own_db')).toMatchObject({ body: { connection_data: { k: 3 } } })
  // A deleted chatbot leaves its connection, which a new one of that name makes anew. That of another chatbot or system is not taken.
  const left = { agent_name: 'ca', db_engine: 'slack', db_params: { token: 't-2', signing_secret: 'left behind' } }
  expect((await call('POST', `${project}/chatbots`, { chatbot: { name: 'left', ...left } })).status).toBe(201)
  expect((await call('DELETE', `${project}/chatbots/left`)).status).toBe(204)
  const again = { name: 'left', ...left, db_params: { token: 't-3' } }
  expect((await call('POST', `${project}/chatbots`, { chatbot: again })).status).toBe(201)
  expect(await call('GET', '/api/databases/left_db')).toMatchObject({ body: { connection_data: { token: '******' } } })
  expect((await call('GET', '/api/databases/left_db')).body['connection_data']).toEqual({ token: '******' })
  await sql(at.url, `CREATE DATABASE store_db WITH ENGINE = 'postgres', PARAMETERS = {"host": "127.0.0.1", "port": 1, "user": "u"}`)
  await call('POST', '/api/projects', { project: { name: 'elsewhere' } })
  await call('POST', '/api/projects/elsewhere/agents', { agent: { name: 'ca', model_name: 'gpt-4o' } })
  for (const [path, name] of [
    [project, 'store'],
    ['/api/projects/elsewhere', 'left'],
  ])
    expect(
      await call('POST', `${path}/chatbots`, { chatbot: { name, agent_name: 'ca', db_engine: 'slack', db_params: { token: 'x' } } }),
    ).toMatchObject({ status: 409 })
  const { position } = await at.service.head()
  const refused = [
    { name: 'half', agent_name: 'none', db_engine: 'slack', db_params: {} },
    { name: 'half', db_engine: 'slack', db_params: {} },
    { name: 'own', agent_name: 'ca', db_engine: 'slack', db_params: { k: 3 } },
    { name: 'half', agent_name: 'ca', db_engine: 'no_such', db_params: {} },
  ]
  for (const chatbot of refused)
    expect({ chatbot, ok: (await call('POST', `${project}/chatbots`, { chatbot })).status < 400 }).toMatchObject({ ok: false })
  expect(
    (await call('POST', '/api/projects/nope/chatbots', { chatbot: { name: 'half', agent_name: 'ca', db_engine: 'slack' } })).status,
  ).toBe(404)
  expect((await call('PUT', `${project}/chatbots/half`, { chatbot: { agent_name: 'none', db_engine: 'slack' } })).status).toBe(404)
  expect((await call('GET', '/api/databases/half_db')).status).toBe(404)
  expect((await at.service.head()).position).toBe(position)
})

test('agents and knowledge bases are tables of a project with columns, and of types that the OpenAPI document names', async () => {
  await call('POST', `${project}/agents`, { agent: { name: 'clerk', model_name: 'gpt-4o' } })
  expect((await sql(at.url, 'CREATE KNOWLEDGE_BASE shop.notes')).type).toBe('ok')
  const columns = async (table: string) => {
    const { status, body } = await call('GET', `/api/databases/shop/tables/${table}/columns`)
    return { status, names: (body as unknown as { name: string }[]).map(({ name }) => name) }
  }
  expect(await columns('clerk')).toEqual({ status: 200, names: ['answer', 'question', 'context', 'trace_id'] })
  expect((await columns('notes')).names).toContain('chunk_content')
  const document = await call('GET', '/api/openapi.json')
  const { Table } = (document.body as unknown as { components: { schemas: { Table: { properties: { type: { enum: string[] } } } } } })
    .components.schemas
  const tables = (await call('GET', '/api/databases/shop/tables')).body as unknown as { type: string }[]
  expect([...new Set(tables.map(({ type }) => type))].filter((type) => !Table.properties.type.enum.includes(type))).toEqual([])
  expect(tables.map(({ type }) => type)).toEqual(expect.arrayContaining(['agent', 'knowledge_base']))
  await sql(at.url, 'DROP KNOWLEDGE_BASE shop.notes')
  await call('DELETE', `${project}/agents/clerk`)
})

test('views have id, name and query; names are unique in their project', async () => {
  const created = await call('POST', `${project}/views`, { view: { name: 'Vv', query: 'SELECT 1 AS one' } })
  expect(created).toEqual({ status: 201, body: { id, name: 'Vv', query: 'SELECT 1 AS one' } })
  expect(await call('POST', `${project}/views`, { view: { name: 'vv', query: 'SELECT 2' } })).toMatchObject({
    status: 409,
    body: { title: 'Name conflict' },
  })
  expect(await call('PUT', `${project}/views/VV`, { view: { query: 'SELECT 2 AS two' } })).toEqual({
    status: 200,
    body: { ...created.body, query: 'SELECT 2 AS two' },
  })
  expect(await call('PUT', `${project}/views/VV`, { view: { query: 'SELECT * FROM vv' } })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('contains itself') },
  })
  expect(await call('PUT', `${project}/views/w`, { view: { query: 'SELECT 3' } })).toMatchObject({ status: 201, body: { name: 'w' } })
  expect(await sql(at.url, 'SELECT * FROM shop.vv')).toMatchObject({ column_names: ['two'], data: [[2]] })
  expect(await call('GET', `${project}/views`)).toMatchObject({ body: [{ name: 'Vv' }, { name: 'w' }] })
  expect((await call('DELETE', `${project}/views/vv`)).status).toBe(204)
  expect((await call('GET', `${project}/views/vv`)).status).toBe(404)
})

test('a view is shown with the database of its names, so that its own record changes nothing', async () => {
  for (const name of ['Other Shop', 'Order']) await call('POST', '/api/projects', { project: { name } })
  const views = [
    ['FROM files (SELECT 1 AS one)', 'SELECT * FROM files (SELECT 1 AS one)'],
    ['FROM files (SELECT 1 AS one -- of one\n)', 'SELECT * FROM files (SELECT 1 AS one)'],
    ['FROM `Other Shop` (SELECT name FROM models)', 'SELECT * FROM "Other Shop" (SELECT name FROM models)'],
    ['FROM `Order` (SELECT name FROM models)', 'SELECT * FROM "Order" (SELECT name FROM models)'],
    ['FROM shop (SELECT name FROM models)', 'SELECT name FROM models'],
  ] as const
  for (const [source, query] of views) {
    expect(await sql(at.url, `CREATE OR REPLACE VIEW shop.placed ${source}`)).toMatchObject({ type: 'ok' })
    const shown = await call('GET', `${project}/views/placed`)
    expect(shown.body).toMatchObject({ query })
    expect(await call('GET', `${project}/views`)).toMatchObject({ body: expect.arrayContaining([shown.body]) })
    expect(await sql(at.url, "SELECT query FROM information_schema.views WHERE name = 'placed'")).toMatchObject({ data: [[query]] })
    const before = await sql(at.url, 'SELECT * FROM shop.placed')
    expect(before).toMatchObject({ type: 'table' })
    expect(await call('PUT', `${project}/views/placed`, { view: { query } })).toEqual({ ...shown, status: 200 })
    expect(await sql(at.url, 'SELECT * FROM shop.placed')).toEqual(before)
  }
  await call('DELETE', `${project}/views/placed`)
})

test('a view that an earlier release recorded for a connection is not shown in the SQL of the connection', async () => {
  const query = 'SELECT id / 2 AS half FROM orders'
  const data = { project: 'shop', view: 'older', query, database: 'slack_db' }
  await new Ledger(at.service.log, new Vault(testKey)).execute({ type: 'CreateView', data }, origin)
  expect(await call('GET', `${project}/views/older`)).toMatchObject({ status: 200, body: { query } })
  expect(await sql(at.url, "SELECT query FROM information_schema.views WHERE name = 'older'")).toMatchObject({ data: [[query]] })
  await call('DELETE', `${project}/views/older`)
})

test('many views can be made: the check of each gives its place back', async () => {
  for (let n = 0; n < 40; n += 1)
    expect((await call('PUT', `${project}/views/many`, { view: { query: `SELECT ${n} AS n` } })).status).toBeLessThan(300)
  expect(await sql(at.url, 'SELECT * FROM shop.many')).toMatchObject({ data: [[39]] })
})

test('projects are created, found in any case, and deleted when they are empty', async () => {
  expect(await call('POST', '/api/projects', { project: { name: 'Depot' } })).toEqual({ status: 201, body: { name: 'Depot' } })
  for (const name of ['DEPOT', 'slack_db', 'log', 'information_schema', 'files'])
    expect((await call('POST', '/api/projects', { project: { name } })).status).toBe(409)
  await call('POST', '/api/projects/depot/agents', { agent: { name: 'x', model_name: 'm' } })
  expect(await call('DELETE', '/api/projects/depot')).toMatchObject({
    status: 409,
    body: { code: 'not_empty', detail: expect.stringContaining('agent x') },
  })
  await call('DELETE', '/api/projects/DEPOT/agents/x')
  expect((await call('DELETE', '/api/projects/depot')).status).toBe(204)
  expect(await call('GET', '/api/projects/depot')).toMatchObject({
    status: 404,
    body: { title: 'Project not exists', detail: 'Project name depot does not exist' },
  })
  expect((await call('DELETE', '/api/projects/mindsdb')).status).toBe(409)
})

test('a project gets another name, which is free, and its contents stay in it', async () => {
  const rename = (from: string, name: unknown, headers = {}) => send(at.url, 'PUT', `/api/projects/${from}`, { project: { name } }, headers)
  for (const name of ['Store', 'Annex']) await call('POST', '/api/projects', { project: { name } })
  await call('POST', '/api/projects/store/views', { view: { name: 'one', query: 'SELECT 1 AS a' } })
  expect(await rename('store', 'Market', { prefer: 'dry-run' })).toMatchObject({
    status: 200,
    body: { events: [{ type: 'ProjectRenamed', data: { name: 'Market' } }], resource: { name: 'Market' } },
  })
  expect((await call('GET', '/api/projects/store')).body).toEqual({ name: 'Store' })
  expect(await rename('store', 'Market')).toMatchObject({ status: 200, body: { name: 'Market' } })
  expect(await call('GET', '/api/projects/market/views/one')).toMatchObject({ status: 200, body: { name: 'one' } })
  expect((await call('GET', '/api/projects/store')).status).toBe(404)
  expect(await rename('market', 'Market')).toMatchObject({ status: 200, body: { name: 'Market' } })
  for (const taken of ['annex', 'slack_db', 'log']) expect((await rename('market', taken)).status).toBe(409)
  expect(await rename('market', undefined)).toMatchObject({ status: 400, body: { title: 'Missing field' } })
  expect(await rename('mindsdb', 'other')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('default project') } })
  expect((await rename('nope', 'other')).status).toBe(404)
})

test('databases list what SQL names before a dot; a connection has its record, merges, and goes', async () => {
  expect(await call('GET', '/api/databases')).toMatchObject({
    status: 200,
    body: expect.arrayContaining([
      { name: 'information_schema', type: 'system', id: null, engine: null, visible: true, deletable: false },
      expect.objectContaining({ name: 'shop', type: 'project' }),
      expect.objectContaining({ name: 'files', engine: 'files' }),
      expect.objectContaining({ name: 'slack_db', type: 'data', engine: 'slack' }),
    ]),
  })
  expect(
    await call('POST', '/api/databases', { database: { name: 'Crm', engine: 'postgres', parameters: { host: 'h', password: 'p' } } }),
  ).toEqual({ status: 201, body: { id, name: 'Crm', type: 'data', engine: 'postgres' } })
  expect(await call('GET', '/api/databases/crm')).toEqual({
    status: 200,
    body: {
      id,
      name: 'Crm',
      type: 'data',
      class_type: 'sql',
      engine: 'postgres',
      permanent: false,
      date_last_update: time,
      connection_data: { host: 'h', password: '******' },
    },
  })
  expect(await call('PUT', '/api/databases/crm', { database: { parameters: { host: 'i', port: 5 } } })).toMatchObject({
    status: 400,
    body: { detail: 'password was given for another host, and this change would send it to the new one' },
  })
  expect(await call('PUT', '/api/databases/crm', { database: { parameters: { host: 'i', port: 5, password: 'new' } } })).toMatchObject({
    status: 200,
    body: { connection_data: { host: 'i', port: 5, password: '******' } },
  })
  expect(await call('PUT', '/api/databases/crm', { database: { parameters: { user: 'u' } } })).toMatchObject({
    status: 200,
    body: { connection_data: { host: 'i', port: 5, password: '******', user: 'u' } },
  })
  expect(await call('PUT', '/api/databases/crm', { database: { engine: 'MySQL' } })).toMatchObject({
    status: 200,
    body: { engine: 'mysql', connection_data: { host: 'i', port: 5 } },
  })
  expect(await call('PUT', '/api/databases/crm', { database: { engine: 'pigeon' } })).toMatchObject({ status: 400 })
  expect(await call('PUT', '/api/databases/crm3', { database: { engine: 'mysql' } })).toMatchObject({ status: 201, body: { name: 'crm3' } })
  expect(await call('POST', '/api/databases', { database: { name: 'CRM', engine: 'mysql' } })).toMatchObject({
    status: 409,
    body: { title: 'Name conflict' },
  })
  expect(await call('POST', '/api/databases', { database: { name: 'shop', engine: 'mysql' } })).toMatchObject({ status: 409 })
  expect(await call('GET', '/api/databases/SHOP')).toMatchObject({ status: 200, body: { name: 'shop', type: 'project', engine: null } })
  const listed = (await call('GET', '/api/databases')).body as unknown as { name: string }[]
  for (const name of ['information_schema', 'LOG', 'files'])
    expect(await call('GET', `/api/databases/${name}`)).toEqual({
      status: 200,
      body: listed.find((each) => each.name === name.toLowerCase()),
    })
  expect((await call('DELETE', '/api/databases/crm')).status).toBe(204)
  expect(await call('GET', '/api/databases/crm')).toMatchObject({ status: 404, body: { title: 'Database not found' } })
})
