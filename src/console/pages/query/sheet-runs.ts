import { untracked } from '@preact/signals'
import { StatementRun } from './statement-run.js'

/** The number of sheets that keep their answers, and of statements that run at a time: a browser has six connections for all its windows. */
export const runsMax = 4

/** The last run of each sheet. The answers that were shown longest ago are dropped, but nothing that still runs. */
class SheetRuns {
  readonly #bySheet = new Map<number, StatementRun>()

  /** The last run of a sheet; an empty one if the sheet is new or its answer was dropped. */
  of(sheet: number): StatementRun {
    const running = this.#bySheet.get(sheet) ?? new StatementRun()
    this.#bySheet.delete(sheet)
    this.#bySheet.set(sheet, running)
    untracked(() => this.trim())
    return running
  }

  /** Drops the answers beyond the number that is kept; the sheet that was shown last keeps its own. */
  trim(): void {
    const shown = [...this.#bySheet.keys()].at(-1)
    for (const [oldest, given] of this.#bySheet) {
      if (this.#bySheet.size <= runsMax || oldest === shown) return
      if (!given.isRunning) this.#bySheet.delete(oldest)
    }
  }

  isRunning(sheet: number): boolean {
    return this.#bySheet.get(sheet)?.isRunning === true
  }

  /** Whether so many statements run that another one has to wait. */
  get isFull(): boolean {
    return [...this.#bySheet.values()].filter(({ isRunning }) => isRunning).length >= runsMax
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

/** The runs of this window. What runs goes on while another page is shown. */
export const sheetRuns = new SheetRuns()
