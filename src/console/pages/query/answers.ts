import { untracked } from '@preact/signals'
import { StatementRun } from './statement-run.js'

/** The number of sheets that keep their answers. */
const answersMax = 4

/** The last run of each sheet. The answers that were shown longest ago are dropped, but nothing that still runs. */
class Answers {
  readonly #bySheet = new Map<number, StatementRun>()

  /** The last run of a sheet; an empty one if the sheet is new or its answer was dropped. */
  of(sheet: number): StatementRun {
    const running = this.#bySheet.get(sheet) ?? new StatementRun()
    this.#bySheet.delete(sheet)
    this.#bySheet.set(sheet, running)
    for (const [oldest, given] of this.#bySheet) {
      if (this.#bySheet.size <= answersMax || oldest === sheet) break
      if (!untracked(() => given.isRunning)) this.#bySheet.delete(oldest)
    }
    return running
  }

  /** Cancels and drops the runs of all other sheets: those that were closed. */
  keepOnly(sheets: readonly number[]): void {
    for (const [sheet, running] of this.#bySheet) {
      if (sheets.includes(sheet)) continue
      running.cancel()
      this.#bySheet.delete(sheet)
    }
  }
}

/** The answers of this window. What runs goes on while another page is shown. */
export const answers = new Answers()
