import type { Kind } from '../../../events/catalogue.js'
import type { Vault } from '../../vault/vault.js'
import type {
  CommitListener,
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
} from '../contract/log.js'
import type { Earlier, Found } from '../contract/lookups.js'
import { erasedReply, forgetOldAnswers } from './answers.js'
import { beginRotation, openKeys, readRotation, rewrapSome } from '../storage/keys.js'
import type { Refusal } from '../../basics/opened-file.js'
import { Queue, type QueueOptions } from './queue.js'
import type { ResourceTable } from '../storage/resource-table.js'
import { noteHeadKey, readHeadKeys, readLogId } from '../storage/schema.js'
import { truncateWal, wipe } from '../storage/wipe.js'

/**
 * The log in one SQLite file: writes take their turn in the queue, and reads see the last commit.
 *
 * @example
 * const log = new SqliteLog({ file: 'log.sqlite', vault: new Vault(randomBytes(32)) })
 * await log.submit({ origin, lookups: {}, decide: () => [{ stream, event }], payloads: [] })
 */
export class SqliteLog implements KeyedLog {
  readonly id: string
  readonly resources: Resources
  readonly #queue: Queue
  readonly #vault: Vault

  /** @throws Error when the file is not a log, or its end is broken */
  constructor(options: QueueOptions) {
    this.#vault = options.vault
    this.#queue = new Queue(options)
    const { db } = this.#queue.connect()
    try {
      this.id = readLogId(db)
      openKeys(db, options.vault)
      // Wipes what a crash kept from being wiped. It does not wait for a reader that is in the way.
      truncateWal(db)
    } catch (error) {
      this.#queue.disconnect()
      throw error
    }
    const table = <T>(read: (table: ResourceTable) => T): T => this.#queue.read(({ writer }) => read(writer.resources))
    this.resources = {
      one: async (kind, ref, project) => table((resources) => resources.one(kind, ref, project?.stream ?? '')),
      byStream: async (kind, stream) => table((resources) => resources.byStream(kind, stream)),
      list: async (kind, project) => table((resources) => resources.list(kind, project?.stream)),
      page: async (kind, project, after, limit) => table((resources) => resources.page(kind, project?.stream ?? '', after, limit)),
      linked: async (kind, to) => table((resources) => resources.linked(kind, to)),
      linkedPage: async (kind, to, after, limit) => table((resources) => resources.linkedPage(kind, to, after, limit)),
    }
  }

  submit(submission: Submission): Promise<Outcome> {
    return this.submitLater(() => submission)
  }

  submitLater(make: () => Submission): Promise<Outcome> {
    return this.#queue.inTurn(({ writer }) => writer.carryOut(make()))
  }

  keepReply(keyed: Keyed, reply: Reply, erasedAt: number): Promise<Reply> {
    return this.#queue.inTurn((open) => {
      const isLate = reply.rows === true && open.erasedAt() > erasedAt
      return open.writer.answers.keepReply(keyed, isLate ? erasedReply : reply)
    })
  }

  async replyTo(keyed: Keyed): Promise<Reply | undefined> {
    return this.#queue.read(({ writer }) => writer.answers.replyTo(keyed))
  }

  async repeated(keyed: Keyed): Promise<Outcome | undefined> {
    return this.#queue.read(({ writer }) => writer.answers.repeated(keyed))
  }

  async head(): Promise<Head> {
    const { position, chain } = this.#queue.read(({ writer }) => writer.tail)
    return { logId: this.id, position, chain: chain.toString('hex') }
  }

  async health(): Promise<LogHealth> {
    const health = this.#queue.health()
    const { position } = await this.head()
    return { position, ...health }
  }

  async readAll(after: number, limit: number, maxChars?: number): Promise<StoredEvent[]> {
    return this.#queue.read(({ events }) => events.all(after, limit, maxChars))
  }

  async readStream(stream: string, after: number, limit: number, maxChars?: number): Promise<StoredEvent[]> {
    return this.#queue.read(({ events }) => events.stream(stream, after, limit, maxChars))
  }

  async versionAt(stream: string, position: number): Promise<number> {
    return this.#queue.read(({ events }) => events.versionAt(stream, position))
  }

  async streamVersion(stream: string): Promise<number> {
    return this.#queue.read(({ writer }) => writer.resources.versionOf(stream))
  }

  async earlier<K extends Kind>(found: Found<K>, version: number): Promise<Earlier<K> | undefined> {
    return this.#queue.read(({ writer }) => writer.resources.earlier(found, version))
  }

  async rootAt(size: number): Promise<Buffer> {
    return this.#queue.read(({ writer }) => writer.proofs.rootAt(size))
  }

  async inclusionProof(position: number, size: number): Promise<InclusionProof> {
    return this.#queue.read(({ writer }) => writer.proofs.inclusionProof(position, size))
  }

  async consistencyProof(from: number, to: number): Promise<Buffer[]> {
    return this.#queue.read(({ writer }) => writer.proofs.consistencyProof(from, to))
  }

  async subtrees(from: number, to: number): Promise<Buffer[]> {
    return this.#queue.read(({ writer }) => writer.proofs.subtrees(from, to))
  }

  async leaves(from: number, to: number): Promise<Buffer[]> {
    return this.#queue.read(({ writer }) => writer.proofs.leaves(from, to))
  }

  /** The verifier keys of those who sign its heads, the newest first. */
  headKeys(): string[] {
    return this.#queue.read(({ db }) => readHeadKeys(db))
  }

  noteHeadKey(vkey: string): void {
    this.#queue.read(({ db }) => noteHeadKey(db, vkey))
  }

  async payload(hash: string): Promise<Buffer | undefined> {
    return this.#queue.read(({ payload }) => payload(hash))
  }

  async payloadState(hash: string): Promise<PayloadState | undefined> {
    return this.#queue.read(({ payloadState }) => payloadState(hash))
  }

  async erasedAt(): Promise<number> {
    return this.#queue.read(({ erasedAt }) => erasedAt())
  }

  async wipe(signal?: AbortSignal): Promise<void> {
    await wipe(() => this.#queue.read(({ db }) => db), signal)
  }

  async rotation(): Promise<Rotation | undefined> {
    return this.#queue.read(({ db }) => readRotation(db))
  }

  async beginRotation(to: string): Promise<Rotation> {
    const begun = await this.#queue.inTurn(({ db }) => beginRotation(db, this.#vault, to))
    this.#vault.use(to)
    return begun
  }

  rewrapSome(after: number): Promise<number | undefined> {
    return this.#queue.inTurn(({ db }) => rewrapSome(db, this.#vault, after))
  }

  /** The time of the newest event, in milliseconds since 1970; undefined when there is none. */
  recordedAt(): number | undefined {
    const { position, microseconds } = this.#queue.read(({ writer }) => writer.tail)
    return position === 0 ? undefined : microseconds / 1_000
  }

  /** Forgets answers that are too old for a retry; `now` is in milliseconds since 1970. */
  forgetOldAnswers(now: number): void {
    this.#queue.read(({ db }) => forgetOldAnswers(db, now))
  }

  /** Refuses writes until the next start, for a reason outside the log. */
  refuseWrites(refusal: Refusal): void {
    this.#queue.refuseWrites(refusal)
  }

  onCommitted(listener: CommitListener): () => void {
    return this.#queue.onCommitted(listener)
  }

  async close(): Promise<void> {
    this.#queue.close()
  }
}
