import type { DatabaseSession } from '../engines/contract/engine.js'

/** The bytes that one session has sent and that are not passed on yet. */
export type SessionBytes = {
  /** Whether all sessions together hold too much, and no session holds more than this one. */
  readonly isTooMuch: boolean
  /** Notes that all bytes received so far have been passed on. */
  taken: (received: number) => void
  end: () => void
}

/**
 * The bytes that all sessions hold together. Each may hold the step of an answer; many large steps at once would take all memory of the
 * process. Then the session with the largest step ends.
 *
 * @example
 * const holding = held.hold(session)
 * if (holding.isTooMuch) session.destroy()
 */
export class HeldBytes {
  readonly #all = new Map<SessionBytes, () => number>()

  constructor(private readonly most: number) {}

  hold(session: DatabaseSession): SessionBytes {
    let from = session.received
    // The rest of what a closed session has sent is dropped.
    const bytes = (): number => (session.isLost ? 0 : session.received - from)
    const isTooMuch = (): boolean => this.#total > this.most && bytes() === Math.max(...[...this.#all.values()].map((each) => each()))
    const holding: SessionBytes = {
      get isTooMuch() {
        return isTooMuch()
      },
      taken: (received) => (from = received),
      end: () => void this.#all.delete(holding),
    }
    this.#all.set(holding, bytes)
    return holding
  }

  get #total(): number {
    return [...this.#all.values()].reduce((sum, each) => sum + each(), 0)
  }
}
