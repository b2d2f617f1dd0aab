import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { readConfig } from '../../../../src/setup/config.js'
import { startService, type Service } from '../../../../src/main.js'
import { send, temporaryDirectory } from '../../../support/service.js'

type Line = { level: number; msg: string; aborted?: boolean; path?: string }

const directory = temporaryDirectory()
let service: Service
let lines: Line[]

beforeEach(async () => {
  lines = []
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line) as Line) })
  service = await startService(readConfig({ PORT: '0', DATA_DIR: directory.path }), logger)
})
afterEach(async () => {
  await service.close()
  directory.remove()
})

test('a client that leaves its query is no fault of ours, and costs nobody else a place', async () => {
  const query = 'SELECT sum(a.i * b.i) FROM range(100000) a(i), range(100000) b(i)'
  for (let n = 0; n < 3; n++)
    await expect(
      fetch(`${service.url}/api/sql/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
        signal: AbortSignal.timeout(300),
      }),
    ).rejects.toThrow()
  expect((await send(service.url, 'POST', '/api/sql/query', { query: 'SELECT 1' })).body).toMatchObject({ data: [[1]] })
  expect(lines.filter(({ level }) => level > 30)).toEqual([])
  expect(lines.filter(({ aborted }) => aborted).length).toBe(3)
})

test('views are checked as often as there are views', async () => {
  for (let n = 0; n < 12; n++)
    expect((await send(service.url, 'POST', '/api/projects/mindsdb/views', { view: { name: `v${n}`, query: 'SELECT 1' } })).status).toBe(
      201,
    )
})
