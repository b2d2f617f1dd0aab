import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { trainRent } from '../../support/models/rentals.js'
import { send, startTestService, type Reply } from '../../support/service.js'
import { until } from '../../support/until.js'

/** The lines of the specification, word for word; each is checked against the running service. */
const specification = {
  sqlAnswer: `
| column_names | array | yes | List of the names of the returned columns. |
| context | object | yes | Names the database in which the query was executed (holds a key db). |
| data | array | no | The returned rows, as an array of arrays of cell values, in the order of column_names. Present when type is table. |
| type | string | no | One of: table, error, ok. |`,
  prediction: `
| __service_row_id | nullable | Row identifier; may be null. |
| <target> | number | The predicted value. |
| <target>_confidence | number | Confidence of the prediction. |
| <target>_min | number | Lower bound of the prediction. |
| <target>_max | number | Upper bound of the prediction. |
| <target>_explain | string | A JSON document encoded as a string with keys predicted_value, confidence, anomaly, truth, confidence_lower_bound, confidence_upper_bound. |
| <target>_anomaly | nullable | Anomaly indicator; may be null. |
| <target>_original | nullable | May be null. |
| select_data_query | nullable | May be null. |
| when_data | nullable | May be null. |
| <input column> | same type as the input column | Input columns of the model are echoed; those not supplied are null. |`,
  skills: `
| GET | /projects/<project_name>/skills | List all skills created by the user; accepts parameters to filter by agent. |
| GET | /projects/<project_name>/skills/<skill_name> | Get a skill by name or ID. |
| POST | /projects/<project_name>/skills | Create a skill. |
| PUT | /projects/<project_name>/skills/<skill_name> | Update a skill with new parameters. |
| DELETE | /projects/<project_name>/skills/<skill_name> | Delete a skill by name or ID. |`,
  agents: `
| GET | /projects/<project_name>/agents | List all agents created by the user. |
| GET | /projects/<project_name>/agents/<agent_name> | Get an agent by name or ID. |
| POST | /projects/<project_name>/agents | Create an agent. |
| PUT | /projects/<project_name>/agents/<agent_name> | Update an agent with new settings. |
| DELETE | /projects/<project_name>/agent/<agent_name> | Delete an agent by name or ID. The path segment here is the singular agent. |`,
  chatbots: `
| GET | /projects/<project_name>/chatbots | List all chatbots created by the user. |
| GET | /projects/<project_name>/chatbots/<chatbot_name> | Get a chatbot by name. |
| POST | /projects/<project_name>/chatbots | Create a chatbot. |
| PUT | /projects/<project_name>/chatbots/<chatbot_name> | Update a chatbot with new settings; when the chatbot does not exist, it is created. |
| DELETE | /projects/<project_name>/chatbots/<chatbot_name> | Delete a chatbot by name. |`,
}

const cellsOf = (lines: string): string[][] =>
  lines
    .trim()
    .split('\n')
    .map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim())) // prettier-ignore

type Row = Record<string, unknown>

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await trainRent(at.url)
})
afterAll(() => at.stop())

const ask = async (body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  send(at.url, 'POST', '/api/sql/query', body, headers)

describe('section 2, SQL query: every answer has the required fields, and no field in another shape', () => {
  const isOf: Record<string, (value: unknown) => boolean> = {
    array: Array.isArray,
    object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    string: (value) => typeof value === 'string',
  }
  const fields = cellsOf(specification.sqlAnswer).map(([name = '', type = '', required]) => ({
    name,
    type,
    isRequired: required === 'yes',
  }))

  test.each([
    ['table', 'SELECT 1 AS a, NULL AS b'],
    ['table', 'SELECT 1 AS a WHERE false'],
    ['table', 'SHOW DATABASES'],
    ['table', 'SELECT @@version'],
    ['table', 'DESCRIBE rent'],
    ['table', 'SELECT rental_price FROM rent WHERE sqft = 900'],
    ['ok', 'USE files'],
    ['ok', 'SET autocommit = 1'],
    ['ok', 'CREATE PROJECT section_two'],
    ['ok', 'CREATE PROJECT IF NOT EXISTS section_two'],
    ['ok', 'DROP PROJECT section_two'],
    ['ok', 'CREATE TABLE files.section_two (SELECT 1 AS a)'],
    ['error', 'SELEC 1'],
    ['error', 'SELECT nothing FROM nowhere'],
    ['error', 'DROP PROJECT absent'],
    ['error', 'SELECT * FROM rent'],
    ['error', "SELECT CAST('x' AS INTEGER)"],
    ['error', 'CREATE TRIGGER t ON a.b (SELECT 1)'],
    ['error', "SELECT CAST(CASE WHEN i = 39999 THEN 'x' ELSE '1' END AS INTEGER) AS a FROM range(40000) AS t(i)"],
    ['error', "SELECT CAST(CASE WHEN i = 399999 THEN 'x' ELSE '1' END AS INTEGER) AS a FROM range(400000) AS t(i)"],
  ])('%s: %s', async (type, query) => {
    const { status, body } = await ask({ query, context: { db: 'mindsdb' } })
    const answer = body as Row & { column_names: string[]; context: Row }
    expect({ status, type: answer['type'] }).toEqual({ status: 200, type })
    for (const { name, type: shape, isRequired } of fields) {
      if (isRequired) expect(answer).toHaveProperty(name)
      if (name in answer) expect({ name, isOf: isOf[shape]?.(answer[name]) }).toEqual({ name, isOf: true })
    }
    expect(typeof answer.context['db']).toBe('string')
    expect(answer.column_names.every((name) => typeof name === 'string')).toBe(true)
    // An answer that fails after its first 256 KB of rows has these rows, too.
    if (!query.includes('400000')) expect('data' in answer).toBe(type === 'table')
    if (type !== 'table') return
    for (const row of answer['data'] as unknown[][]) expect(row).toHaveLength(answer.column_names.length)
  })

  test('lines name the columns and the context, too', async () => {
    for (const query of ['SELECT 1 AS a', 'USE files', 'SELEC 1']) {
      const { body } = await ask({ query, response_format: 'jsonlines' })
      const first = JSON.parse(String(body).split('\n')[0] ?? '') as Row
      expect(first).toMatchObject({ column_names: query === 'SELECT 1 AS a' ? ['a'] : [], context: { db: expect.any(String) } })
    }
  })

  test('the context names the database of the query', async () => {
    expect((await ask({ query: 'SELECT 1', context: { db: 'files' } })).body).toMatchObject({ context: { db: 'files' } })
    expect((await ask({ query: 'SELEC 1', context: { db: 'files' } })).body).toMatchObject({ context: { db: 'files' } })
    expect((await ask({ query: 'USE files' })).body).toMatchObject({ context: { db: 'files' } })
  })
})

describe('section 4.4: POST {base_url}/api/sql/query', () => {
  test('the only required key is query', async () => {
    expect((await ask({ query: 'SELECT 1 AS a' })).body).toMatchObject({ type: 'table', column_names: ['a'], data: [[1]] })
    expect((await ask({ context: { db: 'mindsdb' } })).status).toBe(400)
  })

  test('the endpoint accepts data only as an application/json request body', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/sql'])
      expect((await ask('{"query": "SELECT 1"}', { 'content-type': type })).status).toBe(415)
    expect((await send(at.url, 'POST', '/api/sql/query?query=SELECT%201')).status).toBeGreaterThanOrEqual(400)
  })
})

describe('sections 2 and 4.5: POST /api/projects/{projectName}/models/{modelName}/predict', () => {
  const sent: Row[] = [{ sqft: 900, location: 'good' }, { sqft: 1200 }, {}]
  const inputs = ['sqft', 'location', 'rooms']

  test('a JSON array is answered by one object a row, with the fields of the table and no other', async () => {
    const { status, body } = await send(at.url, 'POST', '/api/projects/mindsdb/models/rent/predict', sent)
    expect(status).toBe(200)
    const rows = body as Row[]
    expect(rows).toHaveLength(sent.length)
    const fields = cellsOf(specification.prediction).map(([name = '', type = '', notes = '']) => ({
      name: name.replace('<target>', 'rental_price'),
      type,
      notes,
    }))
    const named = fields.filter(({ name }) => name !== '<input column>')
    for (const [i, row] of rows.entries()) {
      expect(Object.keys(row).sort()).toEqual([...named.map(({ name }) => name), ...inputs].sort())
      for (const { name, type, notes } of named) {
        if (type !== 'nullable') expect({ name, type: typeof row[name] }).toEqual({ name, type })
        const [, keys = ''] = /with keys (.+)\.$/.exec(notes) ?? []
        if (keys !== '') expect(Object.keys(JSON.parse(String(row[name])) as object)).toEqual(keys.split(', '))
      }
      for (const input of inputs) expect(row[input]).toEqual(sent[i]?.[input] ?? null)
    }
  })

  test('a number that was sent as text is echoed as a number', async () => {
    const { body } = await send(at.url, 'POST', '/api/projects/mindsdb/models/rent/predict', [{ sqft: '1200', location: '1', rooms: null }])
    expect(body).toMatchObject([{ sqft: 1200, location: '1', rooms: null }])
  })

  test('the prefix of the sample request, with v1 and a second api, leads to the same place', async () => {
    const rows = [{ sqft: 900, location: 'good', rooms: 1 }]
    const { body } = await send(at.url, 'POST', '/api/projects/mindsdb/models/rent/predict', rows)
    for (const prefix of ['/api/v1/api', '/v1/api', '/api'])
      expect((await send(at.url, 'POST', `${prefix}/projects/mindsdb/models/rent/predict`, rows)).body).toEqual(body)
  })
})

describe('sections 4.1 to 4.3: each documented line is called, with no prefix and with /api', () => {
  beforeAll(async () => {
    await ask({ query: `CREATE DATABASE talk WITH ENGINE = 'slack', PARAMETERS = {"token": "t"}` })
  })

  /** Calls the documented lines of a kind; `rest` are those that were not called. */
  const linesOf = (lines: string, prefix: string) => {
    const rest = new Set(cellsOf(lines).map(([method = '', path = '']) => `${method} ${path}`))
    const documented = [...rest]
    const call = async (method: string, name = '', body?: Row, query = '') => {
      const line = documented.find((one) => one.startsWith(`${method} `) && /<(?:skill|agent|chatbot)_name>$/.test(one) === (name !== ''))
      if (line === undefined) throw new Error(`${method} is not documented`)
      rest.delete(line)
      const path = line.slice(method.length + 1).replace('<project_name>', 'mindsdb').replace(/<\w+>$/, name) // prettier-ignore
      const reply = await send(at.url, method, prefix + path + query, body)
      return { status: reply.status, body: reply.body as Row }
    }
    return { call, rest }
  }
  const skill = (name: string) => ({ skill: { name, type: 'sql', params: { database: 'files', tables: ['rentals'] } } })
  const agent = (name: string, skills: string[] = []) => ({ agent: { name, model_name: 'gpt-4o', skills, params: {} } })
  const note = { params: { note: 'new' } }

  test.each(['', '/api'])('skills, below "%s"', async (prefix) => {
    const { call, rest } = linesOf(specification.skills, prefix)
    const made = await call('POST', '', skill('one'))
    expect(made).toMatchObject({ status: 201, body: { name: 'one' } })
    await call('POST', '', skill('two'))
    await send(at.url, 'POST', '/api/projects/mindsdb/agents', agent('user', ['two']))
    expect(await call('GET')).toMatchObject({ status: 200, body: [{ name: 'one' }, { name: 'two' }] })
    expect(await call('GET', '', undefined, '?agent=user')).toMatchObject({ status: 200, body: [{ name: 'two' }] })
    expect(await call('PUT', 'one', { skill: note })).toMatchObject({ status: 200 })
    for (const name of ['one', String(made.body['id'])])
      expect(await call('GET', name)).toMatchObject({ status: 200, body: { name: 'one', ...note } })
    await send(at.url, 'DELETE', '/api/projects/mindsdb/agent/user')
    for (const name of ['two', String(made.body['id'])]) expect(await call('DELETE', name)).toMatchObject({ status: 204 })
    expect(await call('GET')).toMatchObject({ body: [] })
    expect([...rest]).toEqual([])
  })

  test.each(['', '/api'])('agents, below "%s"', async (prefix) => {
    const { call, rest } = linesOf(specification.agents, prefix)
    const made = await call('POST', '', agent('one'))
    expect(made).toMatchObject({ status: 201, body: { name: 'one' } })
    await call('POST', '', agent('two'))
    expect(await call('GET')).toMatchObject({ status: 200, body: [{ name: 'one' }, { name: 'two' }] })
    expect(await call('PUT', 'one', { agent: note })).toMatchObject({ status: 200 })
    for (const name of ['one', String(made.body['id'])])
      expect(await call('GET', name)).toMatchObject({ status: 200, body: { name: 'one', ...note } })
    for (const name of ['two', String(made.body['id'])]) expect(await call('DELETE', name)).toMatchObject({ status: 204 })
    expect(await call('GET')).toMatchObject({ body: [] })
    expect([...rest]).toEqual([])
  })

  test.each(['', '/api'])('chatbots, below "%s"', async (prefix) => {
    const { call, rest } = linesOf(specification.chatbots, prefix)
    await send(at.url, 'POST', '/api/projects/mindsdb/agents', agent('speaker'))
    const chatbot = (name: string) => ({ chatbot: { name, agent_name: 'speaker', database_name: 'talk', params: {} } })
    expect(await call('POST', '', chatbot('one'))).toMatchObject({ status: 201, body: { name: 'one' } })
    expect(await call('PUT', 'two', chatbot('two'))).toMatchObject({ status: 201, body: { name: 'two' } })
    expect(await call('GET')).toMatchObject({ status: 200, body: [{ name: 'one' }, { name: 'two' }] })
    expect(await call('PUT', 'one', { chatbot: note })).toMatchObject({ status: 200 })
    expect(await call('GET', 'one')).toMatchObject({ status: 200, body: { name: 'one', ...note } })
    for (const name of ['one', 'two']) expect(await call('DELETE', name)).toMatchObject({ status: 204 })
    expect(await call('GET')).toMatchObject({ body: [] })
    await send(at.url, 'DELETE', '/api/projects/mindsdb/agent/speaker')
    expect([...rest]).toEqual([])
  })
})

describe('section 5: authentication', () => {
  test('open-source, self-run: no authentication methods are provided', async () => {
    expect((await ask({ query: 'SELECT 1' })).body).toMatchObject({ type: 'table' })
  })

  test('hosted: requests to the SQL endpoint carry a header Cookie with a session entry', async () => {
    const hosted = await startTestService({ AUTH: 'session', AUTH_USERNAME: 'me', AUTH_PASSWORD: 'right' })
    try {
      const query = (headers: Record<string, string>) => send(hosted.url, 'POST', '/api/sql/query', { query: 'SELECT 1' }, headers)
      expect((await query({})).status).toBe(401)
      const login = await send(hosted.url, 'POST', '/api/login', { username: 'me', password: 'right' })
      const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';')
      expect(cookie).toMatch(/^session=./)
      await until(async () => ((await query({ cookie })).body as Row)['type'] === 'table')
      expect((await query({ cookie })).body).toMatchObject({ type: 'table', data: [[1]] })
    } finally {
      await hosted.stop()
    }
  })
})
