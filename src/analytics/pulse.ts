import type { Child } from './child.js'

/** A process that has said nothing yet is being loaded, which takes a busy machine longer than an answer: it is asked so many times as often. */
const whileLoading = 12

/**
 * Asks a process for signs of life. What counts is how many of them were asked for in vain, and not the time: where the
 * service itself had no processor meanwhile, it has not asked either.
 */
export class Pulse {
  #askedAt = Number.NEGATIVE_INFINITY
  #unanswered = 0

  constructor(
    private readonly child: Pick<Child, 'heardAt' | 'ping'>,
    private readonly silentMaxPings: number,
  ) {}

  /** Whether as many as may be were not answered. */
  get isSilent(): boolean {
    const isLoading = this.child.heardAt === 0
    return this.#unanswered >= this.silentMaxPings * (isLoading ? whileLoading : 1)
  }

  /** Looks whether the last one was answered, and asks for the next. */
  beat(): void {
    this.#unanswered = this.child.heardAt < this.#askedAt ? this.#unanswered + 1 : 0
    this.#askedAt = performance.now()
    this.child.ping()
  }
}
