import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { queries, ScriptedModel } from '../../support/agents/scripted-model.js'
import { settled, uploadRentals } from '../../support/models/rentals.js'
import { send, startSqlService } from '../../support/service.js'

// What the JavaScript and the Python client of MindsDB send, request by request.

let at: Awaited<ReturnType<typeof startSqlService>>
beforeAll(async () => {
  at = await startSqlService()
  await uploadRentals(at.url, 'rentals', 60)
})
afterAll(() => at.stop())

type Row = Record<string, unknown>
type Answer = { type: string; column_names?: string[]; data?: unknown[][]; error_message?: string; context: { db: string } }

/** A statement as either client sends it; rows as objects, under the names of the columns. */
const run = async (query: string, context: object = { db: 'mindsdb' }): Promise<Row[]> => {
  const { body } = await send(at.url, 'POST', '/api/sql/query', { query, context })
  const { type, column_names = [], data = [], error_message } = body as Answer
  if (type === 'error') throw new Error(`${query}: ${error_message ?? ''}`)
  return data.map((row) => Object.fromEntries(column_names.map((name, i) => [name, row[i]])))
}
/** The JavaScript client reads every column under its name in lower case. */
const lower = async (query: string): Promise<Row[]> =>
  (await run(query, {})).map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toLowerCase(), value])))

test('the JavaScript client makes projects and databases and lists them', async () => {
  await lower('CREATE PROJECT shop')
  await lower(`CREATE DATABASE slack_db\nWITH ENGINE = 'slack',\nPARAMETERS = {"token":"t"}`)
  await lower('CREATE DATABASE plain\n\n')
  expect(await lower('SHOW FULL DATABASES')).toEqual(
    expect.arrayContaining([
      { database: 'slack_db', type: 'data', engine: 'slack' },
      { database: 'shop', type: 'project', engine: null },
      { database: 'files', type: 'data', engine: 'files' },
    ]),
  )
  expect((await send(at.url, 'GET', '/api/projects')).body).toEqual([{ name: 'mindsdb' }, { name: 'plain' }, { name: 'shop' }])
  expect((await send(at.url, 'GET', '/api/projects/shop')).body).toEqual({ name: 'shop' })
  await lower('DROP DATABASE `plain`')
  await lower('DROP DATABASE `slack_db`')
})

test('the JavaScript client trains, reads, queries, retrains and drops a model', async () => {
  await lower("CREATE MODEL `shop`.`rent`\nFROM `files`\n(SELECT * FROM rentals)\nPREDICT `rental_price`\nUSING\n`tag` = 'first'")
  expect(await settled(at.url, 'rent', 'shop')).toBe('complete')
  const [model = {}] = await lower("SELECT * FROM `shop`.models WHERE name = 'rent'")
  expect(model).toMatchObject({
    name: 'rent',
    project: 'shop',
    predict: 'rental_price',
    status: 'complete',
    update_status: 'up_to_date',
    version: 1,
    accuracy: expect.any(Number),
    tag: 'first',
    active: true,
  })
  expect(await lower('SELECT * FROM `shop`.models')).toHaveLength(1)
  expect(await lower('DESCRIBE `shop`.`rent`.`features`')).toContainEqual(
    expect.objectContaining({ column: 'sqft', type: expect.any(String), encoder: expect.anything(), role: 'feature' }),
  )
  expect((await lower('DESCRIBE `shop`.`rent`.`info`')).length).toBeGreaterThan(0)
  const [single = {}] = await lower("SELECT * FROM `shop`.`rent`\nWHERE sqft = 900\nAND location = 'good'\n")
  expect(single).toMatchObject({ rental_price: expect.any(Number), rental_price_explain: expect.any(String) })
  expect(JSON.parse(String(single['rental_price_explain']))).toMatchObject({ predicted_value: single['rental_price'] })
  const batch = await lower(
    'SELECT m.`rental_price` AS predicted, t.*, m.*\nFROM `files`.`rentals` AS t\nJOIN `shop`.`rent` AS m\nWHERE t.sqft > 400\nLIMIT 10',
  )
  expect(batch).toHaveLength(10)
  expect(batch[0]).toMatchObject({ predicted: expect.any(Number), rental_price_explain: expect.any(String) })
  expect((await lower('RETRAIN `shop`.`rent`'))[0]).toMatchObject({ name: 'rent', version: 2 })
  await settled(at.url, 'rent.2', 'shop')
  expect((await lower('FINETUNE `shop`.`rent` FROM `files`\n(SELECT * FROM rentals)'))[0]).toMatchObject({ name: 'rent', version: 3 })
  expect(await settled(at.url, 'rent.3', 'shop')).toBe('complete')
  expect(await lower('SELECT * FROM `shop`.`rent`.2\nWHERE sqft = 900')).toHaveLength(1)
  await lower('SET model_active = `shop`.`rent`.`2`;')
  await lower('SET active shop.rent.`2`')
  expect((await lower("SELECT version FROM `shop`.models WHERE name = 'rent' AND active = '1'"))[0]).toEqual({ version: 2 })
  await lower('DROP MODEL `shop`.`rent`.`1`')
  await lower('DROP MODEL `shop`.`rent`')
  expect(await lower('SELECT * FROM `shop`.models')).toEqual([])
})

test('the JavaScript client makes, lists and deletes views', async () => {
  await lower("CREATE VIEW `shop`.`good` AS (SELECT * FROM files.rentals WHERE location = 'good')")
  expect((await lower('SHOW FULL TABLES FROM `shop`')).filter(({ table_type }) => table_type === 'VIEW')).toEqual([
    { tables_in_shop: 'good', table_type: 'VIEW' },
  ])
  await lower('DROP MODEL `shop`.`good`')
  expect((await lower('SHOW FULL TABLES FROM `shop`')).filter(({ table_type }) => table_type === 'VIEW')).toEqual([])
})

test('the JavaScript client makes, reads, updates and deletes agents', async () => {
  const agents = '/api/projects/shop/agents'
  const agent = { name: 'helper', model_name: 'gpt-4o', provider: null, params: { prompt_template: 'Be brief.' } }
  expect(await send(at.url, 'POST', agents, { agent })).toMatchObject({
    status: 201,
    body: { name: 'helper', model_name: 'gpt-4o', prompt_template: 'Be brief.' },
  })
  const read = await send(at.url, 'GET', `${agents}/helper`)
  const { name, model_name } = read.body as { name: string; model_name: string }
  expect(
    await send(at.url, 'PUT', `${agents}/helper`, { agent: { name, model_name, params: { prompt_template: 'At length.' } } }),
  ).toMatchObject({ status: 200, body: { prompt_template: 'At length.' } })
  expect((await send(at.url, 'DELETE', `${agents}/helper`)).status).toBe(204)
})

test('the JavaScript client of the repository makes projects, asks agents, uploads and drops files, and uploads no code', async () => {
  await lower('CREATE PROJECT side')
  expect((await send(at.url, 'GET', '/api/projects/side')).body).toEqual({ name: 'side' })
  const agents = '/api/projects/side/agents'
  const agent = { name: 'clerk', model_name: 'gpt-4o', provider: null, params: {} }
  expect((await send(at.url, 'POST', agents, { agent })).status).toBe(201)
  expect((await send(at.url, 'GET', agents)).body).toMatchObject([{ name: 'clerk', model_name: 'gpt-4o' }])
  const messages = [{ question: 'How many flats?', answer: null }]
  expect(await send(at.url, 'POST', `${agents}/clerk/completions`, { messages })).toMatchObject({
    status: 502,
    body: { code: 'llm_failed', title: 'No key', hint: expect.stringContaining('openai_api_key') },
  })
  await send(at.url, 'DELETE', `${agents}/clerk`)
  const form = new FormData()
  form.set('original_file_name', 'notes.csv')
  form.set('name', 'notes')
  form.set('source_type', 'file')
  form.set('file', new Blob(['a,b\n1,x\n'], { type: 'multipart/form-data' }), 'notes.csv')
  expect((await send(at.url, 'PUT', '/api/files/notes', form)).status).toBe(200)
  expect((await send(at.url, 'GET', '/api/databases/files/tables')).body).toContainEqual({ name: 'notes', type: 'data' })
  expect(await lower('SELECT * FROM `files`.`notes`')).toEqual([{ a: 1, b: 'x' }])
  await lower('DROP TABLE files.`notes`')
  expect((await send(at.url, 'GET', '/api/files')).body).not.toContainEqual(expect.objectContaining({ name: 'notes' }))
  expect(await lower('SHOW ML_ENGINES')).toContainEqual(expect.objectContaining({ name: 'lightwood', handler: 'auto' }))
  const code = new FormData()
  code.set('code', new Blob(['class M: pass']), 'model.py')
  code.set('modules', new Blob(['pandas']), 'requirements.txt')
  for (const method of ['PUT', 'POST'])
    expect(await send(at.url, method, '/api/handlers/byom/mine', code)).toMatchObject({
      status: 501,
      body: { hint: expect.stringContaining('CREATE MODEL') },
    })
  await lower('DROP PROJECT side')
})

test('the JavaScript client of the repository reads an answer of an agent, and its context', async () => {
  const model = new ScriptedModel()
  await model.start()
  const project = '/api/projects/mindsdb'
  const skill = { name: 'flats', type: 'sql', params: { database: 'files', tables: ['rentals'] } }
  const { base_url, api_key } = model.model
  const params = { base_url, api_key, return_context: true }
  const agent = { name: 'clerk', model_name: 'scripted', provider: 'openai_compatible', skills: ['flats'], params }
  try {
    await send(at.url, 'POST', `${project}/skills`, { skill })
    expect((await send(at.url, 'POST', `${project}/agents`, { agent })).status).toBe(201)
    model.script = queries(() => 'SELECT count(*) AS n FROM rentals', 'There are 60.')
    const messages = [{ question: 'How many flats?', answer: null }]
    const { status, body } = await send(at.url, 'POST', `${project}/agents/clerk/completions`, { messages })
    expect([status, body]).toMatchObject([200, { message: { content: 'There are 60.', context: [expect.stringContaining('[60]')] } }])
  } finally {
    await send(at.url, 'DELETE', `${project}/agents/clerk`)
    await send(at.url, 'DELETE', `${project}/skills/flats`)
    await model.stop()
  }
})

test('the Python client raises what an agent’s stream and a connection’s query cannot do', async () => {
  // One of its methods reads events and looks at no status, the other one raises by the status.
  const path = '/api/projects/mindsdb/agents/nobody/completions/stream'
  const stream = await send(at.url, 'POST', path, { messages: [{ question: 'How many flats?', answer: null }] })
  expect(stream).toMatchObject({ status: 404, type: expect.stringContaining('text/event-stream') })
  const [first = '', last = ''] = [...String(stream.body).matchAll(/^data: (.*)$/gm)].map(([, data]) => data)
  expect(JSON.parse(first)).toMatchObject({
    code: 'not_found',
    error: 'Agent with name nobody does not exist',
  })
  expect(() => JSON.parse(last) as unknown).toThrow()
  const problem = await send(at.url, 'POST', path, {}, { accept: 'application/json' })
  expect(problem).toMatchObject({
    status: 400,
    type: expect.stringContaining('application/problem+json'),
    body: { title: 'Missing parameter' },
  })

  await run(`CREATE DATABASE pg WITH ENGINE = 'postgres', PARAMETERS = {"host": "127.0.0.1", "port": 1, "user": "u", "database": "shop"}`)
  await run('CREATE TABLE files.said (SELECT 1 AS one)')
  const inPg = async (query: string) => (await send(at.url, 'POST', '/api/sql/query', { query, context: { db: 'pg' } })).body as Answer
  const ofPg = ['SELECT 1', 'SELECT now()', 'SELECT * FROM range(3)', 'WITH x AS (SELECT 1), y(n) AS (SELECT 2) SELECT * FROM x, y; -- all']
  for (const query of [...ofPg, 'SELECT * FROM flats', 'SELECT * FROM public.flats', 'WITH x AS (SELECT * FROM flats) SELECT * FROM x'])
    expect(await inPg(query)).toMatchObject({ type: 'error', error_message: expect.stringContaining('127.0.0.1') })
  // What names another database is answered by that one.
  expect(await inPg('SELECT one FROM files.said')).toMatchObject({ type: 'table', data: [[1]] })
  expect(await inPg('SELECT one FROM files (SELECT * FROM said)')).toMatchObject({ type: 'table', data: [[1]] })
  await run('DROP DATABASE pg')
  await run('DROP TABLE files.said')
})

test('the Python client reads the tree, and sets and reads defaults', async () => {
  const databases = (await send(at.url, 'GET', '/api/tree/')).body as { name: string; class: string }[]
  expect(databases.filter((node) => node.class === 'db').map(({ name }) => name)).toEqual(
    expect.arrayContaining(['mindsdb', 'files', 'log']),
  )
  await run('CREATE VIEW seen AS (SELECT 1 AS one)')
  const nodes = (await send(at.url, 'GET', '/api/tree/mindsdb?all_schemas=true')).body as { name: string; type: string }[]
  expect(nodes.filter(({ type }) => type === 'view').map(({ name }) => name)).toEqual(['seen'])
  await run('DROP VIEW seen')
  const default_llm = { provider: 'openai', model_name: 'gpt-4o', api_key: 'sk-1', temperature: 0 }
  expect((await send(at.url, 'PUT', '/api/config', { default_llm })).status).toBe(200)
  expect((await send(at.url, 'GET', '/api/config')).body).toMatchObject({ default_llm: { ...default_llm, api_key: '******' } })
})

test('the JavaScript client sees what failed by error_message, and big integers whole', async () => {
  const failed = await send(at.url, 'POST', '/api/sql/query', { query: 'SELECT * FROM `shop`.`nothing`' })
  expect(failed).toMatchObject({ status: 200, body: { type: 'error', error_code: 0, error_message: expect.stringContaining('nothing') } })
  const big = await fetch(`${at.url}/api/sql/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'SELECT 9223372036854775807 AS big' }),
  })
  expect(await big.text()).toContain('[9223372036854775807]')
  expect(await lower(String.raw`SELECT 'it\'s' AS a, 'b''c' AS b`)).toEqual([{ a: "it's", b: "b'c" }])
})

test('the Python client lists projects and databases by the names it types', async () => {
  expect(await run("select NAME from information_schema.databases where TYPE='project'")).toEqual(
    expect.arrayContaining([{ NAME: 'mindsdb' }]),
  )
  await run("CREATE DATABASE py WITH ENGINE = 'mindsdb', PARAMETERS = {}")
  await run(`CREATE DATABASE crm WITH ENGINE = 'postgres', PARAMETERS = {"host": "h"}`)
  expect(await run("select NAME, ENGINE, CONNECTION_DATA from information_schema.databases where TYPE='data'")).toContainEqual({
    NAME: 'crm',
    ENGINE: 'postgres',
    CONNECTION_DATA: expect.anything(),
  })
  await run('DROP DATABASE crm')
})

test('the Python client creates, lists and drops ML engines', async () => {
  await run("CREATE ML_ENGINE  mine FROM lightwood USING password='x', depth=3, deep=True")
  expect(await run('SHOW ml_engines')).toContainEqual({
    NAME: 'mine',
    HANDLER: 'lightwood',
    CONNECTION_DATA: '{"password":"******","depth":3,"deep":true}',
  })
  await run('DROP ML_ENGINE  mine')
  expect(await run('SHOW ml_engines')).not.toContainEqual(expect.objectContaining({ NAME: 'mine' }))
})

test('the Python client trains a model, waits for it and predicts', async () => {
  const py = { db: 'py' }
  await run('CREATE MODEL py.m FROM files (SELECT * FROM rentals) PREDICT rental_price', py)
  expect(await settled(at.url, 'm', 'py')).toBe('complete')
  expect(await run("SELECT * FROM models WHERE NAME = 'm' AND VERSION = 1 AND ACTIVE = '1'", py)).toHaveLength(1)
  for (const model of ['m', 'm.1'])
    expect(await send(at.url, 'POST', `/api/projects/py/models/${model}/predict`, { data: [{ sqft: 900 }], params: {} })).toMatchObject({
      status: 200,
      body: [{ sqft: 900, rental_price: expect.any(Number) }],
    })
  expect(await run('SELECT m.* FROM (SELECT * FROM files.rentals LIMIT 3) AS t JOIN py.m AS m', py)).toHaveLength(3)
  expect((await run('DESCRIBE py.m', py)).length).toBe(1)
  await run('DROP PREDICTOR py.m', py)
  await run('CREATE VIEW v FROM files (SELECT * FROM rentals)', py)
  expect(await run("SELECT * FROM v WHERE rooms = 3 AND location = 'poor' LIMIT 3", py)).toHaveLength(3)
  await run('DROP VIEW v', py)
})

test('the Python client that had skills reads and writes them', async () => {
  const skills = '/api/projects/py/skills'
  const skill = { name: 's', type: 'sql', params: { tables: ['t'], database: 'd', description: 'x' } }
  expect(await send(at.url, 'POST', skills, { skill })).toMatchObject({ status: 201, body: skill })
  expect(
    await send(at.url, 'PUT', `${skills}/s`, { skill: { name: 's', type: 'sql', params: { ...skill.params, tables: ['u'] } } }),
  ).toMatchObject({ status: 200, body: { params: { tables: ['u'], database: 'd' } } })
  expect((await send(at.url, 'DELETE', `${skills}/s`)).status).toBe(204)
})
