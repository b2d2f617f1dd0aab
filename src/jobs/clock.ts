import { uptime } from 'node:os'

/** The time, and waiting for it; a test brings its own. */
export type JobClock = {
  /** Milliseconds since 1970. */
  now: () => number
  /** Milliseconds that the machine has been up: what `now` does beside it is a clock that was set. */
  uptime: () => number
  /** Calls back after some milliseconds, at most 2³¹ − 1; returns what prevents it. */
  wait: (milliseconds: number, callback: () => void) => () => void
}

export const systemClock: JobClock = {
  now: Date.now,
  uptime: () => uptime() * 1_000,
  wait: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}
