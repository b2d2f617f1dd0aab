/** The time, and waiting for it; a test brings its own. */
export type Clock = {
  /** Milliseconds since 1970. */
  now: () => number
  /** Calls back after some milliseconds, at most 2³¹ − 1; returns what prevents it. */
  wait: (milliseconds: number, callback: () => void) => () => void
}

export const systemClock: Clock = {
  now: Date.now,
  wait: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}
