import { join } from 'node:path'
import { SharedLog } from '../../src/log/shared/shared-log.js'
import { Vault } from '../../src/vault/vault.js'
import { password, startPostgres } from '../../test/support/connections/postgres.js'
import { compare, median, run, send, service, serviceWith, whenBuilt, type Start, type Target } from '../harness.js'
import { makeDirectory, removeDirectory } from '../processes.js'
import { createdSkills, origin } from './long-log.js'

/** A run at length: NODE_ROUNDS=5 NODE_READS=100000 NODE_EVENTS=1000000. */
const countOf = (name: string, usual: number): number => Number(process.env[name] ?? usual)

const keys = { VAULT_KEY: 'ab'.repeat(32), HEAD_KEY: 'cd'.repeat(32) }
const path = '/api/projects/mindsdb/skills'
const skill = (name: string) => ({ skill: { name, type: 'sql', params: { database: 'example_db', tables: ['orders', 'items'] } } })

const load = (connections: number) => ({
  connections,
  seconds: 5,
  request: (n: number) => ({
    ...{ method: 'POST' as const, path, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify(skill(`${n}_${Math.random()}`)),
  }),
})

const stopAll = (targets: readonly Target[]) => Promise.all(targets.map(({ stop }) => stop()))

const p99 = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? NaN

/** Three nodes that write at once: what they do together, and how much slower the slowest is. */
const together = async (nodeAt: (url: string) => Start, newUrl: () => Promise<string>): Promise<void> => {
  const url = await newUrl()
  const nodes = [await nodeAt(url)(), await nodeAt(url)(), await nodeAt(url)()]
  await Promise.all(nodes.map((node) => run(node, { ...load(16), seconds: 3 })))
  const figures = await Promise.all(nodes.map((node) => run(node, load(16))))
  await stopAll(nodes)
  const failed = figures.reduce((sum, each) => sum + each.failed, 0)
  const slowest = figures.map((each) => each.p99)
  const all = figures.reduce((sum, { perSecond }) => sum + perSecond, 0)
  console.log(
    `three nodes: ${all.toFixed(0)} writes/s together; p99 ${slowest.map((ms) => ms.toFixed(0)).join(', ')} ms; ${failed} refused`,
  )
  console.log(`  slowest by fastest p99: ${(Math.max(...slowest) / Math.min(...slowest)).toFixed(2)}`)
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Reads on one node of what another has just acknowledged, beside the same reads of a node that asks nobody. */
const reads = async (nodeAt: (url: string, settings?: Record<string, string>) => Start, newUrl: () => Promise<string>): Promise<void> => {
  const url = await newUrl()
  const nodes = [await nodeAt(url)(), await nodeAt(url)(), await nodeAt(url, { READS: 'local' })()] as const
  const [writer, linear, local] = nodes
  const count = countOf('NODE_READS', 1_000)
  const times: Record<'linear' | 'local', number[]> = { linear: [], local: [] }
  let stale = 0
  for (let n = 0; n < count; n++) {
    await send(writer, 'POST', path, skill(`s${n}`))
    const read = send(linear, 'GET', `${path}/s${n}`).catch(() => stale++)
    times.linear.push(await timed(() => read))
    times.local.push(await timed(() => send(local, 'GET', `${path}/s0`)))
  }
  await stopAll(nodes)
  const added = p99(times.linear) - p99(times.local)
  console.log(`reads elsewhere after ${count} writes: ${stale} stale; p50 ${median(times.linear).toFixed(1)} ms against`)
  console.log(`  ${median(times.local).toFixed(1)} ms of READS=local; added p99 ${added.toFixed(1)} ms`)
}

/** A node that begins with nothing beside a long log. */
const joining = async (nodeAt: (url: string) => Start, newUrl: () => Promise<string>): Promise<void> => {
  const url = await newUrl()
  const events = countOf('NODE_EVENTS', 50_000)
  const directory = makeDirectory('filled')
  const log = await SharedLog.open({ url, file: join(directory, 'log.sqlite'), vault: new Vault(Buffer.from(keys.VAULT_KEY, 'hex')) })
  for (const batch of createdSkills(events)) await log.submit({ origin, lookups: {}, payloads: [], decide: () => batch })
  await log.close()
  removeDirectory(directory)
  const nodes: Target[] = []
  const serves = await timed(async () => nodes.push(await nodeAt(url)()))
  const answersSql = serves + (await timed(() => whenBuilt(nodes[0]!)))
  await stopAll(nodes)
  const seconds = (ms: number) => (ms / 1_000).toFixed(1)
  console.log(`a new node beside ${events} events: serves after ${seconds(serves)} s, answers SQL after ${seconds(answersSql)} s`)
}

/** Nodes of one log on PostgreSQL, which runs on the same machine. */
export const nodes = async (): Promise<void> => {
  const postgres = await startPostgres()
  let databases = 0
  const newUrl = async (): Promise<string> => {
    const name = `log_${++databases}`
    await postgres.run(`CREATE DATABASE ${name}`)
    return `postgres://postgres:${password}@127.0.0.1:${postgres.port}/${name}`
  }
  const nodeAt =
    (url: string, settings: Record<string, string> = {}): Start =>
    () =>
      serviceWith({ ...keys, LOG_URL: url, ...settings })()
  try {
    const rounds = countOf('NODE_ROUNDS', 3)
    const ours: Start = async () => nodeAt(await newUrl())()
    await compare('one node on PostgreSQL, against a log of its own', {
      ...{ ours, bare: service, rounds, load: load(48) },
      prepare: async () => undefined,
    })
    await together(nodeAt, newUrl)
    await reads(nodeAt, newUrl)
    await joining(nodeAt, newUrl)
  } finally {
    await postgres.stop()
  }
}
