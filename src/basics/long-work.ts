import { limits } from './limits.js'

/**
 * Lets long reads run in slices: each turn of the event loop runs one slice of one read. So many reads at once block the loop for no longer
 * than one slice takes.
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

  /** An immediate runs at the end of its turn. Only an immediate that another immediate sets runs after timers and network. */
  #inNextTurn(): void {
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) this.#inNextTurn()
  }
}

/** The process has one event loop, so all long work shares one order. */
const turns = new LoopTurns()

type LongWorkOptions = {
  /** Other long work has already used this turn, so the first pause yields. */
  goesOn?: boolean
  /** The order in which it gets its turns; by default that of all long work. */
  turns?: Pick<LoopTurns, 'take'>
  /** It also yields after so many parts: each part ends with a pause. */
  maxParts?: number
}

/**
 * Work that is too long for one turn of the event loop. It pauses at suitable points, and yields once its turn has lasted long enough. When
 * several are under way, only one works in each turn.
 *
 * @example const work = new LongWork(); for (const row of rows) { handle(row); await work.pause() }
 */
export class LongWork {
  #began
  #parts = 0
  readonly #turns
  readonly #maxParts

  constructor({ goesOn = false, turns: own = turns, maxParts = Infinity }: LongWorkOptions = {}) {
    this.#began = goesOn ? -Infinity : performance.now()
    this.#turns = own
    this.#maxParts = maxParts
  }

  /** Continues at once while the turn is short, and in a later turn otherwise. */
  async pause(): Promise<void> {
    this.#parts += 1
    if (this.#parts < this.#maxParts && performance.now() - this.#began < limits.turnMaxMs) return
    await this.#turns.take()
    this.#began = performance.now()
    this.#parts = 0
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
 * Runs work that yields at its possible pauses, one part in each turn of the event loop.
 *
 * @example await inTurns(readStatement(sql))
 */
export const inTurns = async <T>(parts: Generator<void, T>, options: LongWorkOptions = {}): Promise<T> => {
  const work = new LongWork(options)
  for (let next = parts.next(); ; next = parts.next()) {
    if (next.done) return next.value
    await work.pause()
  }
}
