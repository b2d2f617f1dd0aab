import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { settled, uploadRentals } from '../../../support/models/rentals.js'
import { send, sql, startTestService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
const create = "FROM files (SELECT * FROM rentals WHERE sqft < 1000) PREDICT rental_price USING seed = 7, preset = 'fast'"
beforeAll(async () => {
  at = await startTestService()
  await uploadRentals(at.url)
  for (const name of ['grown', 'again', 'lost']) {
    await sql(at.url, `CREATE MODEL mindsdb.${name} ${create}`)
    expect(await settled(at.url, name)).toBe('complete')
  }
})
afterAll(() => at.stop())

type Version = {
  using: Record<string, unknown>
  query: string
  error?: string
  result?: { artefact: string; matrix: string; rows: number; report: Record<string, unknown> }
}

/** What the log says of a version. */
const state = async (name: string, version: number): Promise<Version> => {
  const events = `SELECT type, data FROM log.events WHERE (data->>'version') = '${version}'
    AND stream = (SELECT stream FROM log.events WHERE type = 'ModelCreated' AND (data->>'name') = '${name}')`
  const { data, error_message } = await sql(at.url, events)
  expect(error_message).toBeUndefined()
  const said = new Map(data.map(([type, text]) => [type, JSON.parse(String(text)) as Record<string, unknown>]))
  const [trained, failed] = [said.get('ModelTrained'), said.get('ModelTrainingFailed')]
  return { ...said.get('ModelTrainingRequested'), ...(trained && { result: trained }), ...failed } as Version
}

const finetuned = async (name: string, statement: string, version: number) => {
  const answer = await sql(at.url, statement)
  expect(answer.error_message).toBeUndefined()
  const status = await settled(at.url, `${name}.${version}`)
  return { status, version: await state(name, version) }
}

// Other order of columns, other case, whole numbers as text: the same values.
const more = 'SELECT rental_price, LOCATION, rooms, sqft FROM rentals WHERE sqft >= 1000'

test('a version learns from the rows kept with the active one and the new ones, as from all of them at once', async () => {
  const { status, version } = await finetuned('grown', `FINETUNE mindsdb.grown FROM files (${more}) USING seed = 7, preset = 'fast'`, 2)
  expect(status).toBe('complete')
  expect(version.result?.report['fine_tuned']).toEqual({ base_version: 1, rows_kept: 100, rows_new: 140 })
  expect(version.result?.rows).toBe(240)
  expect(version.using).toEqual({ base_version: 1, preset: 'fast' })
  await sql(at.url, "CREATE MODEL mindsdb.whole FROM files (SELECT * FROM rentals) PREDICT rental_price USING seed = 7, preset = 'fast'")
  await settled(at.url, 'whole')
  const whole = await state('whole', 1)
  expect([version.result?.matrix, version.result?.artefact]).toEqual([whole.result?.matrix, whole.result?.artefact])
  expect(await sql(at.url, "SELECT version, active FROM models WHERE name = 'grown' AND active")).toMatchObject({ data: [[2, true]] })
})

test('its description says what it goes on from', async () => {
  const { column_names, data } = await sql(at.url, 'DESCRIBE mindsdb.grown.info')
  const info = Object.fromEntries(column_names.map((name, i) => [name, data[0]?.[i]]))
  expect(JSON.stringify(info['fine_tuned'])).toContain('rows_kept')
  const described = await sql(at.url, 'DESCRIBE mindsdb.grown')
  expect(JSON.stringify(described.data)).toContain('base_version')
})

test('it is the same, byte for byte, when it is done again', async () => {
  const [one, other] = [
    await state('grown', 2),
    (await finetuned('again', `FINETUNE MODEL again FROM files (${more}) USING seed = 7, preset = 'fast'`, 2)).version,
  ]
  expect(other.result?.artefact).toBe(one.result?.artefact)
})

test('a version can be named, and a fine-tuned one gone on from', async () => {
  const { version } = await finetuned(
    'again',
    "FINETUNE again.1 FROM files (SELECT * FROM rentals WHERE sqft > 1900) USING active = 0, preset = 'fast'",
    3,
  )
  expect(version.result?.report['fine_tuned']).toMatchObject({ base_version: 1, rows_kept: 100 })
  const next = await finetuned('again', "FINETUNE again FROM files (SELECT * FROM rentals LIMIT 10) USING preset = 'fast'", 4)
  expect(next.version.result?.report['fine_tuned']).toEqual({ base_version: 2, rows_kept: 240, rows_new: 10 })
})

test('RETRAIN without a query takes that of the version that was trained whole', async () => {
  const { status, version } = await finetuned('again', 'RETRAIN again', 5)
  expect(status).toBe('complete')
  expect(version).toMatchObject({ using: {}, query: expect.stringContaining('sqft < 1000') })
  expect(version.result?.rows).toBe(100)
})

test.each([
  ['SELECT sqft, location, rental_price FROM rentals', /rooms missing/],
  ['SELECT *, 1 AS floor FROM rentals', /floor too many/],
  ['SELECT * REPLACE (location AS sqft) FROM rentals', /"sqft" was integer.*as text/],
])('new rows that do not fit end in a clear error: %s', async (query, reason) => {
  const before = (await sql(at.url, "SELECT max(version) FROM models WHERE name = 'again'")).data[0]?.[0]
  const { status, version } = await finetuned('again', `FINETUNE again FROM files (${query})`, Number(before) + 1)
  expect(status).toBe('error')
  expect(version.error).toMatch(reason)
})

test('a query of new rows that cannot be bound is refused with the statement', async () => {
  expect((await sql(at.url, 'FINETUNE again FROM files (SELECT * FROM nothing)')).error_message).toMatch(/nothing/)
})

test('an erasure of a version’s rows names the versions that keep them, too, and no others', async () => {
  const erase = (version: number, more: object) =>
    send(at.url, 'POST', '/api/log/erasures', { matrix: { project: 'mindsdb', model: 'again', version }, ...more })
  const copiesOf = async (version: number) => {
    const { also_in } = (await erase(version, { dry_run: true })).body as { also_in: string[] }
    return also_in.map((line) => line.split(' ')[0])
  }
  expect(await copiesOf(1)).toEqual(['mindsdb.again.2', 'mindsdb.again.3', 'mindsdb.again.4'])
  // What was requested from it failed.
  expect(await copiesOf(5)).toEqual([])
  expect(await erase(2, { shared: true })).toMatchObject({ status: 200 })
  expect(await copiesOf(1)).toEqual(['mindsdb.again.3', 'mindsdb.again.4'])
})

test('rows that are gone are missed by name', async () => {
  const matrix = (await state('lost', 1)).result?.matrix ?? ''
  await sql(at.url, `CREATE MODEL mindsdb.keeper ${create.replace('1000', '990')}`)
  await settled(at.url, 'keeper')
  await rm(join(at.directory, 'blobs', matrix))
  const { status, version } = await finetuned('lost', 'FINETUNE lost FROM files (SELECT * FROM rentals)', 2)
  expect(status).toBe('error')
  expect(version.error).toMatch(/matrix of version 1 is no longer kept.*RETRAIN/s)
})

test.each([
  ['FINETUNE none FROM files (SELECT 1)', /none/],
  ['FINETUNE grown.9 FROM files (SELECT 1)', /no version 9/],
  ['FINETUNE grown FROM files (SELECT 1) PREDICT rooms', /keeps the engine and the target/],
  ['FINETUNE grown FROM files (SELECT 1) USING base_version = 1', /base_version cannot be set/],
  ['CREATE MODEL other FROM files (SELECT 1) PREDICT a USING base_version = 1', /base_version cannot be set/],
  ['FINETUNE grown', /FROM/],
])('%s is refused', async (statement, reason) => {
  expect(await sql(at.url, statement)).toMatchObject({ type: 'error', error_message: expect.stringMatching(reason) })
})

test('a model whose training failed has nothing to go on from', async () => {
  await sql(at.url, 'CREATE MODEL bad FROM files (SELECT * FROM rentals LIMIT 3) PREDICT rental_price')
  await settled(at.url, 'bad')
  expect(await sql(at.url, 'FINETUNE bad FROM files (SELECT 1)')).toMatchObject({
    type: 'error',
    error_message: expect.stringMatching(/status error.*nothing to continue/),
  })
  expect((await send(at.url, 'GET', '/api/projects/mindsdb/models/bad')).status).toBe(200)
})
