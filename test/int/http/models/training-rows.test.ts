import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { join } from 'node:path'
import { Blobs } from '../../../../src/files/blobs.js'
import { rentalsCsv, settled, uploadRentals } from '../../../support/models/rentals.js'
import { send, sql, startTestService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
})
afterAll(() => at.stop())

type Row = Record<string, string | number>
const count = 60
const [header = [], ...lines] = rentalsCsv
  .split('\n')
  .slice(0, 1 + count)
  .map((line) => line.split(','))
const rows = lines.map(
  (values) => Object.fromEntries(values.map((value, i) => [header[i], i === header.indexOf('location') ? value : Number(value)])) as Row,
)
const few = rows.slice(0, 30)
const columns = Object.fromEntries(header.map((name) => [name, rows.map((row) => row[name])]))

const path = '/api/projects/mindsdb/models'
const create = (
  name: string,
  data: unknown,
  statement = `CREATE MODEL ${name} PREDICT rental_price USING seed = 7, preset = 'fast'`,
  headers = {},
) => send(at.url, 'POST', path, { query: statement, data }, headers)
const fileOf = (name: string) => send(at.url, 'GET', `/api/files/${name}_rows`)

test('a model learns from the rows that come with its statement as from a file that holds them', async () => {
  await uploadRentals(at.url, 'rentals', count)
  await sql(at.url, "CREATE MODEL mindsdb.stored FROM files (SELECT * FROM rentals) PREDICT rental_price USING seed = 7, preset = 'fast'")
  expect(await settled(at.url, 'stored')).toBe('complete')
  for (const [name, data] of Object.entries({ listed: rows, columns, text: JSON.stringify(rows) })) {
    const { status, body } = await create(name, data)
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { name, status: 'generating', fetch_data_query: `SELECT * FROM "${name}_rows"` },
    })
    expect(await settled(at.url, name)).toBe('complete')
    expect((await fileOf(name)).body).toMatchObject({
      name: `${name}_rows`,
      row_count: count,
      columns: header.map((column) => ({ name: column })),
    })
  }
  const artefacts = "SELECT DISTINCT data->>'artefact' FROM log.events WHERE type = 'ModelTrained'"
  expect((await sql(at.url, artefacts)).data).toHaveLength(1)
})

test('a model can be trained again from the rows that it came with', async () => {
  expect((await create('lasting', few)).status).toBe(201)
  await settled(at.url, 'lasting')
  expect((await sql(at.url, 'RETRAIN mindsdb.lasting')).error_message).toBeUndefined()
  expect(await settled(at.url, 'lasting.2')).toBe('complete')
})

test('where the model is refused, its rows are not kept', async () => {
  expect((await create('twice', few)).status).toBe(201)
  // A model whose first training fails gives its name back.
  expect(await settled(at.url, 'twice')).toBe('complete')
  expect((await send(at.url, 'DELETE', '/api/files/twice_rows')).status).toBe(200)
  const blobs = new Blobs(join(at.directory, 'blobs'))
  const before = await blobs.list()
  expect((await create('twice', rows.slice(0, 31))).status).toBe(409)
  expect((await fileOf('twice')).status).toBe(404)
  expect(await blobs.list()).toEqual(before)
})

test('where data is erased while they are stored, the request is refused, and accepted when it comes again', async () => {
  await uploadRentals(at.url, 'leaving')
  const put = jest.spyOn(Blobs.prototype, 'put')
  try {
    put.mockImplementationOnce(async function (this: Blobs, file) {
      const sha = await this.put(file)
      expect(await send(at.url, 'POST', '/api/log/erasures', { file: { name: 'leaving' }, shared: true })).toMatchObject({ status: 200 })
      return sha
    })
    expect(await create('raced', few)).toMatchObject({ status: 503, body: { code: 'busy' } })
    expect((await fileOf('raced')).status).toBe(404)
    expect((await create('raced', few)).status).toBe(201)
  } finally {
    put.mockRestore()
  }
})

test('nor is there a model where the name of its rows is taken', async () => {
  await uploadRentals(at.url, 'taken_rows')
  const { status, body } = await create('taken', few)
  expect({ status, body }).toMatchObject({ status: 400, body: { title: 'File already exists' } })
  expect((await send(at.url, 'GET', `${path}/taken`)).status).toBe(404)
})

test('OR REPLACE replaces the model and its rows', async () => {
  await create('fresh', few)
  await settled(at.url, 'fresh')
  const { status } = await create('fresh', rows.slice(0, 20), "CREATE OR REPLACE MODEL fresh PREDICT rental_price USING preset = 'fast'")
  expect(status).toBe(201)
  expect(await settled(at.url, 'fresh')).toBe('complete')
  expect((await fileOf('fresh')).body).toMatchObject({ row_count: 20 })
})

test('the same request under one key makes one model; a dry run makes none', async () => {
  const dry = await create('keyed', few, undefined, { Prefer: 'dry-run' })
  expect(dry.status).toBe(200)
  expect(dry.headers.get('preference-applied')).toBe('dry-run')
  const { events } = dry.body as { events: { type: string }[] }
  expect(events.map(({ type }) => type)).toEqual(['FileCreated', 'ModelCreated', 'ModelTrainingRequested', 'ModelVersionActivated'])
  const [first, second] = [
    await create('keyed', few, undefined, { 'Idempotency-Key': 'k' }),
    await create('keyed', few, undefined, { 'Idempotency-Key': 'k' }),
  ]
  expect([first.status, second.status, second.body]).toEqual([201, 201, first.body])
  expect((await sql(at.url, "SELECT count(*) FROM models WHERE name = 'keyed'")).data).toEqual([[1]])
})

test.each([
  ['FROM beside them', rows, 'CREATE MODEL odd FROM files (SELECT * FROM rentals) PREDICT rental_price', /FROM/],
  ['IF NOT EXISTS', rows, 'CREATE MODEL IF NOT EXISTS odd PREDICT rental_price', /IF NOT EXISTS/],
  ['an imported model', rows, "CREATE MODEL odd USING engine = 'onnx', file = 'rentals'", /import/],
  ['no rows', [], undefined, /row/],
  ['a row that is none', [1], undefined, /row 0/],
  ['columns of different lengths', { a: [1], b: [] }, undefined, /data\.b/],
  ['no JSON', '[', undefined, /well-formed/],
  ['null', null, undefined, /data/],
  ['too many rows', { a: Array.from({ length: 100_001 }, () => 1) }, undefined, /at most 100000/],
])('rows are refused with %s', async (_what, data, statement, reason) => {
  const { status, body } = await create('odd', data, statement)
  expect({ status, text: JSON.stringify(body) }).toEqual({ status: 400, text: expect.stringMatching(reason) })
  expect((await fileOf('odd')).status).toBe(404)
})
