/** After how many rounds a phase was stopped; a phase that came to its own end is not named. */
export type Stopped = { folds?: number; interval?: number }

/** What has passed of the time when a phase begins no further round: the rest is for what comes after it. */
const shares = { folds: 0.5, interval: 0.8 } as const

/**
 * Stops the phases of a training that boosts, by the clock or, to train again as it was done, where they were stopped before.
 *
 * @example new TimeLimit(30, undefined).goesOn('folds', 12) // false when more than 15 s have passed
 */
export class TimeLimit {
  readonly stopped: Stopped = {}

  /** `seconds` is the limit, if there is one; with `before` the clock takes no part. */
  constructor(
    private readonly seconds: number | undefined,
    private readonly before: Stopped | undefined,
    private readonly began = performance.now(),
  ) {}

  /** Whether a phase that has done so many rounds does another one. */
  goesOn(phase: keyof Stopped, rounds: number): boolean {
    const isOver = this.before ? rounds >= (this.before[phase] ?? Infinity) : rounds > 0 && this.#hasPassed(phase)
    if (isOver) this.stopped[phase] = rounds
    return !isOver
  }

  #hasPassed(phase: keyof Stopped): boolean {
    return this.seconds !== undefined && performance.now() - this.began > this.seconds * 1000 * shares[phase]
  }
}
