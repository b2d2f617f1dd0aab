import { afterAll, beforeAll, expect, test } from '@jest/globals'
import sdk from 'mindsdb-js-sdk'
import { settled, uploadRentals } from '../../support/models/rentals.js'
import { send, sql, startTestService } from '../../support/service.js'

// The published JavaScript client against a server on a port.
const { default: client, MindsDbError } = sdk

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  // It waits until SQL has started.
  await sql(at.url, 'SELECT 1')
  await uploadRentals(at.url)
  await client.connect({ host: at.url, user: '', password: '' })
})
afterAll(() => at.stop())

test('SQL answers rows under names in lower case, ok, and errors by error_message', async () => {
  expect(await client.SQL.runQuery('SELECT count(*), TRUE AS Yes FROM files.rentals')).toMatchObject({
    type: 'table',
    columnNames: ['count_0', 'yes'],
    rows: [{ count_0: 240, yes: true }],
    context: { db: 'mindsdb' },
  })
  expect(await client.SQL.runQuery('CREATE PROJECT shop')).toMatchObject({ type: 'ok', rows: [] })
  expect(await client.SQL.runQuery('SELECT * FROM shop.nope')).toMatchObject({
    type: 'error',
    error_message: expect.stringContaining("Table 'nope' not found in database: shop"),
  })
  const { rows } = await client.SQL.runQuery('SELECT 9007199254740993 AS big')
  expect(String((rows[0] as { big: unknown }).big)).toBe('9007199254740993')
})

test('projects and databases are made, found and deleted', async () => {
  await client.Databases.createDatabase('depot')
  const crm = await client.Databases.createDatabase('crm', 'postgres', { host: "it's", password: 'hidden', port: 5432 })
  expect(crm).toMatchObject({ name: 'crm', engine: 'postgres' })
  const all = await client.Databases.getAllDatabases()
  expect(all.map(({ name, type, engine }) => [name, type, engine])).toEqual(
    expect.arrayContaining([
      ['depot', 'project', null],
      ['files', 'data', 'files'],
      ['crm', 'data', 'postgres'],
    ]),
  )
  expect((await client.Projects.getAllProjects()).map(({ name }) => name)).toEqual(['mindsdb', 'depot', 'shop'].sort())
  expect(await client.Databases.getDatabase('nope')).toBeUndefined()
  await (await client.Databases.getDatabase('crm'))?.delete()
  expect(await client.Databases.getDatabase('crm')).toBeUndefined()
  await client.Databases.deleteDatabase('depot')
  await expect(client.Databases.deleteDatabase('depot')).rejects.toThrow(MindsDbError)
})

const training = { integration: 'files', select: 'SELECT * FROM rentals', using: { tag: "it's", seed: 7, engine: 'lightwood' } }

test('a model is trained, found, described, queried, retrained and deleted', async () => {
  await client.Models.trainModel('rent', 'rental_price', 'shop', training)
  expect(await settled(at.url, 'rent', 'shop')).toBe('complete')
  const model = await client.Models.getModel('rent', 'shop')
  expect(model).toMatchObject({
    name: 'rent',
    project: 'shop',
    targetColumn: 'rental_price',
    status: 'complete',
    updateStatus: 'up_to_date',
    version: 1,
    tag: "it's",
    active: true,
  })
  if (!model) return
  // The client reads numbers of more than 15 characters as texts.
  expect(typeof model.accuracy).toBe('number')
  expect(model.accuracy).toBeGreaterThan(0.9)
  expect(await client.Models.getModel('rent', 'shop', 1)).toMatchObject({ name: 'rent', version: 1 })
  expect(await client.Models.getModel('none', 'shop')).toBeUndefined()
  expect(await client.Models.getAllModels('shop')).toHaveLength(1)
  expect(await model.describe()).toContainEqual({ column: 'location', type: 'text', encoder: 'category', role: 'feature' })
  expect(await model.describeAttribute('info')).toMatchObject([{ outputs: ['rental_price'] }])
  expect(await client.Models.describeModel('rent', 'shop', 1)).toHaveLength(4)

  const one = await model.query({ where: ['sqft = 900', "location = 'good'"] })
  expect(one).toMatchObject({ value: expect.anything(), data: { sqft: 900, location: 'good' } })
  expect(one.data).toMatchObject({ rental_price_explain: expect.stringContaining(`"predicted_value": ${String(one.value)}`) })
  const batch = await model.batchQuery({ join: 'files.rentals', where: 't.sqft > 400', limit: 5 })
  expect(batch).toHaveLength(5)
  expect(batch[0]).toMatchObject({ value: expect.anything(), explain: expect.any(String) })
  await expect(model.query({ where: 'nope = 1' })).rejects.toThrow('nope')

  expect(await model.retrain()).toMatchObject({ name: 'rent', version: 2, status: 'generating' })
  expect(await settled(at.url, 'rent.2', 'shop')).toBe('complete')
  expect(await model.retrain(training)).toMatchObject({ version: 3 })
  expect(await settled(at.url, 'rent.3', 'shop')).toBe('complete')
  expect((await client.Models.getAllModels('shop')).map(({ version, active }) => [version, active])).toEqual([
    [1, false],
    [2, false],
    [3, true],
  ])
  await model.delete()
  expect(await client.Models.getAllModels('shop')).toEqual([])
  await expect(model.delete()).rejects.toThrow(MindsDbError)
})

test('views are made, listed and deleted', async () => {
  await client.Views.createView('good', 'shop', "SELECT * FROM files.rentals WHERE location = 'good'")
  const views = await client.Views.getAllViews('shop')
  expect(views.map(({ name, project }) => ({ name, project }))).toEqual([{ name: 'good', project: 'shop' }])
  expect((await client.SQL.runQuery('SELECT count(*) FROM shop.good')).rows).toEqual([{ count_0: 80 }])
  await views[0]?.delete()
  expect(await client.Views.getAllViews('shop')).toEqual([])
  await expect(client.Views.deleteView('good', 'shop')).rejects.toThrow(MindsDbError)
})

test('tables of files are made, replaced and deleted', async () => {
  const table = await client.Tables.createTable('copied', 'files', 'SELECT sqft FROM files.rentals LIMIT 2')
  await expect(client.Tables.createTable('copied', 'files', 'SELECT 1 AS one')).rejects.toThrow('copied')
  await client.Tables.createOrReplaceTable('copied', 'files', 'SELECT rooms FROM files.rentals LIMIT 3')
  expect((await client.SQL.runQuery('SELECT count(rooms) FROM files.copied')).rows).toEqual([{ count_0: 3 }])
  await table.delete()
  await expect(client.Tables.deleteTable('copied', 'files')).rejects.toThrow('copied')
})

test('engines are listed, found and deleted, and the own ones stay', async () => {
  await client.SQL.runQuery('CREATE ML_ENGINE mine FROM lightwood')
  const mine = await client.MLEngines.getMLEngine('mine')
  expect(mine).toMatchObject({ name: 'mine', handler: 'lightwood' })
  await mine?.delete()
  expect(await client.MLEngines.getMLEngine('mine')).toBeUndefined()
  await expect(client.MLEngines.deleteMLEngine('mine')).rejects.toThrow(MindsDbError)
  const engines = await client.MLEngines.getAllMLEngines()
  expect(engines.map(({ name }) => name)).toContain('lightwood')
  expect(await client.MLEngines.getMLEngine('lightwood')).toMatchObject({ name: 'lightwood', handler: 'auto' })
  expect(await client.MLEngines.getMLEngine('nope')).toBeUndefined()
  await expect(client.MLEngines.deleteMLEngine('lightwood')).rejects.toThrow(MindsDbError)
  expect((await send(at.url, 'GET', '/api/projects/shop')).status).toBe(200)
})
