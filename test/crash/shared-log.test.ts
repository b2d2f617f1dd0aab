import { afterAll, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { limits } from '../../src/basics/limits.js'
import { verifyLog } from '../../src/log/verify/verify.js'
import { countOf } from '../support/counts.js'
import { startCutProxy } from '../support/log/cut-proxy.js'
import { logServer } from '../support/log/each-log.js'
import { temporaryDirectory, testKey } from '../support/log/log.js'
import { contentsOf, endSessions } from '../support/log/nodes.js'
import { seeded } from '../support/random.js'
import { until } from '../support/until.js'

const program = fileURLToPath(new URL('log-node.js', import.meta.url))
const blows = countOf('SHARED_BLOWS')
const writersOfANode = 11
/** What a node answers while PostgreSQL is away or slow. */
const passing = ['storage_failed', 'busy', 'behind', 'outcome_unknown']

/** What befalls the nodes, in this order again and again. */
const kinds = ['restart', 'stop', 'sessions', 'crash', 'restart', 'sessions', 'restart', 'sessions', 'stop', 'restart'] as const

/** A node in a process of its own, which is started again when it was killed. */
class NodeProcess {
  #child: ChildProcess | undefined
  #ready: Promise<void> = Promise.resolve()
  readonly #asked = new Map<string, (answer: string | undefined) => void>()

  constructor(
    private readonly url: string,
    readonly file: string,
    private readonly patienceMs?: number,
  ) {}

  start(): Promise<void> {
    const patience = this.patienceMs === undefined ? [] : [String(this.patienceMs)]
    const child = spawn(process.execPath, [program, this.url, this.file, ...patience], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child = child
    child.stdin.on('error', () => undefined)
    this.#ready = new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line === 'ready') {
          resolve()
          return
        }
        const [key = '', ...answer] = line.split(' ')
        this.#asked.get(key)?.(answer.join(' '))
        this.#asked.delete(key)
      })
      child.once('exit', () => {
        reject(new Error('the node ended'))
        for (const give of this.#asked.values()) give(undefined)
        this.#asked.clear()
      })
    })
    return this.#ready
  }

  get isUp(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null
  }

  /** Its answer to a line; undefined when it ended, or is silent for longer than a client waits. */
  ask(line: string): Promise<string | undefined> {
    const [key = ''] = line.split(' ')
    if (!this.isUp) return sleep(20).then(() => undefined)
    const answered = new Promise<string | undefined>((resolve) => {
      this.#asked.set(key, resolve)
      this.#child?.stdin?.write(`${line}\n`)
    })
    return Promise.race([answered, sleep(3_000, undefined, { ref: false })])
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** Kills it, and starts it again; again if PostgreSQL was away. */
  async restart(): Promise<void> {
    const child = this.#child
    if (child && this.isUp) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    for (;;)
      try {
        await this.start()
        return
      } catch {
        await sleep(200)
      }
  }

  async end(): Promise<void> {
    const child = this.#child
    if (!child || !this.isUp) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

/** The head of a node, once it has everything. */
const headOf = async (node: NodeProcess): Promise<string> => {
  for (;;) {
    const head = await node.ask('head')
    if (head !== undefined && head.length > 100) return head
    await sleep(100)
  }
}

const { server } = logServer()
const nodes: NodeProcess[] = []
let isOver = false
const directory = temporaryDirectory()
afterAll(async () => {
  isOver = true
  await Promise.all(nodes.map((node) => node.end()))
  directory.remove()
})

test('whatever is killed, stopped or cut off, nothing acknowledged by any node is lost or doubled, and all have the same', async () => {
  const url = await server().newUrl()
  for (let n = 0; n < 3; n++) nodes.push(new NodeProcess(url, join(directory.path, `node-${n}.sqlite`)))
  await Promise.all(nodes.map((node) => node.start()))
  const random = seeded(countOf('SEED'))
  const acknowledged = new Map<string, number>()

  /** Sends each command until it is acknowledged, each time to another node. */
  const write = async (skill: string): Promise<void> => {
    for (let n = 0; !isOver; n++)
      for (let attempt = Math.floor(Math.random() * 3); ; attempt++) {
        const answer = await nodes[attempt % 3]!.ask(`${skill}-${n} ${skill} ${n}`)
        if (answer !== undefined && /^\d+$/.test(answer)) {
          acknowledged.set(`${skill} ${n}`, Number(answer))
          break
        }
        if (answer !== undefined && !passing.includes(answer)) throw new Error(`${skill} ${n}: ${answer}`)
        await sleep(50)
      }
  }
  const writers = Array.from({ length: 3 * writersOfANode }, (_, i) => write(`w${i}`))
  const failed = Promise.all(writers).then(() => new Promise<never>(() => undefined))

  const { postgres } = server()
  const blow = async (kind: (typeof kinds)[number] | undefined): Promise<void> => {
    const node = nodes[Math.floor(random() * 3)]!
    if (kind === 'restart') await node.restart()
    else if (kind === 'sessions') await endSessions(postgres, 2)
    else if (kind === 'stop') {
      node.signal('SIGSTOP')
      await sleep(5_000)
      node.signal('SIGCONT')
    } else await postgres.crash()
  }
  for (let n = 0; n < blows; n++) {
    await Promise.race([sleep(300 + random() * 500), failed])
    await Promise.race([blow(kinds[n % kinds.length]), failed])
  }
  await sleep(500)
  await Promise.race([until(() => acknowledged.size > 3 * writersOfANode), failed])
  isOver = true
  await Promise.all(writers)

  const heads = await Promise.all(nodes.map(headOf))
  expect(new Set(heads).size).toBe(1)
  await Promise.all(nodes.map((node) => node.end()))

  const [first, ...others] = nodes.map(({ file }) => contentsOf(file))
  for (const other of others) expect(other).toEqual(first)
  const written = new Map<string, number>()
  const names = new Map<string, string>()
  for (const { position, text } of first?.['events'] as { position: number; text: string }[]) {
    const { type, stream, data } = parseEnvelope(text)
    if (type !== 'SkillCreated' && type !== 'SkillUpdated') continue
    const { name, params } = data as { name?: string; params: { n: number } }
    if (name !== undefined) names.set(stream, name)
    const what = `${names.get(stream) ?? ''} ${params.n}`
    expect(written.has(what)).toBe(false)
    written.set(what, position)
  }
  expect(acknowledged.size).toBeGreaterThan(3 * writersOfANode)
  for (const [what, position] of acknowledged) if (written.get(what) !== position) throw new Error(`lost or moved: ${what} ${position}`)
  for (const { file } of nodes) expect((await verifyLog({ logFile: file, masterKeys: [testKey] })).findings).toEqual([])
  console.info(`${acknowledged.size} acknowledged beside ${blows} blows`)
})

test('a node that is halted with the head in its hands loses it, and no write of the others is refused', async () => {
  const url = await server().newUrl()
  const proxy = await startCutProxy(server().postgres.port)
  // On a busy machine a write may take longer than it usually waits.
  const patienceMs = 120_000
  const halted = new NodeProcess(url.replace(/:\d+\//, `:${proxy.port}/`), join(directory.path, 'halted.sqlite'), patienceMs)
  const other = new NodeProcess(url, join(directory.path, 'other.sqlite'), patienceMs)
  const inDatabase = `datname = '${new URL(url).pathname.slice(1)}'`
  const found = async (query: string): Promise<number> => Number((await server().postgres.rows(query))[0]?.[0])
  const holders = () => found(`SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND ${inDatabase}`)
  const ended = () => found(`SELECT sessions_fatal FROM pg_stat_database WHERE ${inDatabase}`)
  /** A client that asks again under its key when nothing comes. */
  const write = async (node: NodeProcess, line: string): Promise<string> => (await node.ask(line)) ?? write(node, line)
  const writeUntilDone = async (node: NodeProcess, line: string): Promise<string> => {
    const answer = await write(node, line)
    return passing.includes(answer) ? writeUntilDone(node, line) : answer
  }
  try {
    await Promise.all([halted.start(), other.start()])
    const decided = proxy.holdAt('slow')
    const lost = halted.ask('a slow 0')
    const pass = await decided
    expect(await writeUntilDone(other, 'b quick 0')).toMatch(/^\d+$/)
    // Another node was quicker, so this one takes the head.
    const locking = proxy.holdAt('mindledger.head FOR UPDATE')
    pass()
    const lock = await locking
    halted.signal('SIGSTOP')
    const from = performance.now()
    lock()
    await until(async () => (await holders()) + (await ended()) > 0)
    // Without a limit for silent holders, PostgreSQL would give up the statement of the other one.
    const next = write(other, 'c next 0')
    await until(async () => (await ended()) > 0)
    // On a busy machine PostgreSQL may end it later than it gives up a statement.
    const isLate = performance.now() - from > limits.sharedStatementTimeoutMs - 1_000
    const answer = await next
    expect(isLate ? await writeUntilDone(other, 'c next 0') : answer).toMatch(/^\d+$/)
    halted.signal('SIGCONT')
    await lost
    await until(async () => /^\d+$/.test((await halted.ask('a slow 0')) ?? ''))
    expect(await headOf(halted)).toBe(await headOf(other))
  } finally {
    await Promise.all([halted.end(), other.end()])
    await proxy.stop()
  }
})
