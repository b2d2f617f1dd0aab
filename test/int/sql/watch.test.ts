import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type * as Ast from '../../../src/sql/engine/ast/checked-text.js'
import { begin, rollback, watch } from '../../../src/sql/engine/duckdb-connection/duckdb-connection.js'

const endless = 'SELECT count(*) FROM range(1e15::BIGINT)'

let instance: DuckDBInstance
let connection: DuckDBConnection
beforeEach(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
})
afterEach(() => {
  connection.closeSync()
  instance.closeSync()
})

test('what begins after the caller has left is stopped, too, each statement of it', async () => {
  const caller = new AbortController()
  const { signal, done } = watch(connection, caller.signal, 60_000)
  caller.abort()
  expect(signal.aborted).toBe(true)
  for (let n = 0; n < 3; n++) await expect(connection.run(endless)).rejects.toThrow(/interrupt/i)
  done()
  await connection.run('SELECT sum(range) FROM range(10000000)')
})

test('so is what begins for a caller who had left before', async () => {
  const { done } = watch(connection, AbortSignal.abort(), 60_000)
  await expect(connection.run(endless)).rejects.toThrow(/interrupt/i)
  done()
})

test('what runs out of time between two statements is stopped in the next', async () => {
  const { isLate, done } = watch(connection, new AbortController().signal, 1)
  while (!isLate()) await new Promise(setImmediate)
  await expect(connection.run(endless)).rejects.toThrow(/interrupt/i)
  done()
})

/** The connection as it is for a query whose client has left when it reads the names of functions. */
const leftAtFunctions = (): DuckDBConnection =>
  new Proxy(connection, {
    get: (target, name) => {
      if (name !== 'runAndReadAll') return Reflect.get(target, name, target) as unknown
      return (sql: string, ...values: never[]) => {
        if (!sql.includes('duckdb_functions')) return target.runAndReadAll(sql, ...values)
        const { done } = watch(target, AbortSignal.abort(), 60_000)
        return target.runAndReadAll(endless).finally(done)
      }
    },
  })

test('the first query reads the aggregates for all: stopped in that, it leaves the next ones their answers', async () => {
  // Another file of tests may have had the first query of the module.
  const path = '../../../src/sql/engine/ast/checked-text.js?anew'
  const { aggregatesOf } = (await import(path)) as typeof Ast
  await expect(aggregatesOf(leftAtFunctions())).rejects.toThrow(/interrupt/i)
  expect(await aggregatesOf(connection)).toContain('count')
})

/** Interrupts whatever the connection executes, for so many milliseconds. */
const hail = async (ms: number): Promise<void> => {
  for (const until = performance.now() + ms; performance.now() < until;) {
    for (let n = 0; n < 50; n++) connection.interrupt()
    await new Promise(setImmediate)
  }
}

test('a transaction is ended also when interrupts hit its end', async () => {
  for (let n = 0; n < 5; n++) {
    await begin(connection)
    await Promise.all([rollback(connection), hail(20)])
    await expect(connection.run('ROLLBACK')).rejects.toThrow('no transaction is active')
  }
})
