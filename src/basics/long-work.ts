import { limits } from './limits.js'
import { LoopTurns } from './loop-turns.js'

/** The event loop is one for the whole process, and so is the order in which long work gets it. */
const turns = new LoopTurns()

/**
 * Work that is too long for one turn of the event loop: whoever does it pauses where it may, and gives others their turn once it
 * had its own for long enough. Of several that are under way, one works in each turn.
 *
 * @example const work = new LongWork(); for (const row of rows) { handle(row); await work.pause() }
 */
export class LongWork {
  #began

  /** `goesOn`: the turn has been used for other long work already, so the first pause gives it up. */
  constructor({ goesOn = false } = {}) {
    this.#began = goesOn ? -Infinity : performance.now()
  }

  /** Goes on at once while the turn is short, and in a later turn otherwise. */
  async pause(): Promise<void> {
    if (performance.now() - this.#began < limits.turnMaxMs) return
    await turns.take()
    this.#began = performance.now()
  }
}

/**
 * Does work that could pause without a pause.
 *
 * @example atOnce(readStatement(sql))
 */
export const atOnce = <T>(parts: Generator<void, T>): T => {
  for (let next = parts.next(); ; next = parts.next()) if (next.done) return next.value
}

/**
 * Does work that says itself where it may pause, some of it in each turn of the event loop. `goesOn`: as for `LongWork`.
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
