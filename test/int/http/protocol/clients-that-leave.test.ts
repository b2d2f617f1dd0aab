import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { readConfig } from '../../../../src/setup/config.js'
import { startService, type Service } from '../../../../src/main.js'
import { send, sql, temporaryDirectory } from '../../../support/service.js'
import { until } from '../../../support/until.js'

type Line = { level: number; msg: string; aborted?: boolean; path?: string; loss?: string }

const directory = temporaryDirectory()
let service: Service
let lines: Line[]

beforeEach(async () => {
  lines = []
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line) as Line) })
  service = await startService(readConfig({ PORT: '0', DATA_DIR: directory.path }), logger)
  // A busy machine may take its time until SQL is answered.
  await sql(service.url, 'SELECT 1')
})
afterEach(async () => {
  await service.close()
  directory.remove()
})

test('a client that leaves its query is no fault of ours, and costs nobody else a place', async () => {
  const query = 'SELECT sum(a.i * b.i) FROM range(100000) a(i), range(100000) b(i)'
  const leaving = new AbortController()
  const left = Array.from({ length: 3 }, () =>
    expect(
      fetch(`${service.url}/api/sql/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
        signal: leaving.signal,
      }),
    ).rejects.toThrow(),
  )
  const running = /^mindledger_sql_running_queries 3$/m
  await until(async () => running.test(String((await send(service.url, 'GET', '/metrics')).body)))
  leaving.abort()
  await Promise.all(left)
  expect(await sql(service.url, 'SELECT 1')).toMatchObject({ data: [[1]] })
  await until(() => lines.filter(({ aborted }) => aborted).length >= 3)
  // On a busy machine a query may not end in the time that it has for this, and its process is replaced.
  const isLate = ({ loss = '' }: Line) => ['stuck', 'blocked'].includes(loss)
  expect(lines.filter((line) => line.level > 30 && !isLate(line))).toEqual([])
  expect(lines.filter(({ aborted }) => aborted).length).toBe(3)
})

test('views are checked as often as there are views', async () => {
  for (let n = 0; n < 12; n++)
    expect((await send(service.url, 'POST', '/api/projects/mindsdb/views', { view: { name: `v${n}`, query: 'SELECT 1' } })).status).toBe(
      201,
    )
})
