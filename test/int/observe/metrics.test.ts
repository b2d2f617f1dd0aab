import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readPage } from '../../../docs/generators/pages.js'
import { until } from '../../support/until.js'
import { parseExposition, type Family } from '../../support/observe/exposition.js'
import { send, sql, startTestService } from '../../support/service.js'
import { signalTo } from '../../support/processes.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  // A busy machine may take its time until SQL is answered.
  await until(async () => (await send(at.url, 'GET', '/ready')).status === 200)
})
afterAll(() => at.stop())

const scrape = async (): Promise<Map<string, Family>> => {
  const { status, type, body } = await send(at.url, 'GET', '/metrics')
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return parseExposition(String(body))
}

/** The value of one series; 0 when it is not there. */
const valueOf = (families: Map<string, Family>, name: string, labels: Record<string, string> = {}): number => {
  const samples =
    families.get(`mindledger_${name.replace(/_(sum|count)$/, '')}`)?.samples ?? families.get(`mindledger_${name}`)?.samples ?? []
  const found = samples.filter(
    (sample) => sample.name === `mindledger_${name}` && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )
  return found.reduce((sum, { value }) => sum + value, 0)
}

const skill = (name: string) =>
  send(at.url, 'POST', '/api/projects/mindsdb/skills', { skill: { name, type: 'sql', params: { api_key: 'k' } } })

test('a scrape says what happened: requests, commands, events, commits, queries', async () => {
  const before = await scrape()
  for (const name of ['a', 'b', 'c']) expect((await skill(name)).status).toBe(201)
  expect((await skill('a')).status).toBe(409)
  expect((await send(at.url, 'GET', '/api/no/such/path')).status).toBe(404)
  await sql(at.url, 'SELECT count(*) FROM skills')
  await sql(at.url, 'SELECT nonsense FROM skills')
  const after = await scrape()
  const grown = (name: string, labels?: Record<string, string>) => valueOf(after, name, labels) - valueOf(before, name, labels)
  const route = '/projects/:project/skills'
  expect(grown('http_requests_total', { route, method: 'POST', status: '201' })).toBe(3)
  expect(grown('http_requests_total', { route, method: 'POST', status: '409' })).toBe(1)
  expect(grown('http_requests_total', { route: 'none', status: '404' })).toBe(1)
  expect(grown('http_request_duration_seconds_count', { route })).toBe(4)
  expect(grown('http_request_duration_seconds_sum', { route })).toBeGreaterThan(0)
  expect(grown('commands_total', { type: 'CreateSkill', outcome: 'done' })).toBe(3)
  expect(grown('commands_total', { type: 'CreateSkill', outcome: 'refused' })).toBe(1)
  expect(grown('events_total', { type: 'SkillCreated' })).toBe(3)
  expect(grown('log_commit_commands_sum')).toBe(4)
  expect(grown('log_commits_total', { outcome: 'done' })).toBe(grown('log_commit_duration_seconds_count'))
  expect(valueOf(after, 'log_position')).toBe((await at.service.head()).position)
  expect(grown('sql_queries_total', { outcome: 'ok' })).toBe(1)
  expect(grown('sql_queries_total')).toBe(2)
  expect(grown('sql_query_duration_seconds_count')).toBe(2)
  for (const one of ['log_writable', 'sql_ready', 'info']) expect(valueOf(after, one)).toBe(1)
  expect(valueOf(after, 'projection_state', { state: 'following' })).toBe(1)
  expect(valueOf(after, 'analytics_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(valueOf(after, 'disk_used_bytes', { kind: 'log' })).toBeGreaterThan(0)
  expect(valueOf(after, 'disk_free_bytes')).toBeGreaterThan(0)
})

test('models, jobs and uploads are counted by what the log says of them', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => `${i},${i * 2 + (i % 3)}`)
  await send(at.url, 'PUT', '/api/files/points', `x,y\n${rows.join('\n')}\n`, { 'content-type': 'text/csv' })
  await sql(at.url, 'CREATE MODEL line FROM files (SELECT * FROM points) PREDICT y')
  const status = async () => (await sql(at.url, `SELECT status FROM models WHERE name = 'line'`)).data[0]?.[0]
  await until(async () => (await status()) === 'complete')
  await send(at.url, 'POST', '/api/projects/mindsdb/models/line/predict', [{ x: 1 }, { x: 2 }, { x: 3 }])
  await sql(at.url, 'SELECT y FROM line WHERE x = 4')
  await sql(at.url, 'CREATE JOB once (SELECT 1)')
  await until(async () => valueOf(await scrape(), 'job_runs_total', { outcome: 'complete' }) === 1)
  // A training is over in the log before its process is gone.
  await until(async () => valueOf(await scrape(), 'trainings_running') === 0)
  const found = await scrape()
  expect(valueOf(found, 'uploads_total')).toBe(1)
  expect(valueOf(found, 'upload_bytes_total')).toBe(Buffer.byteLength(`x,y\n${rows.join('\n')}\n`))
  expect(valueOf(found, 'trainings_total', { outcome: 'complete' })).toBe(1)
  expect(valueOf(found, 'predictions_rows_total', { source: 'rest' })).toBe(3)
  expect(valueOf(found, 'predictions_rows_total', { source: 'sql' })).toBe(1)
  expect(valueOf(found, 'prediction_duration_seconds_count')).toBe(1)
  expect(found.has('process_cpu_seconds_total')).toBe(true)
})

test('a process that is killed under a query is counted, with its reason, and the query as run again', async () => {
  const leaving = new AbortController()
  // It runs until its client leaves: a shorter one could be over before a busy machine kills its process.
  const slow = fetch(`${at.url}/api/sql/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `SELECT count(*) FROM range(80000000000) WHERE md5(range::VARCHAR) > ''` }),
    signal: leaving.signal,
  }).catch(() => undefined)
  await until(async () => valueOf(await scrape(), 'sql_running_queries') === 1)
  signalTo(at.service.sqlProcessPid(), 'SIGKILL')
  await until(async () => valueOf(await scrape(), 'sql_ready') === 1 && valueOf(await scrape(), 'analytics_restarts_total') === 1)
  await until(async () => valueOf(await scrape(), 'sql_retries_total') === 1)
  const after = await scrape()
  expect(valueOf(after, 'analytics_losses_total', { reason: 'died' })).toBe(1)
  expect(valueOf(after, 'analytics_losses_total', { reason: 'memory' })).toBe(0)
  expect(valueOf(after, 'sql_retries_total')).toBe(1)
  // Its answer is for other tests.
  leaving.abort()
  await slow
  await until(async () => valueOf(await scrape(), 'sql_running_queries') === 0)
  expect((await sql(at.url, 'SELECT 1')).data).toEqual([[1]])
})

test('clients cannot make series: names, methods and statements are in no label', async () => {
  const series = async () => [...(await scrape())].flatMap(([name, { samples }]) => (name.startsWith('mindledger_') ? samples : [])).length
  const ask = async (n: number) => {
    await send(at.url, 'GET', `/api/projects/p${n}/skills/s${n}`)
    await send(at.url, 'GET', `/api/p${n}`)
    await send(at.url, 'PROPFIND', `/api/p${n}`)
    await sql(at.url, `SELECT c${n} FROM skills`)
  }
  await ask(0)
  const before = await series()
  for (let n = 1; n < 20; n++) await ask(n)
  expect(await series()).toBe(before)
})

test('every metric has its line in docs/operate/metrics.md, and every line its metric', async () => {
  const documented = [...readPage('operate/metrics.md').matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(
    ([, name = '', type = '']) => `${name} ${type}`,
  )
  expect(documented.length).toBeGreaterThan(50)
  const found = [...(await scrape())].map(([name, { type }]) => `${name} ${type}`)
  expect(found.sort()).toEqual(documented.sort())
  // Conventions: counters end in _total, times and sizes say their unit.
  for (const [name, { type }] of await scrape()) {
    if (type === 'counter') expect(name).toMatch(/_total$/)
    expect(name).not.toMatch(/_(ms|milliseconds|kb|mb)(_|$)/)
  }
})

test('behind a login the metrics want it too, unless the setting opens them', async () => {
  const auth = { AUTH: 'session', AUTH_USERNAME: 'ada', AUTH_PASSWORD: 'correct horse' }
  for (const [environment, status] of [
    [auth, 401],
    [{ ...auth, METRICS: 'open' }, 200],
  ] as const) {
    const other = await startTestService(environment)
    expect((await send(other.url, 'GET', '/metrics')).status).toBe(status)
    expect((await send(other.url, 'GET', '/log/storage')).status).toBe(401)
    await other.stop()
  }
})
