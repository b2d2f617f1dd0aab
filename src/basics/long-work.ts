import { limits } from './limits.js'

/**
 * Lets long reads run in slices, one slice in each turn of the event loop, whichever read it belongs to. The loop is never blocked for
 * longer than a slice takes, however many reads run at once.
 *
 * @example for (;;) { await turns.take(); readOneSlice() }
 */
export class LoopTurns {
  readonly #waiting: (() => void)[] = []

  /** Resolves when it is the caller's turn, in the order of the calls. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#inNextTurn())
    })
  }

  /** An immediate runs at the end of the turn that set it. Only one that is set within it runs after timers and network. */
  #inNextTurn(): void {
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) this.#inNextTurn()
  }
}

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
