import { StatementRun } from './statement-run.js'

/** How many sheets keep their answer. */
const answersMax = 4

/** What each sheet ran last. The answers of those that were shown longest ago are given up. */
export class Answers {
  readonly #bySheet = new Map<number, StatementRun>()

  /** What a sheet ran last; nothing yet, if it is new or was given up. */
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
