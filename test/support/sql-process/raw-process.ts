import { once } from 'node:events'
import { appendFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveSqlProcess, type RunSelect, type Services } from '../../../src/sql-process/process/serve.js'
import { Problem } from '../../../src/basics/errors.js'
import { watch } from '../../../src/sql/engine/duckdb-connection/duckdb-connection.js'
import { openSqliteLog } from '../log/sqlite-log.js'

// An SQL process that accepts DuckDB's own SQL, and statements with forbidden effects.
const crash = () => process.kill(process.pid, 'SIGSEGV')
/** Waits for the answer of the server to a question, which the test gives. */
const toBeTold = ({ ask }: Services) => ask({ connection: '', tables: true })
const misbehave: Record<string, (services: Services) => unknown> = {
  'test: crash': crash,
  'test: crash after 4 s': ({ signal }) => sleep(4_000, undefined, { signal }).then(crash),
  'test: crash when told': async (services) => {
    await sleep(4_000, undefined, { signal: services.signal })
    await toBeTold(services)
    crash()
  },
  'test: pause': ({ signal }) => sleep(600, undefined, { signal }),
  'test: block': ({ blobsDirectory }) => {
    // The process receives nothing from here on. `Bench.isBlocked` looks for this file, which is in the only writable directory.
    writeFileSync(join(blobsDirectory, '..', 'tables', 'blocked'), '')
    // It waits without end. A loop would need a processor, which the other tests need.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
}

/** What a statement would try that had escaped DuckDB as well. */
const tries: Record<string, (on: string) => unknown> = {
  write: (path) => appendFileSync(path, 'written'),
  remove: unlinkSync,
  connect: async (port) => {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect').finally(() => socket.destroy())
  },
}

const failed = (error: unknown): Problem =>
  new Problem('query_failed', 'Query failed', error instanceof Error ? error.message : String(error))

/** `test: write <path>`, `test: remove <path>` and `test: connect <port>`. @throws Problem that says what the system refused */
const tryOut = async (statement: string): Promise<void> => {
  const [, what = '', on = ''] = /^test: (write|remove|connect) (.*)$/.exec(statement) ?? []
  try {
    await tries[what]?.(on)
  } catch (error) {
    throw failed(error)
  }
}

const rows = (values: readonly (readonly unknown[])[]) => Buffer.from(values.map((row) => JSON.stringify(row)).join(','))

const run: RunSelect = async function* ({ instance }, { sql }, services) {
  const { signal } = services
  const connection = await instance.connect()
  const { done } = watch(connection, signal, 600_000)
  try {
    const [statement = '', after] = sql.split(' -- then ')
    await misbehave[statement]?.(services)
    await tryOut(statement)
    // The question is on its way before this process hears that the query has to stop.
    if (sql.endsWith(' -- after a late write')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    if (/ -- after a (late )?write$/.test(sql)) await services.ask({ connection: '', open: { native: '', writes: true } })
    if (sql.endsWith(' -- slowly')) await sleep(100, undefined, { signal })
    if (sql.endsWith(' -- when told')) await toBeTold(services)
    const result = await connection.stream(statement).catch((error: unknown) => {
      throw failed(error)
    })
    yield { columns: result.columnNames().map((name, i) => ({ name, type: String(result.columnType(i)) })) }
    let count = 0
    for await (const chunk of result.yieldRowsJson()) {
      if (chunk.length === 0) continue
      count += chunk.length
      yield { rows: rows(chunk) }
      if (after !== undefined) await misbehave[after]?.(services)
    }
    yield { end: { rows: count, scored: [] } }
  } finally {
    done()
    connection.closeSync()
    // Its answer is complete, but it never releases its resources.
    if (sql.endsWith(' -- lingers')) await new Promise(() => undefined)
  }
}

serveSqlProcess({ openLog: openSqliteLog, run })
