import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { listen } from '../../../support/connections/proxy.js'
import { send, sql, startTestService } from '../../../support/service.js'
import { trainRent } from '../../../support/models/rentals.js'
import { until } from '../../../support/until.js'
import { connectionEngines, driverOf } from '../../../../src/catalogue/connection-engines.js'
import { engineInfos } from '../../../../src/catalogue/engines.js'

// What clients ask to show a tree of what there is: databases, their tables, and what engines are behind them.

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await trainRent(at.url)
  await send(at.url, 'POST', '/api/projects', { project: { name: 'Shop' } })
  await send(at.url, 'POST', '/api/databases', {
    database: { name: 'crm', engine: 'postgres', parameters: { host: '127.0.0.1', password: 'p' } },
  })
  await send(at.url, 'POST', '/api/projects/mindsdb/views', {
    view: { name: 'Good', query: "SELECT * FROM files.rentals WHERE location = 'good'" },
  })
  await sql(at.url, 'CREATE JOB nightly (SELECT 1) EVERY 1 day')
  // Its first run begins at once, and nothing may be recorded beside what the tests do.
  await until(async () => {
    const [first] = (await get('/projects/mindsdb/jobs/nightly/history')).body as { run_end: string | null }[]
    return first?.run_end != null
  })
  await send(at.url, 'POST', '/api/projects/mindsdb/agents', { agent: { name: 'helper', model_name: 'gpt-4o' } })
})
afterAll(() => at.stop())

const get = (path: string) => send(at.url, 'GET', `/api${path}`)
const head = async () => (await at.service.head()).position

describe('the tree', () => {
  test('its root has every database, as the list of databases has them', async () => {
    const own = { class: 'db', visible: true }
    expect(await get('/tree/')).toMatchObject({
      status: 200,
      body: [
        { ...own, name: 'information_schema', type: 'system', engine: null, deletable: false },
        { ...own, name: 'log', type: 'system', engine: null, deletable: false },
        { ...own, name: 'mindsdb', type: 'project', engine: null, deletable: false },
        { ...own, name: 'Shop', type: 'project', engine: null, deletable: true },
        { ...own, name: 'files', type: 'data', engine: 'files', deletable: false },
        { ...own, name: 'crm', type: 'data', engine: 'postgres', deletable: true },
      ],
    })
    const names = (list: unknown) => (list as { name: string }[]).map(({ name }) => name)
    expect(names((await get('/databases/')).body)).toEqual(names((await get('/tree')).body))
  })

  test('a project begins with models, then its models, views, agents and jobs', async () => {
    const own = { schema: null, class: 'table' }
    expect((await get('/tree/MindsDB')).body).toEqual([
      { ...own, name: 'models', type: 'table', engine: null, deletable: false },
      { ...own, name: 'rent', type: 'model', engine: 'auto', deletable: true },
      { ...own, name: 'Good', type: 'view', engine: null, deletable: true },
      { ...own, name: 'helper', type: 'agent', engine: null, deletable: true },
      { ...own, name: 'nightly', class: 'job', type: 'job', engine: null, deletable: true },
    ])
    expect((await get('/tree/shop?all_schemas=true')).body).toHaveLength(1)
  })

  test('files and system databases have their tables, and what SQL says are tables', async () => {
    expect((await get('/tree/files')).body).toEqual([
      { name: 'rentals', schema: null, class: 'table', type: 'table', engine: null, deletable: true },
    ])
    for (const schema of ['log', 'information_schema']) {
      const { data } = await sql(at.url, `SELECT table_name FROM information_schema.tables WHERE table_schema = '${schema}'`)
      const leaves = (await get(`/tree/${schema}`)).body as { name: string; type: string }[]
      expect(leaves.map(({ name }) => [name]).sort()).toEqual(data.sort())
      expect(new Set(leaves.map(({ type }) => type))).toEqual(new Set(['system view']))
    }
  })

  test('what is not there is 400, and a connection whose database cannot be reached says so', async () => {
    expect(await get('/tree/nope')).toMatchObject({ status: 400, body: { title: 'Error', detail: expect.stringContaining('nope') } })
    for (const path of ['/tree/crm', '/databases/crm/tables', '/databases/crm/tables/t'])
      expect(await get(path)).toMatchObject({
        status: 502,
        body: { code: 'connection_failed', detail: expect.stringContaining('127.0.0.1') },
      })
  })
})

describe('tables of a database', () => {
  test('are listed with their types and without jobs, and found by name without case', async () => {
    expect((await get('/databases/files/tables')).body).toEqual([{ name: 'rentals', type: 'data' }])
    expect((await get('/databases/mindsdb/tables')).body).toEqual([
      { name: 'models', type: 'data' },
      { name: 'rent', type: 'model' },
      { name: 'Good', type: 'view' },
      { name: 'helper', type: 'agent' },
    ])
    expect((await get('/databases/MINDSDB/tables/good')).body).toEqual({ name: 'Good', type: 'view' })
    expect((await get('/databases/log/tables/events')).body).toEqual({ name: 'events', type: 'system view' })
    expect(await get('/databases/files/tables/nope')).toMatchObject({ status: 404, body: { title: 'Table not found' } })
    expect(await get('/databases/nope/tables')).toMatchObject({ status: 404, body: { title: 'Database not found' } })
  })

  test('the databases of every service stay', async () => {
    for (const name of ['log', 'files', 'INFORMATION_SCHEMA'])
      expect(await send(at.url, 'DELETE', `/api/databases/${name}`)).toMatchObject({
        status: 400,
        body: { title: 'Error', detail: `Database '${name}' can not be deleted, because it is part of this service` },
      })
  })

  test('only files are deleted, once a key says so', async () => {
    const form = new FormData()
    form.set('file', new Blob(['a,b\n1,2\n']), 'more.csv')
    await send(at.url, 'PUT', '/api/files/more', form)
    const remove = (path: string, headers = {}) => send(at.url, 'DELETE', `/api/databases/${path}`, undefined, headers)
    for (const path of ['mindsdb/tables/Good', 'crm/tables/t', 'log/tables/events'])
      expect(await remove(path)).toMatchObject({ status: 400, body: { title: 'Error', hint: expect.any(String) } })
    expect((await remove('files/tables/MORE', { 'idempotency-key': 'd' })).status).toBe(204)
    const position = await head()
    expect((await remove('files/tables/MORE', { 'idempotency-key': 'd' })).status).toBe(204)
    expect(await head()).toBe(position)
    expect(await remove('files/tables/more')).toMatchObject({ status: 404, body: { title: 'Table not found' } })
    expect((await get('/databases/files/tables')).body).toEqual([{ name: 'rentals', type: 'data' }])
  })

  test('are not made in projects, in connections, or over a file that is there', async () => {
    const create = (path: string, table: object) => send(at.url, 'POST', `/api/databases/${path}/tables`, { table })
    const select = 'SELECT * FROM files.rentals'
    expect(await create('mindsdb', { name: 't', select })).toMatchObject({
      status: 400,
      body: { hint: expect.stringContaining('/views/t') },
    })
    expect(await create('crm', { name: 't', select })).toMatchObject({ status: 400 })
    expect(await create('nope', { name: 't', select })).toMatchObject({ status: 404 })
    expect(await create('files', { name: 'Rentals', select })).toMatchObject({ status: 409, body: { title: 'Table already exists' } })
  })
})

test('a table that is made of a SELECT is a file: once, unless it is to be replaced', async () => {
  const create = (table: object, headers = {}) => send(at.url, 'POST', '/api/databases/files/tables', { table }, headers)
  const select = 'SELECT location, count(*) AS n FROM files.rentals -- by place\nGROUP BY location; -- done'
  expect(await create({ name: 'Places', select }, { 'idempotency-key': 'c' })).toMatchObject({
    status: 201,
    body: { name: 'places', type: 'data' },
  })
  const position = await head()
  expect(await create({ name: 'Places', select }, { 'idempotency-key': 'c' })).toMatchObject({ status: 201, body: { name: 'places' } })
  expect(await create({ name: 'places', select })).toMatchObject({ status: 409 })
  expect(await head()).toBe(position)
  expect((await sql(at.url, 'SELECT count(*) FROM files.places')).data).toEqual([[3]])
  expect(await create({ name: 'places', select: 'SELECT 1 AS one', replace: true })).toMatchObject({ status: 201 })
  expect((await sql(at.url, 'SELECT * FROM files.places')).data).toEqual([[1]])
  expect(await create({ name: 'more', select: 'SELECT nothing FROM files.rentals' })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('nothing') },
  })
  expect((await send(at.url, 'DELETE', '/api/databases/files/tables/places')).status).toBe(204)
})

describe('a test of a connection', () => {
  test('says why it did not work', async () => {
    for (const [engine, reason] of [
      ['postgres', /127\.0\.0\.1/],
      ['MariaDB', /127\.0\.0\.1/],
      ['slack', /cannot talk to this system/],
    ] as const)
      expect(
        await send(at.url, 'POST', '/api/databases/status', { engine, host: '127.0.0.1', port: 1, user: 'u', password: 'p' }),
      ).toMatchObject({
        status: 200,
        body: { status: 'connection_error', detail: expect.stringMatching(reason) },
      })
    expect(await get('/databases/crm?check_connection=true')).toMatchObject({
      status: 200,
      body: { name: 'crm', connection_status: { success: false, error_message: expect.stringContaining('127.0.0.1') } },
    })
    expect(await get('/databases/mindsdb?check_connection=1')).toMatchObject({
      body: { connection_status: { success: true, error_message: null } },
    })
    expect(await get('/databases/mindsdb?check_connection=True')).toMatchObject({ body: { connection_status: { success: true } } })
    for (const path of ['/databases/crm', '/databases/crm?check_connection=false', '/databases/crm?check_connection=0'])
      expect((await get(path)).body).not.toHaveProperty('connection_status')
    for (const path of ['/databases/crm?check_connection=yes', '/databases/crm?check_connection='])
      expect(await get(path)).toMatchObject({ status: 400, body: { detail: expect.stringContaining('check_connection is true or false') } })
  })

  test('that a connection waits for keeps it from being made or changed', async () => {
    const position = await head()
    const database = { name: 'other', engine: 'postgres', parameters: { host: '127.0.0.1', port: 1 } }
    expect(await send(at.url, 'POST', '/api/databases', { database, check_connection: true })).toMatchObject({
      status: 200,
      body: { status: 'connection_error', detail: expect.stringContaining('127.0.0.1') },
    })
    expect(await send(at.url, 'POST', '/api/databases', { database: { ...database, name: 'crm' }, check_connection: true })).toMatchObject({
      status: 409,
      body: { title: 'Name conflict' },
    })
    expect(
      await send(at.url, 'PUT', '/api/databases/crm', { database: { parameters: { port: 2, password: 'p' } }, check_connection: true }),
    ).toMatchObject({ status: 400, body: { title: 'Connection error', detail: expect.stringContaining('127.0.0.1') } })
    expect(await head()).toBe(position)
    expect((await send(at.url, 'POST', '/api/databases', { database, check_connection: false })).status).toBe(201)
    await send(at.url, 'DELETE', '/api/databases/other')
  })

  test('sends no kept password to another address', async () => {
    let calls = 0
    const elsewhere = createServer((socket) => {
      calls++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const { port } = elsewhere.address() as AddressInfo
    const parameters = { host: '127.0.0.1', port: 1, user: 'u', password: 'p' }
    await send(at.url, 'POST', '/api/databases', { database: { name: 'bound', engine: 'postgres', parameters } })
    const change = (more: object) =>
      send(at.url, 'PUT', '/api/databases/bound', { database: { parameters: { port, ...more } }, check_connection: true })
    expect(await change({})).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('password was given for another port') },
    })
    expect(calls).toBe(0)
    expect(await change({ password: 'new' })).toMatchObject({ status: 400, body: { title: 'Connection error' } })
    expect(calls).toBeGreaterThan(0)
    elsewhere.close()
    await send(at.url, 'DELETE', '/api/databases/bound')
  })
})

describe('handlers', () => {
  test('are the same over REST and SQL, and only what is used says so', async () => {
    const listed = (await get('/handlers/')).body as {
      name: string
      type: string
      import: { success: boolean; error_message: string | null }
    }[]
    const { data } = await sql(at.url, 'SHOW HANDLERS')
    expect(data.map(([name, type]) => [name, type]).sort()).toEqual(listed.map(({ name, type }) => [name, type]).sort())
    expect(listed.filter((handler) => handler.import.success).map(({ name }) => name)).toEqual([
      ...engineInfos.map(({ name }) => name),
      'files',
      ...[...connectionEngines.keys()].filter((name) => driverOf(name) !== undefined),
    ])
    expect((await sql(at.url, "SHOW HANDLERS WHERE type = 'ml'")).data.map(([name]) => name).sort()).toEqual(
      engineInfos.map(({ name }) => name).sort(),
    )
    expect(
      (await sql(at.url, "SELECT IMPORT_SUCCESS, IMPORT_ERROR FROM information_schema.handlers WHERE name IN ('MySQL', 'Slack')")).data,
    ).toEqual([
      [false, expect.stringContaining('Slack')],
      [true, null],
    ])
  })

  test('are found by name, and installed only where there is nothing to install', async () => {
    expect(await get('/handlers/postgres')).toMatchObject({ status: 200, body: { title: 'PostgreSQL', import: { success: true } } })
    expect(await get('/handlers/nope')).toMatchObject({ status: 404, body: { title: 'Handler not found' } })
    expect(await send(at.url, 'POST', '/api/handlers/lightwood/install')).toMatchObject({ status: 200, body: 'Installed' })
    expect(await send(at.url, 'POST', '/api/handlers/slack/install')).toMatchObject({
      status: 501,
      body: { detail: expect.stringContaining('Slack') },
    })
  })
})

const late = 'The database did not list its tables soon enough'

test('editors get the names of all tables', async () => {
  let data: { name: string; tables: string[]; unavailable?: string }[] = []
  // On a busy machine the refusal of the connection may come too late for one answer.
  await until(async () => {
    ;({ data } = (await get('/sql/list_databases')).body as { data: typeof data })
    return data.every(({ unavailable }) => unavailable !== late)
  })
  expect(data).toContainEqual({ name: 'files', tables: ['rentals'] })
  expect(data).toContainEqual({ name: 'mindsdb', tables: ['models', 'rent', 'Good'] })
  expect(data).toContainEqual({ name: 'crm', tables: [], unavailable: expect.stringContaining('127.0.0.1') })
})

test('databases that do not answer delay neither the names of the others nor each other', async () => {
  const servers = await Promise.all([listen(() => undefined), listen(() => undefined)])
  const names = servers.map((_, i) => `silent_${i}`)
  try {
    for (const [i, { port }] of servers.entries())
      await send(at.url, 'POST', '/api/databases', {
        database: { name: names[i], engine: 'postgres', parameters: { host: '127.0.0.1', port, sslmode: 'disable' } },
      })
    let data: { name: string; tables: string[]; unavailable?: string }[] = []
    // A busy machine may begin a login late, or give it up before the answer is there. After a while each database is asked again.
    await until(async () => {
      ;({ data } = (await get('/sql/list_databases')).body as { data: typeof data })
      const silent = data.filter(({ name, unavailable }) => names.includes(name) && unavailable === late)
      return silent.length === names.length && servers.every((server) => server.open() === 1)
    })
    expect(data).toContainEqual({ name: 'files', tables: ['rentals'] })
    for (const name of names) expect(data).toContainEqual({ name, tables: [], unavailable: late })
    // Nobody waits for their logins, which are still under way.
    expect(servers.map((server) => server.open())).toEqual([1, 1])
  } finally {
    for (const name of names) await send(at.url, 'DELETE', `/api/databases/${name}`)
    for (const server of servers) await server.stop()
  }
})
