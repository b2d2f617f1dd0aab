import { setImmediate } from 'node:timers/promises'
import { isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Refusal } from '../../basics/opened-file.js'
import { causeOf, isStorageError, storageFailed, writesRefused } from '../../basics/storage-error.js'
import type { Batch, CommitListener, LogHealth } from '../contract/log.js'
import { CommitListeners, enqueue, stopping, type Reads, type Turns, type Waiting, type Writing } from '../sqlite/turns.js'
import { tryToWrite } from '../storage/probe.js'
import type { Connection } from '../storage/schema.js'
import { truncateWal, wipe } from '../storage/wipe.js'
import { sharedLimits } from './limits.js'
import type { Committed, Replica } from './replica.js'
import { isEmpty, type Delta } from './rows.js'
import { Forked, Unknown, type Lock, type Sequencer } from './sequencer.js'
import { Unreachable } from './session.js'

type Options = {
  replica: Replica
  sequencer: Sequencer
  onBatch?: ((batch: Batch) => void) | undefined
}

const away = () =>
  new Problem('storage_failed', 'Shared log away', 'the shared log cannot be reached; nothing of this request was recorded', {
    hint: 'Send the request again.',
    retryAfterSeconds: 2,
  })

const unknown = () =>
  new Problem('outcome_unknown', 'Outcome unknown', 'the shared log did not answer in time whether it recorded this request', {
    hint: 'Send it again with the same Idempotency-Key: then it is recorded once.',
    retryAfterSeconds: 2,
  })

const behind = () =>
  new Problem('busy', 'Behind', 'this node could not catch up in time with what others wrote', {
    hint: 'Send the request again.',
    retryAfterSeconds: 1,
  })

/** Who waits until this node has a batch. */
type Waiter = { seq: number; resolve: () => void }

/**
 * Turns at a file that is one of several replicas. A batch is tried on the file and sent to PostgreSQL; it counts when PostgreSQL had no
 * other one in between. Otherwise the node takes what others wrote and decides again, after one miss with the head locked, so that
 * no node starves. One loop does both, so that a batch and what others wrote never meet in the file.
 */
export class SharedTurns implements Turns {
  #waiting: Waiting[] = []
  #between: (() => void)[] = []
  #looping: Promise<void> | undefined
  /** The newest batch that this node heard of. */
  #heard = 0
  /** Following failed: it is tried again when there is news, or at the next poll. */
  #followFailed = false
  #isClosing = false
  #isClosed = false
  #refusal: Refusal | undefined
  #failure: { cause: string; at: number } | undefined
  #waiters = new Set<Waiter>()
  readonly #stopping = new AbortController()
  #looking: Promise<number> | undefined
  #lookingNext: Promise<number> | undefined
  readonly #listeners = new CommitListeners()
  readonly #replica: Replica
  readonly #sequencer: Sequencer
  readonly #onBatch

  constructor({ replica, sequencer, onBatch }: Options) {
    this.#replica = replica
    this.#sequencer = sequencer
    this.#onBatch = onBatch
  }

  inTurn<T>(work: (open: Writing) => T): Promise<T> {
    if (this.#isClosing) return Promise.reject(stopping())
    const turn = enqueue(this.#waiting, work)
    this.#wake()
    return turn
  }

  read<T>(read: (reads: Reads) => T): T {
    if (this.#isClosed) throw stopping()
    try {
      return read(this.#replica.reads)
    } catch (error) {
      if (!isStorageError(error)) throw error
      throw storageFailed('read', error)
    }
  }

  between<T>(work: (db: Connection) => T): Promise<T> {
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
    const refusal = this.#refusal ?? this.#replica.displaced()
    const failed = this.#failure
    if (failed && failed.cause !== awayCause && performance.now() - failed.at >= limits.logProbeIntervalMs) this.#probe()
    const unwritable = refusal?.cause ?? (failed && `the log could not be written: ${failed.cause}`)
    return { queued: this.#waiting.length, unwritable }
  }

  /** Tries whether the disk accepts writes again. */
  #probe(): void {
    this.#failure = { cause: this.#failure?.cause ?? '', at: performance.now() }
    this.between(tryToWrite).then(
      () => (this.#failure = undefined),
      () => undefined,
    )
  }

  refuseWrites(refusal: Refusal): void {
    this.#refusal ??= refusal
  }

  onCommitted(listener: CommitListener): () => void {
    return this.#listeners.add(listener)
  }

  /** How many batches this node is behind the newest it heard of. */
  get lag(): number {
    return Math.max(0, this.#heard - this.#replica.place.seq)
  }

  /** Another node may have written: this one follows. */
  hear(seq: number): void {
    if (this.#isClosed) return
    this.#heard = Math.max(this.#heard, seq)
    this.#followFailed = false
    if (this.#isBehind) this.#wake()
  }

  /**
   * Looks how far the shared log is, and follows. A shared log that is not as far as this node was replaced by an older copy.
   * @throws Unreachable
   */
  async poll(): Promise<void> {
    const { seq: before } = this.#replica.place
    const seq = await this.#sequencer.look()
    this.hear(seq)
    if (seq < before) this.hear(before + 1)
    if (this.#failure?.cause === awayCause) this.#failure = undefined
  }

  /**
   * Resolves when this node has all that any node acknowledged before the call.
   * @throws Problem 503 when that takes too long, or nobody can say
   */
  async newest(): Promise<void> {
    if (this.#isClosed) throw stopping()
    const late = AbortSignal.timeout(sharedLimits.readPatienceMs)
    const expired = new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(behind()), { once: true }))
    expired.catch(() => undefined)
    try {
      const seq = await Promise.race([this.#lookOnce(), expired])
      await Promise.race([this.#reached(seq), expired])
    } catch (error) {
      throw isProblem(error) ? error : behind()
    }
  }

  /** Many who ask at once share a look; one that is under way may have begun too early. */
  #lookOnce(): Promise<number> {
    if (!this.#looking) return (this.#looking = this.#sequencer.look().finally(() => (this.#looking = undefined)))
    const next = () => {
      this.#lookingNext = undefined
      return this.#lookOnce()
    }
    return (this.#lookingNext ??= this.#looking.then(next, next))
  }

  #reached(seq: number): Promise<void> {
    if (this.#replica.place.seq >= seq) return Promise.resolve()
    return new Promise((resolve) => {
      const waiter = { seq, resolve }
      this.#waiters.add(waiter)
      setTimeout(() => this.#waiters.delete(waiter), sharedLimits.readPatienceMs).unref()
      this.hear(seq)
    })
  }

  get #isBehind(): boolean {
    return !this.#followFailed && this.#heard > this.#replica.place.seq
  }

  get #hasWork(): boolean {
    return this.#waiting.length > 0 || this.#between.length > 0 || (this.#isBehind && !this.#isClosing)
  }

  #wake(): void {
    if (this.#isClosed) return
    this.#looping ??= this.#loop().finally(() => {
      this.#looping = undefined
      if (this.#hasWork) this.#wake()
    })
  }

  async #loop(): Promise<void> {
    // All work that arrives in one turn of the event loop shares a batch.
    await setImmediate()
    while (this.#hasWork) {
      for (const work of this.#between.splice(0)) work()
      if (this.#isBehind && !this.#isClosing) await this.#follow()
      if (this.#waiting.length > 0) await this.#runBatch()
    }
  }

  /** Follows before this node serves. @throws Unreachable, Forked; RangeError when what others wrote does not follow */
  start(): Promise<void> {
    return this.#catchUp()
  }

  async #follow(): Promise<void> {
    try {
      await this.#catchUp()
    } catch (error) {
      this.#followFailed = true
      if (error instanceof Forked) await this.#fork()
      else if (error instanceof RangeError) this.refuseWrites(differs(error.message))
      else if (isStorageError(error)) this.#giveUpFile(error)
      else if (!(error instanceof Unreachable)) process.emitWarning(error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
  }

  /** Adds what others wrote, in parts, until nothing is left. */
  async #catchUp(): Promise<void> {
    for (;;) {
      const heard = this.#heard
      const delta = await this.#sequencer.after(this.#replica.place)
      this.#take(delta)
      if (delta.to.seq < delta.newest) continue
      // What was heard meanwhile may be newer than this answer.
      if (this.#heard === heard) this.#heard = delta.newest
      return
    }
  }

  #take(delta: Delta): void {
    if (delta.to.seq <= this.#replica.place.seq) return
    this.#committed(this.#replica.take(delta))
    // What another node erased leaves the files of this one, too.
    if (delta.rows.payloads.some(({ wrapped }) => wrapped === null)) this.#wipe()
  }

  #wipe(): void {
    wipe(() => this.between(truncateWal), this.#stopping.signal).catch((error: unknown) => {
      if (!isProblem(error)) process.emitWarning(error as Error)
    })
  }

  #committed({ position, changed, written }: Committed): void {
    const { seq } = this.#replica.place
    for (const waiter of this.#waiters)
      if (waiter.seq <= seq) {
        this.#waiters.delete(waiter)
        waiter.resolve()
      }
    if (changed.size > 0) this.#listeners.announce(position, changed, written)
  }

  async #runBatch(): Promise<void> {
    const batch = this.#waiting.splice(0, limits.batchMaxCommands)
    const began = performance.now()
    const tell = (failed: boolean, { written }: Pick<Committed, 'written'> = { written: [] }) =>
      this.#onBatch?.({ commands: batch.length, failed, events: written, seconds: (performance.now() - began) / 1000 })
    try {
      const refusal = this.#refusal ?? this.#replica.displaced()
      if (refusal) throw writesRefused(refusal)
      const { answers, committed } = await this.#insist(batch, began)
      // Only what PostgreSQL has is answered.
      for (const answer of answers) answer()
      if (committed && committed.written.length > 0) this.#failure = undefined
      tell(false, committed)
      if (committed) this.#committed(committed)
    } catch (error) {
      const problem = await this.#problemOf(error).catch((other: unknown) => other)
      for (const { reject } of batch) reject(problem)
      tell(true)
    }
  }

  /** Tries a batch until it is in the log, or cannot be. */
  async #insist(batch: Waiting[], began: number): Promise<{ answers: (() => void)[]; committed: Committed | undefined }> {
    let lock: Lock | undefined
    for (;;)
      try {
        const answers = this.#try(batch)
        const { place: from } = this.#replica
        const { rows, to } = this.#replica.tried()
        const isDecidedHere = isEmpty(rows)
        const appended = isDecidedHere
          ? lock || (await this.#sequencer.look()) === from.seq
            ? 'accepted'
            : 'stale'
          : await (lock ?? this.#sequencer).append(from, to, rows)
        if (appended === 'stale') {
          this.#replica.giveBack()
          lock = await this.#takeLock(lock)
          continue
        }
        if (isDecidedHere) {
          this.#replica.giveBack()
          await lock?.release()
          return { answers, committed: undefined }
        }
        return { answers, committed: this.#keep(to) }
      } catch (error) {
        this.#replica.giveBack()
        await lock?.release()
        lock = undefined
        // Once it is known that PostgreSQL is away, nobody waits for it.
        const patienceMs = this.#failure?.cause === awayCause ? 0 : sharedLimits.writePatienceMs
        const isTriedAgain = error instanceof Unreachable && performance.now() - began < patienceMs
        if (!isTriedAgain) throw error
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80))
      }
  }

  /** Carries out the batch on the file, as far as it is not too large; the rest waits for the next one. */
  #try(batch: Waiting[]): (() => void)[] {
    const open = this.#replica.begin()
    const answers: (() => void)[] = []
    for (const [i, { carryOut, reject }] of batch.entries()) {
      try {
        answers.push(carryOut(open))
      } catch (error) {
        if (isStorageError(error) || open.writer.isHalfDone) throw error
        answers.push(() => reject(error))
      }
      if (open.writer.bytes >= sharedLimits.batchMaxBytes) {
        this.#waiting.unshift(...batch.splice(i + 1))
        break
      }
    }
    return answers
  }

  /** Catches up, and takes the head when hardly anything is missing: nobody waits while a long way is made up. */
  async #takeLock(held: Lock | undefined): Promise<Lock> {
    await held?.release()
    for (;;) {
      await this.#catchUp()
      const lock = await this.#sequencer.lock(this.#replica.place)
      const { delta } = lock
      try {
        this.#take(delta)
      } catch (error) {
        await lock.release()
        throw error
      }
      if (delta.to.seq >= delta.newest) return lock
      await lock.release()
    }
  }

  /** PostgreSQL has the batch. If the file cannot take it, the node follows later; the batch stands. */
  #keep(to: Parameters<Replica['commit']>[0]): Committed | undefined {
    try {
      return this.#replica.commit(to)
    } catch (error) {
      this.#giveUpFile(error)
      this.#heard = Math.max(this.#heard, to.seq)
      return undefined
    }
  }

  /** The file failed: it is opened again, and its end checked. */
  #giveUpFile(error: unknown): void {
    this.#failure = { cause: causeOf(error), at: performance.now() }
    try {
      this.#replica.disconnect()
    } catch {
      // It is reopened in any case.
    }
  }

  async #problemOf(error: unknown): Promise<unknown> {
    if (isProblem(error)) return error
    if (error instanceof Unknown) {
      // If it was recorded, this node hears of it as of the batch of another one.
      this.hear(this.#replica.place.seq + 1)
      return unknown()
    }
    if (error instanceof Unreachable) {
      this.#failure = { cause: awayCause, at: performance.now() }
      return away()
    }
    if (error instanceof Forked) {
      await this.#fork()
      return writesRefused(this.#refusal ?? differs('it lacks events of this node'))
    }
    if (error instanceof RangeError) {
      this.refuseWrites(differs(error.message))
      return writesRefused(this.#refusal ?? differs(error.message))
    }
    if (isStorageError(error)) this.#giveUpFile(error)
    else this.#failure = { cause: causeOf(error), at: performance.now() }
    return storageFailed('written', error)
  }

  /** Names what the shared log lacks, and stops writing. */
  async #fork(): Promise<void> {
    const { position } = this.#replica.place
    const chain = this.#replica.open().db.prepare<[number], Buffer>('SELECT chain FROM events WHERE position = ?').pluck()
    try {
      const first = await this.#sequencer.firstOther(position, (at) => chain.get(at))
      const lost = first > position ? 'it lacks notes that this node has' : `it lacks the positions ${first} to ${position} of this node`
      this.refuseWrites(differs(lost))
    } catch {
      // It is found again by the next look.
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
    this.#replica.close()
  }
}

const awayCause = 'the shared log cannot be reached'

const differs = (how: string): Refusal => ({
  cause: `the shared log is not the one that this node follows: ${how}`,
  hint: 'Nothing more is written here. Keep the data directory of this node: it may be the only copy of what the shared log lost.',
})
