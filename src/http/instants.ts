import { instant } from '../../events/envelope.js'
import { readTime } from '../jobs/schedule.js'

/**
 * Reads a time as clients write it, to the microsecond, into the form that events have; UTC unless it has an offset.
 *
 * @example readInstant('2026-01-31 10:00:00.5', 'since') // '2026-01-31T10:00:00.500000Z'
 * @throws Problem wrong_arguments
 */
export const readInstant = (said: string, what: string): string => {
  const microseconds = (/\.(\d{1,6})/.exec(said)?.[1] ?? '').padEnd(6, '0').slice(3)
  return instant(readTime(said, what, Date.now()), Number(microseconds))
}
