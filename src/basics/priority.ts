import { getPriority, setPriority } from 'node:os'

/**
 * The priority of work for which nobody waits: lower than SQL, which has 10, but not the lowest, which hardly progresses on a busy machine.
 */
export const backgroundPriority = 14

/**
 * Gives a process this priority (niceness, -20 to 19), or this process itself if no id is given, unless its priority is already lower. Only
 * root may raise it again.
 *
 * @example lowerPriority(backgroundPriority)
 */
export const lowerPriority = (priority: number, pid = 0): void => {
  if (getPriority(pid) < priority) setPriority(pid, priority)
}
