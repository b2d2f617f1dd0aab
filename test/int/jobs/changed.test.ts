import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, expect, test } from '@jest/globals'
import type { JobLast } from '../../../events/job.js'
import { replay } from '../../../projections/replay.js'
import { openLogReader } from '../../../src/log/sqlite/log-reader.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { dump } from '../../support/log/states.js'
import { memoryDatabase } from '../../support/memory-database.js'
import { restartable, rowsNow, send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const place = restartable()
afterAll(() => place.remove())

const jobs = '/api/projects/mindsdb/jobs'
const numbers = 'SELECT position FROM log.events AS e WHERE e.position > LAST'
const outcomes = "SELECT outcome FROM log.job_runs WHERE job = 'reader' ORDER BY position"

/** The values of LAST of the job. */
const seen = async (): Promise<JobLast | undefined> => (await place.running()?.log.resources.list('job'))?.[0]?.state.last

test('a changed job is the same after a restart, runs as it was changed to, and a replay gives the same tables', async () => {
  const first = await place.start()
  const put = async (url: string, job: object) => expect((await send(url, 'PUT', `${jobs}/reader`, { job })).status).toBe(200)
  const ended = async (url: string, count: number) =>
    until(async () => (await rowsNow(url, outcomes)).filter(([outcome]) => outcome === 'complete').length === count)
  await send(first, 'POST', jobs, { job: { name: 'reader', query: numbers, if_query: 'SELECT 1' } })
  await ended(first, 1)
  await put(first, { query: `SELECT 1; ${numbers} AND e.type <> 'ProjectCreated'`, if_query: '' })
  await put(first, { schedule_str: 'every 2 days', end_at: '2099-01-01' })
  const record = (await send(first, 'GET', `${jobs}/reader`)).body
  const last = await seen()
  expect(last).toMatchObject({ condition: [], statements: [[], [{ column: 'e.position', value: expect.any(String) }]] })
  await sql(first, 'SELECT max(position) FROM log.events')
  await place.stop()

  const { log, tablesFile } = dataPaths(place.path)
  const followed = await DuckDBInstance.create(tablesFile)
  const fresh = await memoryDatabase()
  const reader = openLogReader(place.path)
  await replay({ events: reader, payloads: reader, database: fresh })
  reader.close()
  const { checkpoint: _, ...tables } = await dump(fresh)
  expect(await dump(followed)).toMatchObject(tables)
  fresh.closeSync()
  followed.closeSync()
  expect(await verifyLog({ logFile: log })).toMatchObject({ ok: true, findings: [] })

  const second = await place.start()
  expect((await send(second, 'GET', `${jobs}/reader`)).body).toEqual(record)
  await put(second, { start_at: 'now' })
  await ended(second, 2)
  expect(Number((await seen())?.statements[1]?.[0]?.value)).toBeGreaterThan(Number(last?.statements[1]?.[0]?.value))
})
