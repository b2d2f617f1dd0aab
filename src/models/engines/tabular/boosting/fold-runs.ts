import { rowsInside, rowsOutside, type Folds } from '../../../data/folds.js'
import { sharedDoubles, sharedIntegers } from '../../../numerics/thread-memory.js'
import type { BinnedTable } from './bins.js'
import { beginRun, Booster, type RunState } from './booster.js'
import { Grower, type GrowthRules } from './grower.js'
import { lossOf } from './loss.js'

/**
 * The runs of all folds; any number of threads work on them together. Each fold's rounds depend only on its own state, not on which thread
 * runs them or when. After each round, a fold writes the scores of its held-out rows into one of its `slots`, and waits while the round in
 * that slot has not been collected yet.
 */
export type FoldRuns = {
  table: BinnedTable
  labels: Float64Array
  classes: number
  folds: Folds
  rules: GrowthRules
  most: number
  states: readonly RunState[]
  /** By fold; within a fold by slot, output and held-out row. */
  heldOut: readonly Float64Array[]
  /** By fold and slot: the summed loss over the held-out rows. */
  losses: Float64Array
  /** First the numbers of `places`, then the finished rounds of each fold, then for each fold whether a thread works on it. */
  control: Int32Array
}

/** The most rounds that a fold may be ahead of the last collected one. */
const slots = 4
const places = { lock: 0, changes: 1, taken: 2, over: 3, failed: 4, folds: 5 } as const
const longestWaitMs = 50

/** Prepares all folds for their first round; their scores at round 0 can be collected at once. */
export const prepareRuns = (
  { table, labels, seed }: { table: BinnedTable; labels: Float64Array; seed: number },
  { classes, folds, rules, most }: Pick<FoldRuns, 'classes' | 'folds' | 'rules' | 'most'>,
): FoldRuns => {
  const loss = lossOf(classes)
  const losses = sharedDoubles(folds.count * slots)
  const heldOut: Float64Array[] = []
  const states = Array.from({ length: folds.count }, (_, fold) => {
    const { start, state } = beginRun(labels, loss, rowsOutside(folds, fold), seed, 100 + fold)
    const rows = rowsInside(folds, fold)
    const scores = sharedDoubles(slots * loss.outputs * rows.length)
    start.forEach((score, output) => scores.fill(score, output * rows.length, (output + 1) * rows.length))
    heldOut.push(scores)
    losses[fold * slots] = loss.sum(state.scores, labels, rows)
    return state
  })
  const control = sharedIntegers(places.folds + 2 * folds.count)
  return { table, labels, classes, folds, rules, most, states, heldOut, losses, control }
}

/** Claims the fold with the fewest finished rounds; -1 when every fold is claimed, or has no free slot or no rounds left. */
const takeFold = ({ control, folds, most }: FoldRuns): number =>
  locked(control, () => {
    const limit = Math.min(most, control[places.taken]! + slots - 1)
    let found = -1
    for (let fold = 0; fold < folds.count; fold++) {
      const done = control[places.folds + fold]!
      if (control[places.folds + folds.count + fold] !== 0 || done >= limit) continue
      if (found < 0 || done < control[places.folds + found]!) found = fold
    }
    if (found >= 0) control[places.folds + folds.count + found] = 1
    return found
  })

/** Stores one more round of a claimed fold, and releases the fold. */
const giveFold = ({ control, folds, heldOut, losses, states, table }: FoldRuns, fold: number, rows: Int32Array, loss: number) => {
  const { scores } = states[fold]!
  const into = heldOut[fold]!
  const round = control[places.folds + fold]! + 1
  const slot = round % slots
  let at = (slot * into.length) / slots
  for (let base = 0; base < scores.length; base += table.rows) for (const row of rows) into[at++] = scores[base + row]!
  losses[fold * slots + slot] = loss
  locked(control, () => {
    Atomics.store(control, places.folds + fold, round)
    control[places.folds + folds.count + fold] = 0
  })
  wake(control)
}

/** Whether all folds have finished a round. @throws Error if another thread failed */
export const haveDone = ({ control, folds }: FoldRuns, round: number): boolean => {
  if (Atomics.load(control, places.failed) !== 0) throw new Error('a thread of the training failed')
  for (let fold = 0; fold < folds.count; fold++) if (Atomics.load(control, places.folds + fold) < round) return false
  return true
}

/** The loss on held-out rows after a round, summed over the folds in their order. */
export const lossAfter = ({ losses, folds }: FoldRuns, round: number): number => {
  let sum = 0
  for (let fold = 0; fold < folds.count; fold++) sum += losses[fold * slots + (round % slots)]!
  return sum
}

/** Copies the scores of every row after a round, from the run that did not learn from the row. `held` has each fold's held-out rows. */
export const collectScores = ({ heldOut, table }: FoldRuns, round: number, held: readonly Int32Array[], into: Float64Array): void => {
  held.forEach((rows, fold) => {
    const from = heldOut[fold]!
    let at = ((round % slots) * from.length) / slots
    for (let base = 0; base < into.length; base += table.rows) for (const row of rows) into[base + row] = from[at++]!
  })
}

/** Frees the slot of a collected round for a later one. */
export const giveRound = ({ control }: FoldRuns, round: number): void => {
  Atomics.store(control, places.taken, round)
  wake(control)
}

/** Whether the threads must stop working on folds. */
export const areOver = ({ control }: FoldRuns): boolean => Atomics.load(control, places.over) !== 0

/** Stops the work of all threads. */
export const endRuns = ({ control }: FoldRuns, how: 'over' | 'failed' = 'over'): void => {
  Atomics.store(control, places[how], 1)
  Atomics.store(control, places.over, 1)
  wake(control)
}

/** The number of changes so far, for `waitForChange`. */
export const changesOf = ({ control }: FoldRuns): number => Atomics.load(control, places.changes)

/** Waits, for a short time at most, until something has changed since `seen`. */
export const waitForChange = ({ control }: FoldRuns, seen: number): void => {
  Atomics.wait(control, places.changes, seen, longestWaitMs)
}

const wake = (control: Int32Array): void => {
  Atomics.add(control, places.changes, 1)
  Atomics.notify(control, places.changes)
}

/** Runs steps under the lock. */
const locked = <Result>(control: Int32Array, steps: () => Result): Result => {
  while (Atomics.compareExchange(control, places.lock, 0, 1) !== 0) Atomics.wait(control, places.lock, 1, longestWaitMs)
  const result = steps()
  Atomics.store(control, places.lock, 0)
  Atomics.notify(control, places.lock, 1)
  return result
}

/** One thread that works on the folds. It has its own scratch memory, and takes the next available fold. */
export class FoldWorker {
  private readonly grower: Grower
  private readonly boosters = new Map<number, Booster>()

  constructor(private readonly runs: FoldRuns) {
    this.grower = new Grower(runs.table, runs.rules)
  }

  /** Runs one round of the available fold with the fewest rounds; false if none is available at the moment. */
  advance(): boolean {
    const fold = takeFold(this.runs)
    if (fold < 0) return false
    const booster = this.boosterOf(fold)
    booster.round()
    giveFold(this.runs, fold, booster.heldOut, booster.heldOutLoss())
    return true
  }

  /** Works until the runs are over. */
  work(): void {
    while (!areOver(this.runs)) {
      const seen = changesOf(this.runs)
      if (!this.advance()) waitForChange(this.runs, seen)
    }
  }

  private boosterOf(fold: number): Booster {
    const known = this.boosters.get(fold)
    if (known) return known
    const { table, labels, classes, folds, states } = this.runs
    const rows = { learned: rowsOutside(folds, fold), heldOut: rowsInside(folds, fold) }
    const booster = new Booster(table, this.grower, lossOf(classes), labels, rows, states[fold]!)
    this.boosters.set(fold, booster)
    return booster
  }
}
