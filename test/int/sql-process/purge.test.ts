import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, expect, test } from '@jest/globals'
import type { AnswerQuestion } from '../../../src/sql-process/contract/options.js'
import { Bench, skill } from '../../support/sql-process/bench.js'
import { until } from '../../support/until.js'
import { filesUnder, tracesInFiles } from '../../support/observe/traces.js'
import { signalTo } from '../../support/processes.js'

let bench: Bench
afterEach(() => bench.close())

const planted = Buffer.from('planted-in-the-tables-0123456789')

/** The files of the tables that have the planted bytes, their spill and copies included. */
const traces = () =>
  tracesInFiles(
    filesUnder(bench.directory).filter((file) => !file.includes('log.sqlite')),
    [planted],
  ).map(({ file }) => file)

/** Rows that were in the tables, and are deleted: DuckDB leaves their bytes in its file. */
const plant = async () => {
  await bench.ask(
    `CREATE OR REPLACE TABLE ledger.planted AS SELECT '${planted.toString()}' || (i % 3)::VARCHAR AS text, i FROM range(50000) AS t(i)`,
  )
  await bench.ask('CHECKPOINT')
  await bench.ask('DELETE FROM ledger.planted WHERE i >= 0')
  expect(traces()).not.toEqual([])
}

const erasure = {
  stream: 'log',
  type: 'DataErased',
  data: { what: 'before', subject: '2026-01-01', reason: null, payloads: [], blobs: [] },
}

/** Records an erasure, and removes what is erased from the tables' files. */
const purgeAfter = (event: typeof erasure): Promise<void> => {
  bench.log.append(event)
  return bench.sqlProcess.purge(lastErasure)
}

const lastErasure = (): Promise<number> =>
  Promise.resolve(bench.log.log.envelopes.findLast(({ type }) => type === 'DataErased')?.position ?? 0)

test('a purge leaves no byte of deleted rows, and queries that come meanwhile wait for it', async () => {
  bench = await Bench.open()
  for (let n = 1; n <= 30; n++) bench.log.append(skill(n))
  await plant()
  const before = bench.sqlProcess.pid
  let purged = false
  const purging = purgeAfter(erasure).then(() => (purged = true))
  const counts: unknown[] = []
  while (!(purged as boolean)) counts.push(...(await bench.ask('SELECT count(*)::INTEGER FROM ledger.skills_history')))
  await purging
  expect(new Set(counts.flatMap((row) => row))).toEqual(new Set([30]))
  expect(traces()).toEqual([])
  expect(bench.sqlProcess.pid).not.toBe(before)
  expect(bench.sqlProcess.status()).toMatchObject({ ready: true, restarts: 0 })
  // The tables go on from the copy: they are not built anew.
  expect(await bench.ask('SELECT begun_at::INTEGER, position::INTEGER FROM ledger.checkpoint')).toEqual([[31, 31]])
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.planted')).toEqual([[0]])
  expect(readdirSync(join(bench.directory, 'tmp/tables'))).toEqual([])
})

test('a purge does nothing where the tables were begun after the last erasure, also when the service was started again', async () => {
  bench = await Bench.open()
  bench.log.append(skill(1))
  await plant()
  await purgeAfter(erasure)
  bench.log.append(skill(2))
  for (const starts of [1, 2]) {
    const { pid } = bench.sqlProcess
    await bench.sqlProcess.purge(lastErasure)
    expect([starts, bench.sqlProcess.pid]).toEqual([starts, pid])
    await bench.sqlProcess.stop()
    await bench.start()
  }
  const { pid } = bench.sqlProcess
  await purgeAfter(erasure)
  expect(bench.sqlProcess.pid).not.toBe(pid)
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.skills_history')).toEqual([[2]])
})

test('purges at once are all carried out, also when the running process cannot copy its tables', async () => {
  bench = await Bench.open()
  bench.log.append(skill(1))
  await plant()
  await Promise.all([purgeAfter(erasure), purgeAfter(erasure)])
  expect(traces()).toEqual([])
  await plant()
  rmSync(join(bench.directory, 'tmp/tables'), { recursive: true })
  await purgeAfter(erasure)
  expect(traces()).toEqual([])
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.skills_history')).toEqual([[1]])
})

test('data that is erased while the tables are copied is gone as well, and the tables are not built anew', async () => {
  bench = await Bench.open()
  for (let n = 1; n <= 30; n++) bench.log.append(skill(n))
  await plant()
  const asked: number[] = []
  bench.log.append(erasure)
  await bench.sqlProcess.purge(async () => {
    // Other nodes erase more while this one copies, and while it waits for queries.
    if (asked.length === 1 || asked.length === 2) bench.log.append(erasure)
    const position = await lastErasure()
    asked.push(position)
    return position
  })
  expect(asked.at(-1)).toBe(33)
  expect(traces()).toEqual([])
  expect(await bench.ask('SELECT begun_at::INTEGER, position::INTEGER FROM ledger.checkpoint')).toEqual([[33, 33]])
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.planted')).toEqual([[0]])
  expect(readdirSync(join(bench.directory, 'tmp/tables'))).toEqual([])
})

test('a query that two purges cut off is not blamed for them, and runs again', async () => {
  // It executes until it is cut off, but for the last time.
  let executions = 0
  const answer: AnswerQuestion = () =>
    ++executions <= 2 ? new Promise(() => undefined) : Promise.resolve({ place: { socket: '', ticket: '' } })
  // On a busy machine the query may need more than its usual time.
  bench = await Bench.open({ purgeWaitMs: 50, timeoutMs: 600_000, waitingMaxQueries: 0 }, undefined, answer)
  const asking = bench.ask('SELECT 7 -- when told')
  for (let purges = 1; purges <= 2; purges++) {
    // It has to execute, not only to have its place.
    await until(() => executions >= purges)
    expect(bench.sqlProcess.status().running).toBe(1)
    await purgeAfter(erasure)
  }
  expect(await asking).toEqual([[7]])
  expect(bench.sqlProcess.status()).toMatchObject({ retries: 2, restarts: 0, losses: { died: 0 } })
})

test('tables that a copy cannot take the place of are built anew, and SQL goes on', async () => {
  bench = await Bench.open()
  bench.log.append(skill(1))
  await plant()
  // What the process has open stays whole for it; the name is a directory's.
  rmSync(join(bench.directory, 'tables/analytics.duckdb'))
  mkdirSync(join(bench.directory, 'tables/analytics.duckdb/in the way'), { recursive: true })
  await purgeAfter(erasure)
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.skills_history')).toEqual([[1]])
  expect(traces()).toEqual([])
  expect(readdirSync(join(bench.directory, 'tmp/tables'))).toEqual([])
})

test('a start after a crash before the purge finds by begun_at that bytes may be left, and copies the tables without them', async () => {
  bench = await Bench.open()
  bench.log.append(skill(1))
  await plant()
  await bench.ask('SELECT 1', { upTo: bench.log.append(erasure) })
  signalTo(bench.sqlProcess.pid, 'SIGKILL')
  await until(() => bench.sqlProcess.status().restarts === 1 && bench.sqlProcess.status().ready)
  expect(traces()).toEqual([])
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.skills_history')).toEqual([[1]])
  // The log does not have this table, so it was not built from the log.
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.planted')).toEqual([[0]])
  expect(bench.sqlProcess.status().rebuilds).toEqual({ count: 0, last: null })
  expect(readdirSync(join(bench.directory, 'tables')).filter((name) => name.includes('copy'))).toEqual([])
  const { pid } = bench.sqlProcess
  signalTo(pid, 'SIGKILL')
  await until(() => bench.sqlProcess.status().restarts === 2 && bench.sqlProcess.status().ready)
  // Once is enough: the copy was begun after the erasure.
  expect(await bench.ask('SELECT begun_at::INTEGER FROM ledger.checkpoint')).toEqual([[2]])
})

test('a copy beside the running process says its position, holds every table, and is refused where none may be written', async () => {
  bench = await Bench.open()
  for (let n = 1; n <= 5; n++) bench.log.append(skill(n))
  const into = join(bench.directory, 'tmp/tables/copy.duckdb')
  expect(await bench.sqlProcess.copy(into, 5)).toBe(5)
  expect(existsSync(`${into}.wal`)).toBe(false)
  mkdirSync(join(bench.directory, 'elsewhere'))
  copyFileSync(into, join(bench.directory, 'elsewhere/copy.duckdb'))
  const instance = await DuckDBInstance.create(join(bench.directory, 'elsewhere/copy.duckdb'))
  const connection = await instance.connect()
  expect((await connection.runAndReadAll('SELECT count(*)::INTEGER FROM ledger.skills_history')).getRows()).toEqual([[5]])
  connection.closeSync()
  instance.closeSync()
  await expect(bench.sqlProcess.copy(into, 5)).rejects.toThrow('exists')
  await expect(bench.sqlProcess.copy(join(bench.directory, 'elsewhere/other.duckdb'), 5)).rejects.toThrow()
  await expect(bench.sqlProcess.copy(join(bench.directory, 'tmp/tables/far.duckdb'), 7)).rejects.toThrow('after the head')
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.skills_history')).toEqual([[5]])
})

test('a copy that the process began and did not end is removed', async () => {
  bench = await Bench.open()
  bench.log.append(skill(1))
  const { pid } = bench.sqlProcess
  signalTo(pid, 'SIGSTOP')
  const into = join(bench.directory, 'tmp/tables/half.duckdb')
  const copying = expect(bench.sqlProcess.copy(into, 1)).rejects.toThrow('ended')
  for (const file of [into, `${into}.wal`]) writeFileSync(file, planted)
  signalTo(pid, 'SIGKILL')
  await copying
  expect(traces()).toEqual([])
})

test('a copy that cannot be used, because the last erasure is unknown, is removed', async () => {
  bench = await Bench.open()
  bench.log.append(skill(1))
  await plant()
  bench.log.append(erasure)
  let asked = 0
  await bench.sqlProcess.purge(() => (++asked === 2 ? Promise.reject(new Error('the log cannot be read')) : lastErasure()))
  expect(traces()).toEqual([])
  expect(readdirSync(join(bench.directory, 'tmp/tables'))).toEqual([])
})
