import { getPriority, setPriority } from 'node:os'

/** The priority of work that nobody waits for: below SQL, which has 10, and above the lowest, which hardly progresses on a busy machine. */
export const backgroundPriority = 14

/**
 * Gives a process this priority (niceness, -20 to 19), itself without a process id, unless it has a lower one already: only root may
 * raise it again.
 *
 * @example lowerPriority(backgroundPriority)
 */
export const lowerPriority = (priority: number, pid = 0): void => {
  if (getPriority(pid) < priority) setPriority(pid, priority)
}
