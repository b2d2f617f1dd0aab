import { DuckDBInstance, DuckDBTimestampValue, type DuckDBConnection } from '@duckdb/node-api'
import pg from 'pg'
import Cursor from 'pg-cursor'
import { Connections } from '../src/connections/connections.js'
import { AnswerReader } from '../src/connections/reader/read-answer.js'
import { residentBytes } from '../src/basics/resident-memory.js'
import { readIntoTable } from '../test/support/connections/answers.js'
import { startPostgres, type Postgres } from '../test/support/connections/postgres.js'
import { send, sql, startSqlService } from '../test/support/service.js'
import { checkAims, median } from './harness/harness.js'

const rows = 1_000_000
const rounds = 3
const largeRows = 10_000_000
const lookEveryMs = 20
const columns = 'id BIGINT, price DOUBLE, qty INTEGER, name VARCHAR, "at" TIMESTAMP'
const names = ['id', 'price', 'qty', 'name', 'at']

/** PostgreSQL has no `arg_max`, so the rows themselves have to come from there. */
const aggregate = (table: string) =>
  `SELECT concat_ws(' ', count(*), sum(id), sum(qty), sum(price), max("at"), arg_max(name, id)) FROM ${table}`

/** The obvious loop: a cursor, and an appender that takes one value after the other. */
const bare = async (postgres: Postgres, db: DuckDBConnection): Promise<unknown> => {
  await db.run(`CREATE OR REPLACE TEMP TABLE bare (${columns})`)
  const client = new pg.Client({ ...(postgres.connection().parameters as object) })
  await client.connect()
  const cursor = client.query(
    new Cursor<[string, number, number, string, Date]>('SELECT id, price, qty, name, at FROM sales', [], { rowMode: 'array' }),
  )
  const appender = await db.createAppender('bare', 'main', 'temp')
  for (;;) {
    const read = await cursor.read(10_000)
    if (read.length === 0) break
    for (const [id, price, qty, name, at] of read) {
      appender.appendBigInt(BigInt(id))
      appender.appendDouble(price)
      appender.appendInteger(qty)
      appender.appendVarchar(name)
      appender.appendTimestamp(new DuckDBTimestampValue(BigInt(at.getTime()) * 1000n))
      appender.endRow()
    }
  }
  appender.closeSync()
  await client.end()
  return (await db.runAndReadAll(aggregate('bare'))).getRowsJson()
}

const ours = async (postgres: Postgres, db: DuckDBConnection, connections: Connections): Promise<unknown> => {
  await db.run('DROP TABLE IF EXISTS ours')
  const place = await connections.open(postgres.connection(), { scan: { table: 'sales', columns: names } })
  await readIntoTable(db, place, 'ours')
  return (await db.runAndReadAll(aggregate('ours'))).getRowsJson()
}

/** The peak memory of the driver process in megabytes, while it passes rows on and afterwards. */
const peakOf = async (postgres: Postgres, connections: Connections, most: number): Promise<number> => {
  let peak = 0
  const look = setInterval(() => {
    for (const pid of connections.pids) void residentBytes(pid).then((bytes) => (peak = Math.max(peak, bytes / 1024 / 1024)))
  }, lookEveryMs)
  const place = await connections.open(postgres.connection(), { native: `SELECT * FROM wide LIMIT ${most}` })
  for await (const chunk of (await AnswerReader.open(place)).chunks(true)) if (chunk.rowCount === 0) break
  clearInterval(look)
  return peak
}

/** The first rows of a large table: over HTTP from the whole service, and by a client of PostgreSQL that connects as psql does. */
const first = async (postgres: Postgres, url: string): Promise<{ own: number; bare: number }> => {
  const asked = async () => (await sql(url, 'SELECT * FROM pg.wide LIMIT 10')).data.length
  const alone = async () => {
    const client = new pg.Client({ ...(postgres.connection().parameters as object) })
    await client.connect()
    const { rows: found } = await client.query('SELECT * FROM wide LIMIT 10')
    await client.end()
    return found.length
  }
  const [own, bare]: [number[], number[]] = [[], []]
  for (let round = 0; round < 20; round++) {
    const [one, other] = [await timed(asked), await timed(alone)]
    if (one.answer !== '10' || other.answer !== '10') throw new Error(`ten rows are expected: ${one.answer} and ${other.answer}`)
    own.push(one.ms)
    bare.push(other.ms)
  }
  return { own: median(own), bare: median(bare) }
}

const timed = async (work: () => Promise<unknown>): Promise<{ ms: number; answer: string }> => {
  const from = performance.now()
  const answer = JSON.stringify(await work())
  return { ms: performance.now() - from, answer }
}

/** A million rows of five columns from PostgreSQL: by the driver process, by a SELECT of the whole service, and by a bare loop, in turn. */
export const connected = async (): Promise<void> => {
  const postgres = await startPostgres()
  const connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  const service = await startSqlService()
  try {
    const database = { name: 'pg', engine: 'postgres', parameters: postgres.connection().parameters }
    await send(service.url, 'POST', '/api/databases', { database })
    await postgres.run(
      `CREATE TABLE sales AS SELECT i::bigint AS id, i * 1.25::float8 AS price, (i % 1000)::int AS qty,
       CASE WHEN i % 2 = 0 THEN 'name ' || i % 5000 ELSE 'a longer name of ' || i % 5000 END AS name,
       timestamp '2024-01-01' + i * interval '1 second' AS at FROM generate_series(1, ${rows}) i`,
    )
    const db = await (await DuckDBInstance.create()).connect()
    await db.run('SET threads = 2')
    const ways = {
      'the process of the drivers': () => ours(postgres, db, connections),
      'a SELECT over HTTP': async () => (await sql(service.url, aggregate('pg.sales'))).data,
      'the bare loop': () => bare(postgres, db),
    }
    const times = new Map<string, number[]>()
    const answers = new Set<string>()
    for (let round = 0; round < rounds; round++)
      for (const [way, read] of Object.entries(ways)) {
        const { ms, answer } = await timed(read)
        times.set(way, [...(times.get(way) ?? []), ms])
        answers.add(answer)
      }
    if (answers.size !== 1) throw new Error(`the answers differ: ${[...answers].join(' and ')}`)
    const msOf = (way: keyof typeof ways) => median(times.get(way) ?? [])
    for (const way of ['the process of the drivers', 'a SELECT over HTTP'] as const) {
      const speed = msOf('the bare loop') / msOf(way)
      console.log(`connections: ${rows} rows × 5 columns: ${way} ${msOf(way).toFixed(0)} ms, ${speed.toFixed(2)} of the bare loop's speed`)
      checkAims([[`${way} has at least half the speed of the bare loop`, speed >= 0.5]])
    }
    db.disconnectSync()
    await postgres.run(
      `CREATE TABLE wide AS SELECT i::bigint AS id, i * 1.25::float8 AS price, 'name ' || i AS name FROM generate_series(1, ${largeRows}) i`,
    )
    const peaks: number[] = []
    for (const most of [rows, largeRows]) peaks.push(await peakOf(postgres, connections, most))
    const [little = 0, much = 0] = peaks
    console.log(
      `connections: memory of the process of the drivers with ${rows} rows ${little.toFixed(0)} MB, with ${largeRows} rows ${much.toFixed(0)} MB`,
    )
    const { own: asked, bare: alone } = await first(postgres, service.url)
    console.log(
      `connections: LIMIT 10 of ${largeRows} rows: ${asked.toFixed(1)} ms over HTTP, ${alone.toFixed(1)} ms by a client that connects`,
    )
    checkAims([
      ['ten times the rows take as much memory, within a quarter', much <= little * 1.25],
      ['the first rows come within 50 ms of those of a client', asked - alone <= 50],
    ])
  } finally {
    await service.stop()
    connections.stop()
    await postgres.stop()
  }
}
