import { limits } from '../../basics/limits.js'
import type { SharedWriteQueue } from './shared-write-queue.js'

/** Reads the head of the shared log from time to time. Notifications of PostgreSQL are quicker, but are lost with a connection. */
export class HeadPoll {
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(private readonly queue: Pick<SharedWriteQueue, 'poll'>) {
    this.#wait()
  }

  #wait(): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      // While PostgreSQL is away, there is nothing to follow, and the errors of writes give the reason.
      void this.queue
        .poll()
        .catch(() => undefined)
        .finally(() => this.#wait())
    }, limits.sharedPollIntervalMs)
    this.#timer.unref()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }
}
