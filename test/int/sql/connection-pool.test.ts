import type { DuckDBConnection } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connectionPoolOf } from '../../../src/sql/engine/duckdb-connection/duckdb-connection.js'
import { TestLedger } from '../../support/log/ledger.js'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await TestLedger.create()
  await ledger.events(20_000)
})
afterAll(() => ledger.close())

/** The connection that the next query would get; it stays the next. */
const next = async (): Promise<DuckDBConnection> => {
  const pool = connectionPoolOf(ledger.instance)
  const connection = await pool.take()
  pool.give(connection)
  return connection
}

const rowsOf = async (connection: DuckDBConnection, sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()

test('a connection is used again after a whole answer', async () => {
  const connection = await next()
  await ledger.select('SELECT count(*) FROM log.events')
  await ledger.select('SELECT count(*) FROM log.events')
  expect(await next()).toBe(connection)
})

test('nothing that a query made stays on its connection', async () => {
  const connection = await next()
  expect((await ledger.select('SELECT user, current_role', { user: 'ada' })).data).toEqual([['ada@localhost', 'ada@localhost']])
  expect(await next()).toBe(connection)
  expect(await rowsOf(connection, 'SELECT function_name FROM duckdb_functions() WHERE NOT internal')).toEqual([])
  expect(await rowsOf(connection, 'SELECT table_name FROM duckdb_tables() WHERE temporary')).toEqual([])
  await connection.run('BEGIN TRANSACTION READ ONLY; ROLLBACK')
})

const sql = 'SELECT position FROM log.events'
const leave = async () => {
  for await (const frame of ledger.frames(sql)) if ('rows' in frame) return
}
const abort = async () => {
  const gone = new AbortController()
  for await (const frame of ledger.frames(sql, {}, gone.signal)) if ('rows' in frame) gone.abort()
}
const fail = () => ledger.select("SELECT CAST('x' AS INTEGER)")
const explain = () => ledger.select(sql, { wanted: { kind: 'plan', analyze: false } })

test.each([
  ['its reader left early', leave],
  ['it was cancelled', abort],
  ['it failed', fail],
  ['it was explained', explain],
])('the connection of a query is closed when %s', async (_, query) => {
  // From memory, too, where no transaction stands around it.
  await ledger.select(sql)
  const connection = await next()
  await query().catch(() => undefined)
  expect(await next()).not.toBe(connection)
  await expect((async () => connection.run('SELECT 1'))()).rejects.toThrow()
})
