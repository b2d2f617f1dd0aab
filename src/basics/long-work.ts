import { limits } from './limits.js'
import { LoopTurns } from './loop-turns.js'

/** The whole process has one event loop, and so one order in which long work gets it. */
const turns = new LoopTurns()

/**
 * Work that is too long for one turn of the event loop. It pauses at suitable points, and yields once its turn has lasted long enough. When
 * several are under way, only one works in each turn.
 *
 * @example const work = new LongWork(); for (const row of rows) { handle(row); await work.pause() }
 */
export class LongWork {
  #began

  /** `goesOn`: this turn was already used for other long work, so the first pause yields. */
  constructor({ goesOn = false } = {}) {
    this.#began = goesOn ? -Infinity : performance.now()
  }

  /** Continues at once while the turn is short, and in a later turn otherwise. */
  async pause(): Promise<void> {
    if (performance.now() - this.#began < limits.turnMaxMs) return
    await turns.take()
    this.#began = performance.now()
  }
}

/**
 * Runs pausable work to its end without a pause.
 *
 * @example atOnce(readStatement(sql))
 */
export const atOnce = <T>(parts: Generator<void, T>): T => {
  for (let next = parts.next(); ; next = parts.next()) if (next.done) return next.value
}

/**
 * Runs work that yields where it may pause, a part of it in each turn of the event loop. `goesOn`: as for `LongWork`.
 *
 * @example await inTurns(readStatement(sql))
 */
export const inTurns = async <T>(parts: Generator<void, T>, { goesOn = false } = {}): Promise<T> => {
  const work = new LongWork({ goesOn })
  for (let next = parts.next(); ; next = parts.next()) {
    if (next.done) return next.value
    await work.pause()
  }
}
