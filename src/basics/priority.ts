import { getPriority, setPriority } from 'node:os'

/**
 * Gives a process this priority (niceness, -20 to 19), itself without a process id, unless it has a lower one already: only root may
 * raise it again.
 *
 * @example lowerPriority(14)
 */
export const lowerPriority = (priority: number, pid = 0): void => {
  if (getPriority(pid) < priority) setPriority(pid, priority)
}
