import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { formOf, settled } from '../../../support/models/rentals.js'
import { send, sql, startTestService } from '../../../support/service.js'

const places = ['north', 'south', 'east', 'Straße', 'west'] as const
const csv = [
  'id,size,rooms,place,day,new,rent,tier',
  ...Array.from({ length: 1000 }, (_, i) => {
    const size = ((i * 37) % 211) + i / 7
    const rent = size * 11.3 + (i % 5) * 40 + ((i * 7919) % 97)
    const day = `2024-0${(i % 9) + 1}-1${i % 10}`
    return [
      i,
      i % 31 === 0 ? '' : size,
      i % 5,
      i % 41 === 0 ? '' : places[i % 4],
      day,
      i % 2 === 0,
      rent,
      rent > 1600 ? 'high' : rent > 900 ? 'mid' : 'low',
    ].join(',')
  }),
].join('\n')

const quick = "seed = 1, preset = 'fast'"
let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await send(at.url, 'PUT', '/api/files/homes', formOf(csv, 'homes.csv'))
  await sql(at.url, `CREATE MODEL mindsdb.rents FROM files (SELECT * EXCLUDE (id, tier) FROM homes) PREDICT rent USING ${quick}`)
  await sql(at.url, `CREATE MODEL mindsdb.tiers FROM files (SELECT * EXCLUDE (id, rent) FROM homes) PREDICT tier USING ${quick}`)
  for (const name of ['rents', 'tiers']) expect(await settled(at.url, name)).toBe('complete')
})
afterAll(() => at.stop())

type Row = Record<string, unknown>
const objects = async (query: string): Promise<Row[]> => {
  const { column_names, data, error_message } = await sql(at.url, query)
  expect(error_message).toBeUndefined()
  return data.map((values) => Object.fromEntries(column_names.map((name, i) => [name, values[i]])))
}
const predicted = async (model: string, data: Row[], params: Row = {}): Promise<Row[]> =>
  (await send(at.url, 'POST', `/api/projects/mindsdb/models/${model}/predict`, { data, params })).body as Row[]

test.each([
  ['rents', 'rent', 'tier'],
  ['tiers', 'tier', 'rent'],
])('a JOIN gives the numbers of a request, bit for bit, for 1,000 rows: %s', async (model, target, other) => {
  const joined = await objects(
    `SELECT t.*, m.* EXCLUDE (size, rooms, place, day, new) FROM files.homes AS t JOIN ${model} AS m ORDER BY t.id`,
  )
  const rows = await objects(`SELECT * EXCLUDE (id, ${other}) FROM files.homes ORDER BY id`)
  expect(rows).toHaveLength(1000)
  const answers = await predicted(model, rows)
  const columns = [target, ...['original', 'confidence', 'anomaly', 'min', 'max'].map((suffix) => `${target}_${suffix}`)]
  const of = (row: Row | undefined) => columns.map((column) => row?.[column])
  expect(joined.map(of)).toEqual(answers.map(of))
  const explained = (row: Row) => JSON.parse(String(row[`${target}_explain`])) as unknown
  expect(joined.map(explained)).toEqual(answers.map(explained))
})

test('USING confidence gives the intervals of a request with that level', async () => {
  const joined = await objects(
    'SELECT m.rent_min, m.rent_max FROM files.homes AS t JOIN rents AS m ORDER BY t.id LIMIT 50 USING confidence = 0.5',
  )
  const answers = await predicted('rents', await objects('SELECT * EXCLUDE (id, tier) FROM files.homes ORDER BY id LIMIT 50'), {
    confidence: 0.5,
  })
  expect(joined).toEqual(answers.map(({ rent_min, rent_max }) => ({ rent_min, rent_max })))
})

test('a JOIN leaves a receipt that says the truth; what was not scored leaves none', async () => {
  const receipts = () => objects("SELECT model, version, rows, statement FROM log.prediction_receipts WHERE statement LIKE '%receipt%'")
  await objects('SELECT t.id FROM files.homes AS t JOIN rents AS m /* no receipt */')
  expect(await receipts()).toEqual([])
  const statement = 'SELECT m.rent FROM files.homes AS t JOIN rents AS m WHERE t.id < 100 AND m.rent > 0 /* receipt */'
  await objects(statement)
  await objects('SELECT a.rent, b.tier FROM files.homes AS t JOIN rents AS a JOIN tiers AS b ORDER BY t.id LIMIT 7 /* receipt */')
  const found = await receipts()
  expect(found.map(({ version, rows }) => [version, rows]).sort()).toEqual([
    [1, 100],
    [1, 7],
    [1, 7],
  ])
  expect(found).toContainEqual(expect.objectContaining({ rows: 100, statement }))
})

test('rows given in WHERE are recorded as those of a request are, and give the same', async () => {
  const [row = {}] = await objects("SELECT * FROM rents WHERE size = 61.5 AND place = 'north' AND new = true")
  const [answer = {}] = await predicted('rents', [{ size: 61.5, place: 'north', new: true }])
  for (const column of ['rent', 'rent_min', 'rent_max', 'rent_confidence']) expect(row[column]).toBe(answer[column])
  const recorded = await objects('SELECT input, output, source FROM log.predictions ORDER BY position DESC LIMIT 2')
  expect(recorded.map(({ source }) => source).sort()).toEqual(['rest', 'sql'])
  const [one, two] = recorded.map(({ input, output }) => [JSON.parse(String(input)) as unknown, JSON.parse(String(output)) as Row])
  expect(one?.[0]).toEqual(two?.[0])
  expect((one?.[1] as Row)['value']).toBe((two?.[1] as Row)['value'])
})

test.each([
  ['a new table', "CREATE TABLE files.kept (SELECT rent FROM rents WHERE size = 61.5 AND place = 'north')"],
  ['a table', "INSERT INTO files.kept SELECT rent FROM rents WHERE size IN (61.5, 62.5) AND place = 'north'"],
])('rows given in WHERE are recorded before they are in %s', async (_, statement) => {
  const recorded = () => objects('SELECT count(*) AS n FROM log.predictions')
  const [before] = await recorded()
  const { affected_rows: rows } = (await sql(at.url, statement)) as { affected_rows?: number }
  expect(rows).toBeGreaterThan(0)
  expect(await recorded()).toEqual([{ n: Number(before?.['n']) + Number(rows) }])
})

test('rows given in WHERE are recorded before they are in a Parquet answer', async () => {
  const query = "SELECT rent FROM rents WHERE size = 63.5 AND place = 'north'"
  const { status } = await send(at.url, 'POST', '/api/sql/query', { query }, { accept: 'application/vnd.apache.parquet' })
  expect(status).toBe(200)
  const [recorded = {}] = await objects('SELECT input FROM log.predictions ORDER BY position DESC LIMIT 1')
  expect(JSON.parse(String(recorded['input']))).toEqual({ size: 63.5, place: 'north' })
})

test.each([
  [`size = (SELECT CAST(61.1 AS FLOAT)) AND place = DATE '2024-01-01'`, { size: 61.1, place: '2024-01-01' }],
  [`place = 1.50 AND day = TIMESTAMP '2024-03-12 10:30:00'`, { place: '1.50', day: '2024-03-12' }],
  [`size = 61.1 AND rooms = true AND day = DATE 'infinity'`, { size: 61.1, rooms: 1 }],
])('a row given by WHERE %s is recorded with the values that are answered', async (where, input) => {
  const [row = {}] = await objects(`SELECT * FROM rents WHERE ${where}`)
  const [recorded = {}] = await objects('SELECT input, output FROM log.predictions ORDER BY position DESC LIMIT 1')
  expect(JSON.parse(String(recorded['input']))).toEqual(input)
  expect((JSON.parse(String(recorded['output'])) as Row)['value']).toBe(row['rent'])
  const [answer = {}] = await predicted('rents', [input])
  expect(row['rent']).toBe(answer['rent'])
})

test.each([
  [`SELECT m.rent FROM (SELECT 'large' AS size) AS t JOIN rents AS m`, /rents.*size.*large/],
  [`SELECT m.rent FROM (SELECT 'soon' AS day) AS t JOIN rents AS m`, /rents.*day.*soon/],
  [`SELECT m.rent FROM (SELECT 'maybe' AS new) AS t JOIN rents AS m`, /rents.*new.*maybe/],
])('a value that does not fit is refused with its column: %s', async (query, why) => {
  expect(await sql(at.url, query)).toMatchObject({ type: 'error', error_message: expect.stringMatching(why) })
})

test('texts are read as what they say', async () => {
  const texts = await objects(
    `SELECT m.rent FROM (SELECT '61.5' AS size, '2' AS rooms, '2024-03-12' AS day, 'true' AS new) AS t JOIN rents AS m`,
  )
  const [answer = {}] = await predicted('rents', [{ size: '61.5', rooms: '2', day: '2024-03-12', new: true }])
  expect(texts).toEqual([{ rent: answer['rent'] }])
})

test('a model that is being trained, failed or was deleted says so', async () => {
  await sql(at.url, 'CREATE MODEL mindsdb.failing FROM files (SELECT * FROM homes LIMIT 3) PREDICT rent')
  const join = 'SELECT m.rent FROM files.homes AS t JOIN failing AS m'
  expect((await sql(at.url, join)).error_message).toMatch(/not ready|error/)
  await settled(at.url, 'failing')
  expect((await sql(at.url, join)).error_message).toMatch(/status is error.*3 rows.*RETRAIN/s)
  await sql(at.url, 'DROP MODEL failing')
  expect((await sql(at.url, join)).error_message).toMatch(/'failing' not found/)
  await sql(at.url, 'CREATE VIEW taken AS (SELECT 1 AS a)')
  expect((await sql(at.url, 'CREATE MODEL taken FROM files (SELECT * FROM homes) PREDICT rent')).error_message).toMatch(/view/)
  expect((await sql(at.url, 'CREATE VIEW rents AS (SELECT 1 AS a)')).error_message).toMatch(/model|exists/i)
})

test('a JOIN scores more rows than fit into a request with a model of many inputs', async () => {
  const inputs = Array.from({ length: 9 }, (_, i) => `(i % ${i + 2})::INTEGER AS x${i}`).join(', ')
  await sql(at.url, `CREATE TABLE files.wide (SELECT ${inputs}, i % 2 + i % 3 AS y FROM range(25000) AS r(i))`)
  await sql(at.url, `CREATE MODEL mindsdb.sums FROM files (SELECT * FROM wide LIMIT 300) PREDICT y USING ${quick}`)
  expect(await settled(at.url, 'sums')).toBe('complete')
  const [row] = await objects('SELECT count(m.y) AS n, count(DISTINCT t.x8) AS x FROM files.wide AS t JOIN sums AS m')
  expect(row).toEqual({ n: 25_000, x: 10 })
})
