/** The id that a client gives its request. */
export type RequestId = string | number

/**
 * Calls that are being answered, so that a later message can cancel one. Clients of the older protocol cancel by a message of its own,
 * which names the request; they are told apart by the session id that each got when it began. Nothing else is kept of a session.
 */
export class RunningCalls {
  readonly #running = new Map<string, AbortController>()

  /** Notes a call until it is over. The signal aborts when the client cancels it. */
  begin(session: string, id: RequestId): { signal: AbortSignal; end: () => void } {
    const key = keyOf(session, id)
    const cancelled = new AbortController()
    this.#running.set(key, cancelled)
    const end = () => {
      if (this.#running.get(key) === cancelled) this.#running.delete(key)
    }
    return { signal: cancelled.signal, end }
  }

  /** Cancels a call of a session, if it still runs. */
  cancel(session: string, id: RequestId): void {
    this.#running.get(keyOf(session, id))?.abort()
  }

  /** How many calls are being answered. */
  get count(): number {
    return this.#running.size
  }
}

/** The ids 1 and "1" are not the same. */
const keyOf = (session: string, id: RequestId): string => `${session} ${JSON.stringify(id)}`
