import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import { Connections } from '../../src/connections/connections.js'
import { AnswerReader } from '../../src/connections/reader/read-answer.js'
import { duck, readAll, until } from '../support/connections/answers.js'
import { countOf } from '../support/counts.js'
import { password, startPostgres, type Postgres } from '../support/connections/postgres.js'
import { proxyTo, type Fault, type Listening } from '../support/connections/proxy.js'

const faults = countOf('FAULTS')

let postgres: Postgres
let proxy: Listening
let connections: Connections
let db: DuckDBConnection
let fault: Fault | undefined

beforeAll(async () => {
  postgres = await startPostgres()
  proxy = await proxyTo(postgres.port, () => fault)
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  db = await duck()
})

afterAll(async () => {
  connections.stop()
  await proxy.stop()
  await postgres.stop()
})

const below = (most: number): number => Math.floor(Math.random() * most)

const large = "SELECT generate_series(1, 3000000) AS i, repeat('text ', 20) AS t"

/** Reads an answer and leaves after some time. */
const leaveIn = async (ms: number, parameters: Record<string, number>): Promise<void> => {
  const stop = new AbortController()
  setTimeout(() => stop.abort(new Error('left')), ms)
  const opened = await connections.open(postgres.connection(parameters), { native: large })
  const answer = await AnswerReader.open(opened, stop.signal)
  for await (const chunk of answer.chunks(true)) if (chunk.rowCount === 0) break
}

const kinds: readonly (() => Promise<unknown>)[] = [
  ...(['cut', 'garbage', 'swallow'] as const).map((then) => async () => {
    fault = { afterBytes: below(400_000), then }
    await readAll(db, connections, postgres.connection({ port: proxy.port }), large, { timeMs: 500 + below(500) })
  }),
  () => leaveIn(below(300), {}),
  () => leaveIn(below(300), { port: proxy.port }),
  () => readAll(db, connections, postgres.connection(), large, { timeMs: below(400) }),
  async () => {
    const reading = readAll(db, connections, postgres.connection(), large)
    let isRead = false
    const settled = reading.catch(() => undefined).finally(() => (isRead = true))
    await sleep(below(200))
    // It may not have begun yet.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- set above
    while (!isRead) {
      await postgres.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%generate_series(1, 3000000)%' AND pid <> pg_backend_pid()",
      )
      await Promise.race([settled, sleep(50)])
    }
    await reading
  },
]

test(
  'whatever happens to one connection, others answer, and nothing is left behind',
  async () => {
    const good = postgres.connection()
    // A connection to DuckDB takes one thing at a time.
    const steadyDb = await duck()
    let isOver = false
    const steady = (async () => {
      let answered = 0
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- set below
      while (!isOver) {
        expect((await readAll(steadyDb, connections, good, 'SELECT count(*) AS n FROM generate_series(1, 1000)')).rows).toEqual([['1000']])
        answered += 1
      }
      return answered
    })()
    for (let round = 0; round < faults; round++) {
      const failed = await kinds[below(kinds.length)]?.().then(
        () => undefined,
        (error: unknown) => error,
      )
      fault = undefined
      if (failed !== undefined) expect(JSON.stringify(failed)).not.toContain(password)
    }
    isOver = true
    expect(await steady).toBeGreaterThan(faults)
    const busy = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'mindledger' AND state <> 'idle'"
    await until(async () => (await postgres.run(busy)).rows.length === 0, 10_000)
    expect(connections.pids).toHaveLength(1)
    connections.stop()
    await until(() => proxy.open() === 0, 10_000)
    const left = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'mindledger'"
    await until(async () => (await postgres.run(left)).rows.length === 0, 10_000)
  },
  60_000 + faults * 5_000,
)
