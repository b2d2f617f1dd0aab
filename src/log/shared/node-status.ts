import { limits } from '../../basics/limits.js'
import type { Refusal } from '../../basics/opened-file.js'
import { causeOf } from '../../basics/storage-error.js'
import type { SharedHealth } from '../contract/log.js'
import type { BlockingEventError } from '../sqlite/blocking-event-error.js'
import { awayCause, slowCause } from './problems.js'

/**
 * Why and when the last write failed. `of` says what failed: the file of this node did, PostgreSQL did not answer, it gave a statement up,
 * or it refused a batch.
 */
type Failure = { cause: string; at: number; of: 'file' | 'away' | 'slow' | 'refused' }

const causes = { away: awayCause, slow: slowCause }

/** The state of a node towards the shared log and its own file: whether it follows, and why it cannot write if it cannot. */
export class NodeStatus {
  /** Whether PostgreSQL answered the last look. */
  #isReachable = true
  #isForked = false
  /** The refusal to go on before an event that this release cannot apply. */
  #outdated: Refusal | undefined
  #refusal: Refusal | undefined
  #failure: Failure | undefined

  /** Why nothing is written here until the next start. */
  get refusal(): Refusal | undefined {
    return this.#refusal
  }

  /** Why this node follows the shared log no further, and writes nothing. */
  get leftBy(): Refusal | undefined {
    return this.#isForked || this.#outdated !== undefined ? this.#refusal : undefined
  }

  /** Whether the last write failed because of the file of this node, for example because its disk is full. */
  get isFileFailing(): boolean {
    return this.#failure?.of === 'file'
  }

  /** Why work does not wait for PostgreSQL: it is known to be away, or to give statements up. Undefined if work waits. */
  get absence(): 'away' | 'slow' | undefined {
    const of = this.#failure?.of
    return of === 'away' || of === 'slow' ? of : undefined
  }

  /** Refuses writes from now on; the first reason stays. */
  refuse(refusal: Refusal): void {
    this.#refusal ??= refusal
  }

  /** The shared log is not the one that this node follows; the refusal names how they differ. */
  leave(refusal: Refusal): Refusal {
    this.#isForked = true
    this.refuse(refusal)
    return refusal
  }

  /**
   * This node stays at its position. Further decisions of this release might violate rules of a newer one. A later call may name that
   * release.
   */
  standStill({ reason, needed }: BlockingEventError): Refusal {
    const refusal = {
      cause: reason,
      hint: `Start this node with ${needed}. It has lost nothing, and continues from its last event.`,
    }
    if (this.#refusal === this.#outdated) this.#refusal = refusal
    this.#outdated = refusal
    return refusal
  }

  fileFailed(error: unknown): void {
    this.#failure = { cause: causeOf(error), at: performance.now(), of: 'file' }
  }

  /** PostgreSQL did not answer, or gave a statement up. */
  serverFailed(of: keyof typeof causes): void {
    this.#failure = { cause: causes[of], at: performance.now(), of }
  }

  /** PostgreSQL refused a batch, for example because its disk is full. A while later another batch may try. */
  serverRefused(cause: string): void {
    this.#failure = { cause: `PostgreSQL refused a batch: ${cause}`, at: performance.now(), of: 'refused' }
  }

  /** A batch with events is in the log and in the file. */
  written(): void {
    this.#failure = undefined
  }

  /** The file took something. */
  fileWorks(): void {
    if (this.#failure?.of === 'file') this.#failure = undefined
  }

  /** PostgreSQL answered a look, or did not. */
  looked(isReachable: boolean): void {
    this.#isReachable = isReachable
    const failed = this.#failure
    if (!isReachable || !failed || failed.of === 'file') return
    if (this.absence || performance.now() - failed.at >= limits.logProbeIntervalMs) this.#failure = undefined
  }

  /** Whether it is time to try if the file accepts writes again; the next time is a while later. */
  mustProbe(): boolean {
    const failed = this.#failure
    if (failed?.of !== 'file' || performance.now() - failed.at < limits.logProbeIntervalMs) return false
    this.#failure = { ...failed, at: performance.now() }
    return true
  }

  /** The state of this node towards the shared log, and the reason if nothing can be written. */
  health(displaced: Refusal | undefined): { unwritable: string | undefined; state: SharedHealth['state'] } {
    const refusal = this.#refusal ?? displaced
    const cause = this.#failure?.cause ?? (this.#isReachable ? undefined : awayCause)
    return { unwritable: refusal?.cause ?? (cause && `the log could not be written: ${cause}`), state: this.#state }
  }

  get #state(): SharedHealth['state'] {
    if (this.#isForked) return 'other_log'
    if (this.#outdated) return 'outdated'
    return this.#isReachable ? 'following' : 'unreachable'
  }
}
