import { v4 as uuidv4 } from 'uuid'
import { stopping } from '../../basics/errors.js'
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
import { openForWriting, prepareErasedAt, type Connection } from '../storage/schema.js'
import { causeOf, isStorageError, storageFailed, writesRefused } from '../../basics/storage-error.js'

export type QueueOptions = {
  file: string
  vault: Vault
  pragmas?: readonly string[]
  /** Called at the end of each transaction. */
  onBatch?: (batch: Batch) => void
  /** The time after a failed write until the readiness check tries another write; by default the limit's. */
  probeIntervalMs?: number
}

/** The log's file while it is open, with all its prepared statements. One thread writes and reads, so readers never see half a batch. */
type OpenFile = WriteTransaction & Reads

/**
 * The log's file, and the queue of work that writes to it, with group commit: all work that waits while a transaction runs shares the next
 * transaction. Work is answered when its transaction is on the disk. If the storage fails, the whole transaction is refused, and the next
 * one reopens the file.
 */
export class FileWriteQueue implements WriteQueue {
  #open: OpenFile | undefined
  #waiting: QueuedWork[] = []
  #scheduled = false
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
    this.#schedule()
    return turn
  }

  /**
   * Commits at the end of this turn of the event loop. If several commands came in this turn, others probably follow. The commit then waits
   * one more turn, which ends at once if nothing comes.
   */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    const commit = () => {
      this.#scheduled = false
      this.#runBatch()
      if (this.#waiting.length > 0) this.#schedule()
    }
    setImmediate(() => {
      if (this.#waiting.length > 1) setImmediate(commit)
      else commit()
    })
  }

  #runBatch(): void {
    const batch = this.#waiting.splice(0, limits.batchMaxCommands)
    if (batch.length === 0) return // close() came first
    const answers: (() => void)[] = []
    const began = performance.now()
    const refusal = this.#refusal ?? this.#file.displaced()
    if (refusal) {
      // The file stays open, because recorded data can only be read from it.
      for (const { reject } of batch) reject(writesRefused(refusal))
      this.#tell({ commands: batch.length, began, failed: true, events: [] })
      return
    }
    try {
      const open = this.connect()
      open.writer.begin()
      for (const work of batch) answers.push(runWork(work, open))
      open.writer.commit()
    } catch (error) {
      this.#giveUp(batch, error)
      this.#tell({ commands: batch.length, began, failed: true, events: [] })
      return
    }
    // Work is answered only after it is on the disk.
    for (const answer of answers) answer()
    const { tail, changed, written } = this.connect().writer
    // A transaction that only has refusals does not reach the disk, so it does not show that the disk works.
    if (written.length > 0) this.#failure = undefined
    this.#tell({ commands: batch.length, began, failed: false, events: written })
    if (changed.size > 0) this.#listeners.announce(tail.position, changed, written)
  }

  /** After a storage failure the whole batch is refused; the next one reopens the file and checks its end. */
  #giveUp(batch: QueuedWork[], error: unknown): void {
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
    const problem = storageFailed('written', error)
    for (const { reject } of batch) reject(problem)
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

  /** If the storage fails during a read, the caller gets a refusal with a remedy. */
  read<T>(read: (reads: Reads) => T): T {
    try {
      return read(this.connect())
    } catch (error) {
      if (!isStorageError(error)) throw error
      throw storageFailed('read', error)
    }
  }

  async between<T>(work: (db: Connection) => T): Promise<T> {
    return work(this.connect().db)
  }

  /** The number of waiting commands, and the reason if the file cannot be written. After some time, this tries a write again. */
  health(): { queued: number; unwritable: string | undefined } {
    const refusal = this.#refusal ?? this.#file.displaced()
    if (refusal) return { queued: this.#waiting.length, unwritable: refusal.cause }
    const failed = this.#failure
    if (failed && performance.now() - failed.at >= (this.#options.probeIntervalMs ?? limits.logProbeIntervalMs)) this.#probe()
    return { queued: this.#waiting.length, unwritable: this.#failure && `the log could not be written: ${this.#failure.cause}` }
  }

  /** Tests whether the disk accepts writes again. */
  #probe(): void {
    try {
      tryToWrite(this.connect().db)
      this.#failure = undefined
    } catch (error) {
      this.#giveUp([], error)
    }
  }

  /** Opens the file unless it is open. @throws Error when it is not a log, or its end is broken */
  connect(): OpenFile {
    if (this.#open) return this.#open
    if (this.#closed) throw stopping()
    // If the file is gone, opening it would create an empty one.
    const refusal = this.#file.displaced()
    if (refusal) throw writesRefused(refusal)
    const { file, vault, pragmas = [] } = this.#options
    const db = openForWriting(file, uuidv4)
    try {
      for (const pragma of pragmas) db.pragma(pragma)
      ensureResources(db)
      const writer = new LogWriter(db, vault)
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
      }
      this.#file.note()
      return this.#open
    } catch (error) {
      db.close()
      throw error
    }
  }

  disconnect(): void {
    const open = this.#open
    this.#open = undefined
    this.#file.forgetWal()
    open?.db.close()
  }

  /** Executes the waiting work, then closes the file; later requests are refused. */
  close(): void {
    this.#closing = true
    while (this.#waiting.length > 0) this.#runBatch()
    this.#closed = true
    this.disconnect()
  }
}
