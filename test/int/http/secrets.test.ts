import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { statSync } from 'node:fs'
import { openLogReader } from '../../../src/log/sqlite/log-reader.js'
import { until } from '../../support/until.js'
import { formOf, rentalsCsv, settled } from '../../support/models/rentals.js'
import { repeatsPassword } from '../../support/connections/flood.js'
import { listen } from '../../support/connections/proxy.js'
import { bytesOf, filesUnder } from '../../support/observe/traces.js'
import { rowsNow, send, spawnService, sql, temporaryDirectory } from '../../support/service.js'

const directory = temporaryDirectory()
let at: Awaited<ReturnType<typeof spawnService>>
beforeAll(async () => {
  at = await spawnService(directory.path, { LOG_LEVEL: 'trace' })
})
afterAll(async () => {
  at.child.kill()
  await at.ended
  directory.remove()
})

let made = 0
/** A secret that occurs nowhere else. */
const secret = () => `s3cr3t-${(made += 1).toString().padStart(3, '0')}-xyzzy`
const answers: string[] = []
/** The tokens of webhooks that the service made. */
const tokens: string[] = []

const call = async (method: string, path: string, body?: unknown) => {
  const reply = await send(at.url, method, path, body)
  answers.push(`${method} ${path} ${JSON.stringify(reply.body)}`)
  return reply
}
const run = async (query: string, db = 'mindsdb') => {
  const answer = await sql(at.url, query, db)
  answers.push(`${query.replaceAll(/s3cr3t-\d+/g, 's')} ${JSON.stringify(answer)}`)
  return answer
}

const project = '/api/projects/mindsdb'
const url = () => `postgres://user:${secret()}@example.com/db`

const keys = [
  'api_key',
  'apiKey',
  'API-KEY',
  'openai_api_key',
  'password',
  'token',
  'access_token',
  'client_secret',
  'aws_secret_access_key',
  'private_key',
  'authorization',
  'bot_token',
  'credentials',
  'dsn',
]
const secrets = () => Object.fromEntries(keys.map((key) => [key, secret()]))
/** Secrets in every shape: plain, nested, in lists, as numbers' neighbours, in URLs. */
const params = () => ({
  ...secrets(),
  nested: { deep: [{ ...secrets() }] },
  url: url(),
  urls: [url()],
  token: [secret(), secret()],
  password: { is: secret() },
})

test('secrets can be sent wherever params are taken', async () => {
  expect((await call('POST', '/api/databases', { database: { name: 'slack', engine: 'slack', parameters: params() } })).status).toBe(201)
  expect((await call('PUT', '/api/databases/slack', { database: { parameters: params() } })).status).toBe(200)
  expect((await call('PUT', '/api/databases/other', { database: { engine: 'notion', parameters: params() } })).status).toBe(201)
  expect((await call('POST', `${project}/skills`, { skill: { name: 's', type: 'sql', params: params() } })).status).toBe(201)
  expect((await call('PUT', `${project}/skills/s`, { skill: { params: params() } })).status).toBe(200)
  const agent = { name: 'a', model: params(), data: params(), params: params(), skills: [{ name: 's', ...params() }] }
  expect((await call('POST', `${project}/agents`, { agent })).status).toBe(201)
  expect(
    (await call('PUT', `${project}/agents/a`, { agent: { model: params(), skills_to_add: [{ name: 's', ...params() }] } })).status,
  ).toBe(200)
  const chatbot = { name: 'c', agent_name: 'a', db_engine: 'slack', db_params: params(), params: params() }
  expect((await call('POST', `${project}/chatbots`, { chatbot })).status).toBe(201)
  expect(
    (await call('PUT', `${project}/chatbots/c`, { chatbot: { params: params(), db_engine: 'slack', db_params: params() } })).status,
  ).toBe(200)
})

test('the token of a webhook is stored nowhere, and a repeat of its request gets it again', async () => {
  const fields = { agent_name: 'a', db_engine: 'webhook', db_params: { secret: secret() } }
  for (const [method, path, name] of [
    ['POST', `${project}/chatbots`, 'posted'],
    ['PUT', `${project}/chatbots/put`, 'put'],
  ] as const) {
    const chatbot = { name, ...fields }
    const headers = { 'Idempotency-Key': `${method}-chatbot` }
    const created = await send(at.url, method, path, { chatbot }, headers)
    expect(created).toMatchObject({ status: 201, body: { webhook_token: expect.any(String) } })
    const { webhook_token } = created.body as { webhook_token: string }
    expect((await send(at.url, 'POST', `${project}/chatbots/${name}/webhook_token`)).status).toBe(200)
    const again = await send(at.url, method, path, { chatbot }, headers)
    expect({ status: again.status, body: again.body }).toEqual({ status: created.status, body: created.body })
    tokens.push(webhook_token)
  }
})

test('secrets can be sent in statements', async () => {
  const statements = [
    `CREATE DATABASE my WITH ENGINE = 'postgres', PARAMETERS = {"host": "h", "password": "${secret()}"}`,
    `CREATE DATABASE pg WITH ENGINE = 'slack', PARAMETERS = {"host": "h", "password": "${secret()}", "url": "${url()}", "ssl": {"private_key": "${secret()}"}}`,
    `ALTER DATABASE pg PARAMETERS = {"password": "${secret()}"}`,
    `CREATE SKILL k USING type = 'sql', api_key = '${secret()}', source = '${url()}'`,
    `UPDATE SKILL k SET token = '${secret()}'`,
    `CREATE AGENT b USING model = {"provider": "openai", "model_name": "gpt-4o", "api_key": "${secret()}"}, openai_api_key = '${secret()}'`,
    `CREATE AGENT b2 USING model = 'gpt-4o', openai_api_key = "${secret()}", skills = ['k']`,
    `UPDATE AGENT b SET anthropic_api_key = '${secret()}'`,
    `ALTER AGENT b USING password = '${secret()}'`,
    `CREATE CHATBOT d USING database = 'pg', agent = 'b', bot_token = '${secret()}', is_running = false`,
    `UPDATE CHATBOT d SET bot_token = '${secret()}'`,
    `CREATE ML_ENGINE lightwood FROM lightwood USING api_key = '${secret()}'`,
    `CREATE ML_ENGINE mine FROM lightwood USING api_key = '${secret()}'`,
  ]
  for (const statement of statements)
    expect({ statement, ...(await run(statement)) }).toMatchObject({ type: expect.not.stringMatching('error') })
  await send(at.url, 'PUT', '/api/files/rentals', formOf(rentalsCsv, 'rentals.csv'))
  await run(
    `CREATE MODEL m FROM files (SELECT * FROM rentals) PREDICT rental_price USING engine = 'lightwood', api_key = '${secret()}', x = {"password": "${secret()}"}`,
  )
  if ((await run(`SELECT name FROM models WHERE name = 'm'`)).data.length > 0) await settled(at.url, 'm')
  const body = {
    query: `CREATE MODEL mindsdb.m2 FROM files (SELECT * FROM rentals) PREDICT rental_price USING openai_api_key = '${secret()}'`,
  }
  if ((await call('POST', `${project}/models`, body)).status === 201) await settled(at.url, 'm2')
})

test('a refused request does not tell or keep its secrets either', async () => {
  await call('POST', `${project}/skills`, { skill: { name: 's', type: 'sql', params: params() } })
  await call('POST', `${project}/skills`, { skill: { name: 'bad', type: 5, params: params() } })
  await call('POST', `${project}/agents`, { agent: { name: 'x', skills: ['none'], params: params() } })
  await call('POST', `${project}/skills`, `{"skill": {"name": "x", "params": {"api_key": "${secret()}", }`)
  await call('POST', `${project}/skills`, `{"api_key": ${secret()}}`)
  await call('POST', '/api/databases', { database: { name: 'x', engine: 'none', parameters: params() } })
  await call('POST', '/api/login', { username: 'u', password: secret() })
  for (const statement of [
    `CREATE DATABASE pg WITH ENGINE = 'postgres', PARAMETERS = {"password": "${secret()}"}`,
    `CREATE DATABASE x WITH ENGINE = 'nope', PARAMETERS = {"password": "${secret()}"}`,
    `CREATE AGENT b USING model = 'm', openai_api_key = '${secret()}'`,
    `CREATE AGENT nope.b USING model = 'm', openai_api_key = '${secret()}'`,
    `CREATE AGENT e USING model = 'm', openai_api_key = '${secret()}' nonsense here`,
    `CREATE AGENT e USING openai_api_key = '${secret()}`,
    `UPDATE AGENT none SET openai_api_key = '${secret()}'`,
    `CREATE DATABASE y WITH ENGINE = 'postgres', PARAMETERS = {"password": "${secret()}",, }`,
    `CREATE MODEL mm FROM pg (SELECT 1) PREDICT x USING api_key = '${secret()}' AND`,
    `CREATE CHATBOT z USING database = 'none', agent = 'b', bot_token = '${secret()}'`,
  ])
    await run(statement)
})

test('a URL with a password is refused where it would stand in plain text', async () => {
  for (const agent of [
    { name: 'u', model_name: url() },
    { name: 'u', model: url() },
    { name: 'u', model_name: 'm', provider: url() },
  ])
    expect(await call('POST', `${project}/agents`, { agent })).toMatchObject({
      status: 400,
      body: { hint: expect.stringContaining('params') },
    })
  expect((await call('POST', `${project}/skills`, { skill: { name: 'u', type: url(), params: {} } })).status).toBe(400)
  expect(await run(`CREATE AGENT u USING model = '${url()}'`)).toMatchObject({ type: 'error' })
})

test('a query that holds a secret is refused before it is kept', async () => {
  const refused = { body: { detail: expect.stringContaining('the query holds a secret'), hint: expect.any(String) } }
  const query = () => `SELECT * FROM skills WHERE params->>'password' = '${secret()}'`
  expect(await call('POST', `${project}/views`, { view: { name: 'q', query: query() } })).toMatchObject({ status: 400, ...refused })
  for (const statement of [
    `CREATE VIEW q AS (${query()})`,
    `CREATE VIEW q AS (SELECT '${secret()}' AS api_key)`,
    `CREATE MODEL q FROM files (SELECT * FROM rentals WHERE location <> '${url()}') PREDICT rental_price`,
    `CREATE MODEL q FROM files (SELECT * FROM rentals WHERE password = '${secret()}') PREDICT rental_price`,
    `RETRAIN m FROM files (SELECT * FROM rentals WHERE password = '${secret()}')`,
  ])
    expect({ statement, ...(await run(statement)) }).toMatchObject({ type: 'error' })
  expect(await run(`CREATE VIEW words AS (SELECT name FROM skills WHERE name = 'token' AND (params->>'token') IS NULL)`)).toMatchObject({
    type: 'ok',
  })
})

test('what a request marks with $seal is sealed, over REST and SQL, in a job and in its run', async () => {
  const sealed = { room: { $seal: secret() }, list: [{ floor: { $seal: 4321 } }] }
  expect(await call('POST', `${project}/skills`, { skill: { name: 'marked', type: 'sql', params: sealed } })).toMatchObject({
    status: 201,
    body: { params: { room: '******', list: [{ floor: '******' }] } },
  })
  await run(`CREATE SKILL marked2 USING type = 'sql', room = {"$seal": "${secret()}"}, floor = 3`)
  expect(await call('GET', `${project}/skills/marked2`)).toMatchObject({ body: { params: { room: '******', floor: 3 } } })
  await run(`CREATE JOB marking (CREATE SKILL marked3 USING type = 'sql', room = {"$seal": "${secret()}"}, floor = 3) START now`)
  await until(async () => (await send(at.url, 'GET', `${project}/skills/marked3`)).status === 200)
  expect(await call('GET', `${project}/skills/marked3`)).toMatchObject({ body: { params: { room: '******', floor: 3 } } })
  for (const params of [{ $seal: 'a' }, { a: { $seal: 'a', b: 1 } }])
    expect(await call('POST', `${project}/skills`, { skill: { name: 'unmarked', type: 'sql', params } })).toMatchObject({ status: 400 })
})

test('a mask that is sent back keeps the secret, and one that stands for nothing is refused', async () => {
  const stored = () => {
    const reader = openLogReader(directory.path)
    const events = reader.read(0, 1_000).map(({ text }) => text)
    reader.close()
    return events.filter((text) => text.includes('"AgentCreated"') || text.includes('"AgentUpdated"')).at(-1)
  }
  await call('POST', `${project}/agents`, {
    agent: { name: 'masked', model_name: 'gpt-4o', params: { api_key: secret(), list: [{ token: secret() }], k: 1 } },
  })
  const { body } = await call('GET', `${project}/agents/masked`)
  const { params: shown } = body as { params: Record<string, unknown> }
  expect(shown).toEqual({ api_key: '******', list: [{ token: '******' }], k: 1 })
  const before = stored()
  expect(await call('PUT', `${project}/agents/masked`, { agent: { params: { ...shown, k: 2 } } })).toMatchObject({
    status: 200,
    body: { params: { ...shown, k: 2 } },
  })
  const refsIn = (text = '') => text.match(/[0-9a-f]{64}/g)
  expect(refsIn(before)).toHaveLength(2)
  expect(refsIn(stored())).toEqual(refsIn(before))
  for (const [name, agent] of [['fresh', { name: 'fresh', model_name: 'm', params: { api_key: '******' } }]] as const) {
    expect(await call('POST', `${project}/agents`, { agent })).toMatchObject({ status: 400 })
    expect((await call('GET', `${project}/agents/${name}`)).status).toBe(404)
  }
  expect(
    await call('POST', `${project}/skills`, { skill: { name: 'q', type: 't', params: { k: { $secret: 'a'.repeat(64) } } } }),
  ).toMatchObject({ status: 400 })
})

test('a database that repeats the password that it is given, or breaks off, does not make it known', async () => {
  const heard = new Set<string>()
  const server = await repeatsPassword((password) => heard.add(password))
  const [given, inUrl] = [secret(), secret()]
  const address = { host: '127.0.0.1', port: server.port, user: 'reader', database: 'shop', sslmode: 'disable' }
  const database = { name: 'told', engine: 'postgres', parameters: { ...address, password: given } }
  expect((await call('POST', '/api/databases', { database, check_connection: true })).status).toBe(200)
  expect((await call('POST', '/api/databases', { database })).status).toBe(201)
  const place = `postgresql://reader:${inUrl}@127.0.0.1:${server.port}/shop?sslmode=disable`
  await run(`CREATE DATABASE told_url WITH ENGINE = 'postgres', PARAMETERS = {"url": "${place}"}`)
  const refused = { type: 'error', error_message: expect.stringContaining('the password … is wrong') }
  for (const name of ['told', 'told_url']) {
    await call('GET', `/api/databases/${name}?check_connection=true`)
    await call('GET', `/api/databases/${name}/tables`)
    for (const statement of [`SELECT * FROM ${name}.homes`, `SELECT * FROM ${name} (SELECT 1)`])
      expect({ statement, ...(await run(statement)) }).toMatchObject(refused)
    for (const statement of [
      `SHOW TABLES FROM ${name}`,
      `DESCRIBE ${name}.homes`,
      `EXPLAIN SELECT * FROM ${name}.homes`,
      `CREATE MODEL telling FROM ${name} (SELECT a, b FROM homes) PREDICT b`,
    ])
      await run(statement)
    await run(`CREATE JOB of_${name} (SELECT * FROM ${name}.homes)`)
    const failed = `SELECT error FROM log.job_runs WHERE job = 'of_${name}' AND outcome = 'error'`
    await until(async () => (await rowsNow(at.url, failed)).length > 0)
    answers.push(JSON.stringify(await rowsNow(at.url, failed)))
  }
  expect(heard).toEqual(new Set([given, inUrl]))
  await server.stop()
  const breaking = await listen((socket) => socket.once('data', () => socket.destroy()))
  const parameters = { ...address, port: breaking.port, password: secret() }
  expect((await call('POST', '/api/databases', { database: { ...database, name: 'breaking', parameters } })).status).toBe(201)
  expect(await run('SELECT * FROM breaking.homes')).toMatchObject({ error_message: expect.stringContaining('broke off the connection') })
  await breaking.stop()
})

test('no answer of any address shows a secret', async () => {
  for (const path of [
    '/api/databases',
    '/api/databases/slack',
    '/api/databases/pg',
    '/api/databases/c_db',
    `${project}/skills`,
    `${project}/skills/s`,
    `${project}/skills/k`,
    `${project}/agents`,
    `${project}/agents/a`,
    `${project}/agents/b`,
    `${project}/chatbots`,
    `${project}/chatbots/c`,
    `${project}/models`,
    `${project}/models/m`,
    `${project}/models/m/describe`,
    `${project}/skills?agent=a`,
    '/api/status',
    '/api/openapi.json',
    '/',
  ])
    await call('GET', path)
  for (const statement of [
    'SHOW DATABASES',
    'SHOW FULL DATABASES',
    'SHOW AGENTS',
    'SHOW SKILLS',
    'SHOW CHATBOTS',
    'SHOW MODELS',
    'DESCRIBE AGENT b',
    'DESCRIBE SKILL k',
    'DESCRIBE DATABASE pg',
    'DESCRIBE m',
    'SHOW ML_ENGINES',
    'SHOW WARNINGS',
    'SHOW VARIABLES',
  ])
    await run(statement)
  const shown = await send(at.url, 'POST', '/api/sql/query', {
    query: 'SELECT * FROM information_schema.databases',
    context: { show_secrets: true },
  })
  answers.push(JSON.stringify(shown.body))
  expect(answers.filter((answer) => answer.includes('s3cr3t'))).toEqual([])
})

test('no table that SQL lists shows a secret', async () => {
  const { data: tables } = await run('SELECT table_schema, table_name, table_type FROM information_schema.tables')
  expect(tables.length).toBeGreaterThan(20)
  const read: string[] = []
  for (const [schema, table, type] of tables) {
    if (type === 'MODEL' || type === 'AGENT') continue
    const answer = await run(`SELECT * FROM \`${String(schema)}\`.\`${String(table)}\``)
    expect({ schema, table, ...answer }).toMatchObject({ type: 'table' })
    read.push(`${String(schema)}.${String(table)} ${JSON.stringify(answer.data)}`)
  }
  expect(read.filter((text) => text.includes('s3cr3t'))).toEqual([])
})

test('nobody but the user who runs the service may read its files', () => {
  const files = filesUnder(directory.path)
  expect(files.length).toBeGreaterThan(2)
  const open = files.filter((file) => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0)
  expect(open).toEqual([])
})

test('no byte of the data directory and no log line holds a secret, while the service runs and after', async () => {
  const holding = () =>
    filesUnder(directory.path).filter((file) => {
      const bytes = bytesOf(file)
      return ['s3cr3t', ...tokens].some((text) => bytes.includes(text))
    })
  expect(made).toBeGreaterThan(100)
  expect(tokens).toHaveLength(2)
  expect(holding()).toEqual([])
  at.child.kill('SIGTERM')
  await at.ended
  expect(filesUnder(directory.path).length).toBeGreaterThan(2)
  expect(holding()).toEqual([])
  expect(at.lines.length).toBeGreaterThan(50)
  expect(at.lines.filter((line) => ['s3cr3t', ...tokens].some((text) => line.includes(text)))).toEqual([])
})
