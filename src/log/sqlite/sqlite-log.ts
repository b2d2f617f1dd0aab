import type { Statement } from 'better-sqlite3'
import { v4 as uuidv4 } from 'uuid'
import type { Kind } from '../../../events/catalogue.js'
import { Problem } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Vault } from '../../vault/vault.js'
import type {
  Batch,
  Changed,
  Head,
  InclusionProof,
  Keyed,
  KeyedLog,
  LogHealth,
  Outcome,
  PayloadState,
  Reply,
  Resources,
  Rotation,
  StoredEvent,
  Submission,
} from '../log.js'
import type { Earlier, Found } from '../lookups.js'
import { Drain, isStorageError } from './drain.js'
import { beginRotation, openKeys, readRotation, rewrapSome } from './keys.js'
import { payloadReader, payloadStates, type PayloadReader } from './payloads.js'
import { ensureResources } from './rebuild.js'
import type { ResourceTable } from './resource-table.js'
import { noteHeadKey, openForWriting, prepareErasedAt, readHeadKeys, readLogId, type Connection } from './schema.js'
import { tryToWrite } from './probe.js'
import { truncateWal, wipe } from './wipe.js'

type Options = {
  file: string
  vault: Vault
  pragmas?: readonly string[]
  /** Hears of each transaction when it is over. */
  onBatch?: (batch: Batch) => void
  /** How long after a failed write another one is tried, when somebody asks; a limit unless given. */
  probeIntervalMs?: number
}

/** Something to do in a turn of the drain, which gives what answers it once it is on the disk. */
type Waiting = { carryOut: (open: Open) => () => void; reject: (error: unknown) => void }
type Open = {
  db: Connection
  drain: Drain
  readAfter: ReturnType<typeof prepareReads>
  payload: PayloadReader
  payloadState: ReturnType<typeof payloadStates>
  erasedAt: () => number
}

const prepareReads = (db: Connection) => ({
  all: db.prepare<[number, number], StoredEvent>('SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT ?'),
  stream: db.prepare<[string, number, number], StoredEvent>(
    'SELECT position, text FROM events WHERE stream = ? AND version > ? ORDER BY version LIMIT ?',
  ),
  // The index has the positions too: no text is read.
  version: db
    .prepare<[string, number], number>('SELECT version FROM events WHERE stream = ? AND position <= ? ORDER BY version DESC LIMIT 1')
    .pluck(),
})

/** The rows of a statement until their texts have so many characters; the row that reaches them is the last. */
const bounded = <P extends unknown[]>(statement: Statement<P, StoredEvent>, parameters: P, maxChars = Infinity): StoredEvent[] => {
  if (maxChars === Infinity) return statement.all(...parameters)
  const events: StoredEvent[] = []
  let chars = 0
  for (const event of statement.iterate(...parameters)) {
    events.push(event)
    chars += event.text.length
    if (chars >= maxChars) break
  }
  return events
}

const stopping = () => new Problem('busy', 'Stopping', 'the service is stopping', { retryAfterSeconds: 5 })

/** Answers are kept for clients that try again, which they do within days. */
const forgetOldAnswers = (db: Connection): void => {
  db.prepare('DELETE FROM answers WHERE answered_at < ?').run(new Date(Date.now() - limits.idempotencyMaxAgeMs).toISOString())
}

const storageFailed = (what: 'read' | 'written', cause: unknown) =>
  new Problem('storage_failed', 'Storage failed', `the log could not be ${what}; nothing of this request was recorded`, {
    hint: 'Free disk space or mend the disk, then send the request again.',
    retryAfterSeconds: 5,
    cause: cause instanceof Error ? cause.message : String(cause),
  })

/** What went wrong, in SQLite's own words, which name no file. Its errors may be of another realm's Error. */
const failureOf = (error: unknown) => {
  const message: unknown = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return { cause: String(message), at: performance.now() }
}

/**
 * The log in one SQLite file. Commands that arrive while a commit runs share the next one.
 *
 * @example
 * const log = new SqliteLog({ file: 'log.sqlite', vault: new Vault(randomBytes(32)) })
 * await log.submit({ origin, lookups: {}, decide: () => [{ stream, event }], payloads: [] })
 */
export class SqliteLog implements KeyedLog {
  readonly id: string
  readonly resources: Resources
  #open: Open | undefined
  #queue: Waiting[] = []
  #scheduled = false
  #closing = false
  #closed = false
  readonly #listeners = new Set<(position: number, changed: Changed) => void>()
  readonly #options: Options
  /** Why the last attempt to write failed, and when that was. */
  #failure: { cause: string; at: number } | undefined

  /** @throws Error when the file is not a log, or its end is broken */
  constructor(options: Options) {
    this.#options = options
    const { db } = this.#connect()
    try {
      this.id = readLogId(db)
      openKeys(db, options.vault)
      forgetOldAnswers(db)
      // What a crash kept from being wiped; a reader that is in the way now keeps nobody waiting.
      truncateWal(db)
    } catch (error) {
      this.#disconnect()
      throw error
    }
    const table = <T>(read: (table: ResourceTable) => T): T => this.#read(({ drain }) => read(drain.resources))
    this.resources = {
      one: async (kind, ref, project) => table((resources) => resources.one(kind, ref, project?.stream ?? '')),
      byStream: async (kind, stream) => table((resources) => resources.byStream(kind, stream)),
      list: async (kind, project) => table((resources) => resources.list(kind, project?.stream)),
      contents: async (project) => table((resources) => resources.contents(project.stream)),
      linked: async (kind, to) => table((resources) => resources.linked(kind, to)),
    }
  }

  submit(submission: Submission): Promise<Outcome> {
    return this.submitLater(() => submission)
  }

  submitLater(make: () => Submission): Promise<Outcome> {
    return this.#inTurn(({ drain }) => drain.carryOut(make()))
  }

  keepReply(keyed: Keyed, reply: Reply): Promise<Reply> {
    return this.#inTurn(({ drain }) => drain.keepReply(keyed, reply))
  }

  async replyTo(keyed: Keyed): Promise<Reply | undefined> {
    return this.#read(({ drain }) => drain.replyTo(keyed))
  }

  #inTurn<T>(work: (open: Open) => T): Promise<T> {
    if (this.#closing) return Promise.reject(stopping())
    if (this.#queue.length >= limits.queueMaxCommands)
      return Promise.reject(
        new Problem('busy', 'Busy', `${limits.queueMaxCommands} commands are waiting already`, { retryAfterSeconds: 1 }),
      )
    return new Promise((resolve, reject) => {
      const carryOut = (open: Open) => {
        const outcome = work(open)
        return () => resolve(outcome)
      }
      this.#queue.push({ carryOut, reject })
      this.#schedule()
    })
  }

  async repeated(keyed: Keyed): Promise<Outcome | undefined> {
    return this.#read(({ drain }) => drain.repeated(keyed))
  }

  async head(): Promise<Head> {
    const { position, chain } = this.#read(({ drain }) => drain.tail)
    return { logId: this.id, position, chain: chain.toString('hex') }
  }

  async health(): Promise<LogHealth> {
    const failed = this.#failure
    if (failed && performance.now() - failed.at >= (this.#options.probeIntervalMs ?? limits.logProbeIntervalMs)) this.#probe()
    const { position } = await this.head()
    return { position, queued: this.#queue.length, unwritable: this.#failure && `the log could not be written: ${this.#failure.cause}` }
  }

  /** Tries whether the disk takes something again. */
  #probe(): void {
    try {
      tryToWrite(this.#connect().db)
      this.#failure = undefined
    } catch (error) {
      this.#giveUp([], error)
    }
  }

  async readAll(after: number, limit: number, maxChars?: number): Promise<StoredEvent[]> {
    return this.#read(({ readAfter }) => bounded(readAfter.all, [after, limit], maxChars))
  }

  async readStream(stream: string, after: number, limit: number, maxChars?: number): Promise<StoredEvent[]> {
    return this.#read(({ readAfter }) => bounded(readAfter.stream, [stream, after, limit], maxChars))
  }

  async earlier<K extends Kind>(found: Found<K>, version: number): Promise<Earlier<K> | undefined> {
    return this.#read(({ drain }) => drain.resources.earlier(found, version))
  }

  async streamVersion(stream: string): Promise<number> {
    return this.#read(({ drain }) => drain.resources.versionOf(stream))
  }

  async versionAt(stream: string, position: number): Promise<number> {
    return this.#read(({ readAfter }) => readAfter.version.get(stream, position) ?? 0)
  }

  async payload(hash: string): Promise<Buffer | undefined> {
    return this.#read(({ payload }) => payload(hash))
  }

  async rootAt(size: number): Promise<Buffer> {
    return this.#read(({ drain }) => drain.proofs.rootAt(size))
  }

  async inclusionProof(position: number, size: number): Promise<InclusionProof> {
    return this.#read(({ drain }) => drain.proofs.inclusionProof(position, size))
  }

  async consistencyProof(from: number, to: number): Promise<Buffer[]> {
    return this.#read(({ drain }) => drain.proofs.consistencyProof(from, to))
  }

  async subtrees(from: number, to: number): Promise<Buffer[]> {
    return this.#read(({ drain }) => drain.proofs.subtrees(from, to))
  }

  /** The verifier keys of those who sign its heads, the newest first. */
  headKeys(): string[] {
    return this.#read(({ db }) => readHeadKeys(db))
  }

  noteHeadKey(vkey: string): void {
    this.#read(({ db }) => noteHeadKey(db, vkey))
  }

  async payloadState(hash: string): Promise<PayloadState | undefined> {
    return this.#read(({ payloadState }) => payloadState(hash))
  }

  async erasedAt(): Promise<number> {
    return this.#read(({ erasedAt }) => erasedAt())
  }

  async rotation(): Promise<Rotation | undefined> {
    return this.#read(({ db }) => readRotation(db))
  }

  async beginRotation(to: string): Promise<Rotation> {
    const { vault } = this.#options
    const begun = await this.#inTurn(({ db }) => beginRotation(db, vault, to))
    vault.use(to)
    return begun
  }

  rewrapSome(after: number): Promise<number | undefined> {
    return this.#inTurn(({ db }) => rewrapSome(db, this.#options.vault, after))
  }

  async wipe(signal?: AbortSignal): Promise<void> {
    await wipe(() => this.#read(({ db }) => db), signal)
  }

  onCommitted(listener: (position: number, changed: Changed) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#closing = true
    while (this.#queue.length > 0) this.#drain()
    this.#closed = true
    this.#disconnect()
  }

  #connect(): Open {
    if (this.#open) return this.#open
    if (this.#closed) throw stopping()
    const db = openForWriting(this.#options.file, uuidv4)
    try {
      for (const pragma of this.#options.pragmas ?? []) db.pragma(pragma)
      ensureResources(db)
      const payloads = { payload: payloadReader(db, this.#options.vault), payloadState: payloadStates(db) }
      this.#open = {
        db,
        drain: new Drain(db, this.#options.vault),
        readAfter: prepareReads(db),
        ...payloads,
        erasedAt: prepareErasedAt(db),
      }
      return this.#open
    } catch (error) {
      db.close()
      throw error
    }
  }

  /** A read that the storage fails is refused in a way the caller can act on. */
  #read<T>(read: (open: Open) => T): T {
    try {
      return read(this.#connect())
    } catch (error) {
      if (!isStorageError(error)) throw error
      throw storageFailed('read', error)
    }
  }

  #disconnect(): void {
    this.#open?.db.close()
    this.#open = undefined
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#drain()
      if (this.#queue.length > 0) this.#schedule()
    })
  }

  #drain(): void {
    const batch = this.#queue.splice(0, limits.batchMaxCommands)
    if (batch.length === 0) return // close() was quicker
    const answers: (() => void)[] = []
    const began = performance.now()
    try {
      const open = this.#connect()
      open.drain.begin()
      for (const { carryOut, reject } of batch)
        try {
          answers.push(carryOut(open))
        } catch (error) {
          if (isStorageError(error)) throw error
          answers.push(() => reject(error))
        }
      open.drain.commit()
    } catch (error) {
      this.#giveUp(batch, error)
      this.#tell({ commands: batch.length, began, failed: true, events: [] })
      return
    }
    // Only what is on the disk is answered.
    for (const answer of answers) answer()
    const { tail, changed, written } = this.#connect().drain
    // A transaction of refusals alone does not reach the disk, and tells nothing of it.
    if (written.length > 0) this.#failure = undefined
    this.#tell({ commands: batch.length, began, failed: false, events: written })
    if (changed.size > 0) this.#announce(tail.position, changed)
  }

  #tell({ began, ...batch }: Omit<Batch, 'seconds'> & { began: number }): void {
    this.#options.onBatch?.({ ...batch, seconds: (performance.now() - began) / 1000 })
  }

  /** What is committed stays so, whatever a listener makes of it: its fault stops neither the log nor the other listeners. */
  #announce(position: number, changed: Changed): void {
    for (const listener of this.#listeners)
      try {
        listener(position, changed)
      } catch (error) {
        process.emitWarning(error instanceof Error ? (error.stack ?? error.message) : String(error))
      }
  }

  /** After a failure of the storage the whole batch is refused; the next one opens the file anew and checks its end. */
  #giveUp(batch: Waiting[], error: unknown): void {
    try {
      this.#open?.drain.abandon()
    } catch {
      // Closing gives up what could not be rolled back.
    }
    try {
      this.#disconnect()
    } catch {
      this.#open = undefined
    }
    this.#failure = failureOf(error)
    const problem = storageFailed('written', error)
    for (const { reject } of batch) reject(problem)
  }
}
