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
