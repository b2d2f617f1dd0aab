import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import type { AnswerQuestion } from '../../../src/sql-process/contract/options.js'
import { Bench } from '../../support/sql-process/bench.js'
import { until } from '../../support/until.js'

let bench: Bench
afterEach(() => bench.close())

const endless = 'SELECT count(*) FROM range(1e15::BIGINT)'

/** Ten queries without end of one client, and what ends them. `ended` counts those that have an answer or an error. */
const heavy = (client: string) => {
  const stop = new AbortController()
  const seen = { ended: 0 }
  const all = Array.from({ length: 10 }, () =>
    bench
      .ask(endless, { client, signal: stop.signal })
      .catch(() => undefined)
      .finally(() => (seen.ended += 1)),
  )
  const end = async () => {
    stop.abort(new Error('gone'))
    await Promise.all(all)
  }
  return { seen, end }
}

/** The rows of a small query of client b; undefined where its answer was cut off. */
const askSmall = (sql: string): Promise<unknown> => bench.askUncut(sql, { client: 'b' })

/**
 * The rows of a small query. A busy machine may take longer for it than a quick one has, and then it gives way until a heavy one ends: that
 * is left, and asked again.
 */
const askQuick = async (sql: string, client: string, tries = 20): Promise<unknown> => {
  const late = AbortSignal.timeout(5_000)
  try {
    return await bench.ask(sql, { client, signal: late })
  } catch (error) {
    if (!late.aborted || tries === 1) throw error
    return askQuick(sql, client, tries - 1)
  }
}

test.each([
  ['another client', 'b'],
  ['the same client', 'a'],
])('small queries of %s are answered while ten without end of one client run', async (_, client) => {
  bench = await Bench.open({ timeoutMs: 600_000, cancelGraceMs: 50_000 })
  const { seen, end } = heavy('a')
  await until(() => bench.sqlProcess.status().running >= 4)
  for (let n = 0; n < 30; n++) expect(await askQuick(`SELECT ${n}`, client)).toEqual([[n]])
  expect(seen.ended).toBe(0)
  expect(bench.sqlProcess.status()).toMatchObject({ restarts: 0, retries: 0 })
  await end()
  await until(() => bench.sqlProcess.status().running === 0)
  expect(bench.sqlProcess.status().waiting).toBe(0)
})

test('queries that gave way are answered in full, each once there is a place for it', async () => {
  bench = await Bench.open({ quickMs: 50, longMaxQueries: 1, cancelGraceMs: 50_000 })
  const work = (n: number) => `SELECT ${n} + 0 * count(*)::INTEGER FROM range(300000) WHERE md5(repeat(range::VARCHAR, 20)) > ''`
  const asked = [0, 1, 2, 3].map((n) => bench.ask(work(n), { client: 'a' }))
  expect(await Promise.all(asked)).toEqual([[[0]], [[1]], [[2]], [[3]]])
  expect(bench.sqlProcess.status()).toMatchObject({ restarts: 0, retries: 0, running: 0, waiting: 0 })
})

test.each(['after a write', 'after a late write'])('a query writes to a connected database once: %s', async (when) => {
  let written = 0
  const write: AnswerQuestion = (_, __, onReading) => {
    written += 1
    onReading(Promise.resolve({ changed: true }))
    return Promise.resolve({ place: { socket: '', ticket: '' } })
  }
  // One that gave way waits until a heavy one has reached its timeout.
  bench = await Bench.open({ quickMs: 50, longMaxQueries: 1, timeoutMs: 5_000, cancelGraceMs: 50_000 }, undefined, write)
  const { end } = heavy('a')
  await until(() => bench.sqlProcess.status().running >= 4)
  const work = `SELECT count(*)::INTEGER FROM range(300000) WHERE md5(repeat(range::VARCHAR, 20)) > '' -- ${when}`
  expect(await bench.ask(work, { client: 'b', timeoutMs: 600_000 })).toEqual([[300_000]])
  expect(written).toBe(1)
  await end()
})

test('one that gives way and will not stop is ended by its deadline, and others are answered meanwhile', async () => {
  bench = await Bench.open({ quickMs: 50, longMaxQueries: 1, timeoutMs: 5_000, cancelGraceMs: 200 })
  const { end } = heavy('a')
  const stuck = bench.refusal('test: block', { client: 'b' })
  expect(await stuck).toMatchObject({ code: 'query_limit' })
  expect(await bench.ask('SELECT 1', { client: 'b', timeoutMs: 600_000 })).toEqual([[1]])
  await end()
})

test('small queries are answered beside each try of those that end the process', async () => {
  /** In the life of which processes there were answers, by how many had been lost before. */
  const answered = new Set<number>()
  const losses = () => bench.sqlProcess.status().losses.died
  let guilty = 2
  // On a busy machine the small ones may need longer than the process lives otherwise.
  const onceAnswered: AnswerQuestion = async () => {
    await until(() => guilty === 0 || answered.has(losses()))
    return { place: { socket: '', ticket: '' } }
  }
  bench = await Bench.open({ timeoutMs: 600_000, waitingMaxQueries: 0 }, undefined, onceAnswered)
  const named = Array.from({ length: guilty }, () => bench.refusal('test: crash when told', { client: 'a' }).finally(() => guilty--))
  const small = async (n: number) => {
    while (guilty > 0) {
      const rows = await askSmall(`SELECT ${n}`)
      if (rows === undefined) continue
      expect(rows).toEqual([[n]])
      answered.add(losses())
      await sleep(50)
    }
  }
  await Promise.all([0, 1, 2].map(small))
  for (const refusal of await Promise.all(named)) expect(refusal).toMatchObject({ code: 'query_failed' })
  expect(losses()).toBeGreaterThan(2)
  expect([...answered]).toEqual(expect.arrayContaining(Array.from({ length: losses() }, (_, life) => life)))
})

test('a query that ends the process is named, however many small ones are always beside it', async () => {
  bench = await Bench.open()
  let isOver = false
  const named = bench.refusal('test: crash after 4 s', { client: 'a' }).finally(() => (isOver = true))
  const beside = async () => {
    while (!isOver) expect((await askSmall('SELECT 1 -- slowly')) ?? [[1]]).toEqual([[1]])
  }
  await Promise.all([0, 1, 2, 3, 4].map(beside))
  expect(await named).toMatchObject({ code: 'query_failed' })
})
