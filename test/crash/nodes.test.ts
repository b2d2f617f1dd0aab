import { afterEach, expect, test } from '@jest/globals'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { limits } from '../../src/basics/limits.js'
import { undoAll } from '../../src/basics/undo.js'
import { SharedLog } from '../../src/log/shared/shared-log.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { Vault } from '../../src/vault/vault.js'
import { mindledger } from '../support/cli.js'
import { countOf } from '../support/counts.js'
import { logServer } from '../support/log/each-log.js'
import { contentsOf, endSessions, newest } from '../support/log/nodes.js'
import { childrenRunning, processTree, signalTo } from '../support/processes.js'
import { seeded } from '../support/random.js'
import { answered, rowsNow, send, spawnService, sql, temporaryDirectory, type Reply, type SqlReply } from '../support/service.js'
import { until, whenReached } from '../support/until.js'

const { server } = logServer()
const keys = { VAULT_KEY: 'ab'.repeat(32), HEAD_KEY: 'cd'.repeat(32) }

/** What ends after each test: a node that nobody needs any more would take time from the next ones. */
const undo: (() => unknown)[] = []
afterEach(() => undoAll(undo.splice(0)))

type Node = { url: string; child: ChildProcess; directory: string; ended: Promise<unknown> }

const startNode = async (logUrl: string, directory?: string, settings: Record<string, string> = {}): Promise<Node> => {
  const fresh = directory === undefined ? temporaryDirectory() : undefined
  if (fresh) undo.push(fresh.remove)
  const path = directory ?? fresh?.path ?? ''
  const { child, url, ended } = await spawnService(path, { ...keys, LOG_URL: logUrl, ...settings })
  undo.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await ended
  })
  return { url, child, directory: path, ended }
}

const kill = async ({ child, ended }: Node): Promise<void> => {
  child.kill('SIGKILL')
  await ended
}

/** Gives the file of a node that stopped what the others wrote after that. */
const catchUp = async (url: string, directory: string): Promise<void> => {
  const vault = new Vault(Buffer.from(keys.VAULT_KEY, 'hex'))
  const log = await whenReached(() => SharedLog.open({ url, file: dataPaths(directory).log, vault }))
  try {
    await newest(log)
  } finally {
    await log.close()
  }
}

/** Stops a node with all its processes, or lets them go on. */
const signal = ({ child }: Node, name: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const pid of processTree(child.pid ?? 0)) signalTo(pid, name)
}

/** Sends a request to a halted node, and resolves when the system has all of it: the node gets it as soon as it goes on. */
const sendAhead = async ({ url }: Node, path: string, body?: object): Promise<{ answer: Promise<Pick<Reply, 'status' | 'body'>> }> => {
  const sent = request(url + path, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json' },
    agent: false,
  })
  const answer = (once(sent, 'response') as Promise<[IncomingMessage]>).then(async ([response]) => ({
    status: response.statusCode ?? 0,
    body: await text(response),
  }))
  const finished = once(sent, 'finish')
  sent.end(body && JSON.stringify(body))
  await finished
  return { answer }
}

/** Sends a command under its key until a node acknowledges it, each time to another one. A client waits three seconds. */
const sendUntilDone = async (nodes: readonly Node[], path: string, body: object, key: string): Promise<unknown> => {
  const headers = { 'content-type': 'application/json', 'Idempotency-Key': key }
  for (let attempt = Math.floor(Math.random() * nodes.length); ; attempt++) {
    const { url } = nodes[attempt % nodes.length]!
    try {
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(3_000) })
      const answer: unknown = await response.json()
      if (response.ok) return answer
      if (response.status < 500 && response.status !== 429)
        throw new TypeError(`${path} ${key}: ${response.status} ${JSON.stringify(answer)}`)
    } catch (error) {
      if (error instanceof TypeError && error.message.startsWith(path)) throw error
    }
    await setTimeout(50)
  }
}

test('each due time has one run, and each run one end, while nodes are killed, and stopped for longer than a lease', async () => {
  const url = await server().newUrl()
  const nodes = await Promise.all([startNode(url), startNode(url), startNode(url)])
  const [a, b, c] = nodes
  const count = 24
  const from = Date.now() + 5_000
  for (let i = 0; i < count; i++) {
    const job = {
      ...{ name: `j${i}`, query: `CREATE SKILL made${i} USING type = 'sql'` },
      start_at: new Date(from + i * 1_000).toISOString().slice(0, 23),
    }
    await sendUntilDone([a], '/api/projects/mindsdb/jobs', { job }, job.name)
  }
  const started = async (): Promise<number> =>
    Number((await rowsNow(c.url, `SELECT count(*) FROM log.events WHERE type = 'JobRunStarted'`))[0]?.[0])
  await until(async () => (await started()) > 3)
  await kill(a)
  await until(async () => (await started()) > 7)
  for (const pid of childrenRunning(b.child.pid ?? 0, 'sql-process')) signalTo(pid, 'SIGKILL')
  signal(b, 'SIGSTOP')
  const again = await startNode(url, a.directory)
  await until(async () => (await started()) === count)
  signal(b, 'SIGCONT')
  for (const { url: at } of [again, b, c])
    await until(async () => {
      const found = await rowsNow(at, `SELECT job, outcome FROM log.job_runs`)
      return found.length === count && found.every(([, outcome]) => outcome !== 'running')
    })
  const runs = (await sql(b.url, 'SELECT job, outcome FROM log.job_runs')).data
  expect(new Set(runs.map(([job]) => job)).size).toBe(count)
  expect(runs.filter(([, outcome]) => outcome !== 'complete' && outcome !== 'interrupted')).toEqual([])
  const ends = (await sql(c.url, `SELECT count(*), count(DISTINCT data->>'run') FROM log.events WHERE type = 'JobRunFinished'`)).data
  expect(ends).toEqual([[count, count]])
  // Nothing that a run did happened twice, and a run that is complete did it.
  const made = (await sql(c.url, 'SELECT name FROM skills')).data.map(([name]) => String(name))
  const complete = runs.filter(([, outcome]) => outcome === 'complete').map(([job]) => String(job).replace('j', 'made'))
  expect(complete.filter((name) => !made.includes(name))).toEqual([])
  // Whatever a node went through, its tables are those of a replay.
  for (const { directory } of [again, b, c]) {
    const { code, out } = await mindledger(['diff'], { ...keys, DATA_DIR: directory })
    expect([code, out]).toEqual([0, expect.stringContaining('The tables equal a replay')])
  }
})

/** What befalls nodes, in this order again and again: the first five have one of each kind. */
const kinds = ['stop', 'crash', 'kill', 'child', 'sessions', 'kill', 'child', 'stop', 'sessions', 'kill'] as const

test('whatever befalls nodes that serve, each write, run and training counts once, and tables and files are the same', async () => {
  const url = await server().newUrl()
  const { postgres } = server()
  const nodes = await Promise.all([startNode(url), startNode(url), startNode(url)])
  const [random, blows] = [seeded(countOf('SEED')), countOf('NODE_BLOWS')]

  const from = Date.now() + 3_000
  for (let i = 0; i < 2 * blows; i++) {
    const at = { start_at: new Date(from + i * 2_000).toISOString().slice(0, 23) }
    const job = { name: `j${i}`, query: `CREATE SKILL made${i} USING type = 'sql'`, ...at }
    await sendUntilDone(nodes, '/api/projects/mindsdb/jobs', { job }, `job-${i}`)
  }
  let isOver = false
  const acknowledged = new Map<string, number>()
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const skill = { name: `w${writer}_${n}`, type: 'sql', params: { password: `secret ${n}` } }
      const { id } = (await sendUntilDone(nodes, '/api/projects/mindsdb/skills', { skill }, skill.name)) as { id: number }
      acknowledged.set(skill.name, id)
    }
  }
  const models: string[] = []
  const train = async (): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const query = `CREATE MODEL t${n} FROM files (SELECT i AS x, 2 * i AS y FROM range(200) AS r(i)) PREDICT y`
      const answer = await sendUntilDone(nodes, '/api/sql/query', { query }, `model-${n}`)
      // What SQL cannot do for a moment is no answer that counts.
      if ((answer as SqlReply).type !== 'error') models.push(`t${n}`)
      await setTimeout(1_000)
    }
  }
  const busy = [...Array.from({ length: 8 }, (_, i) => write(i)), train()]
  const failed = Promise.all(busy).then(() => new Promise<never>(() => undefined))

  const startAgain = async (n: number): Promise<void> => {
    const { directory } = nodes[n]!
    for (;;)
      try {
        nodes[n] = await startNode(url, directory)
        return
      } catch {
        // PostgreSQL is away, too.
        await setTimeout(200)
      }
  }
  const blow = async (kind: (typeof kinds)[number] | undefined, n: number): Promise<void> => {
    const node = nodes[n]!
    if (kind === 'kill') {
      await kill(node)
      await startAgain(n)
    } else if (kind === 'child') for (const pid of childrenRunning(node.child.pid ?? 0, 'sql-process')) signalTo(pid, 'SIGKILL')
    else if (kind === 'sessions') await endSessions(postgres, 3)
    else if (kind === 'stop') {
      signal(node, 'SIGSTOP')
      await setTimeout(5_000)
      signal(node, 'SIGCONT')
    } else await postgres.crash()
  }
  for (let n = 0; n < blows; n++) {
    await Promise.race([setTimeout(500 + random() * 1_000), failed])
    await Promise.race([blow(kinds[n % kinds.length], Math.floor(random() * nodes.length)), failed])
  }
  await Promise.race([until(() => acknowledged.size > 32), failed])
  isOver = true
  await Promise.all(busy)

  const { url: at } = nodes[0]
  const openRuns = `SELECT (SELECT count(*) FROM jobs), (SELECT count(*) FROM log.job_runs WHERE outcome <> 'running')`
  await until(async () => String((await rowsNow(at, openRuns))[0]) === `${2 * blows},${2 * blows}`)
  await until(async () => (await rowsNow(at, `SELECT count(*) FROM models WHERE status IN ('generating', 'training')`))[0]?.[0] === 0)
  const counted = async (query: string) => (await sql(at, query)).data
  expect(await counted(`SELECT count(*), count(DISTINCT stream) FROM log.events WHERE type = 'JobRunStarted'`)).toEqual([
    [2 * blows, 2 * blows],
  ])
  expect(await counted(`SELECT count(*), count(DISTINCT data->>'run') FROM log.events WHERE type = 'JobRunFinished'`)).toEqual([
    [2 * blows, 2 * blows],
  ])
  const ended = await counted(
    `SELECT count(*), count(DISTINCT stream) FROM log.events WHERE type IN ('ModelTrained', 'ModelTrainingFailed')`,
  )
  const trained = (await counted('SELECT name, status FROM models')).map(([name, status]) => [String(name), status])
  expect(ended).toEqual([[trained.length, trained.length]])
  expect(models.filter((name) => !trained.some(([known]) => known === name))).toEqual([])
  const skills = new Map(
    (await counted(`SELECT data->>'name', position FROM log.events WHERE type = 'SkillCreated'`)).map(([name, id]) => [
      String(name),
      Number(id),
    ]),
  )
  for (const [name, id] of acknowledged) if (skills.get(name) !== id) throw new Error(`lost or moved: ${name} ${id}`)
  expect(acknowledged.size).toBeGreaterThan(32)

  const positionAt = async (node: Node) => (await rowsNow(node.url, 'SELECT max(position) FROM log.events'))[0]?.[0]
  await until(async () => new Set(await Promise.all(nodes.map(positionAt))).size === 1)
  await Promise.all(
    nodes.map(async ({ child, ended }) => {
      child.kill('SIGTERM')
      await ended
    }),
  )
  // Requests that their client gave up went on, and kept their answers until their node stopped: batches without an event.
  for (const { directory } of nodes) await catchUp(url, directory)
  const [first, ...others] = nodes.map(({ directory }) => contentsOf(dataPaths(directory).log))
  for (const other of others) expect(other).toEqual(first)
  for (const { directory } of nodes) {
    const diff = await mindledger(['diff'], { ...keys, DATA_DIR: directory })
    expect([diff.code, diff.out]).toEqual([0, expect.stringContaining('The tables equal a replay')])
  }
  const verified = await mindledger(['verify', '--shared'], { ...keys, LOG_URL: url, DATA_DIR: nodes[0].directory })
  expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('The log holds')])
  console.info(`${acknowledged.size} acknowledged, ${trained.length} models, ${2 * blows} runs beside ${blows} blows`)
})

test('a training is told of and cancelled at any node, and that of a killed node ends on another', async () => {
  const url = await server().newUrl()
  const halting = { NODE_OPTIONS: `--import=${new URL('../support/models/halted-trainings.js', import.meta.url).href}` }
  const nodes = await Promise.all([startNode(url, undefined, halting), startNode(url, undefined, halting)])
  const query = 'SELECT i AS x, i % 7 AS k, hash(i) % 1000 AS h, i * 3 + (i % 7) AS y FROM range(30000) AS r(i)'
  const status = async (at: Node, name: string) => (await rowsNow(at.url, `SELECT status FROM models WHERE name = '${name}'`))[0]?.[0]
  const learning = ({ child }: Node): number[] => childrenRunning(child.pid ?? 0, 'train-process')
  /** Begins a training, whose process is halted; returns that, the node that trains, and another one. */
  const begin = async (name: string): Promise<{ pid: number; trains: Node; other: Node }> => {
    await sql(nodes[0].url, `CREATE MODEL ${name} FROM files (${query}) PREDICT y`)
    await until(() => nodes.flatMap(learning).length > 0)
    const [pid = 0] = nodes.flatMap(learning)
    const isFirst = learning(nodes[0]).length > 0
    return { pid, trains: nodes[isFirst ? 0 : 1], other: nodes[isFirst ? 1 : 0] }
  }

  const first = await begin('gone')
  await until(async () => {
    const { body } = await send(first.other.url, 'GET', '/api/projects/mindsdb/models/gone')
    const described = await sql(first.other.url, 'DESCRIBE gone.jobs')
    const of = (column: string) => described.data[0]?.[described.column_names.indexOf(column)]
    return (body as { progress?: { total: number } }).progress !== undefined && Number(of('total')) > 0
  })
  const cancel = () => send(first.other.url, 'POST', '/api/projects/mindsdb/models/gone/cancel', undefined, { 'Idempotency-Key': 'cancel' })
  expect((await answered(cancel)).status).toBe(200)
  await until(() => learning(first.trains).length === 0)
  expect([await status(first.trains, 'gone'), await status(first.other, 'gone')]).toEqual(['error', 'error'])
  await sql(first.other.url, 'DROP MODEL gone')

  const { pid, trains, other } = await begin('m')
  await kill(trains)
  signalTo(pid, 'SIGCONT')
  const outcome = () => rowsNow(other.url, `SELECT status, error FROM models WHERE name = 'm' AND status IN ('complete', 'error')`)
  await until(async () => {
    for (const again of learning(other)) signalTo(again, 'SIGCONT')
    return (await outcome()).length > 0
  })
  expect(await outcome()).toEqual([['complete', null]])
  const count = `SELECT type, count(*) FROM log.events WHERE type IN ('ModelTrainingStarted', 'ModelTrained') GROUP BY type ORDER BY type`
  expect((await sql(other.url, count)).data).toEqual([
    ['ModelTrained', 1],
    ['ModelTrainingStarted', 2],
  ])
})

test('a node that was halted answers nothing old and nothing erased when it goes on, also with READS=local', async () => {
  const url = await server().newUrl()
  const [a, b] = await Promise.all([startNode(url), startNode(url, undefined, { READS: 'local' })])
  await sql(a.url, `CREATE TABLE files.visits (SELECT 'somebody' AS who)`)
  const visits = 'SELECT who FROM files.visits'
  await until(async () => (await sql(b.url, visits)).error_message === undefined)
  signal(b, 'SIGSTOP')
  await sendUntilDone([a], '/api/projects/mindsdb/skills', { skill: { name: 'fresh', type: 'sql', params: {} } }, 'fresh')
  // Answered when the halted node counts as dead.
  expect((await answered(() => send(a.url, 'POST', '/api/log/erasures', { file: { name: 'visits' } }))).status).toBe(200)
  // They are in the socket when the node goes on, before it has heard of anything.
  const [path, skills] = ['/api/projects/mindsdb/skills/fresh', 'SELECT name FROM skills']
  const asked = [
    await sendAhead(b, path),
    ...(await Promise.all([visits, skills].map((query) => sendAhead(b, '/api/sql/query', { query })))),
  ]
  signal(b, 'SIGCONT')
  const first = await Promise.all(asked.map(({ answer }) => answer))
  expect([200, 503]).toContain(first[0]?.status)
  expect(JSON.stringify(first)).not.toContain('somebody')
  expect(String(first[2]?.body)).not.toContain('"data":[]')
  // It may have to find out first what it missed.
  expect((await answered(() => send(b.url, 'GET', path))).status).toBe(200)
  const rows = await sql(b.url, visits)
  expect(rows.error_message).toContain('erased')
  expect(JSON.stringify(rows)).not.toContain('somebody')
  expect((await sql(b.url, skills)).data).toEqual([['fresh']])

  signal(b, 'SIGSTOP')
  await setTimeout(limits.sharedHaltMs)
  await server().postgres.kill()
  const unsure = await sendAhead(b, path)
  signal(b, 'SIGCONT')
  expect((await unsure.answer).status).toBe(503)
  await server().postgres.revive()
  await until(async () => (await send(b.url, 'GET', path)).status === 200)
})
