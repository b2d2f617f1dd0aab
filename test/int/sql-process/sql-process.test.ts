import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, expect, test } from '@jest/globals'
import { SqlProcess } from '../../../src/sql-process/sql-process.js'
import { Bench, rawProcess, skill } from '../../support/sql-process/bench.js'
import { until } from '../../support/until.js'
import { signalTo } from '../../support/processes.js'

let bench: Bench
afterEach(() => bench.close())

test('a query sees the log up to the position it asks for, and its rows come in order', async () => {
  bench = await Bench.open()
  for (let n = 1; n <= 30; n++) {
    bench.log.append(skill(n))
    expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.skills_history')).toEqual([[n]])
  }
  const rows = await bench.ask('SELECT range::INTEGER FROM range(200000)')
  expect(rows.length).toBe(200_000)
  expect(rows[199_999]).toEqual([199_999])
  expect(bench.sqlProcess.status()).toMatchObject({ ready: true, stopped: undefined, position: 30, lag: 0, restarts: 0, running: 0 })
})

test('queries that wait share a catch-up, and the tables follow without a query', async () => {
  bench = await Bench.open({ followerIntervalMs: 100 })
  for (let n = 1; n <= 500; n++) bench.log.append(skill(n))
  const counts = await Promise.all(Array.from({ length: 20 }, () => bench.ask('SELECT count(*)::INTEGER FROM ledger.events')))
  expect(counts.flat()).toEqual(Array.from({ length: 20 }, () => [500]))
  bench.log.append(skill(501))
  await until(() => bench.sqlProcess.status().position === 501)
  expect(await bench.ask('SELECT max(position)::INTEGER FROM ledger.events', { upTo: bench.log.append(skill(502)) })).toEqual([[502]])
})

test('a process that had many events to catch up with makes room for another one, which serves them', async () => {
  const events = 21_000
  bench = await Bench.open({ startWaitMs: 1 }, ({ log }) => log.append(...Array.from({ length: events }, (_, n) => skill(n))))
  const first = bench.sqlProcess.pid
  await until(() => bench.sqlProcess.status().ready)
  expect(bench.sqlProcess.pid).not.toBe(first)
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.skills_history')).toEqual([[events]])
  expect(bench.sqlProcess.status()).toMatchObject({ ready: true, restarts: 0, position: events })
})

test('a query that fails is told so, and a position that does not exist', async () => {
  bench = await Bench.open()
  expect(await bench.refusal('SELECT nonsense')).toMatchObject({ code: 'query_failed', status: 400 })
  expect(await bench.refusal('SELECT 1', { upTo: 7 })).toMatchObject({ code: 'wrong_arguments' })
  expect(await bench.ask('SELECT 1')).toEqual([[1]])
})

test('of the file system a query reaches the blobs only, and nothing can be set', async () => {
  bench = await Bench.open({}, ({ directory }) => writeFileSync(join(directory, 'secret'), 'secret'))
  const maker = await (await DuckDBInstance.create(':memory:')).connect()
  await maker.run(`COPY (SELECT 7 AS x) TO '${bench.directory}/blobs/abc' (FORMAT parquet)`)
  expect(await bench.ask(`SELECT x FROM read_parquet('${bench.directory}/blobs/abc')`)).toEqual([[7]])
  const refused = [
    `SELECT * FROM read_text('${bench.directory}/secret')`,
    `SELECT * FROM read_text('${bench.directory}/blobs/../secret')`,
    `SELECT * FROM read_text('/etc/hostname')`,
    `COPY (SELECT 1) TO '${bench.directory}/stolen'`,
    `ATTACH '${bench.directory}/other.duckdb'`,
    `SET enable_external_access = true`,
    `SET memory_limit = '100GB'`,
    `INSTALL httpfs`,
  ]
  for (const sql of refused) expect(await bench.refusal(sql)).toMatchObject({ code: 'query_failed' })
})

test('an event that cannot be projected stops SQL from there on, by name, and nothing else', async () => {
  bench = await Bench.open()
  bench.log.append(skill(1), skill(2))
  bench.log.appendText('a secret that is no event')
  const refusal = await bench.refusal('SELECT 1')
  expect(refusal).toMatchObject({ code: 'analytics_unavailable', extras: { position: 3 } })
  expect(refusal.detail).toBe('The event at position 3 cannot be projected: its text is not that of an event.')
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.events', { upTo: 2 })).toEqual([[2]])
  expect(bench.sqlProcess.status()).toMatchObject({ ready: true, stopped: refusal.detail, position: 2, lag: 1, restarts: 0 })
})

test.each([
  ['is deleted', undefined],
  ['is damaged', 'this is no database'],
])('tables that follow from the log are built again when their file %s', async (_, content) => {
  bench = await Bench.open()
  for (let n = 1; n <= 20; n++) bench.log.append(skill(n))
  const before = await bench.ask('SELECT * FROM ledger.skills_history ORDER BY id')
  await bench.sqlProcess.stop()
  const file = join(bench.directory, 'tables/analytics.duckdb')
  expect(existsSync(file)).toBe(true)
  writeFileSync(file, content ?? '')
  await bench.start()
  expect(await bench.ask('SELECT * FROM ledger.skills_history ORDER BY id')).toEqual(before)
})

test('when too many wait, the next is refused, and a client that leaves the queue leaves no trace', async () => {
  // The first one has its place until the others have asked, also while it waits.
  let goOn = (): void => undefined
  const told = new Promise<void>((resolve) => (goOn = resolve))
  bench = await Bench.open({ concurrentMaxQueries: 1, queueMaxQueries: 2, waitingMaxQueries: 0 }, undefined, async () => {
    await told
    return { place: { socket: '', ticket: '' } }
  })
  const slow = 'SELECT 3000000 -- when told'
  const gone = new AbortController()
  const all = [bench.ask(slow), bench.ask('SELECT 1'), bench.ask('SELECT 2', { signal: gone.signal }).catch((e: unknown) => e)]
  await until(() => bench.sqlProcess.status().waiting === 2)
  expect(await bench.refusal('SELECT 3')).toMatchObject({ code: 'busy', status: 503 })
  gone.abort(new Error('gone'))
  goOn()
  expect(await Promise.all(all)).toEqual([[[3_000_000]], [[1]], new Error('gone')])
  expect(bench.sqlProcess.status()).toMatchObject({ running: 0, waiting: 0 })
})

test('readers that leave before their first row give their places back', async () => {
  bench = await Bench.open({ concurrentMaxQueries: 2 })
  for (let n = 0; n < 40; n++) {
    const { rows } = await bench.sqlProcess.query({ sql: 'SELECT 1 WHERE false', db: 'mindsdb', defaultProject: 'mindsdb', upTo: 0 })
    await rows.return(undefined)
  }
  await until(() => bench.sqlProcess.status().running === 0)
  expect(await bench.ask('SELECT 1')).toEqual([[1]])
})

test('a process that cannot be started is tried again, and nobody but SQL hears of it', async () => {
  bench = await Bench.open()
  await bench.sqlProcess.stop()
  let hasStarted = false
  let failures = 2
  const sqlProcess = await SqlProcess.start({
    dataDirectory: bench.directory,
    get entry() {
      return hasStarted && failures-- > 0 ? 'no file has this name: \0' : rawProcess
    },
  })
  hasStarted = true
  signalTo(sqlProcess.pid, 'SIGKILL')
  await until(() => sqlProcess.status().ready && failures < 0)
  const { rows } = await sqlProcess.query({ sql: 'SELECT 1', db: 'mindsdb', defaultProject: 'mindsdb', upTo: 0 })
  const { value } = await rows.next()
  expect(Buffer.isBuffer(value) && value.toString()).toBe('[1]')
  await rows.return(undefined)
  await sqlProcess.stop()
})
