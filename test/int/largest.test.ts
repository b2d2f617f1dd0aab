import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { send, serviceOn, type Target } from '../../bench/harness/harness.js'
import { modelOf, startModel } from '../../bench/harness/language-model.js'
import { prepare, writeHistory } from '../../bench/largest/prepare.js'
import { largestRequests, type Document, type Request } from '../../bench/largest/requests.js'
import { statements } from '../../bench/largest/statements.js'
import { toolsOf } from '../../bench/largest/tools.js'
import { walk } from '../../bench/largest/walk.js'
import { lex } from '../../src/dialect/lexer.js'
import { removeDirectory } from '../support/directories.js'
import { signalTo } from '../support/processes.js'

/** A quarter of the largest: what is quadratic, or done at once where it should be done in turns, is far over the bound already. */
const asked = { share: 0.25, patienceMs: 500 }
/** What is over the bound is asked again: code that runs for the first time takes longer, and so does a machine that is busy. */
const attempts = 3
/** So many times as long as reading the longest list there may be, which is one walk over one statement. */
const walks = 8
/** No machine is so quick that less than this says anything. */
const floorMs = 100

const directory = mkdtempSync(join(tmpdir(), 'largest-'))
const socket = join(directory, 'delay')
let target: Target
let model: Awaited<ReturnType<typeof startModel>>
let ids: Awaited<ReturnType<typeof prepare>>

beforeAll(async () => {
  model = await startModel()
  const data = join(directory, 'data')
  await writeHistory(data, { chars: 250_000, runs: 250, files: 1_000 })
  target = await serviceOn(data, { DELAY_SOCKET: socket, MCP_WRITE: 'true' }, ['bench/harness/delay-probe.js'])
  const many = { skills: 200, agents: 50, chatbots: 50, changes: 3 }
  ids = await prepare(target, { ...many, share: asked.share, model: modelOf(model.url) })
})
afterAll(async () => {
  // A stop would wait for what was given up here and is still under way.
  signalTo(target.pid, 'SIGKILL')
  await target.stop()
  model.stop()
  removeDirectory(directory)
})

/** The processor time of one walk over the longest list, in milliseconds: what this machine can do at this moment. */
const yardstick = (): number => {
  const text = statements.select['SELECT of a list']?.(1) ?? ''
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage()
    lex(text)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.max(...times.slice(1))
}

/** The requests that were carried out. */
const accepted = new Set<string>()
const routeOf = ({ name }: Request): string => (name.includes(': ') ? name.slice(0, name.lastIndexOf(': ')) : name)

/** The longest stretch in which the server did nothing else, at best of some attempts, where it is over the bound. */
const overBound = async (request: Request): Promise<string | undefined> => {
  // Whether a rollback is refused is only known from its answer.
  const patienceMs = request.path.endsWith('/rollback') ? 60_000 : asked.patienceMs
  let least = Infinity
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { ranMs, refusal } = await walk(target, socket, request, { ...asked, patienceMs })
    if (refusal === '') accepted.add(request.name)
    if (ranMs <= floorMs || ranMs <= walks * yardstick()) return undefined
    least = Math.min(least, ranMs)
  }
  return `${request.name}: ${least.toFixed(0)} ms in one stretch`
}

test('no request that is large in the way of its route, tool or statement holds up all others for long', async () => {
  const document = (await send(target, 'GET', '/api/openapi.json')) as Document
  const { requests, missing } = largestRequests(document, await toolsOf(target), ids)
  expect(missing).toEqual([])
  // The past is read by the process that answers SQL, for each kind in the same way.
  const chosen = requests.filter(({ path }) => !/as_of|limit/.test(path) || path.includes('/skills?'))
  const over: string[] = []
  for (const request of chosen) {
    const found = await overBound(request)
    if (found !== undefined) over.push(found)
  }
  expect(over).toEqual([])
  // What is refused says nothing about the work on what is taken. What never changes is not rolled back.
  const routes = chosen.filter(({ body }) => body).map(routeOf)
  const acceptedRoutes = new Set(chosen.filter(({ name }) => accepted.has(name)).map(routeOf))
  const refused = new Set(routes.filter((route) => route.includes('/') && !acceptedRoutes.has(route)))
  expect([...refused]).toEqual(['POST /api/projects/{project}/knowledge_bases/{knowledge_base}/rollback'])
  // No triggers, and no changes of rows.
  const refusedKinds = Object.entries(statements).filter(([, texts]) => !Object.keys(texts).some((name) => accepted.has(name)))
  const expected = ['create_trigger', 'drop_trigger', 'table_write', 'unavailable']
  expect(refusedKinds.map(([kind]) => kind).sort()).toEqual(expected)
})

test('a route, a media type and a tool without input are told, and so is an input for nothing', () => {
  const post = { requestBody: { content: { 'application/json': {} } } }
  const put = { requestBody: { content: { 'text/csv': {}, 'text/new': {} } } }
  const document: Document = { paths: { '/api/new': { post, patch: {} }, '/api/files/{file}': { put } } }
  const { missing } = largestRequests(document, ['query', 'burn'], ids)
  const told = ['POST /api/new as application/json', 'PATCH /api/new', 'PUT /api/files/{file} as text/new', 'the tool burn']
  expect(missing).toEqual(expect.arrayContaining([...told, 'the tool predict', 'POST /api/sql/query']))
  expect(missing).not.toEqual(expect.arrayContaining(['the tool query']))
  expect(missing).not.toEqual(expect.arrayContaining(['PUT /api/files/{file}']))
})
