import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { projections } from '../../../projections/all.js'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { until } from '../../support/until.js'
import { restartable, send, sql } from '../../support/service.js'
import { appendUnfitEvent } from '../../support/log/unfit-event.js'
import { signalTo } from '../../support/processes.js'

let place: ReturnType<typeof restartable>
beforeEach(() => {
  place = restartable()
})
afterEach(() => place.remove())

const columns = 'name, tables, position, lag, rebuilds, last_rebuilt_at, last_rebuild_reason, last_error, state'
/** The rows as objects. */
const rows = async (url: string, query = `SELECT ${columns} FROM log.projections`) => {
  const answer = await sql(url, query)
  if (answer.type !== 'table') throw new Error(answer.error_message)
  return answer.data.map((row) => Object.fromEntries(answer.column_names.map((name, i) => [name, row[i]])))
}
const skill = (url: string, name: string) => send(url, 'POST', '/api/projects/mindsdb/skills', { skill: { name, type: 'sql', params: {} } })

test('each projection is a row that says what it keeps and how far it is, beside other tables too', async () => {
  const url = await place.start()
  await skill(url, 'one')
  await until(async () => (await rows(url))[0]?.['lag'] === 0)
  const all = await rows(url)
  expect(all.map(({ name }) => name)).toEqual(projections.map(({ name }) => name))
  for (const row of all)
    expect(row).toMatchObject({
      position: 2,
      lag: 0,
      rebuilds: 0,
      last_rebuilt_at: null,
      last_rebuild_reason: null,
      last_error: null,
      state: 'following',
    })
  expect(all.find(({ name }) => name === 'skills')?.['tables']).toBe('ledger.skills_history')
  expect(
    await rows(url, `SELECT p.name AS n, count(*) AS c FROM log.projections AS p, skills WHERE p.name = 'skills' GROUP BY ALL`),
  ).toEqual([{ n: 'skills', c: 1 }])
  await sql(url, 'CREATE VIEW health AS (SELECT state FROM log.projections)')
  expect(await rows(url, 'SELECT DISTINCT state FROM health')).toEqual([{ state: 'following' }])
  expect(
    (await rows(url, `SELECT table_comment FROM information_schema.tables WHERE table_schema = 'log' AND table_name = 'projections'`))
      .length,
  ).toBe(1)
})

test('rebuilds are counted with their reasons across restarts, and a first build is none', async () => {
  const [paths, from] = [dataPaths(place.path), Date.now()]
  const first = await place.start()
  await skill(first, 'one')
  // The first build is over.
  await rows(first)
  const restart = async (spoil: () => void) => {
    await place.stop()
    spoil()
    const [row] = await rows(await place.start())
    return [row?.['rebuilds'], row?.['last_rebuild_reason']]
  }
  expect(await restart(() => undefined)).toEqual([0, null])
  expect(await restart(() => rmSync(paths.tablesFile))).toEqual([1, 'missing file'])
  expect(await restart(() => writeFileSync(paths.tablesFile, 'no database at all'))).toEqual([2, 'damaged file'])
  expect(await restart(() => undefined)).toEqual([2, 'damaged file'])
  await place.stop()
  const url = await place.start()
  const [row] = await rows(url)
  const rebuiltAt = Date.parse(`${String(row?.['last_rebuilt_at']).replace(' ', 'T')}Z`)
  expect(rebuiltAt).toBeGreaterThanOrEqual(from)
  expect(rebuiltAt).toBeLessThanOrEqual(Date.now())
  expect(await rows(url, `SELECT count(*) AS n FROM skills`)).toEqual([{ n: 1 }])
})

test('while SQL is down log.projections is refused as every other table is, and readiness says why; REST goes on', async () => {
  await skill(await place.start(), 'one')
  await place.stop()
  const position = appendUnfitEvent(dataPaths(place.path).log)
  const url = await place.start()
  await skill(url, 'two')
  const reason = `The event at position ${position} cannot be projected`
  for (const query of ['SELECT * FROM skills', 'SELECT * FROM log.projections'])
    expect((await sql(url, query)).error_message).toContain(reason)
  const ready = await send(url, 'GET', '/ready?for=sql')
  expect(ready).toMatchObject({
    status: 503,
    body: { sql: { ready: false, position: position - 1, reason: expect.stringContaining(reason) } },
  })
  expect((await skill(url, 'three')).status).toBe(201)
})

test('a process that is gone, or cannot start, is told by readiness, without a path of this machine', async () => {
  const url = await place.start()
  await skill(url, 'one')
  expect(await rows(url, 'SELECT count(*) AS n FROM skills')).toEqual([{ n: 1 }])
  // A file in the place of the directory that it spills to: each process ends as soon as it has begun.
  const { temporary } = dataPaths(place.path)
  rmSync(temporary, { recursive: true })
  writeFileSync(temporary, '')
  signalTo(place.running()?.sqlProcessPid(), 'SIGKILL')
  const said = async () => JSON.stringify((await send(url, 'GET', '/ready')).body)
  await until(async () => (await said()).includes('not a directory'))
  expect(await said()).not.toContain(place.path)
  rmSync(temporary)
  mkdirSync(temporary)
  await until(async () => (await said()).includes('"sql":{"ready":true'))
  expect((await rows(url))[0]?.['state']).toBe('following')
  expect(await rows(url, 'SELECT count(*) AS n FROM skills')).toEqual([{ n: 1 }])
})
