import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { settled, trainRent } from '../../../support/models/rentals.js'
import { send, sql, startTestService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await trainRent(at.url)
})
afterAll(() => at.stop())

const models = '/api/projects/mindsdb/models'
type Row = Record<string, unknown>
const predict = async (body: unknown, model = 'rent', prefix = '/api/projects') => {
  const reply = await send(at.url, 'POST', `${prefix}/mindsdb/models/${model}/predict`, body)
  return { status: reply.status, body: reply.body as Row[] & Row }
}

/** A GET with a body, which fetch does not send. */
const getWith = (path: string, text: string): Promise<{ status: number | undefined; body: unknown }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(at.url)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const sent = request({ hostname, port, path, method: 'GET', headers }, (res) => {
      let read = ''
      res.on('data', (chunk) => (read += String(chunk))).on('end', () => resolve({ status: res.statusCode, body: JSON.parse(read) }))
    })
    sent.on('error', reject).end(text)
  })

const target = 'rental_price'
const answerOf = (inputs: Row, original: unknown = null) => ({
  ...inputs,
  [target]: expect.any(Number),
  __service_row_id: null,
  select_data_query: null,
  when_data: null,
  [`${target}_original`]: original,
  [`${target}_confidence`]: expect.any(Number),
  [`${target}_explain`]: expect.any(String),
  [`${target}_anomaly`]: original === null ? null : expect.any(Boolean),
  [`${target}_min`]: expect.any(Number),
  [`${target}_max`]: expect.any(Number),
})

test('predict answers exactly the documented columns, under every prefix', async () => {
  for (const prefix of ['/api/projects', '/projects', '/api/v1/api/projects', '/v1/projects']) {
    const { status, body } = await predict([{ sqft: 900, location: 'good' }], 'rent', prefix)
    expect({ status, body }).toEqual({ status: 200, body: [answerOf({ sqft: 900, location: 'good', rooms: null })] })
    const [row = {}] = body
    const explain = JSON.parse(String(row[`${target}_explain`])) as Row
    expect(explain).toEqual({
      predicted_value: row[target],
      confidence: row[`${target}_confidence`],
      anomaly: null,
      truth: null,
      confidence_lower_bound: row[`${target}_min`],
      confidence_upper_bound: row[`${target}_max`],
    })
    expect(Number(row[`${target}_min`])).toBeLessThanOrEqual(Number(row[target]))
    expect(Number(row[`${target}_max`])).toBeGreaterThanOrEqual(Number(row[target]))
  }
})

test('rows come as a bare array, under data, as columns, or as JSON text of either; the answers are the same', async () => {
  const rows = [
    { sqft: 900, rooms: 1 },
    { sqft: 1200, rooms: 2 },
  ]
  const columns = { sqft: [900, 1200], rooms: [1, 2] }
  const { body } = await predict(rows)
  expect(body).toHaveLength(2)
  for (const sent of [
    { data: rows },
    { data: rows, params: {} },
    { data: rows, params: null },
    { data: columns },
    { data: JSON.stringify(rows) },
    { data: JSON.stringify(columns) },
  ])
    expect(await predict(sent)).toEqual({ status: 200, body })
  for (const empty of [[], { data: [] }, { data: {} }, { data: '[]' }]) expect(await predict(empty)).toEqual({ status: 200, body: [] })
  expect(await predict([{}])).toEqual({ status: 200, body: [answerOf({ sqft: null, location: null, rooms: null })] })
})

test('numbers may come as text, names in any case, unseen classes and nulls are taken', async () => {
  const { body } = await predict([{ sqft: 900, rooms: 1, location: 'good' }])
  const texts = await predict([{ sqft: '900', rooms: '1', location: 'good' }])
  expect(texts.body[0]?.[target]).toBe(body[0]?.[target])
  expect((await predict([{ SQFT: 900, Rooms: 1, LOCATION: 'good' }])).body[0]?.[target]).toBe(body[0]?.[target])
  expect((await predict([{ sqft: null, rooms: null, location: 'never seen' }])).status).toBe(200)
})

test('a target among the inputs is the truth that the prediction is compared with', async () => {
  const [near, far] = (
    await predict([
      { sqft: 900, [target]: 3700 },
      { sqft: 900, [target]: 1_000_000 },
    ])
  ).body
  expect(near).toEqual(answerOf({ sqft: 900, location: null, rooms: null }, 3700))
  expect(far).toMatchObject({ [`${target}_original`]: 1_000_000, [`${target}_anomaly`]: true })
  expect(JSON.parse(String(far?.[`${target}_explain`]))).toMatchObject({ truth: 1_000_000, anomaly: true })
})

test('params say which version answers, at which level, and whether contributions are told; what there is not is refused', async () => {
  const rows = [{ sqft: 900, rooms: 1, location: 'good' }]
  const plain = await predict(rows)
  expect(await predict({ data: rows, params: { version: 1 } })).toEqual(plain)
  expect(await predict({ data: rows, params: { version: 1 } }, 'rent.1')).toEqual(plain)
  expect((await predict({ data: rows, params: { confidence: 0.5 } })).body[0]).toMatchObject({ [`${target}_confidence`]: 0.5 })
  const [told] = (await predict({ data: rows, params: { explain: 'contributions' } })).body
  const { contributions } = JSON.parse(String(told?.[`${target}_explain`])) as {
    contributions: { base: number; inputs: Record<string, number>; rest: number; sum: number }
  }
  const { base, inputs, rest, sum } = contributions
  expect(Object.keys(inputs).sort()).toEqual(['location', 'rooms', 'sqft'])
  expect(sum).toBe(plain.body[0]?.[target])
  expect(Object.values(inputs).reduce((total, part) => total + part, base) + rest).toBeCloseTo(sum, 8)

  for (const [params, model, status, said] of [
    [{ version: 9 }, 'rent', 404, /has no version 9/],
    [{ version: 2 }, 'rent.1', 400, /params.version is 2, and the path names version 1/],
    [{ version: '1' }, 'rent', 400, /params.version: "1" is not the number/],
    [{ confidence: 2 }, 'rent', 400, /"confidence" is 2/],
    [{ explain: 'shap' }, 'rent', 400, /params.explain: there is no "shap"/],
    [{ confidense: 0.5 }, 'rent', 400, /params: there is no "confidense"/],
  ] as const) {
    const { status: got, body } = await predict({ data: rows, params }, model)
    expect({ got, body }).toEqual({ got: status, body: expect.objectContaining({ detail: expect.stringMatching(said) }) })
  }
  expect((await predict({ data: rows, params: { confidense: 0.5 } })).body).toMatchObject({ hint: expect.stringContaining('"confidence"') })
})

test('a statement that names another project than its path makes no model in either', async () => {
  await sql(at.url, 'CREATE PROJECT annex')
  const query = 'CREATE MODEL annex.astray FROM files (SELECT * FROM rentals) PREDICT rental_price'
  expect(await send(at.url, 'POST', models, { query })).toMatchObject({
    status: 400,
    body: { code: 'wrong_arguments', detail: 'the statement names project annex, and the path mindsdb' },
  })
  for (const project of ['annex', 'mindsdb'])
    expect(await send(at.url, 'GET', `/api/projects/${project}/models/astray`)).toMatchObject({ status: 404 })
})

test('a model is created by its statement, read in both records, retrained, read by version, and deleted', async () => {
  const query = 'CREATE MODEL mindsdb.Life FROM files (SELECT * FROM rentals LIMIT 60) PREDICT rental_price'
  expect(await send(at.url, 'POST', models, { query })).toMatchObject({
    status: 201,
    body: {
      name: 'Life',
      accuracy: null,
      active: true,
      version: 1,
      status: 'generating',
      predict: target,
      error: null,
      problem_definition: expect.any(String),
      fetch_data_query: expect.stringContaining('rentals'),
    },
  })
  expect(await send(at.url, 'POST', models, { query })).toMatchObject({ status: 409, body: { title: 'Model already exists' } })
  expect(await settled(at.url, 'life')).toBe('complete')
  const record = {
    id: expect.any(Number),
    name: 'Life',
    version: 1,
    is_active: null,
    predict: target,
    status: 'complete',
    problem_definition: { __mdb_sql_task: null, target },
    current_phase: null,
    accuracy: expect.any(Number),
    data_source: 'files',
    update: 'up_to_date',
    active: true,
    mindsdb_version: expect.any(String),
    error: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    fetch_data_query: expect.any(String),
    training_time: expect.any(Number),
    recording: 'all',
  }
  const one = await send(at.url, 'GET', `${models}/life`)
  expect(one.body).toEqual({ ...record, engine: expect.any(String), engine_name: expect.any(String) })
  expect((await send(at.url, 'GET', models)).body).toContainEqual(record)
  const { accuracy } = one.body as { accuracy: number }
  expect(String(accuracy).length).toBeLessThanOrEqual(15)
  expect(await sql(at.url, "SELECT accuracy FROM models WHERE name = 'life'")).toMatchObject({
    data: [[accuracy]],
    column_types: ['DOUBLE'],
  })
  // Times of records have whole seconds.
  await sleep(1_100)
  expect(await sql(at.url, 'RETRAIN mindsdb.life')).toMatchObject({ type: 'table' })
  await settled(at.url, 'life.2')
  const requested = "SELECT CAST(date_trunc('second', created_at) AS VARCHAR) FROM models WHERE name = 'life' ORDER BY version"
  const times = (await sql(at.url, requested)).data.flat()
  const records = ((await send(at.url, 'GET', models)).body as Row[]).filter(({ name }) => name === 'Life')
  expect(new Set(times).size).toBe(2)
  expect(records.map(({ created_at }) => created_at)).toEqual(times)
  expect(await send(at.url, 'GET', `${models}/life.2`)).toMatchObject({ body: { created_at: times[1] } })
  expect(await send(at.url, 'GET', `${models}/life`)).toMatchObject({ body: { version: 2, active: true } })
  expect(await send(at.url, 'GET', `${models}/life.1`)).toMatchObject({ body: { version: 1, active: false } })
  expect(((await send(at.url, 'GET', models)).body as Row[]).filter(({ name }) => name === 'Life').map(({ version }) => version)).toEqual([
    1, 2,
  ])
  for (const version of ['life.1', 'life.2', 'LIFE']) expect((await predict([{ sqft: 900 }], version)).status).toBe(200)
  for (const missing of ['life.3', 'life.x', 'life.0', 'none', 'none.1'])
    expect(await predict([{ sqft: 900 }], missing)).toMatchObject({ status: 404, body: { title: 'Model not found' } })
  expect(await send(at.url, 'DELETE', `${models}/life.2`)).toMatchObject({ status: 409 })
  expect((await send(at.url, 'DELETE', `${models}/life.1`)).status).toBe(204)
  expect((await send(at.url, 'GET', `${models}/life.1`)).status).toBe(404)
  const remove = (key: string) => send(at.url, 'DELETE', `${models}/life`, undefined, { 'idempotency-key': key })
  expect((await remove('gone')).status).toBe(204)
  expect((await remove('gone')).status).toBe(204)
  expect(await remove('again')).toMatchObject({ status: 404, body: { title: 'Model not found' } })
  expect(await send(at.url, 'DELETE', `${models}/life.7`)).toMatchObject({ status: 404, body: { title: 'Model not found' } })
})

test('a model of a project that got another name goes on reading it, and shows that name', async () => {
  for (const statement of ['CREATE PROJECT shop', 'CREATE VIEW shop.roomy AS (SELECT * FROM files.rentals WHERE rooms > 0 LIMIT 30)'])
    expect(await sql(at.url, statement)).toMatchObject({ type: 'ok' })
  expect(await sql(at.url, 'CREATE MODEL shop.rent FROM shop (SELECT * FROM roomy) PREDICT rental_price')).toMatchObject({ type: 'table' })
  expect(await settled(at.url, 'rent', 'shop')).toBe('complete')
  const source = async (project: string) => (await send(at.url, 'GET', `/api/projects/${project}/models/rent`)).body
  expect(await source('shop')).toMatchObject({ data_source: 'shop' })
  await sql(at.url, "ALTER DATABASE shop NAME = 'depot'")
  expect(await source('depot')).toMatchObject({ data_source: 'depot' })
  expect(await sql(at.url, 'RETRAIN depot.rent')).toMatchObject({ type: 'table' })
  expect(await settled(at.url, 'rent.2', 'depot')).toBe('complete')
})

test('a model is described with and without a body', async () => {
  const whole = await send(at.url, 'GET', `${models}/rent/describe`)
  expect(whole).toMatchObject({ status: 200, body: [expect.objectContaining({ NAME: 'rent' })] })
  expect(await getWith(`${models}/rent/describe`, '{}')).toEqual({ status: 200, body: whole.body })
  const features = await send(at.url, 'GET', `${models}/rent/describe?attribute=features`)
  expect(features.body).toContainEqual(expect.objectContaining({ column: 'sqft', role: 'feature' }))
  expect(await getWith(`${models}/rent/describe`, '{"attribute":"features"}')).toEqual({ status: 200, body: features.body })
  expect(await send(at.url, 'GET', `${models}/rent.1/describe`)).toMatchObject({ status: 200 })
  expect((await send(at.url, 'GET', `${models}/none/describe`)).status).toBe(404)
  expect((await send(at.url, 'GET', `${models}/rent/describe?attribute=nonsense`)).status).toBe(404)
  expect((await send(at.url, 'GET', `${models}/rent/describe?attribute=a&attribute=b`)).status).toBe(400)
  expect((await getWith(`${models}/rent/describe`, '{"attribute":5}')).status).toBe(400)
  expect((await getWith(`${models}/rent/describe`, '[]')).status).toBe(400)
})

test.each([
  ['FROM files (SELECT * FROM rentals) PREDICT rental_prize', /no column "rental_prize" to predict.*Did you mean "rental_price"\?/s],
  ['FROM files (SELECT * FROM rentls) PREDICT rental_price', /rentls.*rentals/s],
  ['FROM files (SELECT sqtf FROM rentals) PREDICT rental_price', /sqtf.*sqft/s],
  ['FROM nowhere (SELECT * FROM rentals) PREDICT rental_price', /nowhere/],
  ['FROM files (SELECT [sqft] AS sizes, rooms FROM rentals) PREDICT sizes', /"sizes" is of the type .*\[\], which cannot be predicted/],
  ["FROM files (SELECT * FROM rentals) PREDICT rental_price USING exclude = 'rooom'", /exclude names "rooom".*Did you mean "rooms"\?/s],
  ["FROM files (SELECT * FROM rentals) PREDICT rental_price USING group_by = ['sqft', 'x']", /group_by names "x"/],
  ['FROM files (SELECT * FROM rentals) PREDICT rental_price ORDER BY day HORIZON 3', /order_by names "day"/],
])('what can be known with the statement is refused with it, and no name is taken: %s', async (what, reason) => {
  const query = `CREATE MODEL mindsdb.bad ${what}`
  expect(await sql(at.url, query)).toMatchObject({ type: 'error', error_message: expect.stringMatching(reason) })
  const { status, body } = await send(at.url, 'POST', models, { query })
  expect({ is4xx: status >= 400 && status < 500, body }).toMatchObject({ is4xx: true })
  const { detail, hint = '' } = body as { detail: string; hint?: string }
  expect(`${detail}\n${hint}`).toMatch(reason)
  expect((await send(at.url, 'GET', `${models}/bad`)).status).toBe(404)
})

test('rows that come with the statement are checked as well, and RETRAIN and FINETUNE are', async () => {
  const body = { query: 'CREATE MODEL fees PREDICT fe', data: [{ size: 30, fee: 310 }] }
  expect(await send(at.url, 'POST', models, body)).toMatchObject({ status: 400, body: { hint: 'Did you mean "fee"?' } })
  expect((await send(at.url, 'GET', '/api/files')).body).not.toContainEqual(expect.objectContaining({ name: 'fees_rows' }))
  for (const statement of [
    'RETRAIN rent PREDICT rental_prize',
    'RETRAIN rent FROM files (SELECT sqft FROM rentals)',
    'FINETUNE rent FROM files (SELECT sqft FROM rentals)',
    'FINETUNE rent FROM files (SELECT * FROM rentls)',
  ])
    expect({ statement, ...(await sql(at.url, statement)) }).toMatchObject({ statement, type: 'error' })
  expect((await sql(at.url, "SELECT count(*) FROM models WHERE name = 'rent'")).data).toEqual([[1]])
})

test('a training that fails says why, predict then answers 409, and the same statement works when the reason is gone', async () => {
  const fill = (rows: number) => sql(at.url, `CREATE OR REPLACE TABLE files.few (SELECT * FROM rentals LIMIT ${rows})`, 'files')
  await fill(3)
  const create = 'CREATE MODEL mindsdb.early FROM files (SELECT * FROM few) PREDICT rental_price USING recording = off'
  expect(await sql(at.url, create)).toMatchObject({ type: 'table' })
  expect(await settled(at.url, 'early')).toBe('error')
  expect(await send(at.url, 'GET', `${models}/early`)).toMatchObject({ body: { error: expect.stringContaining('Only 3 rows') } })
  expect(await predict([{ sqft: 1 }], 'early')).toMatchObject({ status: 409, body: { code: 'not_ready' } })
  await fill(60)
  const again = await send(at.url, 'POST', models, { query: create.replace(' USING recording = off', '') })
  expect(again).toMatchObject({ status: 201, body: { version: 2, active: true } })
  expect(await settled(at.url, 'early')).toBe('complete')
  expect(await send(at.url, 'GET', `${models}/early`)).toMatchObject({ body: { version: 2, active: true, recording: 'all' } })
  expect((await sql(at.url, "SELECT version, status FROM models WHERE name = 'early' ORDER BY version")).data).toEqual([
    [1, 'error'],
    [2, 'complete'],
  ])
  expect(await send(at.url, 'POST', models, { query: create })).toMatchObject({ status: 409 })
  expect(await sql(at.url, create.replace('MODEL', 'MODEL IF NOT EXISTS'))).toMatchObject({ type: 'ok' })
})

test.each([
  ['text', 'location', ['good', 'great', 'poor']],
  ['boolean', 'is_big', [true, false]],
  ['integer', 'rooms', [0, 1, 2, 3]],
])('a predicted %s is of its own type', async (kind, column, values) => {
  const query = `CREATE MODEL mindsdb.of_${kind} FROM files (SELECT *, sqft > 1000 AS is_big FROM rentals) PREDICT ${column} USING preset = 'fast'`
  expect((await send(at.url, 'POST', models, { query })).status).toBe(201)
  expect(await settled(at.url, `of_${kind}`)).toBe('complete')
  const { body } = await predict(
    [
      { sqft: 500, rental_price: 2100 },
      { sqft: 1500, rental_price: 6100, [column]: values[0] },
    ],
    `of_${kind}`,
  )
  for (const row of body) expect(values).toContain(row[column])
  expect(body[1]?.[`${column}_original`]).toBe(values[0])
  const explain = JSON.parse(String(body[0]?.[`${column}_explain`])) as Row
  expect(explain['predicted_value']).toBe(body[0]?.[column])
  if (kind !== 'integer') for (const value of values) expect(explain[`probability_class_${String(value)}`]).toEqual(expect.any(Number))
})

test('columns of everything are listed although there are models', async () => {
  const { data } = await sql(
    at.url,
    `SELECT column_name FROM information_schema.columns WHERE table_schema = 'mindsdb' AND table_name = 'rent'`,
  )
  expect(data.flat()).toEqual(expect.arrayContaining(['sqft', 'location', 'rooms', target, `${target}_explain`]))
  expect(await sql(at.url, 'SHOW COLUMNS FROM files.rentals')).toMatchObject({
    type: 'table',
    column_names: ['Field', 'Type', 'Null', 'Key', 'Default', 'Extra'],
  })
})
