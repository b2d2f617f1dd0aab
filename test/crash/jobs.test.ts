import { afterEach, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { dataPaths } from '../../src/setup/data-directory.js'
import { verifyLog } from '../../src/log/verify/verify.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'
import { until } from '../support/until.js'

const directory = temporaryDirectory()
afterEach(() => directory.remove())

const runs = async (url: string) => (await sql(url, 'SELECT job, outcome, error FROM log.job_runs ORDER BY position')).data
const slow = 'SELECT count(*) FROM range(2000000000000) AS r(i) WHERE i % 7 = 3'

test('a run that SIGKILL cut off is recorded as interrupted, and one that was due meanwhile happens exactly once', async () => {
  const first = await spawnService(directory.path)
  await sql(first.url, `CREATE JOB slow (${slow}; CREATE SKILL never USING type = 'sql')`)
  await until(async () => JSON.stringify(await runs(first.url)) === '[["slow","running",null]]')
  const dueAt = new Date(Date.now() + 20_000)
  const start = dueAt.toISOString().slice(0, 23)
  const job = { name: 'later', query: "CREATE SKILL made USING type = 'sql'", start_at: start }
  expect((await send(first.url, 'POST', '/api/projects/mindsdb/jobs', { job })).status).toBe(200)
  first.child.kill('SIGKILL')
  await first.ended
  await sleep(Math.max(0, dueAt.getTime() - Date.now()) + 100)

  const second = await spawnService(directory.path)
  const interrupted = ['slow', 'interrupted', 'the service stopped while it ran']
  await until(async () => (await runs(second.url)).some(([name, outcome]) => name === 'later' && outcome !== 'running'))
  expect(await runs(second.url)).toEqual([interrupted, ['later', 'complete', null]])
  second.child.kill('SIGTERM')
  expect(await second.ended).toEqual([0, null])

  const third = await spawnService(directory.path)
  expect(await runs(third.url)).toEqual([interrupted, ['later', 'complete', null]])
  expect((await sql(third.url, 'SELECT name FROM skills')).data).toEqual([['made']])
  third.child.kill('SIGTERM')
  await third.ended
  expect((await verifyLog({ logFile: dataPaths(directory.path).log })).findings).toEqual([])
})
