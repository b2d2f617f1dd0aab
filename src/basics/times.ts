import { instant } from '../../events/stored/envelope.js'
import { wrong } from './errors.js'

const written = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d(?:\.\d{1,6})?))?)?(?:Z| UTC|([+-]\d\d)(?::?(\d\d))?)?$/i

/** A time in milliseconds since 1970, and the microseconds within its millisecond. */
type WrittenTime = { milliseconds: number; microseconds: number }

/**
 * Reads a time in the formats of people and clients: a day, or a day and a time of day with or without seconds and their fraction. It is in
 * UTC unless it has an offset. Undefined for any other text.
 *
 * @example parseTime('2026-01-31 10:00:00.5') // { milliseconds: 1769853600500, microseconds: 0 }
 */
export const parseTime = (said: string): WrittenTime | undefined => {
  const [, day, minute = '00:00', second = '00', hours = '+00', minutes = '00'] = written.exec(said.trim()) ?? []
  if (day === undefined) return undefined
  const milliseconds = Date.parse(`${day}T${minute}:${second}${hours}:${minutes}`)
  // JavaScript reads 30 February as a day in March.
  if (Number.isNaN(milliseconds) || new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) !== day) return undefined
  return { milliseconds, microseconds: Number((second.split('.')[1] ?? '').padEnd(6, '0').slice(3)) }
}

const parseTimeOrNow = (said: string, what: string, now: number): WrittenTime => {
  if (/^now(\(\))?$/i.test(said.trim())) return { milliseconds: now, microseconds: 0 }
  const time = parseTime(said)
  if (!time || time.milliseconds < 0)
    throw wrong(`${what}: "${said}" is not a time`, "Write '2026-01-31 10:00:00' or '2026-01-31' (UTC), or now.")
  return time
}

/**
 * Reads a time in the formats of `parseTime`, or `now`, which is the current time.
 *
 * @example readTime('2026-01-31 10:00:00', 'start', now) // milliseconds since 1970
 * @throws Problem wrong_arguments
 */
export const readTime = (said: string, what: string, now: number): number => parseTimeOrNow(said, what, now).milliseconds

/**
 * Reads a time to the microsecond, in the form that events have. `now` is the current time, in milliseconds since 1970.
 *
 * @example readInstant('2026-01-31 10:00:00.5', 'since', log.now()) // '2026-01-31T10:00:00.500000Z'
 * @throws Problem wrong_arguments
 */
export const readInstant = (said: string, what: string, now: number): string => {
  const { milliseconds, microseconds } = parseTimeOrNow(said, what, now)
  return instant(milliseconds, microseconds)
}
