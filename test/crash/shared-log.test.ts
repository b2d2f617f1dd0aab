import { afterAll, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { verifyLog } from '../../src/log/verify/verify.js'
import { countOf } from '../support/counts.js'
import { logServer } from '../support/log/each-log.js'
import { testKey } from '../support/log/log.js'
import { contentsOf, endSessions } from '../support/log/nodes.js'
import { seeded } from '../support/random.js'

const program = fileURLToPath(new URL('log-node.js', import.meta.url))
const blows = countOf('SHARED_BLOWS')
const writersOfANode = 11

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
  ) {}

  start(): Promise<void> {
    const child = spawn(process.execPath, [program, this.url, this.file], { stdio: ['pipe', 'pipe', 'inherit'] })
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

const { server } = logServer()
const nodes: NodeProcess[] = []
let isOver = false
const directory = mkdtempSync(join(tmpdir(), 'ml-nodes-'))
afterAll(async () => {
  isOver = true
  await Promise.all(nodes.map((node) => node.end()))
  rmSync(directory, { recursive: true, force: true })
})

test('whatever is killed, stopped or cut off, nothing acknowledged by any node is lost or doubled, and all have the same', async () => {
  const url = await server().newUrl()
  for (let n = 0; n < 3; n++) nodes.push(new NodeProcess(url, join(directory, `node-${n}.sqlite`)))
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
        if (answer !== undefined && !['storage_failed', 'busy', 'behind', 'outcome_unknown'].includes(answer))
          throw new Error(`${skill} ${n}: ${answer}`)
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
  isOver = true
  await Promise.all(writers)

  const heads = await Promise.all(
    nodes.map(async (node) => {
      for (;;) {
        const head = await node.ask('head')
        if (head !== undefined && head.length > 100) return head
        await sleep(100)
      }
    }),
  )
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
