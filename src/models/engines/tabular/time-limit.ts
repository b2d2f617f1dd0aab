/** The rounds after which a phase was stopped; phases that ended by themselves are absent. */
export type StoppedRounds = { folds?: number; interval?: number }

/** The share of the time after which the spread starts no further round: the rest is for fitting it to all rows. */
export const intervalShare = 0.8
/** The share of the time for the folds and the fits on all rows together. */
const boostingShare = 0.75

/**
 * The share of the time for the folds that leaves enough for the fits on all rows. Threads share the folds, each of which has most of the
 * rows; the members of a mean are fitted one after the other.
 *
 * @example foldsShare({ folds: 5, members: 1, threads: 2 }) // .51
 */
export const foldsShare = ({ folds, members, threads }: { folds: number; members: number; threads: number }): number => {
  const [inFolds, onAll] = [Math.ceil(folds / threads) * 0.8, members * 1.1]
  return (boostingShare * inFolds) / (inFolds + onAll)
}

/**
 * Stops the boosting phases of a training by the clock. To repeat a training, it stops them after the same rounds as before.
 *
 * @example new TimeLimit(30, undefined).goesOn('folds', 12, 0.5) // false when more than 15 s have passed
 */
export class TimeLimit {
  readonly stopped: StoppedRounds = {}

  /** `seconds` is the time limit, if any; with `before` the clock is ignored. */
  constructor(
    private readonly seconds: number | undefined,
    private readonly before: StoppedRounds | undefined,
    private readonly began = performance.now(),
  ) {}

  /** Whether a phase continues after a number of rounds: until a share of the time has passed. */
  goesOn(phase: keyof StoppedRounds, rounds: number, share: number): boolean {
    const isOver = this.before ? rounds >= (this.before[phase] ?? Infinity) : rounds > 0 && this.#hasPassed(share)
    if (isOver) this.stopped[phase] = rounds
    return !isOver
  }

  #hasPassed(share: number): boolean {
    return this.seconds !== undefined && performance.now() - this.began > this.seconds * 1000 * share
  }
}
