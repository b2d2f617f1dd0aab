import { runWork, type QueuedWork } from '../sqlite/write-queue.js'
import { BlockingEventError } from '../sqlite/blocking-event-error.js'
import type { CatchUp } from './catch-up.js'
import { limits } from '../../basics/limits.js'
import { behind } from './problems.js'
import type { CommitChanges, Replica } from './replica.js'
import { isEmpty, isSamePlace, type NewPlace, type Place } from './postgres/rows.js'
import type { Lock, Sequencer } from './sequencer.js'
import { UnreachableError } from './postgres/shared-log-session.js'

/**
 * The result of a batch that the shared log accepted, or that wrote nothing: the answers of its work, and what was committed. `missed`
 * says why the file could not take the batch; the batch stands, and the node follows later.
 */
type BatchResult = { answers: (() => void)[]; committed?: CommitChanges; missed?: { error: unknown; seq: number } }

/**
 * How a batch may wait: for PostgreSQL until `until`, in milliseconds of performance.now(); for the batches of others while `goOn` returns
 * true.
 */
type Waits = { until: number; goOn: () => boolean; putBack: (rest: QueuedWork[]) => void }

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80))

/** Tries batches on the file of this node and at PostgreSQL, until they are in the log or cannot be. */
export class BatchAppender {
  constructor(
    private readonly replica: Replica,
    private readonly sequencer: Sequencer,
    private readonly catchUp: CatchUp,
  ) {}

  /**
   * Nothing else may write to the file meanwhile. Work that does not fit is taken out of the batch and put back.
   * @throws UnreachableError, UnknownOutcomeError, ForkError, BlockingEventError; Problem 503 when it could not catch up; RangeError when
   * the batches of others do not follow; errors of the storage
   */
  async append(batch: QueuedWork[], { until, goOn, putBack }: Waits): Promise<BatchResult> {
    let lock: Lock | undefined
    for (;;)
      try {
        const answers = this.#try(batch, putBack)
        const { place: from } = this.replica
        const { rows, to } = this.replica.tried()
        if (isEmpty(rows)) {
          const isNewest = lock !== undefined || (await this.#isAt(from))
          this.replica.giveBack()
          if (isNewest) {
            await lock?.release()
            return { answers }
          }
        } else {
          if ((await (lock ?? this.sequencer).append(from, to, rows)) === 'accepted') return { answers, ...this.#keep(to) }
          this.replica.giveBack()
        }
        lock = await this.#takeLock(lock, goOn)
      } catch (error) {
        this.replica.giveBack()
        await lock?.release()
        lock = undefined
        if (!(error instanceof UnreachableError) || performance.now() >= until) throw error
        await pause()
      }
  }

  async #isAt(place: Place): Promise<boolean> {
    return isSamePlace(await this.sequencer.look(), place)
  }

  /** Carries out the batch on the file until it reaches the size limit; the rest is put back. */
  #try(batch: QueuedWork[], putBack: (rest: QueuedWork[]) => void): (() => void)[] {
    // This may have been found just now, when the batch had to be decided again.
    this.replica.requireKey()
    const open = this.replica.begin()
    const answers: (() => void)[] = []
    for (const [i, work] of batch.entries()) {
      answers.push(runWork(work, open))
      if (open.writer.bytes >= limits.sharedBatchMaxBytes) putBack(batch.splice(i + 1))
    }
    return answers
  }

  /** Catches up, and takes the head only when little is missing, so that no node waits while this one catches up a lot. */
  async #takeLock(held: Lock | undefined, goOn: () => boolean): Promise<Lock> {
    await held?.release()
    for (;;) {
      if (!(await this.catchUp.catchUp(goOn))) throw behind()
      const lock = await this.sequencer.lock(this.replica.place)
      const { delta } = lock
      try {
        await this.catchUp.take(delta)
      } catch (error) {
        await lock.release()
        // It is read again without the lock, and the batches before it are kept.
        if (error instanceof BlockingEventError) continue
        throw error
      }
      if (delta.to.seq >= delta.newest) return lock
      await lock.release()
    }
  }

  #keep(to: NewPlace): Pick<BatchResult, 'committed' | 'missed'> {
    try {
      return { committed: this.replica.commit(to) }
    } catch (error) {
      return { missed: { error, seq: to.seq } }
    }
  }
}
