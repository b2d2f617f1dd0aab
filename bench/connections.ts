import { DuckDBInstance, DuckDBTimestampValue, type DuckDBConnection } from '@duckdb/node-api'
import pg from 'pg'
import Cursor from 'pg-cursor'
import { Connections } from '../src/connections/connections.js'
import { AnswerReader } from '../src/connections/reader/read-answer.js'
import { residentBytes } from '../src/basics/resident-memory.js'
import { readIntoTable } from '../test/support/connections/answers.js'
import { startPostgres, type Postgres } from '../test/support/connections/postgres.js'
import { send, sql, startTestService } from '../test/support/service.js'
import { median } from './harness/harness.js'

const rows = 1_000_000
const rounds = 3
const largeRows = 10_000_000
const lookEveryMs = 20
const columns = 'id BIGINT, price DOUBLE, qty INTEGER, name VARCHAR, "at" TIMESTAMP'
const names = ['id', 'price', 'qty', 'name', 'at']

const aggregate = (table: string) => `SELECT count(*), sum(id), sum(qty), sum(price), max(name), max("at") FROM ${table}`

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
const first = async (postgres: Postgres): Promise<{ own: number; bare: number }> => {
  const service = await startTestService()
  try {
    const database = { name: 'pg', engine: 'postgres', parameters: postgres.connection().parameters }
    await send(service.url, 'POST', '/api/databases', { database })
    const asked = async () => (await sql(service.url, 'SELECT * FROM pg.wide LIMIT 10')).data.length
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
  } finally {
    await service.stop()
  }
}

const timed = async (work: () => Promise<unknown>): Promise<{ ms: number; answer: string }> => {
  const from = performance.now()
  const answer = JSON.stringify(await work())
  return { ms: performance.now() - from, answer }
}

/** A million rows of five columns from PostgreSQL into a SELECT: through the driver process, and by a bare loop. Three rounds in turn. */
export const connected = async (): Promise<void> => {
  const postgres = await startPostgres()
  const connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  try {
    await postgres.run(
      `CREATE TABLE sales AS SELECT i::bigint AS id, i * 1.25::float8 AS price, (i % 1000)::int AS qty,
       CASE WHEN i % 2 = 0 THEN 'name ' || i % 5000 ELSE 'a longer name of ' || i % 5000 END AS name,
       timestamp '2024-01-01' + i * interval '1 second' AS at FROM generate_series(1, ${rows}) i`,
    )
    const db = await (await DuckDBInstance.create()).connect()
    await db.run('SET threads = 2')
    const [own, loop]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      const one = await timed(() => ours(postgres, db, connections))
      const other = await timed(() => bare(postgres, db))
      own.push(one.ms)
      loop.push(other.ms)
      if (one.answer !== other.answer) throw new Error(`the answers differ: ${one.answer} and ${other.answer}`)
    }
    const ratio = (median(loop) / median(own)).toFixed(2)
    console.log(
      `connections: ${rows} rows × 5 columns: ${median(own).toFixed(0)} ms, bare loop ${median(loop).toFixed(0)} ms, ${ratio} of its speed`,
    )
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
    const { own: asked, bare: alone } = await first(postgres)
    console.log(
      `connections: LIMIT 10 of ${largeRows} rows: ${asked.toFixed(1)} ms over HTTP, ${alone.toFixed(1)} ms by a client that connects`,
    )
  } finally {
    connections.stop()
    await postgres.stop()
  }
}
