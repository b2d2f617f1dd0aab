import { getPriority, setPriority } from 'node:os'

/**
 * The priority of SQL: lower than that of REST, whose answers get the processor first. A priority that is lower still helps REST no further,
 * and beside other busy programs it makes SQL several times slower.
 */
export const queryPriority = 5

/** The priority of work for which nobody waits: lower than SQL, but not the lowest, which hardly progresses on a busy machine. */
export const backgroundPriority = 10

/**
 * Gives a process this priority (niceness, -20 to 19), or this process itself if no id is given, unless its priority is already lower. Only
 * root may raise it again.
 *
 * @example lowerPriority(backgroundPriority)
 */
export const lowerPriority = (priority: number, pid = 0): void => {
  if (getPriority(pid) < priority) setPriority(pid, priority)
}
