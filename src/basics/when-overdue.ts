/** How long a process that was held up (by a busy machine or a closed lid) has to read the messages that came meanwhile. */
const hearMs = 1_000

/**
 * Does something after a time unless it is cancelled before. A process that was held up runs its timers before it reads messages, so it
 * first gets a moment to read the messages that came meanwhile.
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
