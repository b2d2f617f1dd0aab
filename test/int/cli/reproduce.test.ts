import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { limits } from '../../../src/basics/limits.js'
import { mindledger, freePort, type Ended } from '../../support/cli.js'
import { commandHere } from '../../support/command-here.js'
import { onnxBytes } from '../../support/models/onnx-models.js'
import { settled, uploadRentals } from '../../support/models/rentals.js'
import { restartable, send, sql, temporaryDirectory } from '../../support/service.js'

type Told = {
  model: string
  result: string
  reason: string | null
  detail: string
  artefact: string
  retrained: string | null
  data: string
  data_detail: string
}

const at = restartable()
const folder = temporaryDirectory()
let url: string
let environment: Record<string, string>

beforeAll(async () => {
  environment = { DATA_DIR: at.path, PORT: String(await freePort()), CONNECTION_FILES: folder.path }
  url = await at.start(environment)
  await uploadRentals(url, 'rentals', 120)
})
afterAll(async () => {
  await at.remove()
  folder.remove()
})

const train = async (name: string, rest: string, verb = 'CREATE MODEL', version = 1): Promise<void> => {
  const answer = await sql(url, `${verb} mindsdb.${name} ${rest}`)
  expect(answer.error_message).toBeUndefined()
  expect([name, await settled(url, `${name}.${version}`)]).toEqual([name, 'complete'])
}
const on = (query: string, using = '') => `FROM files (${query}) PREDICT rental_price${using === '' ? '' : ` USING ${using}`}`

const toldIn = ({ code, out, err }: Ended): { code: number | null; told: Told[] } => {
  const lines = out.trim().split('\n')
  if (!out.startsWith('{')) throw new Error(`${code}: ${out}${err}`)
  return { code, told: lines.map((line) => JSON.parse(line) as Told) }
}

const asProcess = async (...args: string[]) => toldIn(await mindledger(['reproduce', '--json', ...args], environment))

const one = async (name: string) => {
  const { code, told } = toldIn(await commandHere(['reproduce', '--json', name], environment))
  expect(told).toHaveLength(1)
  return { code, ...told[0]! }
}

/** What the event says of a version that ended well. */
const trained = async (name: string, version: number): Promise<Record<string, unknown>> => {
  const { data } = await sql(
    url,
    `SELECT data FROM log.events WHERE type = 'ModelTrained' AND (data->>'version') = '${version}'
     AND stream = (SELECT stream FROM log.events WHERE type = 'ModelCreated' AND (data->>'name') = '${name}')`,
  )
  return JSON.parse(String(data[0]?.[0])) as Record<string, unknown>
}

const warnings = async (name: string, version = 1): Promise<string[]> => {
  const { warnings: all } = (await trained(name, version))['report'] as { warnings: { kind: string; detail: string }[] }
  return all.filter(({ kind }) => kind === 'unrepeatable').map(({ detail }) => detail)
}

test('versions of all engines are trained again to the same bytes, beside the server and after it has stopped', async () => {
  await train('home', on('SELECT * FROM rentals', "preset = 'fast'"))
  await train('line', on('SELECT * FROM rentals', "engine = 'linear', tag = 'a'"))
  await train('trees', on('SELECT * FROM rentals', "engine = 'boosted_trees', preset = 'fast', seed = 7, max_rows = 100"))
  await train('place', "FROM files (SELECT * FROM rentals) PREDICT location USING preset = 'fast', class_weights = 'balanced'")
  await sql(
    url,
    `CREATE TABLE files.days (SELECT (DATE '2024-01-01' + i::INTEGER) AS day, 5 + i % 7 + i / 9 AS sold FROM range(80) AS t(i))`,
  )
  await train('series', 'FROM files (SELECT * FROM days) PREDICT sold ORDER BY day HORIZON 7')
  await train('line', 'FROM files (SELECT * FROM rentals WHERE sqft > 800)', 'FINETUNE', 2)
  const beside = await asProcess('--all')
  expect(beside.told.map(({ model, result, data }) => [model, result, data])).toEqual(
    ['home.1', 'line.1', 'line.2', 'trees.1', 'place.1', 'series.1'].map((name) => [`mindsdb.${name}`, 'reproduced', 'same']),
  )
  expect(beside.code).toBe(0)
  for (const { artefact, retrained } of beside.told) expect(retrained).toBe(artefact)
  await at.stop()
  const trees = beside.told.find(({ model }) => model.endsWith('trees.1'))
  expect(await asProcess('trees')).toMatchObject({ code: 0, told: [{ result: 'reproduced', artefact: trees?.artefact }] })
  url = await at.start(environment)
})

test('an imported file is imported again to the same bytes, and its data is the file of that name', async () => {
  const upload = async (name: string, model: string) => {
    const form = new FormData()
    form.set('file', new Blob([onnxBytes(model)]), `${model}.onnx`)
    expect((await send(url, 'PUT', `/api/files/${name}`, form)).status).toBe(200)
  }
  await upload('onnx_file', 'rent')
  await upload('onnx_whole', 'whole')
  await train('imported', "PREDICT price USING engine = 'onnx', file = 'onnx_file'")
  await sql(url, 'CREATE ML_ENGINE importer FROM onnx')
  await train('fetched', "PREDICT price USING engine = 'importer', file = 'onnx_file'")
  // The value of a column that is named like a secret was sealed.
  const example = "columns = ['pin_code', 'age'], example = {'pin_code': 80, 'age': 3}"
  await train('coded', `PREDICT price USING engine = 'onnx', file = 'onnx_whole', ${example}`)
  for (const name of ['imported', 'fetched', 'coded'])
    expect(await one(name)).toMatchObject({ code: 0, result: 'reproduced', data: 'same' })
  // Without the key of its example it cannot be trained again, which ends the command for no other version.
  const keyless = await commandHere(['reproduce', '--json', 'coded'], { ...environment, VAULT_KEY: '1'.repeat(64) })
  const lacking = { result: 'impossible', reason: 'training_failed', detail: expect.stringContaining('master key') }
  expect(toldIn(keyless)).toMatchObject({ code: 2, told: [lacking] })
  const kept = await sql(url, "CREATE MODEL mindsdb.forgetful USING engine = 'onnx', file = 'onnx_file', keep_training_data = false")
  expect(kept.error_message).toContain('keep_training_data')
  expect((await send(url, 'POST', '/api/log/erasures', { file: { name: 'onnx_file' }, shared: true })).status).toBe(200)
  const erased = { result: 'impossible', reason: 'matrix_erased', data: 'unavailable' }
  expect(await asProcess('imported')).toMatchObject({ code: 2, told: [erased] })
})

test('a training that its time limit cut off is cut off at the same round again', async () => {
  const rows =
    'SELECT a.sqft + b.rooms * b.sqft AS x, b.location, b.sqft AS z, a.rental_price * b.sqft + a.rooms AS y FROM rentals AS a, rentals AS b'
  await train('cut', `FROM files (${rows}) PREDICT y USING engine = 'boosted_trees', preset = 'best', time_limit = 1`)
  const { plan } = (await trained('cut', 1))['report'] as { plan: { stopped?: { folds?: number } } }
  expect(plan.stopped?.folds).toBeGreaterThan(0)
  expect(await one('cut')).toMatchObject({ code: 0, result: 'reproduced', data: 'same' })
})

test('a person reads what came out, and a name without a version is the active one', async () => {
  const { code, out } = await commandHere(['reproduce', 'line'], environment)
  expect(code).toBe(0)
  expect(out).toMatch(/^mindsdb\.line\.2: reproduced in [\d.]+ s, [0-9a-f]{12}… by its event\n/)
  expect(out).toContain('Its data: same.')
})

test('names that are none, and two ways to say what, are refused with what there is', async () => {
  const unknown = await mindledger(['reproduce', 'nobody'], environment)
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('mindsdb.home.1')])
  for (const args of [['reproduce'], ['reproduce', 'home', '--all']]) {
    const { code, err } = await commandHere(args, environment)
    expect([code, err]).toEqual([2, expect.stringContaining('reproduce takes a model, or --all')])
  }
})

test('the query reads what was there then, whatever became of it since', async () => {
  await sql(url, 'CREATE TABLE files.few (SELECT * FROM files.rentals WHERE sqft < 600)')
  await train('early', on('SELECT * FROM few', "engine = 'linear'"))
  await sql(url, 'INSERT INTO files.few SELECT * FROM files.rentals WHERE sqft > 1000')
  expect(await one('early')).toMatchObject({ code: 0, result: 'reproduced', data: 'same' })
})

test('a query that draws other rows is reported when it trains, and its data has changed; the model is reproduced all the same', async () => {
  await train('drawn', on('SELECT *, random() AS luck FROM rentals LIMIT 100', "engine = 'linear'"))
  expect(await warnings('drawn')).toEqual([
    expect.stringContaining('LIMIT without ORDER BY'),
    expect.stringContaining('random() draws other values'),
  ])
  expect(await one('drawn')).toMatchObject({ code: 0, result: 'reproduced', data: 'changed' })
})

test('what cannot repeat is found in views, too, and what can is not warned of', async () => {
  await sql(url, 'CREATE VIEW mindsdb.sampled FROM files AS (SELECT * FROM rentals USING SAMPLE 100)')
  await train(
    'viewed',
    "FROM mindsdb (SELECT *, current_date AS today FROM sampled ORDER BY sqft LIMIT 90) PREDICT rental_price USING engine = 'linear'",
  )
  expect(await warnings('viewed')).toEqual([
    expect.stringMatching(/current_date is another time each time$/),
    expect.stringMatching(/a sample is drawn anew each time \(in the view mindsdb\.sampled\)$/),
  ])
  expect(await warnings('home')).toEqual([])
  await train('ordered', on('SELECT * FROM rentals ORDER BY sqft LIMIT 100', "engine = 'constant'"))
  expect(await warnings('ordered')).toEqual([])
})

test('rows that shall not be kept are not: neither fine-tuning nor reproducing pretends otherwise', async () => {
  const blobs = () => readdirSync(join(at.path, 'blobs'))
  await train('secret', on('SELECT sqft, rental_price FROM rentals', "engine = 'linear', keep_training_data = false"))
  const event = await trained('secret', 1)
  expect(event['matrix_kept']).toBe(false)
  expect(blobs()).not.toContain(event['matrix'])
  expect(blobs()).toContain(event['artefact'])
  expect(await one('secret')).toMatchObject({ code: 2, result: 'impossible', reason: 'matrix_not_kept', retrained: null, data: 'same' })
  const tuned = await sql(url, 'FINETUNE mindsdb.secret FROM files (SELECT sqft, rental_price FROM rentals)')
  expect(tuned.error_message).toMatch(/was not kept.*RETRAIN/s)
  const described = await sql(url, 'DESCRIBE mindsdb.secret.data')
  expect(JSON.stringify(described.data)).toContain('which were not kept')
  const erasure = await send(url, 'POST', '/api/log/erasures', { matrix: { project: 'mindsdb', model: 'secret', version: 1 } })
  expect([erasure.status, erasure.body]).toEqual([404, expect.objectContaining({ detail: expect.stringContaining('never kept') })])
  await train('secret', '', 'RETRAIN', 2)
  expect((await trained('secret', 2))['matrix_kept']).toBe(false)
  await train('secret', 'USING keep_training_data = true', 'RETRAIN', 3)
  expect(blobs()).toContain((await trained('secret', 3))['matrix'])
  expect((await commandHere(['verify'], environment)).code).toBe(0)
})

test('rows that were not kept stay so when another model keeps the same ones', async () => {
  await train('open', on('SELECT rooms, rental_price FROM rentals', "engine = 'constant', seed = 3"))
  await train('closed', on('SELECT rooms, rental_price FROM rentals', "engine = 'constant', seed = 3, keep_training_data = false"))
  expect((await trained('closed', 1))['matrix']).toBe((await trained('open', 1))['matrix'])
  expect(await one('closed')).toMatchObject({ code: 2, reason: 'matrix_not_kept' })
})

test('rows of a connected database cannot be read as they were, whether they have changed or not; the kept ones are', async () => {
  const file = new Database(join(folder.path, 'shop.db'))
  file.exec('CREATE TABLE flats (size INTEGER, rent INTEGER)')
  for (let i = 0; i < 60; i++) file.prepare('INSERT INTO flats VALUES (?, ?)').run(20 + i, 300 + 9 * i)
  await sql(url, `CREATE DATABASE lite WITH ENGINE = 'sqlite', PARAMETERS = {"path": "shop.db"}`)
  await sql(url, 'CREATE VIEW mindsdb.of_lite AS (SELECT size, rent FROM lite.flats)')
  const using = "PREDICT rent USING engine = 'linear'"
  await train('direct', `FROM lite (SELECT size, rent FROM flats) ${using}`)
  await train('through_view', `FROM mindsdb (SELECT * FROM of_lite) ${using}`)
  const apart = { code: 0, result: 'reproduced', data: 'unavailable', data_detail: expect.stringContaining('lite is a connected database') }
  for (const name of ['direct', 'through_view']) expect([name, await one(name)]).toEqual([name, expect.objectContaining(apart)])
  file.exec('DELETE FROM flats WHERE size > 50')
  file.close()
  for (const name of ['direct', 'through_view']) expect([name, await one(name)]).toEqual([name, expect.objectContaining(apart)])
  const [connection] = (await trained('through_view', 1))['connections'] as object[]
  expect(connection).toMatchObject({ name: 'lite', version: 1 })
})

test('erased rows, and a fine-tuned version that went on from them, are told as such', async () => {
  await train('gone', on('SELECT * FROM rentals WHERE sqft < 700', "engine = 'linear'"))
  await train('gone', on('SELECT * FROM rentals WHERE sqft > 700').replace(/ PREDICT .*/, ''), 'FINETUNE', 2)
  const { code, out } = await commandHere(['erase', 'matrix', 'mindsdb.gone.1', '--reason', 'asked for'], environment)
  expect([code, out]).toEqual([0, expect.any(String)])
  expect(await one('gone.1')).toMatchObject({
    code: 2,
    reason: 'matrix_erased',
    detail: expect.stringContaining('asked for'),
    data: 'same',
  })
  expect(await one('gone.2')).toMatchObject({ code: 0, result: 'reproduced', data: 'unavailable' })
})

test('a file whose content was erased leaves the data unavailable, and says so', async () => {
  await sql(url, 'CREATE TABLE files.brief (SELECT * FROM files.rentals WHERE rooms = 1)')
  await train('brief', on('SELECT * FROM brief', "engine = 'linear'"))
  expect((await commandHere(['erase', 'file', 'brief'], environment)).code).toBe(0)
  const told = await one('brief')
  expect(told).toMatchObject({ code: 0, result: 'reproduced', data: 'unavailable' })
  expect(told.data_detail).toMatch(/erased/)
})

test('a matrix that the disk has spoiled, or lost, is no proof of anything', async () => {
  await train('spoiled', on('SELECT sqft, rooms, rental_price FROM rentals', "engine = 'linear'"))
  const file = join(at.path, 'blobs', String((await trained('spoiled', 1))['matrix']))
  writeFileSync(file, 'MLMATRIX')
  expect(await one('spoiled')).toMatchObject({ code: 2, reason: 'matrix_damaged', retrained: null })
  rmSync(file)
  expect(await one('spoiled')).toMatchObject({ code: 2, reason: 'matrix_missing', retrained: null })
})

test('checks of data run one after the other, and no more wait than there is room for', async () => {
  const path = '/api/projects/mindsdb/models/trees/data_check'
  const answers = await Promise.all(Array.from({ length: limits.dataChecksMax + 4 }, () => send(url, 'GET', path)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(limits.dataChecksMax)
  expect(new Set(statuses)).toEqual(new Set([200, 503]))
  expect(answers.find(({ status }) => status === 503)?.headers.get('retry-after')).toBe('5')
})

test('a check that nobody waits for ends, and leaves nothing', async () => {
  const path = `${url}/api/projects/mindsdb/models/trees/data_check`
  for (const signal of [AbortSignal.timeout(5), AbortSignal.timeout(100)])
    await expect(fetch(path, { signal }).then((answer) => answer.text())).rejects.toThrow(/timeout|aborted/i)
  expect(await (await fetch(path)).json()).toMatchObject({ data: 'same' })
  expect(readdirSync(join(at.path, 'tmp', 'checks'))).toEqual([])
})

test('a check of data is refused for a version that is not trained, and of models that there are not', async () => {
  await sql(url, 'CREATE MODEL mindsdb.bad FROM files (SELECT rental_price FROM rentals LIMIT 3) PREDICT rental_price')
  expect(await settled(url, 'bad')).toBe('error')
  const { status, body } = await send(url, 'GET', '/api/projects/mindsdb/models/bad/data_check')
  expect([status, body]).toEqual([409, expect.objectContaining({ detail: expect.stringContaining('status error') })])
  expect((await send(url, 'GET', '/api/projects/mindsdb/models/none/data_check')).status).toBe(404)
  const { code, err } = await commandHere(['reproduce', 'bad'], environment)
  expect([code, err]).toEqual([2, expect.stringContaining('version 1 of mindsdb.bad has status error')])
})
