import { Problem } from '../../basics/errors.js'
import { unlessAborted } from '../../basics/concurrency/bounded-waits.js'
import { limits } from '../../basics/limits.js'
import type { DatabaseSession } from '../engines/contract/engine.js'

type Waiter = { give: (session: DatabaseSession) => void; refuse: (reason: Error) => void; connect: () => void }

const busy = (detail: string): Problem =>
  new Problem('busy', 'The database is busy', detail, {
    retryAfterSeconds: 1,
    hint: 'Other statements of this service use all its connections.',
  })

/**
 * The sessions of one connection. Their number is limited, and idle ones are closed after a while. A caller that finds no session waits
 * in a queue.
 *
 * @example
 * const session = await pool.acquire(signal)
 * pool.release(session, isClean)
 */
export class Pool {
  readonly #idle = new Map<DatabaseSession, NodeJS.Timeout>()
  readonly #waiting = new Set<Waiter>()
  #open = 0
  #isClosed = false
  /** The time of the last request for a session. */
  usedAt = performance.now()

  constructor(
    private readonly connect: () => Promise<DatabaseSession>,
    private readonly maxSessions: number = limits.connectionPoolMaxConnections,
  ) {}

  /** Whether no session is used, and no caller waits for one. */
  get isIdle(): boolean {
    return this.#open === this.#idle.size
  }

  /** Whether the next caller would have to wait. */
  get isFull(): boolean {
    return this.#idle.size === 0 && this.#open >= this.maxSessions
  }

  /** @throws Problem busy when too many wait, or no session becomes free in time; and the errors of connecting */
  async acquire(signal: AbortSignal): Promise<DatabaseSession> {
    this.usedAt = performance.now()
    const kept = this.#takeIdle()
    if (kept) return kept
    if (this.#open < this.maxSessions) return this.#connect(signal)
    if (this.#waiting.size >= limits.connectionQueueMaxRequests)
      throw busy(`${this.#waiting.size} statements wait for it already (connectionQueueMaxRequests)`)
    return this.#wait(signal)
  }

  /** Takes a session back, and closes it if it is not clean. */
  release(session: DatabaseSession, isClean: boolean): void {
    const [waiting] = this.#waiting
    if (!isClean || session.isLost || this.#isClosed) {
      session.destroy()
      this.#open -= 1
      waiting?.connect()
      return
    }
    if (waiting) {
      waiting.give(session)
      return
    }
    const timer = setTimeout(() => {
      this.#idle.delete(session)
      this.#open -= 1
      session.destroy()
    }, limits.connectionIdleMaxMs)
    this.#idle.set(session, timer.unref())
  }

  /** Closes the idle sessions, and those that come back later. */
  close(): void {
    this.#isClosed = true
    while (this.#takeIdle(true));
  }

  #takeIdle(closes = false): DatabaseSession | undefined {
    for (const [session, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(session)
      if (!closes && !session.isLost) return session
      this.#open -= 1
      session.destroy()
    }
    return undefined
  }

  /** Opens a session. If its caller no longer waits when it is open, the next caller gets it. */
  async #connect(signal: AbortSignal): Promise<DatabaseSession> {
    this.#open += 1
    const opening = this.connect().catch((error: unknown) => {
      this.#open -= 1
      // The next caller tries for itself whether it can connect.
      const [waiting] = this.#waiting
      waiting?.connect()
      throw error
    })
    try {
      return await unlessAborted(opening, signal)
    } catch (error) {
      void opening.then(
        (session) => this.release(session, true),
        () => undefined,
      )
      throw error
    }
  }

  #wait(signal: AbortSignal): Promise<DatabaseSession> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        this.#waiting.delete(waiting)
      }
      const settle = (tell: () => void) => () => {
        leave()
        tell()
      }
      const waiting: Waiter = {
        give: (session) => settle(() => resolve(session))(),
        refuse: (reason) => settle(() => reject(reason))(),
        connect: settle(() => void this.#connect(signal).then(resolve, reject)),
      }
      const timer = setTimeout(
        () => waiting.refuse(busy(`No connection to it became free within ${limits.connectionQueueWaitMs} ms (connectionQueueWaitMs)`)),
        limits.connectionQueueWaitMs,
      )
      const stop = () => waiting.refuse(signal.reason as Error)
      if (signal.aborted) {
        stop()
        return
      }
      signal.addEventListener('abort', stop, { once: true })
      this.#waiting.add(waiting)
    })
  }
}
