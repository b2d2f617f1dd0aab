import { StatementRun } from './statement-run.js'

/** The number of sheets that keep their answers. */
const answersMax = 4

/** The last run of each sheet. The answers that were shown longest ago are dropped. */
export class Answers {
  readonly #bySheet = new Map<number, StatementRun>()

  /** The last run of a sheet; an empty one if the sheet is new or its answer was dropped. */
  of(sheet: number): StatementRun {
    const running = this.#bySheet.get(sheet) ?? new StatementRun()
    this.#bySheet.delete(sheet)
    this.#bySheet.set(sheet, running)
    for (const [oldest, given] of this.#bySheet) {
      if (this.#bySheet.size <= answersMax) break
      given.cancel()
      this.#bySheet.delete(oldest)
    }
    return running
  }

  cancelAll(): void {
    for (const running of this.#bySheet.values()) running.cancel()
  }
}
