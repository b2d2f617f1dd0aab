import type { Kind } from '../../../events/catalogue/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import { isProblem } from '../../basics/errors.js'
import type { Refusal } from '../../basics/opened-file.js'
import type { Vault } from '../../vault/vault.js'
import type {
  AgeingKind,
  CommitListener,
  Head,
  InclusionProof,
  LogHealth,
  Outcome,
  PayloadState,
  Reply,
  ReplyPlace,
  RequestKey,
  Resources,
  Rotation,
  ServedLog,
  StoredEvent,
  Submission,
} from '../contract/log.js'
import type { ResourceVersion, Resource } from '../contract/lookups.js'
import { erasedReply } from '../storage/kept-replies-table.js'
import { beginRotation, readRotation, rewrapSome } from '../storage/keys.js'
import type { ResourceTable } from '../storage/resource-table.js'
import { noteErasedByAge, noteHeadKey, readErasedByAge, readHeadKeys } from '../storage/schema.js'
import { truncateWal, wipe } from '../storage/wal-file.js'
import { eraseSomeReplies, forgetSomeAnswers } from './kept-replies.js'
import type { WriteQueue } from './write-queue.js'

/** A log over a file. Other nodes may have copies of the file. Writes take turns, and reads see the last commit that the disk has. */
export class FileLog implements ServedLog {
  readonly resources: Resources
  readonly #queue: WriteQueue
  readonly #vault: Vault

  constructor(
    readonly id: string,
    queue: WriteQueue,
    vault: Vault,
  ) {
    this.#queue = queue
    this.#vault = vault
    const table = <T>(read: (table: ResourceTable) => T): Promise<T> => this.#queue.read(({ resources }) => read(resources))
    this.resources = {
      one: (kind, ref, project) => table((resources) => resources.one(kind, ref, project?.stream ?? '')),
      byStream: (kind, stream) => table((resources) => resources.byStream(kind, stream)),
      list: (kind, project) => table((resources) => resources.list(kind, project?.stream)),
      page: (kind, project, after, limit) => table((resources) => resources.page(kind, project?.stream ?? '', after, limit)),
      linkedIds: (kind, to) => table((resources) => resources.linkedIds(kind, to)),
      linkedPage: (kind, to, after, limit) => table((resources) => resources.linkedPage(kind, to, after, limit)),
    }
  }

  submit(submission: Submission): Promise<Outcome> {
    return this.submitLater(() => submission)
  }

  submitLater(make: () => Submission): Promise<Outcome> {
    // A turn may run twice; the submission stays the same.
    let made: Submission | undefined
    return this.#queue.inTurn(({ writer }) => writer.carryOut((made ??= make())))
  }

  keepReply(keyed: RequestKey, reply: Reply, erasedAt: number): Promise<Reply> {
    return this.#queue.inTurn((open) => {
      const isLate = reply.rows === true && open.erasedAt() > erasedAt
      return open.writer.answers.keepReply(keyed, isLate ? erasedReply : reply)
    })
  }

  eraseSomeReplies(after: ReplyPlace): Promise<ReplyPlace | undefined> {
    return this.#queue.inTurn(({ db }) => eraseSomeReplies(db, after))
  }

  hasRepliesWithRows(upTo?: number): Promise<boolean> {
    return this.#queue.read(({ answers }) => answers.showRows(upTo))
  }

  replyTo(keyed: RequestKey): Promise<Reply | undefined> {
    return this.#queue.read(({ answers }) => answers.replyTo(keyed))
  }

  repeated(keyed: RequestKey): Promise<Outcome | undefined> {
    return this.#queue.read(({ answers }) => answers.repeated(keyed))
  }

  async head(): Promise<Head> {
    const { position, chain } = await this.#queue.read(({ tail }) => tail)
    return { logId: this.id, position, chain: chain.toString('hex') }
  }

  newest(): Promise<void> | undefined {
    return undefined
  }

  sinceHalt(): Promise<void> | undefined {
    return undefined
  }

  async health(): Promise<LogHealth> {
    const { unwritable, ...health } = this.#queue.health()
    try {
      // A check must not hang on a disk that hangs.
      const { position } = this.#queue.readNow(({ tail }) => tail)
      return { position, unwritable, ...health }
    } catch (error) {
      if (!isProblem(error)) throw error
      const { cause } = error.extras
      const unreadable = `the log could not be read: ${typeof cause === 'string' ? cause : error.detail}`
      return { position: null, unwritable: unwritable ?? unreadable, ...health }
    }
  }

  readAll(after: number, limit: number, maxChars?: number): Promise<StoredEvent[]> {
    return this.#queue.read(({ events }) => events.all(after, limit, maxChars))
  }

  readStream(stream: string, after: number, limit: number, maxChars?: number): Promise<StoredEvent[]> {
    return this.#queue.read(({ events }) => events.stream(stream, after, limit, maxChars))
  }

  versionAt(stream: string, position: number): Promise<number> {
    return this.#queue.read(({ events }) => events.versionAt(stream, position))
  }

  streamVersion(stream: string): Promise<number> {
    return this.#queue.read(({ resources }) => resources.versionOf(stream))
  }

  earlier<K extends Kind>(found: Resource<K>, version: number): Promise<ResourceVersion<K> | undefined> {
    return this.#queue.read(({ resources }) => resources.earlier(found, version))
  }

  rootAt(size: number): Promise<Buffer> {
    return this.#queue.read(({ proofs }) => proofs.rootAt(size))
  }

  inclusionProof(position: number, size: number): Promise<InclusionProof> {
    return this.#queue.read(({ proofs }) => proofs.inclusionProof(position, size))
  }

  consistencyProof(from: number, to: number): Promise<Buffer[]> {
    return this.#queue.read(({ proofs }) => proofs.consistencyProof(from, to))
  }

  subtrees(from: number, to: number): Promise<Buffer[]> {
    return this.#queue.read(({ proofs }) => proofs.subtrees(from, to))
  }

  leaves(from: number, to: number): Promise<Buffer[]> {
    return this.#queue.read(({ proofs }) => proofs.leaves(from, to))
  }

  headKeys(): string[] {
    return this.#queue.readNow(({ db }) => readHeadKeys(db))
  }

  noteHeadKey(vkey: string): Promise<void> {
    return this.#queue.inTurn(({ db }) => noteHeadKey(db, vkey))
  }

  payload(hash: string): Promise<Buffer | undefined> {
    return this.#queue.read(({ payload }) => payload(hash))
  }

  payloadState(hash: string): Promise<PayloadState | undefined> {
    return this.#queue.read(({ payloadState }) => payloadState(hash))
  }

  erasedAt(): Promise<number> {
    return this.#queue.read(({ erasedAt }) => erasedAt())
  }

  erasedByAge(what: AgeingKind): Promise<number> {
    return this.#queue.read(({ db }) => readErasedByAge(db, what))
  }

  noteErasedByAge(what: AgeingKind, position: number): Promise<void> {
    return this.#queue.inTurn(({ db }) => noteErasedByAge(db, what, position))
  }

  async wipe(signal?: AbortSignal): Promise<void> {
    await wipe(() => this.#queue.between(truncateWal), signal)
  }

  rotation(): Promise<Rotation | undefined> {
    return this.#queue.read(({ db }) => readRotation(db))
  }

  async beginRotation(to: string): Promise<Rotation> {
    const begun = await this.#queue.inTurn(({ db }) => beginRotation(db, this.#vault, to))
    this.#vault.use(begun.to)
    return begun
  }

  rewrapSome(after: number): Promise<number | undefined> {
    return this.#queue.inTurn(({ db }) => rewrapSome(db, this.#vault, after))
  }

  now(): number {
    return Date.now()
  }

  recordedAt(): number | undefined {
    const { position, microseconds } = this.#queue.readNow(({ tail }) => tail)
    return position === 0 ? undefined : microseconds / 1_000
  }

  forgetSomeAnswers(upTo: number): Promise<boolean> {
    return this.#queue.inTurn(({ db }) => forgetSomeAnswers(db, upTo))
  }

  refuseWrites(refusal: Refusal): void {
    this.#queue.refuseWrites(refusal)
  }

  onCommitted(listener: CommitListener): () => void {
    return this.#queue.onCommitted(listener)
  }

  onChanged<K extends Kind>(kinds: readonly K[], listener: (stream: StreamId, kind: K) => void): () => void {
    const wanted: ReadonlySet<string> = new Set(kinds)
    return this.onCommitted((_, changed) => {
      for (const [stream, kind] of changed) if (wanted.has(kind)) listener(stream as StreamId, kind as K)
    })
  }

  async close(): Promise<void> {
    await this.#queue.close()
  }
}
