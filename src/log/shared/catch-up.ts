import { unlessAborted } from '../../basics/concurrency/bounded-waits.js'
import type { Halts } from '../../basics/halts.js'
import { limits } from '../../basics/limits.js'
import { BlockingEventError } from '../sqlite/blocking-event-error.js'
import { behind, unheard } from './problems.js'
import type { CommitChanges, Replica } from './replica.js'
import { isSamePlace, type Delta } from './postgres/rows.js'
import type { Sequencer } from './sequencer.js'
import { UnreachableError } from './postgres/shared-log-session.js'

type Options = {
  replica: Replica
  sequencer: Sequencer
  halts: Pick<Halts, 'count'>
  /** Called when there is something to add. It has to call `catchUp` when nothing else writes to the file. */
  onNews: () => void
  onTaken: (committed: CommitChanges, delta: Delta) => void
}

/** A caller that waits until this node has a batch. */
type Waiter = { seq: number; resolve: () => void }

/**
 * The lag of this node behind the shared log: the batches that it knows of, those that it adds to its file, and the callers that wait for
 * them.
 */
export class CatchUp {
  /** The newest batch that this node heard of. */
  #heard = 0
  /** The newest event that this node heard of. */
  #heardPosition = 0
  /** Catching up failed. It is tried again when something new is heard of, or at the next poll. */
  #hasFailed = false
  readonly #waiters = new Set<Waiter>()
  #looking: Promise<number> | undefined
  #lookingNext: Promise<number> | undefined
  /** The number of halts of this process when this node last had the newest batch. */
  #madeUpFor = 0

  constructor(private readonly options: Options) {}

  get #seq(): number {
    return this.options.replica.place.seq
  }

  /** How many batches this node is behind the newest it heard of, and how many events. */
  get lag(): { batches: number; events: number } {
    const { seq, position } = this.options.replica.place
    return { batches: Math.max(0, this.#heard - seq), events: Math.max(0, this.#heardPosition - position) }
  }

  /** Whether there is something to add, as far as is known. */
  get isBehind(): boolean {
    return !this.#hasFailed && this.#heard > this.#seq
  }

  /** The shared log has a batch that the file does not have. */
  missed(seq: number): void {
    this.#heard = Math.max(this.#heard, seq)
  }

  /** Another node may have written. */
  hear(seq: number): void {
    this.missed(seq)
    this.#hasFailed = false
    if (this.isBehind) this.options.onNews()
  }

  failed(): void {
    this.#hasFailed = true
  }

  /** Reads the head of the shared log, and notes it. @throws UnreachableError */
  async look(): Promise<void> {
    this.hear(await this.#target())
  }

  /**
   * The batch that this node has to follow up to. If the log has fewer events than this node, or other events, another copy has replaced
   * it: catching up beyond this node's own batch finds that out.
   */
  async #target(): Promise<number> {
    const before = this.#seq
    const head = await this.options.sequencer.look()
    this.#heardPosition = head.position
    const { place } = this.options.replica
    const isOther = head.seq < before || (head.seq === place.seq && !isSamePlace(head, place))
    return isOther ? place.seq + 1 : head.seq
  }

  /** Whether this process was halted and has not caught up since. Its data may be old, and may be erased elsewhere. */
  get isStale(): boolean {
    return this.options.halts.count !== this.#madeUpFor
  }

  /**
   * Resolves when this node has everything that any node acknowledged before the call. A look that began before a halt of this process does
   * not count after it.
   * @throws Problem 503 when that takes too long, or cannot be found out
   */
  async newest(): Promise<void> {
    const { halts } = this.options
    const late = AbortSignal.timeout(limits.sharedReadPatienceMs)
    try {
      for (;;) {
        const before = halts.count
        const seq = await unlessAborted(this.#lookOnce(), late)
        if (this.#seq < seq) await unlessAborted(this.#arrival(seq, late), late)
        if (halts.count !== before) continue
        this.#madeUpFor = before
        return
      }
    } catch (error) {
      throw error instanceof UnreachableError ? unheard() : behind()
    }
  }

  /** Callers that ask at the same time share a look. A look that is already under way may have begun too early for them. */
  #lookOnce(): Promise<number> {
    if (!this.#looking) return (this.#looking = this.#target().finally(() => (this.#looking = undefined)))
    const next = () => {
      this.#lookingNext = undefined
      return this.#lookOnce()
    }
    return (this.#lookingNext ??= this.#looking.then(next, next))
  }

  #arrival(seq: number, late: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiter = { seq, resolve }
      this.#waiters.add(waiter)
      late.addEventListener('abort', () => this.#waiters.delete(waiter), { once: true })
      this.hear(seq)
    })
  }

  /** The file has new batches: tells the callers that waited for them. */
  arrived(): void {
    for (const waiter of this.#waiters)
      if (waiter.seq <= this.#seq) {
        this.#waiters.delete(waiter)
        waiter.resolve()
      }
  }

  /**
   * Adds the batches of others, in parts, until nothing is left, or until `goOn` returns false between two parts. Returns whether nothing
   * is left. Nothing else may write to the file meanwhile.
   * @throws UnreachableError, ForkError; BlockingEventError once all batches before that event are added; RangeError when the batches of
   * others do not follow from the file; errors of the storage
   */
  async catchUp(goOn: () => boolean = () => true): Promise<boolean> {
    for (;;) {
      // A file that failed is opened first: its place may be another than the last one known.
      this.options.replica.open()
      const heard = this.#heard
      const delta = await this.options.sequencer.after(this.options.replica.place, goOn)
      await this.#takeKnown(delta)
      const isAll = delta.to.seq >= delta.newest
      if (!isAll) this.missed(delta.newest)
      // A notification that arrived meanwhile may be newer than this answer.
      else if (this.#heard === heard) this.#heard = delta.newest
      if (isAll || !goOn()) return isAll
    }
  }

  /** Adds a part, or the batches before the first event that this release cannot apply. @throws BlockingEventError then */
  async #takeKnown(delta: Delta): Promise<void> {
    try {
      await this.take(delta)
    } catch (error) {
      const before =
        error instanceof BlockingEventError && (await this.options.sequencer.before(error.position, this.options.replica.place))
      if (before) await this.take(before)
      throw error
    }
  }

  /** Adds a part of the batches of others. @throws RangeError when it does not follow from the file */
  async take(delta: Delta): Promise<void> {
    if (delta.to.seq <= this.#seq) return
    const committed = await this.options.replica.take(delta)
    this.arrived()
    this.options.onTaken(committed, delta)
  }
}
