import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { isProblem, type Problem } from '../../src/basics/errors.js'
import type { TestLedger } from '../support/log/ledger.js'
import { temporaryDirectory } from '../support/service.js'
import { shopLedger } from '../support/sql/shop.js'
import { refusedIn } from './statements/all.js'

const target = temporaryDirectory()
const refused = refusedIn(target.path)
let ledger: TestLedger

/** Views as a client could have stored them: each is refused when it is read. */
const views: Readonly<Record<string, readonly [query: string, database: string]>> = {
  evil: [`SELECT * FROM read_text('/etc/passwd')`, 'shop'],
  evil2: ['SELECT 1; DROP TABLE ledger.events', 'shop'],
  evil3: ['SELECT * FROM events', 'ledger'],
  evil4: ['SELECT * FROM rentals) AS x, ledger.events, (SELECT 1', 'files'],
}

beforeAll(async () => {
  ledger = await shopLedger()
  for (const [name, [query, database]] of Object.entries(views))
    await ledger.history('views', { stream: `v-${name}`, project: 'p-shop', name, query, database, from: 30 })
  ledger.head = 40
  await ledger.lock()
})
afterAll(async () => {
  await ledger.close()
  target.remove()
})

const refusal = async (sql: string): Promise<Problem> => {
  try {
    await ledger.select(sql)
  } catch (error) {
    if (isProblem(error)) return error
    throw error
  }
  throw new Error('it was answered')
}

const short = (sql: string): string => (sql.length > 120 ? `${sql.slice(0, 60)}… (${sql.length})` : sql)

const check = async (sql: string) => {
  const { code, detail, extras } = await refusal(sql)
  expect(['bad_statement', 'refused_statement', 'not_found', 'not_ready', 'query_failed', 'query_limit']).toContain(code)
  expect(detail.length).toBeGreaterThan(10)
  const said = `${detail} ${extras.hint ?? ''}`.replaceAll(sql, '')
  expect(said.length).toBeLessThan(2_500)
  expect(said).not.toContain(ledger.blobs)
  expect(said).not.toMatch(/root:|HTTP|[0-9a-f]{64}/)
  if (!/ledger_|read_parquet/.test(sql)) expect(said).not.toMatch(/ledger_|read_parquet/)
  expect((await ledger.select('SELECT 1')).data).toEqual([[1]])
}

for (const { name, statements } of refused) {
  describe(`${name}: refused, and the next query is answered`, () => {
    test.each(statements.map(({ written, sql }) => [short(written), sql]))('%s', (_name, sql) => check(sql))
  })
}

test('nothing was written and nothing was kept', async () => {
  const connection = await ledger.instance.connect()
  const count = await connection.runAndReadAll(
    `SELECT (SELECT count(*) FROM ledger.events), (SELECT count(*) FROM duckdb_tables() WHERE temporary), (SELECT count(*) FROM duckdb_variables())`,
  )
  expect(count.getRows()).toEqual([[40n, 0n, 0n]])
  connection.closeSync()
  expect(readdirSync(target.path)).toEqual([])
})

test('there are more than three hundred', () => expect(refused.flatMap(({ statements }) => statements).length).toBeGreaterThan(300))
