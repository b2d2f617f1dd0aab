import type { ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { Problem, problemOf, stopping } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { residentBytes } from '../basics/resident-memory.js'
import { startProgram } from '../setup/start-program.js'
import type { IndexAnswer, FromIndex, ToIndex, IndexRequest } from './index/messages.js'

type PendingRequest = { resolve: (done: IndexAnswer) => void; reject: (reason: Error) => void; timeoutMs: number }

export type IndexLimits = { callTimeoutMs: number; queueMaxCalls: number; memoryMaxBytes: number }

const defaultLimits: IndexLimits = {
  callTimeoutMs: limits.knowledgeCallTimeoutMs,
  queueMaxCalls: limits.knowledgeQueueMaxCalls,
  memoryMaxBytes: limits.knowledgeMemoryMaxBytes,
}

const memorySampleMs = 500

/** The process ended during a request. Nothing is lost: the next request gets another process, which has the same files. */
export class IndexGone extends Problem {
  constructor(why: string) {
    super('busy', 'Index restarted', `the process that keeps the index of knowledge bases ended: ${why}`, { retryAfterSeconds: 1 })
  }
}

/** The process has to open the index first. Nothing is lost, as above. */
export class IndexNotOpen extends Problem {
  constructor(why: string) {
    super('busy', 'Not open', `the index of a knowledge base has to be opened: ${why}`, { retryAfterSeconds: 1 })
  }
}

/** The request took too much time. It is not repeated, because the next process would need as long. */
const tookTooLong = (timeoutMs: number): Problem =>
  new Problem('busy', 'Index took too long', `a question to the index of knowledge bases took longer than ${timeoutMs} ms`, {
    retryAfterSeconds: 5,
    hint: 'Ask for less: with fewer conditions, or of fewer documents.',
  })

/**
 * The server's client of the process that keeps the indexes of knowledge bases. The process starts with the first request, and again after
 * it ended. It answers one request after the other. A request that takes too much time or memory ends the process; the waiting requests may
 * be sent again.
 *
 * @example const done = await index.ask(stream, { facts: true })
 */
export class IndexProcess {
  readonly #limits: IndexLimits
  #child: ChildProcess | undefined
  #asking = new Map<number, PendingRequest>()
  #last = 0
  #sampler: NodeJS.Timeout | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  /** Counts the processes: a new process has none of the indexes open that the previous one had. */
  generation = 0

  constructor(
    private readonly directory: string,
    bounds: Partial<IndexLimits> = {},
  ) {
    this.#limits = { ...defaultLimits, ...bounds }
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** @throws Problem of the request; IndexGone when the process ended before it answered */
  ask(base: string, request: IndexRequest, timeoutMs: number = this.#limits.callTimeoutMs): Promise<IndexAnswer> {
    if (this.#isStopped) return Promise.reject(stopping())
    if (this.#asking.size >= this.#limits.queueMaxCalls)
      return Promise.reject(
        new Problem('busy', 'Busy', `${this.#asking.size} calls wait for the index of knowledge bases`, { retryAfterSeconds: 1 }),
      )
    const child = this.#running()
    const id = ++this.#last
    return new Promise<IndexAnswer>((resolve, reject) => {
      this.#asking.set(id, { resolve, reject, timeoutMs })
      if (this.#asking.size === 1) this.#time(child)
      this.#send(child, { ask: id, base, request })
    })
  }

  /** Ends the process, and starts no other one. */
  stop(): void {
    this.#isStopped = true
    if (this.#child) this.#end(this.#child, 'the service is stopping')
  }

  #running(): ChildProcess {
    if (this.#child) return this.#child
    mkdirSync(this.directory, { recursive: true, mode: 0o700 })
    const child = startProgram('knowledge-process', {
      sendsValues: true,
      keeps: { writable: [this.directory] },
      // The directory for SQLite's temporary files, such as those of sorting.
      env: { SQLITE_TMPDIR: this.directory },
    })
    this.#child = child
    this.generation += 1
    child.unref()
    child.channel?.unref()
    child.on('error', () => this.#over(child, 'it could not be started'))
    child.once('exit', (code, signal) => this.#over(child, signal ?? `code ${code}`))
    child.on('message', (message: FromIndex) => this.#hear(child, message))
    this.#send(child, { settings: { directory: this.directory } })
    this.#sampler = setInterval(() => this.#sample(child), memorySampleMs).unref()
    return child
  }

  /** Starts the time limit of the first waiting request, which the process works on. */
  #time(child: ChildProcess): void {
    clearTimeout(this.#timer)
    const [first] = this.#asking
    if (!first) return
    const [id, { reject, timeoutMs }] = first
    this.#timer = setTimeout(() => {
      this.#asking.delete(id)
      this.#end(child, 'a question took too long')
      reject(tookTooLong(timeoutMs))
    }, timeoutMs)
  }

  #sample(child: ChildProcess): void {
    if (this.#asking.size === 0 || child.pid === undefined) return
    void residentBytes(child.pid).then((bytes) => {
      if (bytes > this.#limits.memoryMaxBytes) this.#end(child, `it needed more than ${this.#limits.memoryMaxBytes} bytes of memory`)
    })
  }

  #send(child: ChildProcess, message: ToIndex): void {
    child.send(message, (error) => error && this.#end(child, 'it could not be reached'))
  }

  #hear(child: ChildProcess, message: FromIndex): void {
    const asking = this.#asking.get(message.answer)
    this.#asking.delete(message.answer)
    if (child === this.#child) this.#time(child)
    if ('done' in message) asking?.resolve(message.done)
    else asking?.reject('notOpen' in message ? new IndexNotOpen(message.notOpen) : problemOf(message.problem))
  }

  #end(child: ChildProcess, why: string): void {
    child.kill('SIGKILL')
    this.#over(child, why)
  }

  #over(child: ChildProcess, why: string): void {
    if (this.#child !== child) return
    this.#child = undefined
    clearInterval(this.#sampler)
    const asking = [...this.#asking.values()]
    clearTimeout(this.#timer)
    this.#asking = new Map()
    for (const { reject } of asking) reject(new IndexGone(why))
  }
}
