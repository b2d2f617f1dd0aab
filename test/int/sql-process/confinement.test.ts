import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Bench, skill } from '../../support/sql-process/bench.js'

/** Landlock is a part of Linux; elsewhere the process keeps its rights, and says so. */
const onLinux = process.platform === 'linux' ? test : test.skip

let bench: Bench
let blobs: string
beforeAll(async () => {
  bench = await Bench.open({}, ({ directory }) => {
    blobs = join(directory, 'blobs')
    mkdirSync(blobs, { recursive: true })
    writeFileSync(join(blobs, 'rows'), 'what an event names')
  })
})
afterAll(() => bench.close())

onLinux('a statement that escaped every check cannot write a blob, nor beside it', async () => {
  const statements = [
    `COPY (SELECT 666 AS x) TO '${blobs}/rows' (FORMAT parquet)`,
    `COPY (SELECT 666 AS x) TO '${blobs}/new.csv'`,
    `ATTACH '${blobs}/new.duckdb' AS fresh`,
  ]
  for (const sql of statements) expect((await bench.refusal(sql)).detail).toMatch(/permission denied/i)
  expect(readdirSync(blobs)).toEqual(['rows'])
  expect(readFileSync(join(blobs, 'rows'), 'utf8')).toBe('what an event names')
})

onLinux('it can write where tables are made, and spill', async () => {
  const made = join(bench.directory, 'tmp/tables/made.csv')
  await bench.ask(`COPY (SELECT 42 AS x) TO '${made}'`)
  expect(readFileSync(made, 'utf8')).toBe('x\n42\n')
})

test('it reads the log that it may not write, while that grows', async () => {
  for (const n of [1, 2, 3]) {
    bench.log.append(skill(n))
    expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.events')).toEqual([[bench.log.log.head()]])
  }
})
