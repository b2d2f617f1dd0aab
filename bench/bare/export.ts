import { DuckDBInstance } from '@duckdb/node-api'
import { createHash } from 'node:crypto'

// The best way to JSON inside one process: stream the query, append its chunks to a scratch database, and let that build the JSON, eight
// chunks at a time. No second process, no socket, no rewriting, no limits.
const [, , file = ''] = process.argv
const cell = {
  INTEGER: (name: string) => name,
  BIGINT: (name: string) => name,
  BOOLEAN: (name: string) => name,
  VARCHAR: (name: string) => name,
  DOUBLE: (name: string) => `CASE WHEN isfinite(${name}) THEN ${name} END`,
  TIMESTAMP: (name: string) => name,
} as Record<string, (name: string) => string>

const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
// With two threads the order of the rows would be random.
const scratch = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()

const run = async () => {
  const from = performance.now()
  const connection = await instance.connect()
  const result = await connection.stream(`SELECT id, amount, customer, moment, paid FROM read_parquet('${file}')`)
  const types = result.columnTypes().map(String)
  await scratch.run(`CREATE OR REPLACE TABLE held (${types.map((type, i) => `c${i} ${type}`).join(', ')})`)
  const items = types.map((type, i) => (cell[type] ?? String)(`c${i}`))
  const join = await scratch.prepare(`SELECT string_agg(json_array(${items.join(', ')})::VARCHAR, ',') FROM held`)
  const appender = await scratch.createAppender('held')
  const hash = createHash('sha256')
  let [bytes, held, wanted, firstMs] = [0, 0, 1, 0]
  const flush = async () => {
    if (held === 0) return
    appender.flushSync()
    const text = String((await join.runAndReadAll()).getRows()[0]?.[0])
    await scratch.run('TRUNCATE held')
    pieces.push(bytes === 0 ? text : `,${text}`)
    bytes += text.length
    ;[held, wanted] = [0, 8]
  }
  const pieces: string[] = []
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    appender.appendDataChunk(chunk)
    if (++held < wanted) continue
    await flush()
    if (firstMs === 0) firstMs = performance.now() - from
  }
  await flush()
  const seconds = (performance.now() - from) / 1000
  appender.closeSync()
  connection.closeSync()
  for (const piece of pieces) hash.update(piece)
  return { seconds, firstMs, bytes, hash: hash.digest('hex') }
}

process.on('message', () => void run().then((told) => process.send?.(told)))
