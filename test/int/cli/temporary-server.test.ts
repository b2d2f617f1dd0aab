import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { pino } from 'pino'
import { startService, type Service } from '../../../src/main.js'
import { TrainingService } from '../../../src/models/training/training-service.js'
import { readConfig } from '../../../src/setup/config.js'
import { commandHere } from '../../support/command-here.js'
import { settled, trainRent, uploadRentals } from '../../support/models/rentals.js'
import { restartable, rowsNow, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

let at: ReturnType<typeof restartable>
beforeEach(() => {
  at = restartable()
})
afterEach(async () => {
  jest.restoreAllMocks()
  await at.remove()
})

/** Does work with a server as commands start it on a stopped service. */
const withTemporary = async <T>(use: (service: Service) => Promise<T>): Promise<T> => {
  const service = await startService(readConfig({ PORT: '0', DATA_DIR: at.path }), pino({ level: 'silent' }), { background: false })
  try {
    return await use(service)
  } finally {
    await service.close()
  }
}

const positionOf = async (service: Service): Promise<number> => (await service.head()).position

test('a command on a stopped service leaves a waiting training and a due job to the next start', async () => {
  jest.spyOn(TrainingService.prototype, 'resume').mockResolvedValueOnce(undefined)
  const before = await withTemporary(async (service) => {
    await uploadRentals(service.url, 'rentals', 120)
    const query = "CREATE MODEL rent FROM files (SELECT * FROM rentals) PREDICT rental_price USING engine = 'linear'"
    expect((await sql(service.url, query)).error_message).toBeUndefined()
    expect((await sql(service.url, 'CREATE JOB once (SELECT 1)')).error_message).toBeUndefined()
    return positionOf(service)
  })
  expect(await commandHere(['sql', '--quiet', 'SELECT 1 AS n'], { DATA_DIR: at.path })).toMatchObject({ code: 0, out: 'n\n-\n1\n' })
  expect(await withTemporary(positionOf)).toBe(before)
  const url = await at.start()
  expect(await settled(url, 'rent')).toBe('complete')
  const runs = () => rowsNow(url, "SELECT error FROM log.jobs_history WHERE name = 'once'")
  await until(async () => (await runs()).length > 0)
  expect(await runs()).toEqual([[null]])
})

test('a model that a command on a stopped service creates is trained there', () => withTemporary(({ url }) => trainRent(url)))
