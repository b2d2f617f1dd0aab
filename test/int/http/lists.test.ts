import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { get as httpGet } from 'node:http'
import { v7 as uuidv7 } from 'uuid'
import { streamId } from '../../../events/common.js'
import { limits } from '../../../src/basics/limits.js'
import type { NewEvent } from '../../../src/log/contract/log.js'
import { jobWithRuns } from '../../support/jobs/job-runs.js'
import { record } from '../../support/log/log.js'
import { rowsNow, send, startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'

let at: Awaited<ReturnType<typeof startTestService>>
const many = 5_000
const skills = '/api/projects/mindsdb/skills'
type Listed = { id: number; name: string }

const get = (path: string) => send(at.url, 'GET', path)
const skillCreated = (project: string, name: string): NewEvent => ({
  stream: streamId.parse(uuidv7()),
  event: { type: 'SkillCreated', data: { project: streamId.parse(project), name, type: 'sql', params: { about: 'x'.repeat(200) } } },
})

const viewCreated = (project: string, name: string): NewEvent => ({
  stream: streamId.parse(uuidv7()),
  event: { type: 'ViewCreated', data: { project: streamId.parse(project), name, query: 'SELECT 1 AS one', database: 'mindsdb' } },
})

beforeAll(async () => {
  at = await startTestService()
  const project = await at.service.log.resources.one('project', 'mindsdb')
  if (!project) throw new Error('there is no project')
  await record(
    at.service.log,
    Array.from({ length: many }, (_, n) => skillCreated(project.stream, `skill_${n}`)),
  )
  await send(at.url, 'POST', '/api/projects/mindsdb/agents', { agent: { name: 'a', model_name: 'm', skills: ['skill_7', 'skill_3000'] } })
  await send(at.url, 'POST', '/api/databases', { database: { name: 'chat', engine: 'slack' } })
  for (const name of ['zoo', 'Bar', 'app']) await send(at.url, 'POST', '/api/projects', { project: { name } })
  const other = await at.service.log.resources.one('project', 'app')
  const views = Array.from({ length: many }, (_, n) => viewCreated(other?.stream ?? '', `${'long_'.repeat(45)}${n}`))
  await record(at.service.log, [...views, ...jobWithRuns(streamId.parse(other?.stream), 'busy', { chars: 100_000, runs: 100 })])
  for (const name of ['v1', 'v2', 'v3'])
    await send(at.url, 'POST', '/api/projects/mindsdb/views', { view: { name, query: 'SELECT 1 AS one' } })
  // The past is read from the tables, which follow so many events for a while.
  await until(async () => (await rowsNow(at.url, 'SELECT 1')).length > 0)
})
afterAll(() => at.stop())

/** All pages of a list, as their links lead through it; `between` is done after each. */
const walk = async (path: string, between: (page: number) => Promise<unknown> = () => Promise.resolve()): Promise<unknown[][]> => {
  const pages: unknown[][] = []
  for (let next: string | undefined = path; next !== undefined;) {
    const { status, body, headers } = await get(next)
    expect(status).toBe(200)
    pages.push(body as unknown[])
    await between(pages.length)
    next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
  }
  return pages
}

/** Reads an answer without keeping it, and says how many bytes it had. */
const drained = (path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    httpGet(at.url + path, (res) => {
      let bytes = 0
      res.on('data', (chunk: Buffer) => (bytes += chunk.length))
      res.on('end', () => resolve(bytes)).on('error', reject)
    }).on('error', reject)
  })

test('without a page a list is the whole of it, in order of creation', async () => {
  const { body, headers } = await get(skills)
  const listed = body as Listed[]
  expect(listed.map(({ name }) => name)).toEqual(Array.from({ length: many }, (_, n) => `skill_${n}`))
  expect(listed[7]).toEqual((await get(`${skills}/skill_7`)).body)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('link')).toBeNull()
})

test.each([
  [`${skills}?limit=999`, Math.ceil(many / 999)],
  [`${skills}?limit=1&agent=a`, 2],
  ['/api/projects?limit=2', 2],
  ['/api/projects/mindsdb/views?limit=2', 2],
  ['/api/projects/mindsdb/agents?limit=1', 1],
  ['/api/databases?limit=2', 4],
  ['/api/tree?limit=3', 3],
  ['/api/tree/mindsdb?limit=2', 3],
  ['/api/databases/mindsdb/tables?limit=2', 3],
  ['/api/files?limit=1', 1],
])('the pages of %s are the list', async (path, count) => {
  const pages = await walk(path)
  expect(pages.length).toBe(count)
  expect(pages.flat()).toEqual((await get(path.replace(/limit=\d+&?/, ''))).body)
})

test('what was there all the time is in one page once, whatever is written in between', async () => {
  const before = (await get(skills)).body as Listed[]
  const gone = new Set<string>()
  const pages = await walk(`${skills}?limit=1000`, async (page) => {
    for (const name of [`skill_${page * 999}`, `skill_${page * 500 + 3}`])
      if ((await send(at.url, 'DELETE', `${skills}/${name}`)).status === 204) gone.add(name)
    await send(at.url, 'POST', skills, { skill: { name: `new_${page}`, type: 'sql', params: {} } })
  })
  const seen = (pages.flat() as Listed[]).map(({ id }) => id)
  expect(new Set(seen).size).toBe(seen.length)
  const stayed = before.filter(({ name }) => !gone.has(name)).map(({ id }) => id)
  expect(seen.filter((id) => stayed.includes(id)).length).toBe(stayed.length)
})

describe('a page that there cannot be is refused', () => {
  const paths = [skills, '/api/projects', '/api/databases', '/api/tree', '/api/tree/mindsdb', '/api/files', '/api/projects/mindsdb/models']
  const wrong = [
    'limit=0',
    'limit=x',
    'limit=',
    `limit=${limits.listPageMaxItems + 1}`,
    'limit=1&limit=2',
    'after=x',
    'after=',
    'after=99.1',
  ]
  test.each(paths.flatMap((path) => wrong.map((query) => `${path}?${query}`)))('%s', async (path) =>
    expect(await get(path)).toMatchObject({ status: 400, body: { code: 'wrong_arguments' } }),
  )
})

test('a list of the past is the same in pages and as a whole', async () => {
  const { position } = await at.service.head()
  const now = (await get(skills)).body
  await send(at.url, 'DELETE', `${skills}/skill_11`)
  expect((await get(`${skills}?as_of=${position}`)).body).toEqual(now)
  const pages = await walk(`${skills}?as_of=${position}&limit=1000`)
  expect(pages.flat()).toEqual(now)
})

const long = [skills, '/api/projects/app/views', `${skills}?as_of=${many}`, `/api/projects/app/views?as_of=${2 * many}`]

const history = '/api/projects/app/jobs/busy/history'

test('the history of a job has each run with the whole query', async () => {
  const runs = (await get(history)).body as { run_start: string; run_end: string | null; query: string }[]
  expect(runs).toHaveLength(100)
  const { query } = (await get('/api/projects/app/jobs/busy')).body as { query: string }
  expect(runs.every((run) => run.query === query && run.run_end !== null)).toBe(true)
})

/** The share of the longest turn of the event loop in the processor's time for a whole list. Other work of the machine is no part of it. */
const longestShare = async (path: string): Promise<number> => {
  const turns: number[] = []
  let since = process.cpuUsage()
  const looking = setInterval(() => {
    const { user, system } = process.cpuUsage(since)
    turns.push(user + system)
    since = process.cpuUsage()
  }, 1)
  const bytes = await drained(path)
  clearInterval(looking)
  // A small one would be too quick to tell anything of it.
  expect(bytes).toBeGreaterThan(1_000_000)
  return Math.max(...turns) / turns.reduce((sum, each) => sum + each, 0)
}

test.each([...long, '/api/sql/list_databases', history])('others are answered while %s is read', async (path) => {
  // These lists take little more than two usual turns.
  const turnMax = jest.replaceProperty(limits, 'turnMaxMs', 2 as never)
  await drained(path)
  const shares: number[] = []
  for (let round = 0; round < 5; round++) shares.push(await longestShare(path))
  turnMax.restore()
  // A garbage collection makes a turn of one round longer. A list that lets nobody else come does so in each round.
  expect(Math.min(...shares)).toBeLessThan(1 / 3)
})
