import { wrong } from '../../../basics/errors.js'

/**
 * The confidence level of an interval, as a user may ask for it.
 *
 * @example checkLevel(0.9) // 0.9
 * @throws Problem wrong_arguments for anything but a number between 0.001 and 0.999
 */
export const checkLevel = (level: unknown): number => {
  if (typeof level === 'number' && level >= 0.001 && level <= 0.999) return level
  throw wrong(`"confidence" is ${JSON.stringify(level)}, expected a number between 0.001 and 0.999`)
}
