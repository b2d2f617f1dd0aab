import { stopping } from '../errors.js'
import { abortWith } from './bounded-waits.js'

/**
 * Work that must not end without its record. A stop aborts what is under way, and waits until each piece has ended.
 *
 * @example
 * const searches = new StoppableWork()
 * await searches.run(signal, (bounded) => search(query, bounded))
 * await searches.stop()
 */
export class StoppableWork {
  readonly #stop = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  /** Whether the stop has begun. */
  get isStopping(): boolean {
    return this.#stop.signal.aborted
  }

  /** Runs work under a signal that also aborts with the stop. @throws Problem 503 once the stop has begun */
  async run<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#stop.signal.aborted) throw stopping()
    const ends = new AbortController()
    const release = abortWith(ends, [signal, this.#stop.signal])
    const working = work(ends.signal)
    const running = working.catch(() => undefined)
    this.#running.add(running)
    try {
      return await working
    } finally {
      release()
      this.#running.delete(running)
    }
  }

  /** Aborts what is under way, and waits for its end. */
  async stop(): Promise<void> {
    this.#stop.abort(stopping())
    await Promise.all(this.#running)
  }
}
