import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ScriptedModel } from '../../support/agents/scripted-model.js'
import { formOf, settled, trainRent } from '../../support/models/rentals.js'
import { Problem } from '../../../src/basics/errors.js'
import { limits } from '../../../src/basics/limits.js'
import { send, sql, startTestService, temporaryDirectory } from '../../support/service.js'

const connected = temporaryDirectory()
let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService({ CONNECTION_FILES: connected.path })
  await trainRent(at.url)
})
afterAll(async () => {
  await at.stop()
  connected.remove()
})

const project = '/api/projects/mindsdb'
const head = async () => (await at.service.head()).position
const skill = (name: string, params = {}) => ({ skill: { name, type: 't', params } })

/** An answer to the byte: status, type, version, newest position and body. */
const raw = async (method: string, path: string, body: unknown, key: string, headers: Record<string, string> = {}) => {
  const form = body instanceof FormData
  const reply = await fetch(at.url + path, {
    method,
    headers: { ...(!form && { 'content-type': 'application/json' }), 'idempotency-key': key, ...headers },
    ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
  })
  const [type, etag, position] = ['content-type', 'etag', 'mindledger-position'].map((name) => reply.headers.get(name))
  return { status: reply.status, type, etag, position, text: await reply.text() }
}

type Case = { what: string; method: string; path: string; body: unknown; before?: () => Promise<unknown>; then: () => Promise<unknown> }
const remove = (path: string) => send(at.url, 'DELETE', path)
const cases: Case[] = [
  {
    what: 'a creation, and then an agent uses it',
    method: 'POST',
    path: `${project}/skills`,
    body: skill('used', { api_key: 'sk-used' }),
    then: () => send(at.url, 'POST', `${project}/agents`, { agent: { name: 'user', model_name: 'm', skills: ['used'] } }),
  },
  {
    what: 'a change of nothing, and then a change of something',
    method: 'PUT',
    path: `${project}/skills/idle`,
    body: { skill: {} },
    before: () => send(at.url, 'POST', `${project}/skills`, skill('idle')),
    then: () => send(at.url, 'PUT', `${project}/skills/idle`, { skill: { type: 'u' } }),
  },
  {
    what: 'a creation in a project that is gone',
    method: 'POST',
    path: '/api/projects/brief/views',
    body: { view: { name: 'v', query: 'SELECT 1 AS one' } },
    before: () => send(at.url, 'POST', '/api/projects', { project: { name: 'brief' } }),
    then: async () => {
      await remove('/api/projects/brief/views/v')
      return remove('/api/projects/brief')
    },
  },
  {
    what: 'a deletion in a project that is gone',
    method: 'DELETE',
    path: '/api/projects/short/models/m',
    body: undefined,
    before: async () => {
      await sql(at.url, 'CREATE PROJECT short')
      await sql(at.url, 'CREATE MODEL short.m FROM files (SELECT sqft, rental_price FROM rentals LIMIT 20) PREDICT rental_price')
    },
    then: () => remove('/api/projects/short'),
  },
  {
    what: 'a statement that found nothing to drop, and then there is',
    method: 'POST',
    path: '/api/sql/query',
    body: { query: 'DROP SKILL IF EXISTS later' },
    then: () => send(at.url, 'POST', `${project}/skills`, skill('later')),
  },
  {
    what: 'a statement that adds no row, and then would',
    method: 'POST',
    path: '/api/sql/query',
    body: { query: 'INSERT INTO files.some SELECT n FROM some_rows' },
    before: async () => {
      await sql(at.url, 'CREATE TABLE files.some (SELECT 1 AS n)')
      await sql(at.url, 'CREATE VIEW some_rows AS (SELECT 1 AS n WHERE FALSE)')
    },
    then: () => sql(at.url, 'ALTER VIEW some_rows AS (SELECT 1 AS n)'),
  },
  {
    what: 'a training over SQL, and then another',
    method: 'POST',
    path: '/api/sql/query',
    body: { query: 'CREATE MODEL once FROM files (SELECT sqft, rental_price FROM rentals LIMIT 20) PREDICT rental_price' },
    then: () => sql(at.url, 'DROP MODEL once'),
  },
  {
    what: 'a training over REST, and then its model is gone',
    method: 'POST',
    path: `${project}/models`,
    body: { query: 'CREATE MODEL twice FROM files (SELECT sqft, rental_price FROM rentals LIMIT 20) PREDICT rental_price' },
    then: () => remove(`${project}/models/twice`),
  },
  {
    what: 'a table of rows, and then it is gone',
    method: 'POST',
    path: '/api/databases/files/tables',
    body: { table: { name: 'rows', select: 'SELECT 1 AS one' } },
    then: () => remove('/api/files/rows'),
  },
  {
    what: 'an upload, and then another file has the name',
    method: 'PUT',
    path: '/api/files/up',
    body: undefined,
    then: async () => {
      await remove('/api/files/up')
      return send(at.url, 'PUT', '/api/files/up', formOf('b\n2\n', 'up.csv'))
    },
  },
]

test.each(cases)('$what: the same answer to the byte, and no second effect', async ({ what, method, path, body, before, then }) => {
  await before?.()
  const sent = () =>
    raw(method, path, method === 'PUT' && path.includes('/files/') ? formOf('a\n1\n', 'up.csv') : body, what.replace(/\W+/g, '-'))
  const first = await sent()
  expect(first.status).toBeLessThan(300)
  expect(first.text).not.toContain('"type":"error"')
  await then()
  const position = await head()
  for (let i = 0; i < 3; i++) expect(await sent()).toEqual(first)
  // A training of the case may still end meanwhile.
  const types = (await at.service.log.readAll(position, 10)).map(({ text }) => (JSON.parse(text) as { type: string }).type)
  expect(types.filter((type) => !type.startsWith('ModelTrain'))).toEqual([])
})

test('a key that comes with another body is refused at every address, statements too', async () => {
  await raw('POST', `${project}/skills`, skill('first'), 'reused')
  for (const [method, path, body] of [
    ['POST', `${project}/skills`, skill('second')],
    ['PUT', `${project}/skills/first`, { skill: { type: 'u' } }],
    ['DELETE', `${project}/skills/first`, undefined],
    ['POST', '/api/sql/query', { query: 'DROP SKILL first' }],
    ['POST', '/api/sql/query', { query: 'SELECT 1' }],
    ['POST', `${project}/models/rent/predict`, [{ sqft: 500 }]],
    ['POST', `${project}/skills/first/rollback`, { version: 1 }],
    ['PUT', '/api/files/first', formOf('a\n1\n', 'a.csv')],
  ] as const)
    expect(await raw(method, path, body, 'reused')).toMatchObject({ status: 422, text: expect.stringContaining('idempotency_mismatch') })
})

test('a prediction is recorded once, and answered again with the version of then, kept nowhere in plain', async () => {
  const path = `${project}/models/rent/predict`
  const ask = () => raw('POST', path, [{ sqft: 555, location: 'good' }], 'predict')
  const [first, ...others] = await Promise.all([ask(), ask(), ask()])
  expect(first.status).toBe(200)
  for (const other of others) expect(other).toEqual(first)
  expect((await sql(at.url, 'SELECT count(*) FROM log.predictions WHERE "row" = 0')).data).toEqual([[1]])
  await sql(
    at.url,
    "RETRAIN rent FROM files (SELECT sqft, location, rooms, rental_price * 2 AS rental_price FROM rentals) USING preset = 'fast'",
  )
  expect(await settled(at.url, 'rent.2')).toBe('complete')
  const position = await head()
  expect(await ask()).toEqual(first)
  const anew = await raw('POST', path, [{ sqft: 555, location: 'good' }], 'anew')
  expect(anew.status).toBe(200)
  expect(anew.text).not.toBe(first.text)
  expect((await raw('POST', path, [{ sqft: 556 }], 'predict')).status).toBe(422)
  await remove(`${project}/models/rent`)
  expect(await ask()).toEqual(first)
  expect(await head()).toBe(position + 2)
})

test('a refusal is not remembered: sent again, the request may be carried out', async () => {
  const path = `${project}/skills/tardy`
  const change = () => raw('PUT', path, { skill: { params: { a: 1 } } }, 'tardy')
  expect((await change()).status).toBe(400)
  await send(at.url, 'POST', `${project}/skills`, skill('tardy'))
  expect((await change()).status).toBe(200)
})

test('what is read is not remembered', async () => {
  const count = async () => (await raw('POST', '/api/sql/query', { query: 'SELECT count(*) FROM skills' }, 'count')).text
  const before = await count()
  await send(at.url, 'POST', `${project}/skills`, skill('counted'))
  expect(await count()).not.toBe(before)
})

/** Carries a request out, and loses its answer before it is kept. */
const lose = async (ask: () => ReturnType<typeof raw>): Promise<void> => {
  const { log } = at.service
  const keep = log.keepReply.bind(log)
  log.keepReply = () => Promise.reject(new Problem('busy', 'Busy', 'the answer is lost'))
  expect((await ask()).status).toBe(503)
  log.keepReply = keep
}

test('an answer that was not kept was given to nobody; the next one is, and that for ever', async () => {
  const create = () => raw('POST', `${project}/skills`, skill('lost'), 'lost')
  await lose(create)
  const position = await head()
  const agent = { name: 'finder', model_name: 'm', skills: ['lost'] }
  await send(at.url, 'POST', `${project}/agents`, { agent })
  const first = await create()
  expect(first).toMatchObject({ status: 201, text: expect.stringContaining('"agent_ids":[') })
  await send(at.url, 'DELETE', `${project}/agents/finder`)
  expect(await create()).toEqual(first)
  expect(await head()).toBe(position + 2)
})

test('what is checked before its command is not checked again when its answer was lost', async () => {
  const model = new ScriptedModel()
  await model.start()
  const file = join(connected.path, 'shop.db')
  new Database(file).exec('CREATE TABLE items (id INTEGER)').close()
  await sql(at.url, 'CREATE TABLE files.viewed (SELECT 1 AS n)')
  const shop = { engine: 'sqlite', parameters: { path: 'shop.db' } }
  const requests: [string, string, object][] = [
    ['POST', `${project}/agents?check=true`, { agent: { name: 'checked', model: model.model } }],
    ['POST', '/api/databases', { database: { name: 'checked', ...shop }, check_connection: true }],
    ['PUT', '/api/databases/checked_too', { database: shop, check_connection: true }],
    ['POST', '/api/sql/query', { query: 'CREATE VIEW of_viewed AS (SELECT n FROM files.viewed)' }],
  ]
  const asks = requests.map(
    ([method, path, body], i) =>
      () =>
        raw(method, path, body, `checked-${i}`),
  )
  for (const ask of asks) await lose(ask)
  const [position, asked] = [await head(), model.asked.length]
  rmSync(file)
  await remove('/api/files/viewed')
  for (const ask of asks) {
    const answer = await ask()
    expect(answer).toMatchObject({ status: expect.any(Number), position: expect.stringMatching(/^\d+$/) })
    expect([200, 201]).toContain(answer.status)
    expect(answer.text).not.toContain('"type":"error"')
    expect(await ask()).toEqual(answer)
  }
  expect([await head(), model.asked.length]).toEqual([position + 1, asked])
  await model.stop()
})

test('a connection that could not be opened is tried again for the same key', async () => {
  const file = join(connected.path, 'late.db')
  const database = { name: 'late', engine: 'sqlite', parameters: { path: 'late.db' } }
  const create = () => raw('POST', '/api/databases', { database, check_connection: true }, 'late')
  expect((await create()).text).toContain('"status":"connection_error"')
  new Database(file).exec('CREATE TABLE items (id INTEGER)').close()
  expect((await create()).status).toBe(201)
})

describe('a SELECT with a model', () => {
  beforeAll(async () => {
    await sql(at.url, "CREATE MODEL scorer FROM files (SELECT sqft, rental_price FROM rentals) PREDICT rental_price USING preset = 'fast'")
    expect(await settled(at.url, 'scorer')).toBe('complete')
  })
  const ask = (query: string, key: string) => raw('POST', '/api/sql/query', { query }, key)

  test('is recorded and answered once', async () => {
    const query = 'SELECT * FROM scorer WHERE sqft = 700'
    const first = await ask(query, 'scored')
    expect(first.text).toContain('"type":"table"')
    const position = await head()
    expect(await ask(query, 'scored')).toEqual(first)
    expect(await head()).toBe(position)
  })

  test('whose answer is too long to be kept is sent whole, and runs again', async () => {
    const query = `SELECT rental_price, repeat('x', ${limits.keptReplyMaxBytes}) AS wide FROM scorer WHERE sqft = 700`
    const first = await ask(query, 'long')
    expect((JSON.parse(first.text) as { data: [[number, string]] }).data[0][1]).toHaveLength(limits.keptReplyMaxBytes)
    const position = await head()
    expect((await ask(query, 'long')).text === first.text).toBe(true)
    expect(await head()).toBeGreaterThan(position)
  })

  test('is a whole Parquet file with a key, too', async () => {
    const answer = await fetch(`${at.url}/api/sql/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'file' },
      body: JSON.stringify({ query: 'SELECT sqft, rental_price FROM scorer WHERE sqft = 700', response_format: 'parquet' }),
    })
    const form = new FormData()
    form.append('file', new Blob([await answer.arrayBuffer()]), 'scored.parquet')
    expect(await send(at.url, 'PUT', '/api/files/scored', form)).toMatchObject({ status: 200 })
    expect((await sql(at.url, 'SELECT sqft FROM files.scored')).data).toEqual([[700]])
  })

  test('that ends in an error runs again', async () => {
    await sql(at.url, 'CREATE VIEW broken AS (SELECT 29999 AS n)')
    // More than DuckDB buffers, so that the first rows come before the last one fails.
    const columns = Array.from({ length: 20 }, (_, n) => `t.i % ${n + 2} AS c${n}`).join(', ')
    const scored = `SELECT t.i, m.rental_price, ${columns} FROM (SELECT i, i / 10 AS sqft FROM range(30000) AS r(i)) AS t JOIN scorer AS m`
    const query = `SELECT q.*, CAST(CASE WHEN q.i = b.n THEN 'boo' ELSE '1' END AS INTEGER) AS v FROM (${scored}) AS q, broken AS b`
    expect((await ask(query, 'fails')).text).toContain('"type":"error"')
    await sql(at.url, 'ALTER VIEW broken AS (SELECT 30000 AS n)')
    const whole = await ask(query, 'fails')
    expect(whole.text).toContain('"type":"table"')
    expect((await ask(query, 'fails')).text === whole.text).toBe(true)
  })
})

test('a statement whose answer was lost is answered under its key, also if what it needs is gone meanwhile', async () => {
  const { log } = at.service
  const keep = log.keepReply.bind(log)
  await sql(at.url, 'CREATE PROJECT fleeting')
  const statements = { 'lost-view': 'CREATE VIEW fleeting.v AS (SELECT 1 AS one)', 'lost-project': 'CREATE OR REPLACE PROJECT renewed' }
  const sent = async () => {
    const answers = []
    for (const [key, query] of Object.entries(statements)) answers.push(await raw('POST', '/api/sql/query', { query }, key))
    return answers
  }
  log.keepReply = () => Promise.reject(new Problem('busy', 'Busy', 'the answer is lost'))
  expect((await sent()).map(({ status }) => status)).toEqual([503, 503])
  log.keepReply = keep
  await sql(at.url, 'DROP VIEW fleeting.v')
  await sql(at.url, 'DROP PROJECT fleeting')
  for (const { text } of await sent()) expect(text).toContain('"type":"ok"')
})
