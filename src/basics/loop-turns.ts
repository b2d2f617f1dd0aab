/**
 * Lets long reading be done in slices, one in each turn of the event loop, whoever they are for: the loop is never held for
 * longer than a slice takes, however many read at once.
 *
 * @example for (;;) { await turns.take(); readOneSlice() }
 */
export class LoopTurns {
  readonly #waiting: (() => void)[] = []

  /** Resolves when it is the caller's turn, in the order of asking. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#inNextTurn())
    })
  }

  /** An immediate comes at the end of the turn that asked for it, so that only the one that it asks for comes after timers and network. */
  #inNextTurn(): void {
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) this.#inNextTurn()
  }
}
