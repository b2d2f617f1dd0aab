import { afterEach, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { mindledger } from '../support/cli.js'
import { countOf } from '../support/counts.js'
import { settled, uploadRentals } from '../support/models/rentals.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'

const rows = countOf('SOAK_ROWS')
const requestRows = 10_000
const directory = temporaryDirectory()
afterEach(() => directory.remove())

const request = Array.from({ length: requestRows }, (_, n) => ({ sqft: 300 + (n % 900), location: 'good', rooms: n % 4 }))
const project = '/api/projects/mindsdb'

test('under a mixed load every look shows every recorded row, and in the end the tables equal a replay of the log', async () => {
  const { child, url, ended } = await spawnService(directory.path)
  await uploadRentals(url)
  await sql(url, "CREATE MODEL rent FROM files (SELECT * FROM rentals) PREDICT rental_price USING preset = 'fast'")
  expect(await settled(url, 'rent')).toBe('complete')
  let left = rows / requestRows
  let isLoaded = true
  const predict = async () => {
    for (; left > 0; left--) expect((await send(url, 'POST', `${project}/models/rent/predict`, request)).status).toBe(200)
  }
  const change = async () => {
    for (let n = 0; isLoaded; n++) {
      const skill = { name: `s${n}`, type: 'sql', params: {} }
      expect((await send(url, 'POST', `${project}/skills`, { skill })).status).toBe(201)
      if (n % 3 === 0) expect((await send(url, 'DELETE', `${project}/skills/s${n}`)).status).toBe(204)
    }
  }
  // Rarely asked tables collect large batches, which are added to them in another way.
  const look = async () => {
    while (isLoaded) {
      await shown()
      await sleep(1_000)
    }
  }
  const shown = async (): Promise<unknown> => {
    const query = 'SELECT (SELECT count(*) FROM log.predictions), (SELECT coalesce(sum(rows), 0)::BIGINT FROM log.prediction_receipts)'
    const { type, data, error_message } = await sql(url, query)
    // On a busy machine the tables may be behind for longer than a query waits; then there is no look.
    if (type === 'error' && /did not reach the head/.test(error_message ?? '')) return undefined
    expect({ type, predictions: data[0]?.[0] }).toEqual({ type: 'table', predictions: data[0]?.[1] })
    return data[0]?.[0]
  }
  const loaded = Promise.all([predict(), predict(), predict()]).finally(() => {
    isLoaded = false
  })
  await Promise.all([loaded, change(), look()])
  let last: unknown
  while (last === undefined) last = await shown()
  expect(Number(last)).toBeGreaterThanOrEqual(rows)
  expect((await send(url, 'GET', '/ready')).body).toMatchObject({ sql: { ready: true, other_rows: 0 } })
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(await mindledger(['diff'], { DATA_DIR: directory.path })).toMatchObject({ code: 0 })
})
