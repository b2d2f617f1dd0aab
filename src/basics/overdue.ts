/** How long a process that was held, by a busy machine or a lid that was closed, has to hear what came meanwhile. */
const hearMs = 1_000

/**
 * Does something unless it is told in time that it need not. Timers come before messages in a process that was held: what came meanwhile
 * is heard first.
 *
 * @example const hasAnswered = whenOverdue(10_000, () => child.kill())
 * @returns what keeps it from happening
 */
export const whenOverdue = (afterMs: number, act: () => void): (() => void) => {
  let timer = setTimeout(() => {
    timer = setTimeout(act, hearMs)
  }, afterMs)
  return () => clearTimeout(timer)
}
