/** After how many rounds a phase was stopped; a phase that came to its own end is not named. */
export type Stopped = { folds?: number; interval?: number }

/** What has passed of the time when the spread begins no further round: the rest is for fitting it to all rows. */
export const intervalShare = 0.8
/** What the folds and the fits on all rows may take together. */
const boostingShare = 0.75

/**
 * The share of the time that is left to the folds so that all rows can be learned from after them: threads share the folds, each
 * with most of the rows, and the members of a mean are fitted one after the other.
 *
 * @example foldsShare({ folds: 5, members: 1, threads: 2 }) // .51
 */
export const foldsShare = ({ folds, members, threads }: { folds: number; members: number; threads: number }): number => {
  const [inFolds, onAll] = [Math.ceil(folds / threads) * 0.8, members * 1.1]
  return (boostingShare * inFolds) / (inFolds + onAll)
}

/**
 * Stops the phases of a training that boosts, by the clock or, to train again as it was done, where they were stopped before.
 *
 * @example new TimeLimit(30, undefined).goesOn('folds', 12, 0.5) // false when more than 15 s have passed
 */
export class TimeLimit {
  readonly stopped: Stopped = {}

  /** `seconds` is the limit, if there is one; with `before` the clock takes no part. */
  constructor(
    private readonly seconds: number | undefined,
    private readonly before: Stopped | undefined,
    private readonly began = performance.now(),
  ) {}

  /** Whether a phase that has done so many rounds does another one, before a share of the time has passed. */
  goesOn(phase: keyof Stopped, rounds: number, share: number): boolean {
    const isOver = this.before ? rounds >= (this.before[phase] ?? Infinity) : rounds > 0 && this.#hasPassed(share)
    if (isOver) this.stopped[phase] = rounds
    return !isOver
  }

  #hasPassed(share: number): boolean {
    return this.seconds !== undefined && performance.now() - this.began > this.seconds * 1000 * share
  }
}
