import { limits } from './limits.js'

/** Milliseconds by the clocks of a process. A process that is stopped keeps one of them going, a machine that sleeps the other. */
export type Clocks = { monotonic: () => number; wall: () => number }

const ownClocks: Clocks = { monotonic: () => performance.now(), wall: () => Date.now() }

/**
 * Notices that this process was halted, by SIGSTOP or by a sleep or pause of the machine: by one of the clocks, neither its timer ran nor
 * did anybody ask for a while. A wall clock that is set forward looks the same.
 *
 * @example const halts = new Halts(); const before = halts.count; await ask(); if (halts.count !== before) … // it may be old
 */
export class Halts {
  #last
  #count = 0
  readonly #timer

  constructor(private readonly clocks: Clocks = ownClocks) {
    this.#last = this.#now()
    this.#timer = setInterval(() => this.count, limits.sharedPollIntervalMs).unref()
  }

  #now(): { monotonic: number; wall: number } {
    return { monotonic: this.clocks.monotonic(), wall: this.clocks.wall() }
  }

  /** How often this process was halted. */
  get count(): number {
    const now = this.#now()
    const gap = Math.max(now.monotonic - this.#last.monotonic, now.wall - this.#last.wall)
    if (gap >= limits.sharedHaltMs) this.#count++
    this.#last = now
    return this.#count
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
