import { limits } from './limits.js'

/** Milliseconds by two clocks of a process. One clock goes on while the process is stopped, the other while the machine sleeps. */
export type Clocks = { monotonic: () => number; wall: () => number }

const ownClocks: Clocks = { monotonic: () => performance.now(), wall: () => Date.now() }

/**
 * Notices that this process was halted, by SIGSTOP or by a sleep or pause of the machine: one of the clocks shows a time in which its timer
 * did not run and nobody asked. A wall clock that is set forward looks the same.
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
