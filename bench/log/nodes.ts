import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SharedLog } from '../../src/log/shared/shared-log.js'
import { prepareDataDirectory } from '../../src/setup/data-directory.js'
import { Vault } from '../../src/vault/vault.js'
import { password, startPostgres } from '../../test/support/connections/postgres.js'
import {
  ask,
  checkAims,
  compare,
  median,
  run,
  send,
  service,
  serviceOn,
  serviceWith,
  whenBuilt,
  type Start,
  type Target,
} from '../harness/harness.js'
import { makeDirectory, start } from '../harness/processes.js'
import { createdSkills, origin } from './long-log.js'

/** A run at length: NODE_ROUNDS=5 NODE_READS=100000 NODE_EVENTS=1000000. */
const countOf = (name: string, usual: number): number => Number(process.env[name] ?? usual)

const program = fileURLToPath(new URL('../../bin/mindledger.js', import.meta.url))
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

/** Three nodes that write at once: their writes per second together, and how much slower the slowest node is. */
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
  const spread = Math.max(...slowest) / Math.min(...slowest)
  console.log(`  slowest by fastest p99: ${spread.toFixed(2)}`)
  checkAims([
    ['no write of three nodes is refused', failed === 0],
    ['the p99 of the slowest node is at most three times that of the fastest', spread <= 3],
  ])
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** The ways to read a skill by its name. They tell whether it is there. */
const waysToRead: Record<string, (target: Target, name: string) => Promise<boolean>> = {
  REST: (target, name) =>
    send(target, 'GET', `${path}/${name}`).then(
      () => true,
      () => false,
    ),
  SQL: async (target, name) => (await ask(target, `SELECT name FROM skills WHERE name = '${name}'`)).length === 1,
}

/** The reads whose times are taken, one after the other. */
const timedReads = 1_000
/** The clients that make the other reads at the same time. */
const readers = 16

/**
 * Reads on one node of data that another node has just acknowledged, compared with the same reads of a node that does not ask the others.
 * Only the first reads are timed; many more are made by several clients.
 */
const reads = async (nodeAt: (url: string, settings?: Record<string, string>) => Start, newUrl: () => Promise<string>): Promise<void> => {
  const url = await newUrl()
  const nodes = [await nodeAt(url)(), await nodeAt(url)(), await nodeAt(url, { READS: 'local' })()] as const
  const [writer, linear, local] = nodes
  const count = countOf('NODE_READS', 1_000)
  for (const [how, read] of Object.entries(waysToRead)) {
    const times: Record<'linear' | 'local', number[]> = { linear: [], local: [] }
    let stale = 0
    await send(writer, 'POST', path, skill(`${how}_first`))
    for (const node of [linear, local]) await whenBuilt(node)
    const look = async (n: number) => {
      await send(writer, 'POST', path, skill(`${how}_${n}`))
      return timed(async () => (await read(linear, `${how}_${n}`)) || stale++)
    }
    for (let n = 0; n < Math.min(count, timedReads); n++) {
      times.linear.push(await look(n))
      times.local.push(await timed(() => read(local, `${how}_first`)))
    }
    let next = timedReads
    const client = async () => {
      while (next < count) await look(next++)
    }
    await Promise.all(Array.from({ length: readers }, client))
    const added = p99(times.linear) - p99(times.local)
    console.log(`reads over ${how} elsewhere after ${count} writes: ${stale} stale; p50 ${median(times.linear).toFixed(1)} ms against`)
    console.log(`  ${median(times.local).toFixed(1)} ms of READS=local; added p99 ${added.toFixed(1)} ms`)
    checkAims([
      [`no read over ${how} is stale`, stale === 0],
      [`a read over ${how} that asks the others adds at most 10 ms to the p99`, added <= 10],
    ])
  }
  await stopAll(nodes)
}

/** Runs a command of ours on a data directory. */
const command = async (args: readonly string[], directory: string): Promise<void> => {
  const env = { ...process.env, ...keys, DATA_DIR: directory }
  const [code] = (await once(start(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')) as [number]
  if (code !== 0) throw new Error(`${args[0] ?? ''} ended with ${code}`)
}

/** A new node beside a long log: one starts with nothing, and one starts with a backup that lacks a hundredth of the log. */
const joining = async (urlOf: () => Promise<string>): Promise<void> => {
  const url = await urlOf()
  const events = countOf('NODE_EVENTS', 50_000)
  const [filled, empty, joined] = [makeDirectory('filled'), makeDirectory('empty'), makeDirectory('joined')]
  const backup = join(makeDirectory('backup'), 'of-a-node')
  const { log: file } = prepareDataDirectory(filled)
  const write = async (count: number): Promise<void> => {
    const log = await SharedLog.open({ url, file, vault: new Vault(Buffer.from(keys.VAULT_KEY, 'hex')) })
    for (const batch of createdSkills(count)) await log.submit({ origin, lookups: {}, payloads: [], decide: () => batch })
    await log.close()
  }
  await write(events * 0.99)
  const backedUp = await timed(() => command(['backup', '--into', backup, '--quiet'], filled))
  await write(events * 0.01)

  const begin = async (directory: string): Promise<{ serves: number; answersSql: number }> => {
    let node: Target | undefined
    const serves = await timed(async () => (node = await serviceOn(directory, { ...keys, LOG_URL: url })))
    const answersSql = serves + (await timed(() => whenBuilt(node!)))
    await node?.stop()
    return { serves, answersSql }
  }
  const seconds = (ms: number) => (ms / 1_000).toFixed(1)
  const fromNothing = await begin(empty)
  const restored = await timed(() => command(['restore', backup, '--into', joined, '--quiet'], joined))
  const fromBackup = await begin(joined)
  console.log(`a new node beside ${events} events:`)
  console.log(`  from nothing: serves after ${seconds(fromNothing.serves)} s, answers SQL after ${seconds(fromNothing.answersSql)} s`)
  console.log(
    `  from a backup (made in ${seconds(backedUp)} s), restored in ${seconds(restored)} s: serves after ${seconds(restored + fromBackup.serves)} s, answers SQL after ${seconds(restored + fromBackup.answersSql)} s`,
  )
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
    await joining(newUrl)
  } finally {
    await postgres.stop()
  }
}
