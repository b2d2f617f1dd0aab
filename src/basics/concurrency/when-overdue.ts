/** The time for a delayed process (on a busy machine, or after a closed lid) to read the messages that arrived meanwhile. */
const hearMs = 1_000

/**
 * Calls a function after a time, unless it is cancelled before. A delayed process runs its timers before it reads messages, so it first
 * gets a moment to read the messages that arrived meanwhile.
 *
 * @example const hasAnswered = whenOverdue(10_000, () => child.kill())
 * @returns a function that cancels it
 */
export const whenOverdue = (afterMs: number, act: () => void): (() => void) => {
  let timer = setTimeout(() => {
    timer = setTimeout(act, hearMs)
  }, afterMs)
  return () => clearTimeout(timer)
}
