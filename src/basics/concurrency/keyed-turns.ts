/**
 * Runs tasks with the same key one after the other, in the order in which they were added.
 *
 * @example
 * const turns = new KeyedTurns()
 * await turns.take('homes', () => replaceHomes()) // starts when the earlier ones have ended, even after an error
 */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs the work after all earlier work with this key, and returns its result. @throws the error of the work */
  async take<T>(wanted: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(wanted)
    const mine = (async () => {
      await before?.catch(() => undefined)
      return work()
    })()
    this.#last.set(wanted, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(wanted) === mine) this.#last.delete(wanted)
    }
  }
}
