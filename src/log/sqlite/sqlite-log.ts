import { v4 as uuidv4 } from 'uuid'
import { ConfigError } from '../../config.js'
import { Problem } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Vault } from '../../vault/vault.js'
import type { Head, Log, Outcome, Resources, StoredEvent, Submission } from '../log.js'
import { Drain, isStorageError } from './drain.js'
import { payloadReader, type PayloadReader } from './payloads.js'
import { ensureResources } from './rebuild.js'
import { openForWriting, readLogId, readMeta, type Connection } from './schema.js'

type Waiting = { submission: Submission; resolve: (outcome: Outcome) => void; reject: (error: unknown) => void }
type Open = { db: Connection; drain: Drain; readAfter: ReturnType<typeof prepareReads>; payload: PayloadReader }

const prepareReads = (db: Connection) => ({
  all: db.prepare<[number, number], StoredEvent>('SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT ?'),
  stream: db.prepare<[string, number, number], StoredEvent>(
    'SELECT position, text FROM events WHERE stream = ? AND version > ? ORDER BY version LIMIT ?',
  ),
})

/** The first server notes which key it seals with; another key would make a log of two halves. */
const requireSameKey = (db: Connection, vault: Vault): void => {
  db.prepare(`INSERT OR IGNORE INTO meta VALUES ('key_id', ?)`).run(vault.keyId)
  const sealedWith = readMeta(db, 'key_id')
  if (sealedWith !== vault.keyId)
    throw new ConfigError(
      `this log is sealed with the master key ${sealedWith ?? ''}, not with ${vault.keyId}. Set VAULT_KEY to the right key, or unset it to use the data directory's.`,
    )
}

const storageFailed = (cause: unknown) =>
  new Problem('storage_failed', 'Storage failed', 'the log could not be written; nothing of this request was recorded', {
    hint: 'Free disk space or mend the disk, then send the request again.',
    retryAfterSeconds: 5,
    cause: cause instanceof Error ? cause.message : String(cause),
  })

/**
 * The log in one SQLite file. Commands that arrive while a commit runs share the next one.
 *
 * @example
 * const log = new SqliteLog({ file: 'log.sqlite', vault: new Vault(randomBytes(32)) })
 * await log.submit({ origin, lookups: {}, decide: () => [{ stream, event }], payloads: [] })
 */
export class SqliteLog implements Log {
  readonly id: string
  readonly resources: Resources
  #open: Open | undefined
  #queue: Waiting[] = []
  #scheduled = false
  #closing = false
  readonly #listeners = new Set<(position: number) => void>()
  readonly #options: { file: string; vault: Vault; pragmas?: readonly string[] }

  /** @throws Error when the file is not a log, or its end is broken */
  constructor(options: { file: string; vault: Vault; pragmas?: readonly string[] }) {
    this.#options = options
    const { db } = this.#connect()
    this.id = readLogId(db)
    requireSameKey(db, options.vault)
    const table = () => this.#connect().drain.resources
    this.resources = {
      one: async (kind, ref, project) => table().one(kind, ref, project?.stream ?? ''),
      byStream: async (kind, stream) => table().byStream(kind, stream),
      list: async (kind, project) => table().list(kind, project?.stream),
      contents: async (project) => table().contents(project.stream),
      linked: async (kind, to) => table().linked(kind, to),
    }
  }

  submit(submission: Submission): Promise<Outcome> {
    if (this.#closing) return Promise.reject(new Problem('busy', 'Stopping', 'the service is stopping', { retryAfterSeconds: 5 }))
    if (this.#queue.length >= limits.queueMaxCommands)
      return Promise.reject(
        new Problem('busy', 'Busy', `${limits.queueMaxCommands} commands are waiting already`, { retryAfterSeconds: 1 }),
      )
    return new Promise((resolve, reject) => {
      this.#queue.push({ submission, resolve, reject })
      this.#schedule()
    })
  }

  async head(): Promise<Head> {
    const { position, chain } = this.#connect().drain.tail
    return { logId: this.id, position, chain: chain.toString('hex') }
  }

  async readAll(after: number, limit: number): Promise<StoredEvent[]> {
    return this.#connect().readAfter.all.all(after, limit)
  }

  async readStream(stream: string, after: number, limit: number): Promise<StoredEvent[]> {
    return this.#connect().readAfter.stream.all(stream, after, limit)
  }

  async payload(hash: string): Promise<Buffer | undefined> {
    return this.#connect().payload(hash)
  }

  onCommitted(listener: (position: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#closing = true
    while (this.#queue.length > 0) this.#drain()
    this.#disconnect()
  }

  #connect(): Open {
    if (this.#open) return this.#open
    const db = openForWriting(this.#options.file, uuidv4)
    try {
      for (const pragma of this.#options.pragmas ?? []) db.pragma(pragma)
      ensureResources(db)
      this.#open = { db, drain: new Drain(db), readAfter: prepareReads(db), payload: payloadReader(db, this.#options.vault) }
      return this.#open
    } catch (error) {
      db.close()
      throw error
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
    const answers: (() => void)[] = []
    try {
      const { drain } = this.#connect()
      drain.begin()
      for (const { submission, resolve, reject } of batch)
        try {
          const outcome = drain.carryOut(submission)
          answers.push(() => resolve(outcome))
        } catch (error) {
          if (isStorageError(error)) throw error
          answers.push(() => reject(error))
        }
      drain.commit()
    } catch (error) {
      this.#giveUp(batch, error)
      return
    }
    // Only what is on the disk is answered.
    for (const answer of answers) answer()
    const { position } = this.#connect().drain.tail
    for (const listener of this.#listeners) listener(position)
  }

  /** After a failure of the storage the whole batch is refused; the next one opens the file anew and checks its end. */
  #giveUp(batch: Waiting[], error: unknown): void {
    try {
      this.#open?.drain.abandon()
      this.#disconnect()
    } catch {
      this.#open = undefined
    }
    const problem = storageFailed(error)
    for (const { reject } of batch) reject(problem)
  }
}
