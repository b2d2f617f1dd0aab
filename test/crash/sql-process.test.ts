import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, expect, test } from '@jest/globals'
import { replay } from '../../projections/replay.js'
import type { AnswerQuestion } from '../../src/sql-process/contract/options.js'
import { Bench, skill } from '../support/sql-process/bench.js'
import { until } from '../support/until.js'
import { differences } from '../support/log/states.js'
import { isRunning, signalTo } from '../support/processes.js'

let bench: Bench
afterEach(() => bench.close())

const mebibyte = 1024 * 1024
/** The deadline of what ends by itself, however busy the machine is. */
const timeoutMs = 20 * 60_000
// Interruptible and long; and two that an interrupt does not reach: one in DuckDB's own thread of the addon, one in JavaScript.
const endless = 'SELECT count(*) FROM range(1e15::BIGINT)'
const blocked = 'test: block'
const greedy = `SELECT len(string_split(repeat('a,', 150000000), ','))`
/** Honest work, told apart by its number: some tenths of a second when nothing else runs. */
const honest = (n: number) => `SELECT ${n} + 0 * count(*)::INTEGER FROM range(500000) WHERE md5(range::VARCHAR) > ''`
const honestTo = (count: number) => Array.from({ length: count }, (_, i) => i)

test.each([
  ['that DuckDB can interrupt', endless],
  ['that nothing can interrupt', blocked],
])('a query without end %s is ended by its deadline, and others get their answers', async (_, sql) => {
  bench = await Bench.open({ timeoutMs, cancelGraceMs: 500 })
  // The query without end takes the processor from them.
  const others = honestTo(3).map((n) => bench.ask(`SELECT ${n}`))
  const refusal = await bench.refusal(sql, { timeoutMs: 2_000 })
  expect(refusal).toMatchObject({ code: 'query_limit', extras: { limit: 'sqlTimeoutMs' } })
  expect(await Promise.all(others)).toEqual([[[0]], [[1]], [[2]]])
  expect(await bench.ask('SELECT 1')).toEqual([[1]])
  expect(bench.sqlProcess.status().running).toBe(0)
})

test('of eight queries the one that eats memory is named, and seven get their answers', async () => {
  bench = await Bench.open({ memoryMaxBytes: 700 * mebibyte, timeoutMs })
  const seven = honestTo(7).map((n) => bench.ask(honest(n)))
  const refusal = await bench.refusal(greedy)
  expect(refusal).toMatchObject({ code: 'query_limit', extras: { limit: 'sqlMemoryMaxBytes' } })
  expect(await Promise.all(seven)).toEqual(honestTo(7).map((n) => [[n]]))
  expect(await bench.ask('SELECT 1')).toEqual([[1]])
})

test('a query that ends the process is named, and seven others get their answers', async () => {
  bench = await Bench.open({ timeoutMs })
  const seven = honestTo(7).map((n) => bench.ask(honest(n)))
  expect(await bench.refusal('test: crash')).toMatchObject({ code: 'query_failed' })
  expect(await Promise.all(seven)).toEqual(honestTo(7).map((n) => [[n]]))
  expect(await bench.ask('SELECT 1')).toEqual([[1]])
})

test('a process that is killed from outside costs no answer', async () => {
  // All eight execute until it is killed, however late that is. The next process lets them go on.
  let executions = 0
  const hold: AnswerQuestion = () =>
    ++executions <= 8 ? new Promise(() => undefined) : Promise.resolve({ place: { socket: '', ticket: '' } })
  bench = await Bench.open({ timeoutMs, waitingMaxQueries: 0 }, undefined, hold)
  bench.log.append(skill(1))
  const eight = honestTo(8).map((n) => bench.ask(`${honest(n)} -- when told`))
  await until(() => executions >= 8)
  signalTo(bench.sqlProcess.pid, 'SIGKILL')
  expect(await Promise.all(eight)).toEqual(honestTo(8).map((n) => [[n]]))
})

test('a short answer whose rows are there is tried again when the process is lost before its end', async () => {
  bench = await Bench.open()
  const asked = bench.ask('SELECT 42 -- then test: pause')
  await until(() => bench.sqlProcess.status().running === 1)
  await sleep(300)
  signalTo(bench.sqlProcess.pid, 'SIGKILL')
  expect(await asked).toEqual([[42]])
})

test('an answer whose first rows have left ends with an error, not with rows twice', async () => {
  bench = await Bench.open()
  const stream = await bench.sqlProcess.query({ sql: 'SELECT * FROM range(50000000)', db: '', defaultProject: '', upTo: 0 })
  const first = await stream.rows.next()
  expect(first.done).toBe(false)
  signalTo(bench.sqlProcess.pid, 'SIGKILL')
  const rest = async () => {
    for await (const _ of stream.rows);
  }
  await expect(rest()).rejects.toMatchObject({ code: 'analytics_unavailable' })
  expect(await bench.ask('SELECT 1')).toEqual([[1]])
})

test('answers that are read while another query eats the memory are cut off, and not blamed', async () => {
  bench = await Bench.open({ memoryMaxBytes: 700 * mebibyte, timeoutMs })
  const request = { sql: 'SELECT * FROM range(1000000000)', db: '', defaultProject: '', upTo: 0 }
  // The first rows of both are there: an answer without rows would not be cut off, but begin again.
  const answers = await Promise.all([1, 2].map(() => bench.sqlProcess.query(request)))
  const read = async ({ rows }: (typeof answers)[number]) => {
    for await (const _ of rows);
  }
  const cutOff = answers.map((answer) =>
    expect(read(answer)).rejects.toMatchObject({ code: 'analytics_unavailable', title: 'Answer cut off' }),
  )
  expect(bench.sqlProcess.status().running).toBe(2)
  expect(await bench.refusal(greedy)).toMatchObject({ code: 'query_limit', extras: { limit: 'sqlMemoryMaxBytes' } })
  await Promise.all(cutOff)
})

// The grace is one that no interrupt needs, or so short that it ends what no interrupt reaches: no test depends on the machine's speed.
test('a client that goes away ends its query, and the process serves on', async () => {
  bench = await Bench.open({ cancelGraceMs: 50_000 })
  await leave(endless)
  const stream = await bench.sqlProcess.query({ sql: 'SELECT * FROM range(50000000)', db: '', defaultProject: '', upTo: 0 })
  await stream.rows.next()
  await stream.rows.return(undefined)
  await until(() => bench.sqlProcess.status().running === 0)
  expect(bench.sqlProcess.status().restarts).toBe(0)
})

test('a client that goes away ends its query also where no interrupt reaches it', async () => {
  bench = await Bench.open({ cancelGraceMs: 500 })
  await leave(blocked, () => bench.isBlocked)
  expect(bench.sqlProcess.status().restarts).toBe(1)
})

/** Asks, leaves once the query runs, and waits until its place is free. */
const leave = async (sql: string, runs = () => bench.sqlProcess.status().running === 1) => {
  const gone = new AbortController()
  const ended = expect(bench.ask(sql, { signal: gone.signal })).rejects.toThrow('gone')
  await until(runs)
  gone.abort(new Error('gone'))
  await ended
  await until(() => bench.sqlProcess.status().running === 0)
  expect(await bench.ask('SELECT 1')).toEqual([[1]])
}

test('killed again and again while it projects, the process comes to the same tables as one replay', async () => {
  bench = await Bench.open({}, ({ log }) => {
    for (let n = 1; n <= 150; n++) log.append(...Array.from({ length: 100 }, (_, i) => skill(100 * n + i)))
  })
  for (let n = 0; n < 4; n++) {
    await new Promise((resolve) => setTimeout(resolve, 150 * (n + 1)))
    bench.log.append(skill(40_000 + n))
    const pid = bench.sqlProcess.pid ?? 0
    if (isRunning(pid)) signalTo(pid, 'SIGKILL')
    await until(() => bench.sqlProcess.status().ready && bench.sqlProcess.pid !== pid)
  }
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.events')).toEqual([[15_004]])
  await bench.sqlProcess.stop()
  const replayed = await DuckDBInstance.create(':memory:')
  await replay({ events: bench.log.log, payloads: bench.log.log, database: replayed })
  expect(await differences(replayed, join(bench.directory, 'tables/analytics.duckdb'))).toEqual({})
  replayed.closeSync()
})

test('what a killed query spilled is gone when the process is there again', async () => {
  bench = await Bench.open({ memoryMaxBytes: 400 * mebibyte, timeoutMs })
  const spill = join(bench.directory, 'tmp', 'spill')
  const gone = new AbortController()
  const asked = bench
    .ask('SELECT md5(range::VARCHAR) AS y FROM range(20000000) ORDER BY y LIMIT 9999999', { signal: gone.signal })
    .catch(() => undefined)
  await until(() => readdirSync(spill).length > 0)
  const pid = bench.sqlProcess.pid ?? 0
  signalTo(pid, 'SIGKILL')
  gone.abort()
  await asked
  await until(() => bench.sqlProcess.status().ready && bench.sqlProcess.pid !== pid)
  expect(await bench.ask('SELECT 1')).toEqual([[1]])
  expect(readdirSync(spill)).toEqual([])
})

/** A server in a process of its own, which can be killed. */
const startParent = (directory: string, environment: Record<string, string> = {}) =>
  spawn(process.execPath, [fileURLToPath(new URL('../support/sql-process/orphan-parent.js', import.meta.url)), directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })

test('when the server is killed its process and socket go with it', async () => {
  bench = await Bench.open()
  await bench.sqlProcess.stop()
  const temporary = join(bench.directory, 'elsewhere')
  mkdirSync(temporary)
  const parent = startParent(bench.directory, { TMPDIR: temporary })
  const [told] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(told.toString())
  expect(isRunning(pid)).toBe(true)
  expect(readdirSync(temporary)).toHaveLength(1)
  parent.kill('SIGKILL')
  await until(() => !isRunning(pid))
  expect(readdirSync(temporary)).toEqual([])
})

test('a process that was stopped when its server was killed is ended by the next one, which needs its tables', async () => {
  bench = await Bench.open()
  await bench.sqlProcess.stop()
  const parent = startParent(bench.directory)
  const [told] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(told.toString())
  signalTo(pid, 'SIGSTOP')
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  expect(isRunning(pid)).toBe(true)
  await bench.start()
  await until(() => bench.sqlProcess.status().ready)
  // Its files are closed before the system forgets it.
  await until(() => !isRunning(pid))
})
