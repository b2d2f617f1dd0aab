import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import { Connections } from '../../src/connections/connections.js'
import { AnswerReader } from '../../src/connections/reader/read-answer.js'
import { duck, readAll } from '../support/connections/answers.js'
import { until } from '../support/until.js'
import { makeCertificate } from '../support/connections/certificate.js'
import { countOf } from '../support/counts.js'
import { password, startPostgres, type Postgres } from '../support/connections/postgres.js'
import { proxyTo, type Fault, type Listening } from '../support/connections/proxy.js'
import { send, sql, startTestService, temporaryDirectory } from '../support/service.js'

const faults = countOf('FAULTS')
const minutes = countOf('FAULT_MINUTES')

const place = temporaryDirectory()
/** The one that others use meanwhile, and the one that is killed and stopped; it speaks TLS. */
let postgres: Postgres
let victim: Postgres
let proxy: Listening
let proxyToVictim: Listening
let connections: Connections
let db: DuckDBConnection
let fault: Fault | undefined

beforeAll(async () => {
  const { key, cert } = makeCertificate(place.path, 'DNS:localhost')
  postgres = await startPostgres()
  victim = await startPostgres(['-c', 'ssl=on', '-c', `ssl_cert_file=${cert}`, '-c', `ssl_key_file=${key}`])
  proxy = await proxyTo(postgres.port, () => fault)
  proxyToVictim = await proxyTo(victim.port, () => fault)
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  db = await duck()
})

afterAll(async () => {
  connections.stop()
  await proxy.stop()
  await proxyToVictim.stop()
  await postgres.stop()
  await victim.stop()
  place.remove()
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

const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

const throughProxy =
  (then: Fault['then'], parameters: Record<string, string | number>, server: () => Postgres, bytes: number) => async () => {
    fault = { afterBytes: below(bytes), then }
    await readAll(db, connections, server().connection(parameters), large, { timeMs: 500 + below(500) })
  }

const thens = ['cut', 'garbage', 'swallow'] as const

const kinds: readonly (readonly [name: string, run: () => Promise<unknown>])[] = [
  ...thens.map((then) => [`proxy: ${then}`, () => throughProxy(then, { port: proxy.port }, () => postgres, 400_000)()] as const),
  // The first bytes are the handshake, and the login.
  ...thens.map(
    (then) =>
      [
        `TLS: ${then}`,
        () => throughProxy(then, { port: proxyToVictim.port, sslmode: 'require' }, () => victim, below(2) * 400_000 + 3_000)(),
      ] as const,
  ),
  ['reader leaves', () => leaveIn(below(300), {})],
  ['reader leaves a proxy', () => leaveIn(below(300), { port: proxy.port })],
  ['time limit', () => readAll(db, connections, postgres.connection(), large, { timeMs: below(400) })],
  [
    'session is ended',
    async () => {
      const reading = readAll(db, connections, postgres.connection(), large)
      let isRead = false
      const settled = reading.catch(() => undefined).finally(() => (isRead = true))
      await sleep(below(200))
      // It may not have begun yet.
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- set above
      while (!isRead) {
        await postgres.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%generate_series(1, 3000000)%' AND pid <> pg_backend_pid()",
        )
        await Promise.race([settled, sleep(50)])
      }
      await reading
    },
  ],
  [
    'SIGKILL of the database',
    async () => {
      const failed = outcomeOf(readAll(db, connections, victim.connection(), large, { timeMs: 3_000 }))
      await sleep(below(300))
      await victim.crash()
      throw await failed
    },
  ],
  [
    'SIGSTOP of the database',
    async () => {
      const failed = outcomeOf(readAll(db, connections, victim.connection(), large, { timeMs: 500 + below(500) }))
      await sleep(below(300))
      const goOn = await victim.freeze()
      // A connection that is opened meanwhile reaches the system, and nobody behind it.
      const late = await outcomeOf(readAll(await duck(), connections, victim.connection(), large, { timeMs: 500 }))
      goOn()
      expect(late).toMatchObject({ code: 'query_limit' })
      throw await failed
    },
  ],
]

const databaseOf = (name: string, { parameters }: ReturnType<Postgres['connection']>, more: object = {}) => ({
  database: { name, engine: 'postgres', parameters: { ...parameters, ...more } },
})

/**
 * A whole service that has both databases: it answers REST, SQL and questions to the healthy one while one statement after the other
 * meets what happens to the other one. Stopping tells how often it answered.
 */
const serveBeside = async () => {
  const { url, stop } = await startTestService()
  await send(url, 'POST', '/api/databases', databaseOf('steady', postgres.connection()))
  await send(url, 'POST', '/api/databases', databaseOf('troubled', victim.connection(), { port: proxyToVictim.port, sslmode: 'require' }))
  let [isOver, answered, failed] = [false, 0, 0]
  const isOn = () => !isOver
  const trouble = (async () => {
    while (isOn()) {
      const { type } = await sql(url, 'SELECT count(*) AS n FROM troubled (SELECT generate_series(1, 100000) AS i)')
      if (type === 'error') failed += 1
      await sleep(50)
    }
  })()
  const others = (async () => {
    while (isOn()) {
      expect((await send(url, 'GET', '/api/projects')).status).toBe(200)
      expect((await sql(url, 'SELECT 1 AS a')).data).toEqual([[1]])
      expect(await sql(url, 'SELECT n FROM steady (SELECT count(*) AS n FROM generate_series(1, 1000))')).toMatchObject({ data: [[1000]] })
      answered += 1
      await sleep(50)
    }
  })()
  const broken = others.catch((error: unknown) => error)
  return {
    broken,
    stop: async () => {
      isOver = true
      try {
        await Promise.all([others, trouble])
      } finally {
        await stop()
      }
      return { answered, failed }
    },
  }
}

/** What a reader may be told of a fault; another word is a fault of this service. */
const told = ['connection_failed', 'query_limit', 'query_failed']

test('whatever happens to one connection, others answer, and nothing is left behind', async () => {
  const good = postgres.connection()
  // A connection to DuckDB takes one thing at a time.
  const steadyDb = await duck()
  let isOver = false
  let answered = 0
  const steady = (async () => {
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- set below
    while (!isOver) {
      expect((await readAll(steadyDb, connections, good, 'SELECT count(*) AS n FROM generate_series(1, 1000)')).rows).toEqual([['1000']])
      answered += 1
      if (minutes > 0) await sleep(20)
    }
    return answered
  })()
  const beside = await serveBeside()
  const broken = Promise.race([steady.catch((error: unknown) => error), beside.broken])
  const end = performance.now() + minutes * 60_000
  const happened: Record<string, number> = {}
  for (let round = 0; round < faults || performance.now() < end; round++) {
    const [name, run] = kinds[round < kinds.length ? round : below(kinds.length)] ?? ['none', async () => undefined]
    const failed = await outcomeOf(run())
    fault = undefined
    const { code, title } = (failed ?? {}) as { code?: string; title?: string }
    const outcome = `${name}: ${code ?? (failed === undefined ? 'answered' : 'left')}, ${title ?? ''}`
    happened[outcome] = (happened[outcome] ?? 0) + 1
    if (failed !== undefined) expect(JSON.stringify(failed)).not.toContain(password)
    // Whoever leaves is told what it left for; anything else without a code is a failure of the test.
    if (!name.startsWith('reader leaves') && failed !== undefined && code === undefined) throw failed as Error
    if (code !== undefined) expect(told).toContain(code)
    // Only the process of the drivers, at its end, leaves an answer without a word.
    expect([name, title]).not.toEqual([name, 'Cut off'])
    expect([name, title]).not.toEqual([name, 'Connection failed inside the service'])
    expect(connections.pids).toHaveLength(1)
    if ((await Promise.race([broken, Promise.resolve()])) !== undefined) break
  }
  // The faults last as long as their limits say, and the others as long as the machine needs.
  await Promise.race([until(() => answered > faults), broken])
  isOver = true
  const served = await beside.stop()
  if (minutes > 0) console.log(happened, served)
  expect(served.answered).toBeGreaterThan(0)
  expect(await steady).toBeGreaterThan(faults)
  for (const server of [postgres, victim]) {
    const busy = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'mindledger' AND state <> 'idle'"
    await until(async () => (await server.run(busy)).rows.length === 0)
  }
  expect(connections.pids).toHaveLength(1)
  connections.stop()
  for (const each of [proxy, proxyToVictim]) await until(() => each.open() === 0)
  for (const server of [postgres, victim]) {
    const left = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'mindledger'"
    await until(async () => (await server.run(left)).rows.length === 0)
  }
})
