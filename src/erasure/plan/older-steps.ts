import { parseEnvelope, type Envelope } from '../../../events/stored/envelope.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import type { Log } from '../../log/contract/log.js'
import { eventAt, eventsWith } from '../../log/read/slices.js'
import type { PlannedPayload, PlanPart } from './plan.js'

/** The positions of the data that an erasure by age takes: those after `from`, up to which an earlier one took all, up to `bound`. */
export type OlderRange = { from: number; bound: number }

/** How far an erasure by age has come: the position up to which the log is read, and up to which later answers have lost their turns. */
export type OlderPlace = { at: number; cut: number }

/** What one step takes, and the place that it reaches. `isLast` says that nothing is left. */
export type OlderStep = PlanPart & { to: OlderPlace; isLast: boolean }

/**
 * Plans one step of an erasure by age, from one place up to another: as much as its bounds allow, or all of the rest. The same step may be
 * planned again. The first step begins at `from`, and each next one where the one before ended.
 */
export type OlderPlan = (begin: OlderPlace, until: OlderPlace, isRest?: boolean) => Promise<OlderStep>

/** The bounds of one step: payloads that it takes or finds taken, and positions of the log that it looks at in the range. */
export type StepBounds = { payloads: number; positions: number }

export const stepBounds: StepBounds = { payloads: 10_000, positions: 100_000 }

/** The growing part of a plan that one step makes. Without bounds it is never full. */
export class StepPart implements PlanPart {
  readonly payloads: PlannedPayload[] = []
  already = 0
  readonly #bounds: StepBounds | undefined
  #counted = 0
  #bytes = 0

  constructor(bounds: StepBounds | undefined) {
    this.#bounds = bounds
  }

  /** Whether it has so many payloads, or so much data that stays of them, that the step has to end. */
  get isFull(): boolean {
    if (!this.#bounds) return false
    for (; this.#counted < this.payloads.length; this.#counted++) this.#bytes += this.payloads[this.#counted]?.stays?.length ?? 0
    return this.payloads.length + this.already >= this.#bounds.payloads || this.#bytes >= limits.erasedMaxBytesPerEvent
  }

  /** The last position that a step may look at which begins at a position. */
  end(at: number, last: number): number {
    return Math.min(last, at + (this.#bounds?.positions ?? Infinity))
  }

  /** The step that ends at a place. */
  reached(to: OlderPlace, isLast = false): OlderStep {
    const { payloads, already } = this
    return { payloads, already, to, isLast }
  }
}

/** The positions that a later event may be about. */
type About = { low: number; high: number }

/**
 * The later events that may be about data which an erasure by age takes. Each event is looked at once by a process, although each erasure
 * needs all of them that were recorded since the time up to which it erases.
 *
 * @example for await (const event of later.about(log, { from: 7, bound: 19 }, 19, head)) …
 */
export class LaterEvents {
  #begin = 0
  #looked = 0
  #noted: (About & { position: number })[] = []

  /** `aboutOf` gives the positions that an event with a wanted text is about. */
  constructor(
    private readonly wanted: (text: string) => boolean,
    private readonly aboutOf: (event: Envelope) => About | undefined,
  ) {}

  /** The events after a position up to another that may be about a range. The range ends before them. */
  async *about(log: Pick<Log, 'readAll'>, { from, bound }: OlderRange, after: number, upTo: number): AsyncGenerator<Envelope, void, void> {
    await this.#look(log, bound, upTo)
    const work = new LongWork()
    for (const { position, low, high } of this.#noted) {
      if (position <= after || position > upTo || high <= from || low > bound) continue
      await work.pause()
      const stored = await eventAt(log, position)
      if (stored) yield parseEnvelope(stored.text)
    }
  }

  async #look(log: Pick<Log, 'readAll'>, bound: number, upTo: number): Promise<void> {
    if (bound < this.#begin) {
      this.#noted = []
      this.#looked = bound
    }
    this.#noted = this.#noted.filter(({ position }) => position > bound)
    this.#begin = bound
    this.#looked = Math.max(this.#looked, bound)
    for await (const event of eventsWith(log, this.#looked, this.wanted, upTo)) {
      const about = this.aboutOf(event)
      if (about) this.#noted.push({ position: event.position, ...about })
      this.#looked = event.position
    }
    this.#looked = Math.max(this.#looked, upTo)
  }
}
