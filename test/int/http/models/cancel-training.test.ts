import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { settled, uploadRentals } from '../../../support/models/rentals.js'
import { filesUnder } from '../../../support/observe/traces.js'
import { send, sql, startTestService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await uploadRentals(at.url)
})
afterAll(() => at.stop())

const status = async (model: string): Promise<string> =>
  ((await send(at.url, 'GET', `/api/projects/mindsdb/models/${model}`)).body as { status: string }).status

/** A training that takes long enough to be cancelled while it runs. */
const begin = async (name: string, verb = 'CREATE MODEL', table = 'rentals') => {
  const rows = `SELECT a.sqft + b.rooms AS x, a.location, b.sqft AS z, a.rental_price + b.sqft AS y FROM ${table} AS a, ${table} AS b`
  const answer = await sql(at.url, `${verb} mindsdb.${name} FROM files (${rows}) PREDICT y USING engine = 'auto', preset = 'best'`)
  expect(answer.error_message).toBeUndefined()
}

const until = async (model: string, wanted: string): Promise<void> => {
  while ((await status(model)) !== wanted) await sleep(20)
}

const events = async (type: string): Promise<unknown[][]> =>
  (await sql(at.url, `SELECT actor, source, data FROM log.events WHERE type = '${type}' ORDER BY position`)).data

test('a training that runs ends when it is cancelled, says so in the log, and lets the next one begin', async () => {
  await begin('long')
  await until('long', 'training')
  await begin('waits')
  const { status: code, body } = await send(at.url, 'POST', '/api/projects/mindsdb/models/long/cancel')
  expect([code, body]).toMatchObject([200, { name: 'long', version: 1, status: 'error', error: expect.stringContaining('cancelled') }])
  await until('waits', 'training')
  const failed = await events('ModelTrainingFailed')
  expect(failed).toHaveLength(1)
  expect(failed[0]?.[1]).toBe('rest')
  expect(JSON.stringify(failed)).toContain('was cancelled')
})

test('one that waits never begins, and SQL cancels as REST does', async () => {
  await begin('later')
  const started = (await events('ModelTrainingStarted')).length
  expect(await sql(at.url, 'CANCEL TRAINING later.1')).toMatchObject({ type: 'ok' })
  expect(await sql(at.url, 'CANCEL TRAINING mindsdb.waits')).toMatchObject({ type: 'ok' })
  expect([await status('later'), await status('waits')]).toEqual(['error', 'error'])
  await sql(at.url, "CREATE MODEL mindsdb.after FROM files (SELECT * FROM rentals) PREDICT rental_price USING engine = 'constant'")
  expect(await settled(at.url, 'after')).toBe('complete')
  expect((await events('ModelTrainingStarted')).length).toBe(started + 1)
})

test('another version leaves the active one as it is', async () => {
  await begin('after', 'RETRAIN')
  await until('after.2', 'training')
  const { body } = await send(at.url, 'POST', '/api/projects/mindsdb/models/after.2/cancel')
  expect(body).toMatchObject({ version: 2, status: 'error' })
  expect(await send(at.url, 'GET', '/api/projects/mindsdb/models/after')).toMatchObject({ body: { version: 1, status: 'complete' } })
})

test('what is not being trained is not cancelled', async () => {
  const { status: code, body } = await send(at.url, 'POST', '/api/projects/mindsdb/models/after.1/cancel')
  expect([code, body]).toMatchObject([409, { detail: 'version 1 of after is not being trained: it has status complete' }])
  expect((await send(at.url, 'POST', '/api/projects/mindsdb/models/after.9/cancel')).status).toBe(404)
  expect((await send(at.url, 'POST', '/api/projects/mindsdb/models/nobody/cancel')).status).toBe(404)
  expect((await sql(at.url, 'CANCEL TRAINING after')).error_message).toContain('not being trained')
  expect((await sql(at.url, 'CANCEL JOB after')).error_message).toContain('TRAINING')
})

test('one whose rows are erased has no file with them when the erasure is answered, and says why it cannot go on', async () => {
  await uploadRentals(at.url, 'gone', 300)
  await uploadRentals(at.url, 'other', 100)
  await begin('robbed', 'CREATE MODEL', 'gone')
  await until('robbed', 'training')
  const files = () => filesUnder(join(at.directory, 'tmp', 'trainings'))
  while (files().length === 0) await sleep(20)
  const [first] = files()
  const erase = (name: string) => send(at.url, 'POST', '/api/log/erasures', { file: { name } })
  expect(await erase('other')).toMatchObject({ status: 200 })
  expect(files()).toContain(first)
  expect(await erase('gone')).toMatchObject({ status: 200 })
  expect(files()).toEqual([])
  expect(await settled(at.url, 'robbed')).toBe('error')
  const { data } = await sql(at.url, "SELECT error FROM models WHERE name = 'robbed'")
  expect(data[0]?.[0]).toContain('The content of files.gone was erased')
})
