import { setImmediate } from 'node:timers/promises'
import { v4 as uuidv4 } from 'uuid'
import { isProblem, stopping, type Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Vault } from '../../vault/vault.js'
import type { Batch, CommitListener } from '../contract/log.js'
import { LogWriter } from './log-writer.js'
import { CommitListeners, enqueue, runWork, type Reads, type WriteQueue, type QueuedWork, type WriteTransaction } from './write-queue.js'
import { payloadReader, payloadStates } from '../storage/payloads.js'
import { OpenedFile, type Refusal } from '../../basics/opened-file.js'
import { tryToWrite } from '../storage/probe.js'
import { EventReads } from '../storage/events.js'
import { ensureResources } from './rebuild.js'
import { openForWriting, prepareErasedAt, type LogConnection } from '../storage/schema.js'
import { WalFile, type Wal } from '../storage/wal-file.js'
import { causeOf, isStorageError, storageFailed, unconfirmed, writesRefused } from '../../basics/storage-error.js'

export type QueueOptions = {
  file: string
  vault: Vault
  pragmas?: readonly string[]
  /** Called at the end of each transaction. */
  onBatch?: (batch: Batch) => void
  /** The time after a failed write until the readiness check tries another write; by default the limit's. */
  probeIntervalMs?: number
  /** Opens what brings the write-ahead log of the file to the disk; by default a `WalFile`. */
  openWal?: (file: string) => Wal
}

/** A commit waits at most this many further turns of the event loop for commands that keep coming. */
const moreTurnsMax = 8
/** If the disk needs longer than this to confirm a transaction, the readiness check reports it. */
const slowSyncMs = 5_000

/** The log's file while it is open, with all its prepared statements. One thread writes and reads, so readers never see half a batch. */
type OpenFile = WriteTransaction &
  Reads & {
    readonly wal: Wal
    /** The number of rows that this connection has changed. */
    readonly changes: () => number
    /** The same number when the disk last confirmed; undefined before, because an earlier process may have left a transaction. */
    confirmed: number | undefined
  }

/**
 * The log's file, and the queue of work that writes to it, with group commit: all work that waits while a transaction runs shares the next
 * transaction. Work is answered when its transaction is on the disk, and nothing reads the transaction before. Other requests do not wait
 * for the disk. If the storage fails, the whole transaction is refused, and the next one reopens the file.
 */
export class FileWriteQueue implements WriteQueue {
  #open: OpenFile | undefined
  #waiting: QueuedWork[] = []
  /** The turns of the waiting work, until none is left. */
  #working: Promise<void> | undefined
  /** Resolves when the disk has confirmed the last transaction or failed to; undefined once it has. */
  #syncing: Promise<void> | undefined
  #syncingSince = 0
  /** Set for good once the disk failed to confirm a transaction. */
  #unconfirmed: Problem | undefined
  #closing = false
  #closed = false
  readonly #listeners = new CommitListeners()
  readonly #options: QueueOptions
  /** The reason and the time of the last failed write. */
  #failure: { cause: string; at: number } | undefined

  readonly #file: OpenedFile
  #refusal: Refusal | undefined

  constructor(options: QueueOptions) {
    this.#options = options
    this.#file = new OpenedFile(options.file)
  }

  inTurn<T>(work: (open: WriteTransaction) => T): Promise<T> {
    if (this.#closing) return Promise.reject(stopping())
    const turn = enqueue(this.#waiting, work)
    this.#working ??= this.#work()
    return turn
  }

  /**
   * Commits at the end of a turn of the event loop. If several commands came in this turn, others probably follow: the commit waits for
   * another turn as long as the last one brought more. A turn ends at once if nothing comes.
   */
  async #work(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await setImmediate()
        for (let seen = 1, turn = 0; this.#waiting.length > seen && turn < moreTurnsMax; turn++) {
          seen = this.#waiting.length
          await setImmediate()
        }
        await this.#runBatch()
      }
    } finally {
      this.#working = undefined
    }
  }

  async #runBatch(): Promise<void> {
    const batch = this.#waiting.splice(0, limits.batchMaxCommands)
    const began = performance.now()
    const answers = await this.#carryOut(batch)
    if (isProblem(answers)) {
      for (const { reject } of batch) reject(answers)
      this.#tell({ commands: batch.length, began, failed: true, events: [] })
      return
    }
    for (const answer of answers) answer()
    const { tail, changed, written } = this.connect().writer
    // A transaction that only has refusals does not reach the disk, so it does not show that the disk works.
    if (written.length > 0) this.#failure = undefined
    this.#tell({ commands: batch.length, began, failed: false, events: written })
    if (changed.size > 0) this.#listeners.announce(tail.position, changed, written)
  }

  /** Carries work out in one transaction. Returns its answers once the disk has it, or the problem that all of the work met. */
  async #carryOut(batch: readonly QueuedWork[]): Promise<(() => void)[] | Problem> {
    if (this.#unconfirmed) return this.#unconfirmed
    const refusal = this.#refusal ?? this.#file.displaced()
    // The file stays open, because recorded data can only be read from it.
    if (refusal) return writesRefused(refusal)
    const answers: (() => void)[] = []
    let open: OpenFile
    try {
      open = this.connect()
      open.writer.begin()
      for (const work of batch) answers.push(runWork(work, open))
      open.writer.commit()
    } catch (error) {
      return this.#giveUp(error)
    }
    return (await this.#sync(open)) ?? answers
  }

  /**
   * Brings the last transaction to the disk. Returns the problem if that failed. The system may then have dropped what it could not write,
   * and says so once only: a second attempt that succeeds would prove nothing. So nothing more is written or read.
   */
  async #sync(open: OpenFile): Promise<Problem | undefined> {
    const changes = open.changes()
    // Refusals and repeated commands write nothing.
    if (changes === open.confirmed) return undefined
    this.#syncingSince = performance.now()
    this.#syncing = open.wal.sync().catch((error: unknown) => void (this.#unconfirmed = unconfirmed(error)))
    await this.#syncing
    this.#syncing = undefined
    open.confirmed = changes
    return this.#unconfirmed
  }

  /** After a storage failure the whole batch is refused, with this problem; the next one reopens the file and checks its end. */
  #giveUp(error: unknown): Problem {
    try {
      this.#open?.writer.abandon()
    } catch {
      // Closing undoes the transaction if the rollback failed.
    }
    try {
      this.disconnect()
    } catch {
      // The file is reopened in any case.
    }
    this.#failure = { cause: causeOf(error), at: performance.now() }
    return storageFailed('written', error)
  }

  #tell({ began, ...batch }: Omit<Batch, 'seconds'> & { began: number }): void {
    this.#options.onBatch?.({ ...batch, seconds: (performance.now() - began) / 1000 })
  }

  /** Refuses all writes from now on. */
  refuseWrites(refusal: Refusal): void {
    this.#refusal = refusal
  }

  onCommitted(listener: CommitListener): () => void {
    return this.#listeners.add(listener)
  }

  async read<T>(read: (reads: Reads) => T): Promise<T> {
    if (this.#syncing) await this.#synced()
    return this.readNow(read)
  }

  /** If the storage fails during a read, the caller gets a refusal with a remedy. */
  readNow<T>(read: (reads: Reads) => T): T {
    if (this.#unconfirmed) throw this.#unconfirmed
    try {
      return read(this.connect())
    } catch (error) {
      if (!isStorageError(error)) throw error
      throw storageFailed('read', error)
    }
  }

  /** Resolves when no transaction is on its way to the disk. */
  async #synced(): Promise<void> {
    while (this.#syncing) await this.#syncing
  }

  async between<T>(work: (db: LogConnection) => T): Promise<T> {
    await this.#synced()
    if (this.#unconfirmed) throw this.#unconfirmed
    return work(this.connect().db)
  }

  /** The number of waiting commands, and the reason if the file cannot be written. After some time, this tries a write again. */
  health(): { queued: number; unwritable: string | undefined } {
    const queued = this.#waiting.length
    if (this.#unconfirmed) return { queued, unwritable: this.#unconfirmed.detail }
    const refusal = this.#refusal ?? this.#file.displaced()
    if (refusal) return { queued, unwritable: refusal.cause }
    if (this.#syncing && performance.now() - this.#syncingSince >= slowSyncMs)
      return { queued, unwritable: `the disk has not confirmed what was written last for ${slowSyncMs / 1000} s` }
    const failed = this.#failure
    if (failed && !this.#syncing && performance.now() - failed.at >= (this.#options.probeIntervalMs ?? limits.logProbeIntervalMs))
      this.#probe()
    return { queued, unwritable: this.#failure && `the log could not be written: ${this.#failure.cause}` }
  }

  /** Tests whether the disk accepts writes again. */
  #probe(): void {
    try {
      tryToWrite(this.connect().db)
      this.#failure = undefined
    } catch (error) {
      this.#giveUp(error)
    }
  }

  /** Opens the file unless it is open. @throws Error when it is not a log, or its end is broken */
  connect(): OpenFile {
    if (this.#open) return this.#open
    if (this.#closed) throw stopping()
    // If the file is gone, opening it would create an empty one.
    const refusal = this.#file.displaced()
    if (refusal) throw writesRefused(refusal)
    const { file, vault, pragmas = [], openWal = (path: string) => new WalFile(path) } = this.#options
    const db = openForWriting(file, uuidv4)
    try {
      // The commits are brought to the disk by this queue.
      db.pragma('synchronous = NORMAL')
      for (const pragma of pragmas) db.pragma(pragma)
      ensureResources(db)
      const writer = new LogWriter(db, vault)
      const changes = db.prepare<[], number>('SELECT total_changes()').pluck()
      const { resources, answers, proofs } = writer
      this.#open = {
        ...{ db, writer, resources, answers, proofs },
        get tail() {
          return writer.tail
        },
        events: new EventReads(db),
        payload: payloadReader(db, vault),
        payloadState: payloadStates(db),
        erasedAt: prepareErasedAt(db),
        wal: openWal(file),
        changes: () => changes.get() ?? 0,
        confirmed: undefined,
      }
      this.#file.note()
      return this.#open
    } catch (error) {
      db.close()
      throw error
    }
  }

  disconnect(): void {
    // Closing would move what the disk did not confirm into the file, unchecked. The next start checks it.
    if (this.#unconfirmed) return
    const open = this.#open
    this.#open = undefined
    this.#file.forgetWal()
    open?.wal.close()
    open?.db.close()
  }

  /** Executes the waiting work, then closes the file; later requests are refused. */
  async close(): Promise<void> {
    this.#closing = true
    await this.#working
    this.#closed = true
    this.disconnect()
  }
}
