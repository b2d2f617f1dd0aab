import type { QueuedWork } from '../sqlite/write-queue.js'
import { away, behind, slow } from './problems.js'
import type { NodeStatus } from './node-status.js'

/** The reason why other work waits: a batch at PostgreSQL, or a node that catches up. */
type Step = { kind: 'batch' | 'catching up'; since: number }

const refusals = { away, slow, batch: slow, 'catching up': behind }

/**
 * Refuses work that waits too long behind a batch that PostgreSQL does not answer, or behind a node that catches up. A queue that moves on
 * is not affected, even if it is long.
 *
 * @example const timeout = new WriteTimeout(waiting, status, 3_000); await timeout.during('batch', () => send())
 */
export class WriteTimeout {
  #step: Step | undefined
  readonly #timer

  constructor(
    private readonly waiting: QueuedWork[],
    private readonly status: Pick<NodeStatus, 'absence'>,
    private readonly patienceMs: number,
  ) {
    this.#timer = setInterval(() => this.#refuseLate(), patienceMs / 10).unref()
  }

  /** Runs a step and watches its time. @throws the error of the work */
  async during<T>(kind: Step['kind'], work: () => Promise<T>): Promise<T> {
    this.#step = { kind, since: performance.now() }
    try {
      return await work()
    } finally {
      this.#step = undefined
    }
  }

  #refuseLate(): void {
    if (!this.#step) return
    const { absence } = this.status
    const late = performance.now() - (absence ? 0 : this.patienceMs)
    if (this.#step.since > late) return
    const problem = refusals[absence ?? this.#step.kind]
    while (this.waiting[0] && this.waiting[0].since <= late) this.waiting.shift()?.reject(problem())
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
