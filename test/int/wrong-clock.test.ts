import { once } from 'node:events'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { until } from '../support/until.js'
import { mindledger } from '../support/cli.js'
import { rowsNow, send, spawnService, sql, temporaryDirectory } from '../support/service.js'

type Running = Awaited<ReturnType<typeof spawnService>>
type Ready = { warnings?: string[] }

let place: ReturnType<typeof temporaryDirectory>
let running: Running | undefined
beforeEach(() => {
  place = temporaryDirectory()
})
afterEach(async () => {
  if (running?.child.exitCode === null && running.child.signalCode === null) {
    running.child.kill('SIGKILL')
    await once(running.child, 'exit')
  }
  place.remove()
})

const day = 86_400_000
const preload = new URL('../support/shifted-date.js', import.meta.url).href

/** The service under a clock that is so far ahead. */
const start = async (shiftMs: number): Promise<string> => {
  const shifted = shiftMs === 0 ? {} : { NODE_OPTIONS: `--import=${preload}`, SHIFT_MS: String(shiftMs) }
  running = await spawnService(place.path, { PREDICTION_RETENTION: '30d', ...shifted })
  return running.url
}
const stop = async (): Promise<void> => {
  running?.child.kill('SIGTERM')
  expect(await running?.ended).toEqual([0, null])
}
const readable = async (url: string) => (await sql(url, 'SELECT readable, count(*) FROM log.predictions GROUP BY ALL')).data
const warningsOf = async (url: string) => ((await send(url, 'GET', '/ready')).body as Ready).warnings
/** A line of `mindledger status`. */
const told = /^warning +the newest recorded time is (399|400) days ahead of the clock$/m
const predict = async (url: string) =>
  (await send(url, 'POST', '/api/projects/mindsdb/models/m/predict', [{ x: 1 }], { 'idempotency-key': 'same' })).headers.get(
    'mindledger-position',
  )

test('a clock once 400 days ahead erases nothing, forgets no request, and how far the times are ahead is told', async () => {
  const url = await start(0)
  const form = new FormData()
  form.set('file', new Blob([['x,y', ...Array.from({ length: 20 }, (_, i) => `${i},${i * 2}`)].join('\n')]), 'rows.csv')
  expect((await send(url, 'PUT', '/api/files/rows', form)).status).toBe(200)
  await sql(url, `CREATE MODEL m FROM files (SELECT * FROM rows) PREDICT y USING engine = 'constant'`)
  await until(async () => (await rowsNow(url, 'SELECT status FROM models'))[0]?.[0] === 'complete')
  const position = await predict(url)
  expect(await readable(url)).toEqual([[true, 1]])
  await stop()

  for (const round of ['first', 'second']) {
    const wrong = await start(400 * day)
    expect(await warningsOf(wrong)).toEqual([
      expect.stringMatching(/^the clock went 400 days ahead; nothing is erased because of that for another 7 days$/),
    ])
    expect(await predict(wrong)).toBe(position)
    await sql(wrong, `CREATE VIEW ${round} AS (SELECT 1 AS x)`)
    expect(await readable(wrong)).toEqual([[true, 1]])
    await stop()
  }

  const right = await start(0)
  expect(await readable(right)).toEqual([[true, 1]])
  expect(await mindledger(['status'], { DATA_DIR: place.path })).toMatchObject({ code: 0, out: expect.stringMatching(told) })
  expect(await warningsOf(right)).toEqual([expect.stringMatching(/^the newest recorded time is (399|400) days ahead of the clock$/)])
  expect((await sql(right, 'SELECT count(*) FROM log.erasures')).data).toEqual([[0]])
  // All before a time to come includes what is recorded with times ahead of the clock.
  await send(right, 'POST', '/api/projects/mindsdb/models/m/predict', [{ x: 2 }])
  expect(await readable(right)).toEqual([[true, 2]])
  expect((await send(right, 'POST', '/api/log/erasures', { before: '2999-01-01' })).status).toBe(200)
  expect(await readable(right)).toEqual([[false, 2]])
  await stop()
  // Nor does it need a server.
  expect(await mindledger(['status'], { DATA_DIR: place.path })).toMatchObject({ code: 0, out: expect.stringMatching(told) })
  const verified = await mindledger(['verify'], { DATA_DIR: place.path })
  expect(verified).toMatchObject({ code: 0, out: expect.stringMatching(/the newest recorded time is (399|400) days ahead of the clock/) })
})
