import { existsSync, symlinkSync, unlinkSync } from 'node:fs'
import { afterEach, describe, expect, test } from '@jest/globals'
import { DuckDBInstance } from '@duckdb/node-api'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { serveReady, type Ready } from '../../support/observe/ready.js'
import { Bench, skill } from '../../support/sql-process/bench.js'
import { until } from '../../support/until.js'
import { signalTo } from '../../support/processes.js'

let bench: Bench
let stopServing: (() => Promise<void>) | undefined
afterEach(async () => {
  await stopServing?.()
  stopServing = undefined
  await bench.close()
})

const isWell = () => bench.sqlProcess.status().stopped === undefined

/** Serves `GET /ready` until the end of the test, and returns a function that waits for an answer of it. */
const readyOfTest = async (): Promise<(holds: (found: Ready) => boolean) => Promise<Ready>> => {
  const { ready, stop } = await serveReady(bench)
  stopServing = stop
  return async (holds) => {
    let found = await ready()
    await until(async () => holds((found = await ready())))
    return found
  }
}

describe('a process that gives no sign of life', () => {
  // A busy machine may take seconds for an answer.
  const impatient = { pingIntervalMs: 200, silentMaxPings: 20 }
  const stop = () => {
    const { pid } = bench.sqlProcess
    signalTo(Number(pid), 'SIGSTOP')
    return pid
  }

  test('is replaced when nobody asks it anything', async () => {
    bench = await Bench.open(impatient)
    const stopped = stop()
    await until(() => bench.sqlProcess.pid !== stopped && isWell())
    expect(bench.sqlProcess.status().losses.blocked).toBeGreaterThanOrEqual(1)
    expect(await bench.ask('SELECT 1')).toEqual([[1]])
  })

  test('is replaced under queries that it never began, and they are answered by the next', async () => {
    bench = await Bench.open(impatient)
    bench.log.append(skill(1))
    // It has no time left to say that it has put this one away.
    expect(await bench.ask('SELECT 1 -- lingers')).toEqual([[1]])
    const stopped = stop()
    bench.log.append(skill(2))
    const counts = await Promise.all(Array.from({ length: 4 }, () => bench.ask('SELECT count(*)::INTEGER FROM ledger.events')))
    expect(counts).toEqual([[[2]], [[2]], [[2]], [[2]]])
    expect(bench.sqlProcess.pid).not.toBe(stopped)
  })

  test('is replaced under the read of a training, which has much more time than others', async () => {
    bench = await Bench.open({ ...impatient, timeoutMs: 5_000, cancelGraceMs: 500 })
    const sql = `SELECT count(*) FROM range(1000000000) WHERE md5(range::VARCHAR) > ''`
    const request = { sql, db: 'mindsdb', defaultProject: 'mindsdb', upTo: 0, timeoutMs: 1_800_000 }
    const gone = new AbortController()
    const read = bench.sqlProcess.query(request, { signal: gone.signal }).catch((error: unknown) => error)
    await until(() => bench.sqlProcess.status().running > 0)
    const stopped = stop()
    await until(() => bench.sqlProcess.pid !== stopped && isWell())
    gone.abort()
    expect(await read).toBeInstanceOf(Error)
    expect(await bench.ask('SELECT 1')).toEqual([[1]])
  })

  test('while it executes a query is told to be silent, and only the deadline of the query ends it', async () => {
    bench = await Bench.open({ ...impatient, timeoutMs: 20_000, cancelGraceMs: 500 })
    const ready = await readyOfTest()
    const reason = 'The process that answers SQL gives no sign of life.'
    const { pid } = bench.sqlProcess
    const gone = new AbortController()
    // Its deadline is far away: that of the next one could be over before its silence was seen.
    const blocked = bench.ask('test: block', { timeoutMs: 20 * 60_000, signal: gone.signal }).catch((error: unknown) => error)
    const silent = await ready(({ body }) => body.sql.reason === reason)
    expect(silent).toMatchObject({ status: 503, body: { rest: { ready: true }, sql: { ready: false, reason } } })
    expect(bench.sqlProcess.pid).toBe(pid)
    gone.abort()
    expect(await blocked).toBeInstanceOf(Error)
    expect(await bench.ask('SELECT 1')).toEqual([[1]])
    expect(await bench.refusal('test: block')).toMatchObject({ code: 'query_limit', extras: { limit: 'sqlTimeoutMs' } })
    expect(await ready(({ status }) => status === 200)).toMatchObject({ body: { sql: { ready: true, other_rows: 0 } } })
  })
})

test('tables that cannot be written, here for want of room, are told so with the reason until they can', async () => {
  bench = await Bench.open()
  bench.log.append(skill(1))
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.events')).toEqual([[1]])
  const ahead = `${dataPaths(bench.directory).tablesFile}.wal`
  // A process that is ended before it has closed its tables may leave what it wrote ahead.
  await until(async () => {
    await bench.sqlProcess.stop()
    // Each process dies before it is ready, so a query waits for all the time that a start has.
    await bench.start({ followerIntervalMs: 100, startWaitMs: 2_000 })
    await until(isWell)
    return !existsSync(ahead)
  })
  // Whatever DuckDB writes ahead from now on finds no room.
  symlinkSync('/dev/full', ahead)
  bench.log.append(skill(2))
  const ready = await readyOfTest()
  await until(() => /cannot be brought up to date/.test(bench.sqlProcess.status().stopped ?? ''))
  const full = await ready(({ body }) => /cannot be brought up to date/.test(body.sql.reason ?? ''))
  expect(full).toMatchObject({ status: 503, body: { rest: { ready: true }, sql: { ready: false } } })
  expect(JSON.stringify(full.body)).not.toContain(bench.directory)
  expect(await bench.refusal('SELECT 1')).toMatchObject({ code: 'analytics_unavailable' })
  expect(bench.sqlProcess.status()).toMatchObject({ rebuilds: { count: 0 } })
  unlinkSync(ahead)
  await until(isWell)
  expect(await ready(({ status }) => status === 200)).toMatchObject({ body: { sql: { ready: true, state: 'following' } } })
  expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.events')).toEqual([[2]])
})

test('tables that another process holds are told so, without its program, id and user, until it lets them go', async () => {
  bench = await Bench.open()
  await bench.sqlProcess.stop()
  const holder = await DuckDBInstance.create(dataPaths(bench.directory).tablesFile)
  await bench.start({ startWaitMs: 2_000 })
  const ready = await readyOfTest()
  const held = await ready(({ body }) => /cannot start/.test(body.sql.reason ?? ''))
  expect(held.status).toBe(503)
  expect(held.body.sql.reason).toContain('another process holds it')
  for (const told of [JSON.stringify(held.body), String(bench.sqlProcess.status().lastError)]) expect(told).not.toMatch(/PID|by user/)
  holder.closeSync()
  await until(isWell)
})
