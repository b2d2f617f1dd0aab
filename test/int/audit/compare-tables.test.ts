import { DuckDBInstance } from '@duckdb/node-api'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { compareTables } from '../../../src/audit/compare-tables.js'
import { temporaryDirectory } from '../../support/service.js'

const place = temporaryDirectory()
afterAll(() => place.remove())

/** A file with a table of as many rows as predictions have, each with some text. */
const write = async (name: string, count: number, changed: string): Promise<string> => {
  const file = join(place.path, name)
  const instance = await DuckDBInstance.create(file, { memory_limit: '256MB' })
  const connection = await instance.connect()
  await connection.run(
    `CREATE SCHEMA ledger; CREATE TABLE ledger.predictions AS
     SELECT i AS position, md5(i::VARCHAR) AS request, {'x': i, 'y': ${changed}}::JSON AS data FROM range(${count}) AS t(i)`,
  )
  connection.closeSync()
  instance.closeSync()
  return file
}

test('more rows than memory holds hashes of are compared all the same, and every difference is found', async () => {
  const count = 600_000
  const [live, replay] = [
    await write('live.duckdb', count, `CASE WHEN i IN (5, 500000) THEN 'changed' ELSE 'same' END`),
    await write('replay.duckdb', count, `'same'`),
  ]
  const temporary = join(place.path, 'spill')
  mkdirSync(temporary)
  const options = { live, replay, temporary, except: 'ledger.checkpoint', rowsShown: 10, memoryLimit: '60MB' }
  const { differences } = await compareTables(options)
  expect(differences).toMatchObject([{ table: 'ledger.predictions', live: count, replay: count, odd: 4 }])
  expect(differences[0]?.rows.map(({ side, times, row }) => [side, times, (JSON.parse(row) as { position: number }).position])).toEqual(
    expect.arrayContaining([
      ['+', 1, 5],
      ['-', 1, 5],
      ['+', 1, 500_000],
      ['-', 1, 500_000],
    ]),
  )
  // Nothing is alike: as many differences as there are rows.
  const other = await write('other.duckdb', count, `'other'`)
  expect((await compareTables({ ...options, live: other })).differences).toMatchObject([{ odd: 2 * count }])
})
