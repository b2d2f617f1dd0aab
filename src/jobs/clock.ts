import { uptime } from 'node:os'

/** The clock and timer of jobs; tests replace it. */
export type JobClock = {
  /** Milliseconds since 1970. */
  now: () => number
  /** Milliseconds since the machine started. If `now` advances differently, the clock was set. */
  uptime: () => number
  /** Calls back after some milliseconds, at most 2³¹ − 1; returns a function that cancels it. */
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
