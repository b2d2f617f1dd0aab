import type { SqlChildProcess } from './child-process.js'

/**
 * A process without any message so far is still loading, which can take long on a busy machine. It may miss this many times as many pings.
 */
const whileLoading = 12

/**
 * Sends pings to a process. It counts pings without an answer instead of time: if the service itself got no processor time, it sent no
 * pings meanwhile.
 */
export class Heartbeat {
  #askedAt = Number.NEGATIVE_INFINITY
  #unanswered = 0

  constructor(
    private readonly child: Pick<SqlChildProcess, 'heardAt' | 'ping'>,
    private readonly silentMaxPings: number,
  ) {}

  /** Whether too many pings in a row have no answer. */
  get isSilent(): boolean {
    const isLoading = this.child.heardAt === 0
    return this.#unanswered >= this.silentMaxPings * (isLoading ? whileLoading : 1)
  }

  /** The number of pings in a row without an answer. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** Checks whether the last ping has an answer, and sends the next one. */
  beat(): void {
    this.#unanswered = this.child.heardAt < this.#askedAt ? this.#unanswered + 1 : 0
    this.#askedAt = performance.now()
    this.child.ping()
  }
}
