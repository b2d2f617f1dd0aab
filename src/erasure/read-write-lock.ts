/**
 * Runs shared work concurrently, and exclusive work alone: exclusive work waits for all work that began before it, and later work waits for
 * it.
 *
 * @example await Promise.all([rows.beside(report), rows.alone(erase), rows.beside(reportMore)])
 */
export class ReadWriteLock {
  readonly #underWay = new Set<Promise<unknown>>()
  /** Resolves when all exclusive work so far has ended. */
  #alone: Promise<unknown> = Promise.resolve()

  /** Runs shared work when the exclusive work before it has ended. @throws the error of the work */
  beside<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#alone.then(work)
    const over: Promise<void> = mine.then(
      () => this.#ended(over),
      () => this.#ended(over),
    )
    this.#underWay.add(over)
    return mine
  }

  /** Runs exclusive work when all work before it has ended. @throws the error of the work */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = Promise.all([this.#alone, ...this.#underWay]).then(work)
    this.#alone = mine.catch(() => undefined)
    return mine
  }

  #ended(work: Promise<void>): void {
    this.#underWay.delete(work)
  }
}
