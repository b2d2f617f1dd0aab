import { rowsInside, rowsOutside } from '../../../data/folds.js'
import { Booster } from './booster.js'
import { areOver, changesOf, giveFold, takeFold, waitForChange, type FoldRuns } from './fold-runs.js'
import { Grower } from './grower.js'
import { lossOf } from './loss.js'

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
