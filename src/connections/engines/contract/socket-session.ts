import type { Socket } from 'node:net'
import type { ErrorExplainer } from './explain.js'

/** The common part of sessions over a socket: they may be lost at any time, and they explain a driver's errors. */
export abstract class SocketSession {
  isLost = false

  constructor(
    private readonly socket: Socket,
    protected readonly explain: ErrorExplainer,
  ) {
    socket.once('close', () => (this.isLost = true))
  }

  get received(): number {
    return this.socket.bytesRead
  }

  /** Ends the connection at once; the session cannot be used again. */
  destroy(): void {
    this.isLost = true
    this.socket.destroy()
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
