/** The id that a client gives to its request. */
export type RequestId = string | number

/**
 * The running calls, so that a later message can cancel one. Clients of the older protocol cancel with a separate message that names the
 * request. The session id, which each client gets at its beginning, tells them apart. The service keeps nothing else of a session.
 */
export class RunningCalls {
  readonly #running = new Map<string, AbortController>()

  /** Notes a call until it ends. The signal aborts when the client cancels it. */
  begin(session: string, id: RequestId): { signal: AbortSignal; end: () => void } {
    const key = keyOf(session, id)
    const cancelled = new AbortController()
    this.#running.set(key, cancelled)
    const end = () => {
      if (this.#running.get(key) === cancelled) this.#running.delete(key)
    }
    return { signal: cancelled.signal, end }
  }

  /** Cancels a call of a session if it still runs. */
  cancel(session: string, id: RequestId): void {
    this.#running.get(keyOf(session, id))?.abort()
  }

  /** The number of running calls. */
  get count(): number {
    return this.#running.size
  }
}

/** The ids 1 and "1" are different. */
const keyOf = (session: string, id: RequestId): string => `${session} ${JSON.stringify(id)}`
