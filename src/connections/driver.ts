import type { ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { QueryOutcome } from '../../events/records/queries.js'
import { Problem, problemOf } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { whenOverdue } from '../basics/concurrency/when-overdue.js'
import { startProgram } from '../setup/start-program.js'
import type { MetadataAnswer, FromDriver, Metadata, ToDriver } from './contract/messages.js'
import { isWriting, type Connection, type QueryEnd, type Query, type QueryLimits } from './contract/requests.js'

/** The hosts that the process may call, and the files that it may read. */
export type DriverSettings = { egressAllow: string; loopback: boolean; files: string | undefined }

type PendingRequest = { resolve: (answer: MetadataAnswer) => void; reject: (reason: Error) => void }
type PendingQuery = {
  query: Query
  /** The statement that the database got, and the time since then. */
  sent?: { statement: string; at: number }
  opened: () => void
  reject: (reason: Error) => void
  ended: (outcome: QueryEnd) => void
}

/** The process has its own time limits. If it does not keep them, it gets no more requests. */
const graceMs = 10_000

const gone = (): Problem =>
  new Problem('connection_failed', 'Connection lost', 'The process that talks to connected databases ended', { hint: 'Try again.' })

/** After the end of a process its effect is unknown: a statement that writes may have changed something. */
const unknown = ({ query, sent }: PendingQuery, ending: QueryOutcome): QueryEnd => ({
  ...{ rows: 0, bytes: 0, ending, changed: isWriting(query) },
  sent: sent?.statement,
  durationMs: sent ? Math.round(performance.now() - sent.at) : 0,
})

/** Node looks up names in at most half of the threads of its pool, so the pool of a process that calls databases is large. */
const threadsForLookups = { UV_THREADPOOL_SIZE: String(2 * limits.egressLookupsMax) }

let folders = 0

/**
 * One driver process, from its start to its end. It talks to databases in the network, or reads files; it only has the rights for one of
 * the two. It has its own folder for its socket and for spilled data.
 */
export class Driver {
  readonly socket: string
  readonly #process: ChildProcess
  readonly #asking = new Map<number, PendingRequest>()
  readonly #opening = new Map<number, PendingQuery>()
  readonly #listening: Promise<void>
  #last = 0
  /** Whether it ever did any work. */
  hasAnswered = false
  isOver = false

  constructor(directory: string, settings: DriverSettings, readsFiles: boolean) {
    const folder = join(directory, String(++folders))
    mkdirSync(folder, { mode: 0o700 })
    this.socket = join(folder, 'sock')
    // A reader of a file of SQLite writes its read marks beside the file.
    const noted = readsFiles && settings.files !== undefined ? [settings.files] : []
    // The process gets no other variables: by these, drivers would read settings, passwords and files.
    this.#process = startProgram('connections-process', {
      flags: ['--max-old-space-size=1024'],
      sendsValues: true,
      env: { SQLITE_TMPDIR: folder, ...(!readsFiles && threadsForLookups) },
      keeps: { writable: [folder, ...noted], tcp: !readsFiles },
    })
    this.#process.unref()
    this.#process.channel?.unref()
    this.#process.on('error', () => this.#over('lost'))
    this.#process.once('exit', () => {
      this.#over('lost')
      // Remaining files are removed with the directory.
      rm(folder, { recursive: true, force: true }).catch(() => undefined)
    })
    this.#listening = new Promise((resolve, reject) => {
      this.#process.on('message', (message: FromDriver) => {
        if ('listening' in message) resolve()
        else this.#hear(message)
      })
      this.#process.once('exit', () => reject(gone()))
      // A process that could not be started has no exit.
      this.#process.once('error', () => reject(gone()))
    })
    this.#listening.catch(() => undefined)
    this.#send({ settings: { ...settings, socket: this.socket, readsFiles } })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** How many requests are under way. */
  get load(): number {
    return this.#asking.size + this.#opening.size
  }

  /** @throws Problem of the database, or connection_failed when the process ends */
  async ask(connection: Connection, of: Metadata): Promise<MetadataAnswer> {
    const id = ++this.#last
    const timeoutMs = limits.connectionMetadataTimeoutMs + limits.connectionConnectTimeoutMs + graceMs
    return new Promise((resolve, reject) => {
      // A process that does not even report a timeout does not work any more.
      const isHeard = whenOverdue(timeoutMs, () => this.end('lost'))
      const settle = () => {
        isHeard()
        this.#asking.delete(id)
      }
      this.#asking.set(id, {
        resolve: (answer) => {
          settle()
          resolve(answer)
        },
        reject: (reason) => {
          settle()
          reject(reason)
        },
      })
      if (this.isOver) this.#asking.get(id)?.reject(gone())
      else this.#send({ ask: id, connection, of })
    })
  }

  /** Makes a ticket valid. `ended` resolves with the outcome of its answer, whether anybody reads it or not. */
  async open(connection: Connection, query: Query, queryLimits: QueryLimits, ticket: string): Promise<{ ended: Promise<QueryEnd> }> {
    const id = ++this.#last
    let ended: (outcome: QueryEnd) => void = () => undefined
    const outcome = new Promise<QueryEnd>((resolve) => (ended = resolve))
    // A process that does not even answer this does not work any more.
    const isHeard = whenOverdue(graceMs, () => this.end('lost'))
    try {
      await this.#listening
      await new Promise<void>((opened, reject) => {
        if (this.isOver) {
          reject(gone())
          return
        }
        this.#opening.set(id, { query, opened, reject, ended })
        this.#send({ open: id, connection, query, limits: queryLimits, ticket })
      })
    } catch (error) {
      this.#opening.delete(id)
      throw error
    } finally {
      isHeard()
    }
    return { ended: outcome }
  }

  /** Closes the connections to a database, once they are idle. */
  forget(id: string): void {
    this.#send({ forget: id })
  }

  /** Lets the process cancel its statements in the databases, and end by itself. */
  leave(): void {
    if (this.#process.connected) this.#process.disconnect()
    setTimeout(() => this.#process.kill('SIGKILL'), graceMs).unref()
    this.#over('cut')
  }

  /** Ends the process and its work at once: because nobody wants the result, or because the process is `lost`. */
  end(ending: 'cut' | 'lost' = 'cut'): void {
    this.#process.kill('SIGKILL')
    this.#over(ending)
  }

  #send(message: ToDriver): void {
    if (!this.#process.connected) return
    this.#process.send(message, () => undefined)
  }

  #hear(message: Exclude<FromDriver, { listening: true }>): void {
    this.hasAnswered = true
    if ('answered' in message) this.#asking.get(message.answered)?.resolve(message.answer)
    else if ('opened' in message) this.#opening.get(message.opened)?.opened()
    else if ('sending' in message) {
      const opening = this.#opening.get(message.sending)
      if (opening) opening.sent = { statement: message.statement, at: performance.now() }
    } else if ('ended' in message) {
      this.#opening.get(message.ended)?.ended(message.outcome)
      this.#opening.delete(message.ended)
    } else {
      const problem = problemOf(message.problem)
      this.#asking.get(message.failed)?.reject(problem)
      this.#opening.get(message.failed)?.reject(problem)
    }
  }

  #over(ending: QueryOutcome): void {
    if (this.isOver) return
    this.isOver = true
    for (const { reject } of [...this.#asking.values()]) reject(gone())
    for (const opening of this.#opening.values()) {
      opening.reject(gone())
      opening.ended(unknown(opening, ending))
    }
    this.#opening.clear()
    rmSync(this.socket, { force: true })
  }
}
