import type { Child } from './child.js'

/** A process that has said nothing yet is being loaded, which can take long on a busy machine: it may miss this many times as many pings. */
const whileLoading = 12

/**
 * Asks a process for signs of life. It counts the requests without an answer and not the time: a service that had no processor
 * itself has not asked meanwhile.
 */
export class Pulse {
  #askedAt = Number.NEGATIVE_INFINITY
  #unanswered = 0

  constructor(
    private readonly child: Pick<Child, 'heardAt' | 'ping'>,
    private readonly silentMaxPings: number,
  ) {}

  /** Whether too many requests in a row were not answered. */
  get isSilent(): boolean {
    const isLoading = this.child.heardAt === 0
    return this.#unanswered >= this.silentMaxPings * (isLoading ? whileLoading : 1)
  }

  /** How many requests in a row were not answered. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** Looks whether the last one was answered, and asks for the next. */
  beat(): void {
    this.#unanswered = this.child.heardAt < this.#askedAt ? this.#unanswered + 1 : 0
    this.#askedAt = performance.now()
    this.child.ping()
  }
}
