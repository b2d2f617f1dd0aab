import { isReachable, lookNow, noteHeard, noteWatched, setAway } from './away.js'

/** How long a silent request is waited for, in ms. */
export type Patience = {
  /** After this silence the page looks whether the service is there, and again after the same time. */
  lookAfterMs: number
  /** The silence after which a request ends if the service is not there. */
  whenAwayMs: number
  /** The silence after which a request ends although the service is there, or nobody knows whether it is. */
  longestMs: number
}

/** A request for data ends as soon as the service is away: it is sent again when the service is back. */
export const ofReading: Patience = { lookAfterMs: 10_000, whenAwayMs: 0, longestMs: 120_000 }
/** A query may wait for long in the queue of the service, and run for long before its first row. The service itself ends it. */
export const ofQuery: Patience = { ...ofReading, longestMs: Infinity }
/** An answer to a write says whether it was done, so it is waited for longer. */
export const ofWriting: Patience = { lookAfterMs: 10_000, whenAwayMs: 30_000, longestMs: 15 * 60_000 }
/** A statement that its user can cancel is waited for as long as the user waits. */
export const ofStatement: Patience = { lookAfterMs: 20_000, whenAwayMs: Infinity, longestMs: Infinity }
/** A stream has a heartbeat every 15 seconds. */
export const ofStream: Patience = { lookAfterMs: 20_000, whenAwayMs: 0, longestMs: 60_000 }

/**
 * Watches one request, because a connection whose other end is gone may stay open for minutes without a word. After a silence the page looks
 * whether the service is there. If it is not, the frame of the page says so, and the request ends. Each watch must be ended.
 *
 * @example const silence = new SilenceTimer(ofReading); await fetch(url, { signal: silence.signal }).finally(() => silence.end())
 */
export class SilenceTimer {
  readonly #ending = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The time of the last sign of life, in ms. */
  #heardAt = 0

  constructor(private readonly patience: Patience) {
    this.begin()
  }

  /** Aborted when the request is not waited for any more. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Whether the silence ended the request. */
  get isSilent(): boolean {
    return this.#ending.signal.aborted
  }

  /** Says that something of the answer came. */
  heard(): void {
    noteHeard()
    this.begin()
  }

  /** Begins the watch again: the silence is that from now on. */
  begin(): void {
    noteWatched(this, true)
    this.#heardAt = performance.now()
    this.#lookLater()
  }

  /** Ends the watch. */
  end(): void {
    noteWatched(this, false)
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #lookLater(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#look(), this.patience.lookAfterMs)
  }

  async #look(): Promise<void> {
    const timer = this.#timer
    // While the service is away, the page looks for it anyway.
    const found = isReachable.peek() ? await lookNow() : 'away'
    // The watch has ended, or something came in between.
    if (timer !== this.#timer) return
    if (found === 'away') setAway()
    const silentMs = performance.now() - this.#heardAt
    if (silentMs < (found === 'away' ? this.patience.whenAwayMs : this.patience.longestMs)) this.#lookLater()
    else {
      this.end()
      this.#ending.abort()
    }
  }
}
