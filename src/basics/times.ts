import { instant } from '../../events/stored/envelope.js'
import { wrong } from './errors.js'

// The offset is optional: times are in UTC.
const written = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d(?:\.\d{1,6})?))?)?(Z|[+-]\d\d:\d\d)?$/i

/**
 * Reads a time in the formats of people and clients, in UTC unless it has an offset. `now` is the current time.
 *
 * @example readTime('2026-01-31 10:00:00', 'start', now) // milliseconds since 1970
 * @throws Problem wrong_arguments
 */
export const readTime = (said: string, what: string, now: number): number => {
  if (/^now(\(\))?$/i.test(said.trim())) return now
  const [, day, minute = '00:00', second = '00', zone = 'Z'] = written.exec(said.trim()) ?? []
  const time = Date.parse(`${day ?? ''}T${minute}:${second}${zone.toUpperCase()}`)
  // JavaScript reads 30 February as a day in March.
  if (Number.isNaN(time) || time < 0 || new Date(`${day ?? ''}T00:00:00Z`).toISOString().slice(0, 10) !== day)
    throw wrong(`${what}: "${said}" is not a time`, "Write '2026-01-31 10:00:00' or '2026-01-31' (UTC), or now.")
  return time
}

/**
 * Reads a time to the microsecond, in the form that events have. `now` is the current time, in milliseconds since 1970.
 *
 * @example readInstant('2026-01-31 10:00:00.5', 'since', log.now()) // '2026-01-31T10:00:00.500000Z'
 * @throws Problem wrong_arguments
 */
export const readInstant = (said: string, what: string, now: number): string => {
  const microseconds = (/\.(\d{1,6})/.exec(said)?.[1] ?? '').padEnd(6, '0').slice(3)
  return instant(readTime(said, what, now), Number(microseconds))
}
