import type { Socket } from 'node:net'
import { inTime } from '../../../basics/concurrency/bounded-waits.js'
import { limits } from '../../../basics/limits.js'
import type { ErrorExplainer } from './explain.js'

/** How long to wait for a statement that may end soon: if it ends in time, the session can be kept. */
const settleMs = 50

/**
 * The common part of sessions over a socket: they may be lost at any time, they explain a driver's errors, and they end statements in
 * bounded time.
 */
export abstract class SocketSession {
  isLost = false

  constructor(
    private readonly socket: Socket,
    protected readonly explain: ErrorExplainer,
  ) {
    socket.once('close', () => (this.isLost = true))
  }

  /** Asks the database to end the statement that runs. */
  abstract cancel(): Promise<void>

  get received(): number {
    return this.socket.bytesRead
  }

  /** Ends the connection at once; the session cannot be used again. */
  destroy(): void {
    this.isLost = true
    this.socket.destroy()
  }

  /**
   * Waits until a statement has ended by itself, and cleans the session up. Returns whether the session can be used again. A statement that
   * still runs is cancelled; then the session is closed, because a late cancellation would hit the next statement.
   */
  protected async ended(settling: Promise<unknown>, clean: () => Promise<boolean>): Promise<boolean> {
    if (this.isLost) return false
    const settled = settling.then(() => true)
    if (!(await inTime(settled, settleMs, false))) {
      await this.cancel().catch(() => undefined)
      await inTime(settled, limits.connectionCancelWaitMs, false)
      return false
    }
    const cleaned = clean().then(
      (isClean) => isClean && !this.isLost,
      () => false,
    )
    return inTime(cleaned, limits.connectionCancelWaitMs, false)
  }

  /** The result of a call of the driver. @throws Problem with the meaning of the driver's error */
  protected async explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.explain(error)
    }
  }
}
