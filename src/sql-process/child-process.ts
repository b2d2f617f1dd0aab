import { fork, type ChildProcess } from 'node:child_process'
import { unreachable } from '../../events/common.js'
import { limits } from '../basics/limits.js'
import { lowerPriority, queryPriority } from '../basics/priority.js'
import { confine } from './contract/confinement.js'
import { QueryConnection, type Answer, type ConnectionEvents } from './query-connection.js'
import type { AnswerQuestion, HoldBlob, ReadingEnd } from './contract/options.js'
import { HeldBlobs } from './held-blobs.js'
import { parseChildMessage, type ChildMessage, type CopyRequest, type Settings } from './contract/messages.js'
import { withoutHolder } from './orphan-process.js'
import type { Rebuilds } from './contract/rebuilds.js'
import { mayChange } from '../sql/contract/connected.js'
import type { SelectRequest } from '../sql/contract/select.js'

/**
 * Why a process ended. It was killed for its memory; because one query did not stop (`stuck`); or because it stopped answering, and any of
 * its queries may be the cause (`blocked`). Or it found that its tables did not show all added rows (`other_rows`), or it ended by itself.
 * Or it was `replaced` on purpose, and no query is the cause.
 */
export type Loss = 'memory' | 'stuck' | 'blocked' | 'other_rows' | 'died' | 'replaced'

type PendingCopy = { resolve: (position: number) => void; reject: (reason: Error) => void }

type ChildState = {
  ready: boolean
  /** It ended because it had built the tables: another process serves them. */
  built: boolean
  /** The progress of its first catch-up. */
  starting: { position: number; head: number } | undefined
  position: number
  head: number
  stopped: string | undefined
  failed: string | undefined
  /** Why its tables belong to another log, if they do. */
  foreign: string | undefined
  /** Known since the tables are open. */
  rebuilds: Rebuilds | undefined
  /** The head of the log when the open tables were begun. */
  begunAt: number | undefined
  /** The mechanism that took its rights: `landlock`, or which rights it kept, and why. */
  confinement: string | undefined
  /** The last reason why it could not follow the log. */
  lastError: string | undefined
  /** The reason why it cannot follow the log now. Until it follows, this is the reason of the process before it. */
  trouble: string | undefined
  /** Why it ends by itself, so that another process opens the tables again. */
  ending: string | undefined
}

// The child must not see the master key and the passwords in the parent's environment.
const environment = (): NodeJS.ProcessEnv => {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'NODE_ENV'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  // Each query that executes or streams may hold a thread of libuv's pool. Each step of the projector does, too.
  const threads = limits.sqlConcurrentMaxQueries + limits.sqlStreamingMaxAnswers + 8
  return { ...Object.fromEntries(kept), UV_THREADPOOL_SIZE: String(threads) }
}

/** One SQL process, from its start to its end. */
export class SqlChildProcess {
  readonly state: ChildState = {
    ready: false,
    built: false,
    starting: undefined,
    position: 0,
    head: 0,
    stopped: undefined,
    failed: undefined,
    foreign: undefined,
    rebuilds: undefined,
    begunAt: undefined,
    confinement: undefined,
    lastError: undefined,
    trouble: undefined,
    ending: undefined,
  }
  readonly exited: Promise<void>
  readonly startedAt = performance.now()
  /** How many queries ran on it when it was lost. */
  runningAtLoss = 0
  loss: Loss = 'died'
  isOver = false
  /** Whether the query that ended it is known. */
  isExplained = false
  /** The time of its last message. */
  heardAt = 0
  /** The queries that it executes, by number. */
  readonly running = new Set<number>()
  /** Of these, the queries with a client that waits. An answered query may still clean up, without a deadline. */
  readonly awaited = new Set<number>()
  /** The statements of each query that may have changed something in a connected database, or are under way. */
  readonly #changing = new Map<number, number>()
  /** Gives the place of a query to others while the query waits for another system; see `Ticket.waits`. */
  readonly waits = new Map<number, () => () => void>()
  readonly #endings = new Map<number, (() => void)[]>()
  readonly #copies = new Map<string, PendingCopy>()
  /** The blobs whose files its queries read. */
  readonly #held: HeldBlobs | undefined
  readonly #process: ChildProcess
  /** Callers that wait until it knows the master keys that they sent, in the order in which they sent them. */
  readonly #learned: (() => void)[] = []
  readonly #idle = new Set<QueryConnection>()
  readonly #lines = new Set<QueryConnection>()

  constructor(
    entry: string,
    private readonly settings: Settings,
    private readonly onChange: (kind: ChildMessage['kind']) => void,
    private readonly answerQuestion: AnswerQuestion,
    holdBlob?: HoldBlob,
  ) {
    this.#held = holdBlob && new HeldBlobs(holdBlob)
    const { execArgv, env } = confine(settings)
    this.#process = fork(entry, [], { execArgv, env: { ...environment(), ...env }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    // Its threads inherit the priority.
    if (this.pid !== undefined) lowerPriority(queryPriority, this.pid)
    this.exited = new Promise((resolve) => {
      const over = () => {
        this.isOver = true
        this.runningAtLoss = this.running.size
        this.#held?.releaseAll()
        for (const ended of [...this.#endings.values()].flat()) ended()
        for (const { reject } of this.#copies.values()) reject(new Error('the process that answers SQL ended'))
        resolve()
      }
      this.#process.once('exit', over)
      // A process that could not be started never exits.
      this.#process.on('error', () => {
        if (this.pid === undefined) over()
      })
    })
    this.#process.on('message', (message) => this.#hear(message))
    this.#process.send({ kind: 'settings', settings })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Ends the process at once. Its queries get the first reason that is given. */
  kill(loss: Loss): void {
    if (this.isOver) return
    if (!this.#process.killed) this.loss = loss
    this.#process.kill('SIGKILL')
  }

  /** Closes the channel to the process, which then ends by itself. */
  disconnect(): void {
    if (this.#process.connected) this.#process.disconnect()
  }

  /** Resolves when it has ended. Parts of its answers that nobody has read are dropped. */
  async left(): Promise<void> {
    await this.exited
    for (const line of this.#lines) line.close()
  }

  /** Sends a ping. */
  ping(): void {
    if (this.#process.connected) this.#process.send({ kind: 'ping' })
  }

  /** Sends it the master keys, in hex, and resolves when it has them or has ended. */
  async learnKeys(keys: readonly string[]): Promise<void> {
    if (!this.#process.connected) return
    const learned = new Promise<void>((resolve) => this.#learned.push(resolve))
    this.#process.send({ kind: 'keys', keys })
    await Promise.race([learned, this.exited])
  }

  /** Makes the process copy the tables into a new file once they hold everything up to a position. Returns the position of the copy. */
  async copy(into: string, upTo: number): Promise<number> {
    return new Promise((resolve, reject) => {
      if (!this.#process.connected) throw new Error('the process that answers SQL ended')
      this.#copies.set(into, { resolve, reject })
      this.#process.send({ kind: 'copy', into, upTo } satisfies CopyRequest)
    })
  }

  /** Sends a query; its answer begins when its execution does. */
  ask(query: number, request: SelectRequest): Answer {
    const [line = this.#newLine()] = this.#idle
    this.#idle.delete(line)
    return line.ask(query, request)
  }

  /** Resolves when the query or the process has ended. Call it before the query is sent. */
  async ended(query: number): Promise<void> {
    if (!this.isOver) await new Promise<void>((resolve) => this.#endings.set(query, [resolve]))
  }

  #newLine(): QueryConnection {
    const events: ConnectionEvents = {
      onBegun: (query) => this.running.add(query),
      onEnded: (query) => {
        this.running.delete(query)
        this.#end(query)
      },
      onAsked: async (question, { query, request }) => {
        const goesOn = this.waits.get(query)?.()
        const writes = mayChange(question)
        if (writes) this.#countChange(query, 1)
        let reading: ReadingEnd | undefined
        try {
          if (!('blob' in question))
            return await this.answerQuestion(question, request, (end, leave) => {
              reading = end
              if (leave) this.#atEnd(query, leave)
            })
          if (!this.#held) throw new TypeError('the process asks for a blob that it has')
          return await this.#held.hold(query, question)
        } finally {
          void this.#read(query, reading, writes).then(goesOn)
        }
      },
      onIdle: (line) => this.#idle.add(line),
      onClosed: (line, query) => {
        this.#idle.delete(line)
        this.#lines.delete(line)
        // A query that was executing at the end of the process may be the cause. The end of the process is noticed later.
        if (query !== undefined && !this.running.has(query)) this.#end(query)
      },
    }
    const line = new QueryConnection(this.settings.socket, events)
    this.#lines.add(line)
    return line
  }

  #atEnd(query: number, leave: () => void): void {
    const endings = this.#endings.get(query)
    if (this.isOver || !endings) leave()
    else endings.push(leave)
  }

  /** Waits for the end of a reading. A statement that may write counts until it is known that it changed nothing. */
  async #read(query: number, reading: ReadingEnd | undefined, writes: boolean): Promise<void> {
    const end = await reading?.catch(() => ({ changed: true }))
    if (writes && end?.changed !== true) this.#countChange(query, -1)
  }

  #countChange(query: number, by: 1 | -1): void {
    if (this.#endings.has(query)) this.#changing.set(query, (this.#changing.get(query) ?? 0) + by)
  }

  /** Whether a query may have changed something in a connected database. It cannot begin again. */
  mayHaveChanged(query: number): boolean {
    return (this.#changing.get(query) ?? 0) > 0
  }

  #end(query: number): void {
    this.#held?.release(query)
    for (const ended of this.#endings.get(query) ?? []) ended()
    this.#endings.delete(query)
    this.#changing.delete(query)
  }

  #hear(heard: unknown): void {
    const message = parseChildMessage(heard)
    if (!message) return
    const { state } = this
    this.heardAt = performance.now()
    switch (message.kind) {
      case 'ready':
        state.ready = true
        break
      case 'built':
        state.built = true
        break
      case 'opened':
        state.rebuilds = message.rebuilds
        state.begunAt = message.begunAt
        state.confinement = message.confinement
        break
      case 'starting': {
        const { position, head } = message
        Object.assign(state, { position, head, starting: { position, head } })
        break
      }
      case 'state': {
        const { position, head, stopped } = message
        Object.assign(state, { position, head, stopped: stopped ?? undefined, ...(stopped !== null && { lastError: stopped }) })
        state.trouble = undefined
        break
      }
      case 'trouble':
        state.trouble = state.lastError = message.reason
        break
      case 'ending':
        this.loss = message.loss
        state.ending = state.trouble = state.lastError = message.reason
        break
      case 'failed':
        state.failed = message.reason
        state.lastError = withoutHolder(message.reason)
        if (message.isForeign) state.foreign = message.reason
        break
      case 'keys':
        this.#learned.shift()?.()
        break
      case 'copied':
        this.#copyOf(message.into)?.resolve(message.position)
        break
      case 'not_copied':
        this.#copyOf(message.into)?.reject(new Error(message.reason))
        break
      case 'alive':
        break
      default:
        unreachable(message)
    }
    this.onChange(message.kind)
  }
  /** The caller that waits for a copy, which is finished now. */
  #copyOf(into: string): PendingCopy | undefined {
    const copying = this.#copies.get(into)
    this.#copies.delete(into)
    return copying
  }
}
