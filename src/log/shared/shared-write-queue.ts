import { setImmediate } from 'node:timers/promises'
import { isProblem, stopping } from '../../basics/errors.js'
import { Halts } from '../../basics/halts.js'
import { limits } from '../../basics/limits.js'
import type { Refusal } from '../../basics/opened-file.js'
import { isStorageError, storageFailed, writesRefused } from '../../basics/storage-error.js'
import type { Batch, CommitListener, LogHealth } from '../contract/log.js'
import { CommitListeners, enqueue, type Reads, type WriteQueue, type QueuedWork, type WriteTransaction } from '../sqlite/write-queue.js'
import { tryToWrite } from '../storage/probe.js'
import type { LogConnection } from '../storage/schema.js'
import { truncateWal, wipe } from '../storage/wal-file.js'
import { CatchUp } from './catch-up.js'
import { Failures } from './failures.js'
import { goesNoFurther, movedAway, unknown } from './problems.js'
import { WriteTimeout } from './write-timeout.js'
import { rejoin } from './rejoin.js'
import type { CommitChanges, Replica } from './replica.js'
import type { Place } from './postgres/rows.js'
import { isMoved } from './postgres/tables.js'
import { ForkError, type Sequencer } from './sequencer.js'
import { NodeStatus } from './node-status.js'
import { BatchAppender } from './batch-appender.js'

type Options = {
  replica: Replica
  sequencer: Sequencer
  onBatch?: ((batch: Batch) => void) | undefined
  patienceMs?: number | undefined
  /** The newest release of the other nodes, if it is newer than this one; by default it is unknown. */
  newerRelease?: () => Promise<string | undefined>
}

/**
 * The queue of writes to a file that is one of several replicas. A batch is tried on the file and sent to PostgreSQL; it counts if no other
 * batch came in between. Otherwise the node adds the batches of others and decides again. After one miss it locks the head for that, so
 * that no node starves. One loop does both, so that the file never mixes a batch with batches of others.
 */
export class SharedWriteQueue implements WriteQueue {
  readonly #waiting: QueuedWork[] = []
  #between: (() => void)[] = []
  #looping: Promise<void> | undefined
  #isClosing = false
  #isClosed = false
  readonly #status = new NodeStatus()
  readonly #patienceMs: number
  readonly #timeout: WriteTimeout
  readonly #stopping = new AbortController()
  readonly #listeners = new CommitListeners()
  readonly #replica: Replica
  readonly #sequencer: Sequencer
  readonly #failures: Failures
  readonly #catchUp: CatchUp
  readonly #halts = new Halts()
  readonly #tries: BatchAppender
  readonly #onBatch

  constructor({ replica, sequencer, onBatch, newerRelease, patienceMs = limits.sharedWritePatienceMs }: Options) {
    this.#replica = replica
    this.#sequencer = sequencer
    this.#onBatch = onBatch
    this.#patienceMs = patienceMs
    this.#timeout = new WriteTimeout(this.#waiting, this.#status, patienceMs)
    this.#failures = new Failures({
      ...{ replica, sequencer, status: this.#status, newerRelease: newerRelease ?? (async () => undefined) },
      onHeard: (seq) => this.hear(seq),
    })
    this.#catchUp = new CatchUp({
      replica,
      sequencer,
      halts: this.#halts,
      onNews: () => this.#wake(),
      onTaken: (committed, delta) => {
        this.#status.fileWorks()
        this.#announce(committed)
        // Data that another node erased is wiped from the files of this node, too.
        if (delta.rows.payloads.some(({ wrapped }) => wrapped === null)) this.#wipe()
      },
    })
    this.#tries = new BatchAppender(replica, sequencer, this.#catchUp)
  }

  inTurn<T>(work: (open: WriteTransaction) => T): Promise<T> {
    if (this.#isClosing) return Promise.reject(stopping())
    const turn = enqueue(this.#waiting, work)
    this.#wake()
    return turn
  }

  /** PostgreSQL has what this file shows, so nothing waits for the disk of this node. */
  async read<T>(read: (reads: Reads) => T): Promise<T> {
    return this.readNow(read)
  }

  readNow<T>(read: (reads: Reads) => T): T {
    if (this.#isClosed) throw stopping()
    try {
      return read(this.#replica.reads)
    } catch (error) {
      if (!isStorageError(error)) throw error
      throw storageFailed('read', error)
    }
  }

  between<T>(work: (db: LogConnection) => T): Promise<T> {
    if (this.#isClosed) return Promise.reject(stopping())
    return new Promise((resolve, reject) => {
      this.#between.push(() => {
        try {
          resolve(work(this.#replica.open().db))
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
      this.#wake()
    })
  }

  health(): Omit<LogHealth, 'position'> {
    if (this.#status.mustProbe()) this.#probe()
    const { unwritable, state } = this.#status.health(this.#replica.displaced())
    return { queued: this.#waiting.length, unwritable, shared: { state, lag: this.#catchUp.lag } }
  }

  /** Tries whether the disk accepts writes again. */
  #probe(): void {
    this.between(tryToWrite).then(
      () => this.#status.fileWorks(),
      () => undefined,
    )
  }

  /** Why nothing may be written here until an operator acts. */
  get refusal(): Refusal | undefined {
    return this.#status.refusal ?? this.#replica.displaced()
  }

  /** Whether the file of this node could not be written the last time. */
  get isFileFailing(): boolean {
    return this.#status.isFileFailing
  }

  refuseWrites(refusal: Refusal): void {
    this.#status.refuse(refusal)
  }

  onCommitted(listener: CommitListener): () => void {
    return this.#listeners.add(listener)
  }

  /** The place in the shared log that this node has reached. */
  get place(): Place {
    return this.#replica.place
  }

  /** Another node may have written: this one follows. */
  hear(seq: number): void {
    if (!this.#isClosed) this.#catchUp.hear(seq)
  }

  /** Reads the head of the shared log, and follows. @throws UnreachableError */
  async poll(): Promise<void> {
    try {
      await this.#catchUp.look()
      this.#status.looked(true)
    } catch (error) {
      if (isMoved(error)) this.#status.leave(movedAway)
      else this.#status.looked(false)
      throw error
    }
  }

  /**
   * Resolves when this node has everything that any node acknowledged before the call.
   * @throws Problem 503 when that takes too long, or cannot be found out
   */
  async newest(): Promise<void> {
    if (this.#isClosed) throw stopping()
    const { leftBy } = this.#status
    if (leftBy) throw goesNoFurther(leftBy)
    await this.#catchUp.newest()
  }

  /**
   * Resolves when this node has caught up since the last halt of this process; undefined if it already has.
   * @throws Problem 503 when that takes too long or cannot be found out, and always after a halt when this node no longer follows
   */
  sinceHalt(): Promise<void> | undefined {
    return this.#catchUp.isStale ? this.newest() : undefined
  }

  /**
   * Resolves when the shared log still has everything that this node has from it, as safely as PostgreSQL promises.
   * @throws Problem 503 when it may not have it
   */
  async confirm(): Promise<void> {
    await this.newest()
    await this.replicated()
  }

  /** Resolves when everything that PostgreSQL has is as safe as it promises. @throws Problem 503 when that is not known */
  async replicated(): Promise<void> {
    await this.#sequencer.confirm().catch(() => {
      throw unknown()
    })
  }

  get #hasWork(): boolean {
    return this.#waiting.length > 0 || this.#between.length > 0 || this.#mustFollow
  }

  get #mustFollow(): boolean {
    return this.#catchUp.isBehind && !this.#isClosing && !this.#status.leftBy
  }

  #wake(): void {
    if (this.#isClosed) return
    if (!this.#looping) this.#occupy(this.#loop())
  }

  /** Nothing else touches the file until this has ended. */
  #occupy(work: Promise<void>): void {
    this.#looping = work.finally(() => {
      this.#looping = undefined
      if (this.#hasWork) this.#wake()
    })
  }

  async #loop(): Promise<void> {
    // All work that arrives in one turn of the event loop shares a batch.
    await setImmediate()
    while (this.#hasWork) {
      this.#workBetween()
      if (this.#mustFollow) await this.#timeout.during('catching up', () => this.#followAll())
      if (this.#waiting.length > 0) await this.#timeout.during('batch', () => this.#runBatch())
    }
  }

  /** Follows before this node serves. @throws UnreachableError, ForkError; RangeError when the batches of others do not follow */
  async start(): Promise<void> {
    const starting = this.#begin()
    // Notifications of batches that others write meanwhile have to wait: two runs at once would add the same events.
    this.#occupy(starting.catch(() => undefined))
    await starting
  }

  async #begin(): Promise<void> {
    try {
      await this.#catchUp.catchUp()
    } catch (error) {
      if (!(error instanceof ForkError) || !(await rejoin(this.#replica, this.#sequencer))) throw error
    }
  }

  /** Follows until nothing is left, or it fails. New batches in between do not make writes wait longer. */
  async #followAll(): Promise<void> {
    while (this.#mustFollow && !(await this.#follow())) this.#workBetween()
  }

  #workBetween(): void {
    for (const work of this.#between.splice(0)) work()
  }

  /** Returns false when it was interrupted for other work, and there is more to add. */
  async #follow(): Promise<boolean> {
    try {
      return await this.#catchUp.catchUp(() => !this.#isClosing && this.#between.length === 0)
    } catch (error) {
      this.#catchUp.failed()
      await this.#failures.ofCatchUp(error)
      return true
    }
  }

  #wipe(): void {
    wipe(() => this.between(truncateWal), this.#stopping.signal).catch((error: unknown) => {
      if (!isProblem(error)) process.emitWarning(error as Error)
    })
  }

  #announce({ position, changed, written }: CommitChanges): void {
    if (changed.size > 0) this.#listeners.announce(position, changed, written)
  }

  async #runBatch(): Promise<void> {
    const batch = this.#waiting.splice(0, limits.batchMaxCommands)
    const began = performance.now()
    const tell = (failed: boolean, { written }: Pick<CommitChanges, 'written'> = { written: [] }) =>
      this.#onBatch?.({ commands: batch.length, failed, events: written, seconds: (performance.now() - began) / 1000 })
    try {
      const { refusal } = this
      if (refusal) throw writesRefused(refusal)
      // Once PostgreSQL is known to be away, no work waits for it.
      const patienceMs = this.#status.absence ? 0 : this.#patienceMs
      const { answers, committed, missed } = await this.#tries.append(batch, {
        until: began + patienceMs,
        goOn: () => !this.#isClosing && performance.now() < began + this.#patienceMs,
        putBack: (rest) => void this.#waiting.unshift(...rest),
      })
      if (missed) {
        this.#failures.ofFile(missed.error)
        this.#catchUp.missed(missed.seq)
      }
      // Only work that PostgreSQL has recorded is answered.
      for (const answer of answers) answer()
      if (committed && committed.written.length > 0) this.#status.written()
      tell(false, committed)
      if (!committed) return
      this.#catchUp.arrived()
      this.#announce(committed)
    } catch (error) {
      const problem = await this.#failures.ofBatch(error)
      for (const { reject } of batch) reject(problem)
      tell(true)
    }
  }

  /** Takes no more work, and follows no longer. */
  endIntake(): void {
    this.#isClosing = true
    this.#stopping.abort()
  }

  async close(): Promise<void> {
    this.endIntake()
    while (this.#looping) await this.#looping
    this.#isClosed = true
    this.#halts.stop()
    this.#timeout.stop()
    this.#replica.close()
  }
}
