import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { parseSelect, printSelect } from '../../../src/sql/ast/duckdb.js'

// The first query of a process reads what all later ones use. Its client may leave in the middle of that.
let instance: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

/** The connection as it is for a query whose client leaves while it reads the keywords. */
const left = (): DuckDBConnection =>
  new Proxy(connection, {
    get: (target, name) => {
      if (name !== 'runAndReadAll') return Reflect.get(target, name, target) as unknown
      return (sql: string, ...values: never[]) =>
        sql.includes('duckdb_keywords') ? Promise.reject(new Error('INTERRUPT Error: Interrupted!')) : target.runAndReadAll(sql, ...values)
    },
  })

test('a client that leaves the very first query leaves the next ones their answers', async () => {
  const tree = await parseSelect(connection, 'SELECT 1 AS one')
  await expect(printSelect(left(), tree)).rejects.toThrow('Interrupted')
  expect(await printSelect(connection, tree)).toBe('SELECT 1 AS one')
})
